"""Fields of nvidia-smi's XML: a value, or None where the tool says that it has none."""

import re
import xml.etree.ElementTree as ET

from fleet_runner.core.base.errors import EvidenceError

_ABSENT = frozenset(
    {
        "",
        "N/A",
        "[N/A]",
        "ERR!",
        "Not Supported",
        "[Not Supported]",
        "Insufficient Permissions",
        "[Insufficient Permissions]",
        "Requested functionality has been deprecated",
    }
)
DEAD = ("GPU is lost", "Unknown Error", "GPU requires reset")
"""What the tool writes in place of every value of a GPU that no longer answers."""
LOST = DEAD[0]

_NUMBER = re.compile(r"(-?\d{1,15}(?:\.\d{1,6})?)(?: \S{1,8})?")
_TALLY = re.compile(r"([0-9]{1,15})x?(?: \S{1,8})?")
_SWITCHES = {
    **dict.fromkeys(("Yes", "True", "Active", "Enabled"), True),
    **dict.fromkeys(("No", "False", "Not Active", "Disabled"), False),
}


def words(element: ET.Element, path: str) -> str | None:
    """Return a field's words."""
    return told(element.findtext(path))


def told(text: str | None) -> str | None:
    """Return a text, or None for one that stands for no value."""
    value = (text or "").strip()
    dead = any(word in value for word in DEAD)
    return None if dead or value in _ABSENT else value


def number(element: ET.Element, path: str) -> float | None:
    """Return a number without its unit; EvidenceError for anything else."""
    value = words(element, path)
    if value is None:
        return None
    found = _NUMBER.fullmatch(value)
    if found is None:
        raise EvidenceError(f"nvidia-smi's <{path}> is {value!r:.60}, expected a number with its unit")
    return float(found.group(1))


def integer(element: ET.Element, path: str) -> int | None:
    """Return a whole number, not below zero; EvidenceError for anything else."""
    value = words(element, path)
    if value is None:
        return None
    found = count(value)
    if found is None:
        raise EvidenceError(f"nvidia-smi's <{path}> is {value!r:.60}, expected a whole number")
    return found


def count(value: str | None) -> int | None:
    """Return a text as a whole number, or None if it is none."""
    found = re.fullmatch(r"[0-9]{1,18}", (value or "").strip())
    return int(found.group()) if found else None


def flag(element: ET.Element, path: str) -> bool | None:
    """Return a Yes or No; EvidenceError for anything else."""
    value = words(element, path)
    if value is None:
        return None
    if value not in {"Yes", "No"}:
        raise EvidenceError(f"nvidia-smi's <{path}> is {value!r:.60}, expected Yes or No")
    return value == "Yes"


def first(element: ET.Element, *paths: str) -> str | None:
    """Return the words of the first field that has some: drivers have renamed many."""
    return next((found for found in (words(element, path) for path in paths) if found is not None), None)


def figure(element: ET.Element, *paths: str) -> float | None:
    """Return the first number without its unit; None for anything else, which then counts as not told."""
    found = _NUMBER.fullmatch(first(element, *paths) or "")
    return float(found.group(1)) if found else None


def tally(element: ET.Element, *paths: str) -> int | None:
    """Return the first whole number ("16x", "2560 bank(s)", "93 us"); None for anything else."""
    found = _TALLY.fullmatch(first(element, *paths) or "")
    return int(found.group(1)) if found else None


def switch(element: ET.Element, *paths: str) -> bool | None:
    """Return the first Enabled, Yes, Active or True as true, their contraries as false; None for anything else."""
    return _SWITCHES.get(first(element, *paths) or "")
