"""What the active tests share: a pass mark that the profile may give, and what is said where it is missed."""

from fleet_runner.core.inventory.profile import Section


def missed(wanted: Section, name: str, value: float, unit: str = "") -> str:
    """Return "3.2 GB/s, expected at least 5 GB/s" for a value on the wrong side of its mark; "" otherwise.

    `name` ends in "_min" or "_max" and is a key of the section; without it nothing is asked of the value.
    """
    if not wanted.has(name):
        return ""
    mark = wanted.number(name)
    if name.endswith("_max"):
        return f"{value:.4g}{unit}, expected at most {mark:g}{unit}" if value > mark else ""
    return f"{value:.4g}{unit}, expected at least {mark:g}{unit}" if value < mark else ""
