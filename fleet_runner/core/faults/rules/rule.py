"""One line of the rules: which faults of which devices it speaks of, and what it says of them."""

from dataclasses import dataclass, fields
from fnmatch import fnmatchcase

from fleet_runner.core.checks.verdicts import Remedy


@dataclass(frozen=True, slots=True)
class Rule:
    """What follows from the codes that match one of the globs `codes`, on device types that do (none given: on all).

    What is None it leaves to the rules before it; the fields are those of `Following`. `source` says where it comes
    from: whose table, or which line of which file.
    """

    codes: tuple[str, ...] = ("*",)
    device_types: tuple[str, ...] = ()
    remedy: Remedy | None = None
    at_once: bool | None = None
    repeats: int | None = None
    within: float | None = None
    beside: tuple[str, ...] | None = None
    hold: float | None = None
    quiet: float | None = None
    source: str = ""

    @property
    def counts(self) -> bool:
        """Whether it says how often something must come, or beside what."""
        return (self.repeats or 1) > 1 or bool(self.beside)

    def speaks_of(self, device_type: str, code: str) -> bool:
        """Whether it says anything about a code on a device type."""
        return any(fnmatchcase(code, glob) for glob in self.codes) and (
            not self.device_types or any(fnmatchcase(device_type, glob) for glob in self.device_types)
        )


SAID = tuple(field.name for field in fields(Rule) if field.name not in {"codes", "device_types", "source"})
"""The fields by which a rule says what follows."""
