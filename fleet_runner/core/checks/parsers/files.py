"""Small files of /sys and /proc, read by their patterns: {path: text, or null where it could not be read}."""

import re
from collections.abc import Mapping

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object

MOST = 20_000
"""More files than any of our patterns finds on a server."""

Files = Mapping[str, str | None]

_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)


def parse(text: str) -> dict[str, str | None]:
    """Return the files by their paths; EvidenceError for anything else."""
    found = json_object(text, "the files that were read")
    if len(found) > MOST:
        raise EvidenceError(f"{len(found)} files were read, expected at most {MOST}; look at the node")
    if not all(value is None or isinstance(value, str) for value in found.values()):
        raise EvidenceError("the files that were read hold something else than texts; read them again")
    return found


def below(found: Files, folder: str) -> dict[str, dict[str, str | None]]:
    """Return what lies in the folders of a folder: {"nvme0": {"model": ...}} for files like FOLDER/nvme0/model.

    A file further down keeps its way: {"mc0": {"dimm0/dimm_label": ...}}.
    """
    table: dict[str, dict[str, str | None]] = {}
    for path, value in found.items():
        name, slash, rest = path.removeprefix(f"{folder}/").partition("/")
        if slash and rest and path.startswith(f"{folder}/"):
            table.setdefault(name, {})[rest] = value
    return table


def word(value: str | None) -> str:
    """Return a file's text as one line, "" where it was not read or says nothing."""
    return " ".join((value or "").split())[:200]


def whole(value: str | None) -> int | None:
    """Return the whole number that a file holds; None for anything else."""
    said = (value or "").strip()
    return int(said) if _WHOLE.fullmatch(said) else None
