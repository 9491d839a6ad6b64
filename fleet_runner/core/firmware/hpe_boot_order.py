"""HPE's boot order: in a settings object of its BIOS, by names of its own, in force after the next start.

The form is that of HPE's own example (HewlettPackard/python-ilorest-library, "Change UEFI boot order").
"""

from collections.abc import Mapping, Sequence
from typing import Any

ORDER, SOURCES, NAME, NUMBER = "PersistentBootConfigOrder", "BootSources", "StructuredBootString", "BootOptionNumber"


def shows(settings: Mapping[str, Any]) -> bool:
    """Whether a settings object has such an order, and what its names stand for."""
    return isinstance(settings.get(ORDER), list) and bool(_names(settings))


def waiting(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the order that the next start brings, as boot options; () where one of its names stands for none."""
    options = {name: option for option, name in _names(settings).items()}
    found = [options.get(str(name)) for name in settings[ORDER]]
    return tuple(map(str, found)) if None not in found else ()


def request(settings: Mapping[str, Any], order: Sequence[str]) -> dict[str, Any]:
    """Return what has an order of boot options in force after the next start; {} where one of them has no name."""
    names = _names(settings)
    return {ORDER: [names[each] for each in order]} if all(each in names for each in order) else {}


def _names(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return {boot option: HPE's name}."""
    listed = settings.get(SOURCES)
    rows = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    return {f"Boot{row[NUMBER]}": str(row[NAME]) for row in rows if row.get(NUMBER) and row.get(NAME)}
