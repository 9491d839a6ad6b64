"""The policy of a fleet, from its file: which rules hold here, and what is wrong with it, by line."""

from dataclasses import dataclass
from pathlib import Path

from fleet_runner.adapters.files import yaml_places
from fleet_runner.adapters.files.yaml_places import Unreadable, line_at
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.base.fields import Path as FieldPath
from fleet_runner.core.faults.rules import policy
from fleet_runner.core.faults.rules.policy import PolicyError
from fleet_runner.core.faults.rules.rules import DEFAULT, Rules
from fleet_runner.settings import Settings

Stamp = tuple[str, int, int] | None
"""Name, size and time of the file; None where there is none."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a line of the file."""

    file: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


@dataclass(frozen=True, slots=True)
class Checked:
    """A file that was read: its rules, or what is wrong with it, the lines from above to below."""

    rules: Rules = DEFAULT
    slips: tuple[Problem, ...] = ()


def stamp(path: Path | None) -> Stamp:
    """Return what changes whenever a policy file does."""
    try:
        found = path.stat() if path is not None else None
    except OSError:  # it is being replaced just now, or is not there: reading it says so
        return None
    return (str(path), found.st_size, found.st_mtime_ns) if found is not None else None


def rules(settings: Settings) -> Rules:
    """Return the rules in use: the built-in ones, and those of the policy file if there is one.

    Raises:
        SettingsError: it cannot be read, or says something that cannot be meant.
    """
    return read(settings.policy)


def read(path: Path | None) -> Rules:
    """Return the built-in rules, and those of a policy file; nothing at all is what a file being written says.

    Raises:
        SettingsError: it cannot be read, says nothing, or something that cannot be meant.
    """
    checked = check(path) if path is not None else Checked()
    if checked.slips:
        first, *others = checked.slips
        more = f"; and {len(others)} more" if others else ""
        raise SettingsError(f"{first}{more}; correct it: fleet-runner policy check")
    return checked.rules


def check(path: Path) -> Checked:
    """Return a file's rules, or everything that is wrong with it."""
    try:
        root, content = yaml_places.load(path)
    except Unreadable as error:
        return Checked(slips=(Problem(path, error.line, str(error)),))
    if root is None or content is None:  # truncated, being written, or the disk is full: observing must not end so
        return Checked(
            slips=(Problem(path, 1, "found nothing, expected a policy; {} leaves it to the built-in rules"),)
        )
    slips = [Problem(path, line, text) for line, text in yaml_places.twice(root, "")]

    def where(at: FieldPath) -> str:
        return f"{path}:{line_at(root, at)}"

    found = DEFAULT
    try:
        found = policy.read(content, where)
    except PolicyError as error:
        slips += [Problem(path, line_at(root, each.path), policy.told(each)) for each in error.problems]
    return Checked(found, tuple(sorted(slips, key=lambda slip: slip.line)))
