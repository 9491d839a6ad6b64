"""Pasting a text, and what it asks for."""

from fleet_runner.core.checks.pasted.text import Pasted, Read
from fleet_runner.core.checks.pasted.told import Group
from tests.core.checks.healthy import EVIDENCE


def read(text: str, node: str = "", size: int = 0) -> Read:
    """Return what a text says, fed whole or in pieces of so many lines."""
    found = Pasted("paste", node)
    lines = text.splitlines(keepends=True)
    for at in range(0, len(lines), size or len(lines) or 1):
        found.feed("".join(lines[at : at + (size or len(lines))]))
    return found.end()


def evidence(name: str) -> str:
    """Return a file of evidence."""
    return (EVIDENCE / name).read_text("utf-8")


def asking(found: Read) -> dict[str, str]:
    """Return the codes that ask for an action, with their remedies."""
    return {each.finding.code: each.finding.remedy.value for each in found.told if each.group is Group.ACTION}
