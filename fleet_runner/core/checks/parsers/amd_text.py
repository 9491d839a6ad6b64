"""The rows that `amd-smi` printed, out of a text with other lines: as JSON, or as it prints them for people.

For people the tool prints the same keys, in capitals, a line each; what belongs to one stands further to the right. A
list has no mark: its entries repeat their keys.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError

Row = dict[str, Any]

KEYS_OF_LISTS = ("gpu_data", "link_status", "xgmi_metric")
"""Under which ROCm 7 keeps the list of GPUs."""

DEEPEST = 12

_JSON = re.compile(r"^[ \t]*([\[{])[ \t]*$|^[ \t]*([\[{])[ \t]*[\[{\"]", re.MULTILINE)
_LINE = re.compile(r"( {0,60})([A-Z][A-Z0-9_ ]{0,60}|[0-9]{1,4}):(?: (.{0,2000}))?", re.ASCII)
_GPU = re.compile(r"^GPU: ([0-9]{1,3})[ \t]*$", re.MULTILINE | re.ASCII)


class _Opened(NamedTuple):
    """What further lines may belong to: how far it stands to the right, its own keys, and where it is kept."""

    depth: int
    row: Row
    above: Row
    key: str


def rows(text: str) -> Iterator[Row]:
    """Yield every row that tells of a GPU by its number, in the order of the text.

    Raises:
        EvidenceError: a report of JSON is cut: half of what it says may be the good half.
    """
    found = list(_documents(text))
    for value in found:
        yield from _of(value)
    if not found:
        begun = list(_GPU.finditer(text))
        for each, end in zip(begun, [*(later.start() for later in begun[1:]), len(text)], strict=False):
            yield {**_plain(text[each.end() : end].lstrip("\n")), "gpu": int(each[1])}


def _documents(text: str) -> Iterator[Any]:
    at = 0
    while (begun := _JSON.search(text, at)) is not None:
        start = begun.start(1) if begun[1] else begun.start(2)
        try:
            value, at = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            line = text.count("\n", 0, start) + 1
            raise EvidenceError(f"the JSON that begins in line {line} is cut or damaged: {error}"[:200]) from error
        yield value


def _of(value: Any) -> Iterator[Row]:
    if isinstance(value, dict):
        listed = next((value[key] for key in KEYS_OF_LISTS if isinstance(value.get(key), list)), None)
        value = [value] if "gpu" in value or listed is None else listed
    for row in value if isinstance(value, list) else ():
        if isinstance(row, dict) and isinstance(row.get("gpu"), int):
            yield row
        elif isinstance(row, list):
            yield from _of(row)


def _plain(text: str) -> Row:
    """Return one GPU's lines as the JSON would have them; the first line that is none of them ends it."""
    root: Row = {}
    opened = [_Opened(-1, root, root, "")]
    for written in text.splitlines():
        line = _LINE.fullmatch(written.rstrip())
        if line is None:
            break
        depth, key, value = len(line[1]), line[2].lower(), line[3]
        while opened[-1].depth >= depth:
            opened.pop()
        at = opened[-1]
        if key in at.row and at.row is not root:
            at = opened[-1] = at._replace(row=_next(at))
        below: Row = {}
        at.row[key] = below if value is None else value.strip()
        if value is None and len(opened) < DEEPEST:
            opened.append(_Opened(depth, below, at.row, key))
    return root


def _next(at: _Opened) -> Row:
    """Return a further entry of a list, whose entries until now are what the key holds."""
    row: Row = {}
    held = at.above[at.key]
    at.above[at.key] = [*held, row] if isinstance(held, list) else [held, row]
    return row
