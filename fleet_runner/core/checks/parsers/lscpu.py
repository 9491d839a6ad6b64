"""What `lscpu -J` tells of a node's processors; flat before util-linux 2.38, nested since."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, objects

DEEPEST = 8

_RANGE = re.compile(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", re.ASCII)
_COUNT = re.compile(r"[0-9]{1,6}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Processors:
    """The processors that run; None, or "" for the model, where lscpu does not say.

    `online` and `offline` are logical CPUs; `cores` are those of one socket, `threads` those of one core.
    """

    model: str
    online: int
    offline: int
    sockets: int | None
    cores: int | None
    threads: int | None
    numa_nodes: int | None


def parse(text: str) -> Processors:
    """Read the report; EvidenceError for one that does not tell how many CPUs are online."""
    fields: dict[str, str] = {}
    for name, value in _fields(json_object(text, "lscpu").get("lscpu"), DEEPEST):
        fields.setdefault(name.casefold(), value)
    online = _listed(fields.get("on-line cpu(s) list"))
    if not online:
        raise EvidenceError("lscpu does not list the CPUs that are online; is /sys mounted?")
    return Processors(
        model=fields.get("model name", ""),
        online=online,
        offline=_listed(fields.get("off-line cpu(s) list")) or 0,
        sockets=_count(fields.get("socket(s)")),
        cores=_count(fields.get("core(s) per socket")),
        threads=_count(fields.get("thread(s) per core")),
        numa_nodes=_count(fields.get("numa node(s)")),
    )


def _fields(rows: object, deeper: int) -> Iterator[tuple[str, str]]:
    for row in objects(rows, "lscpu"):
        name, value = row.get("field"), row.get("data")
        if isinstance(name, str) and isinstance(value, str):
            yield name.strip().rstrip(":"), " ".join(value.split())
        below: Any = row.get("children")
        if below and deeper:
            yield from _fields(below, deeper - 1)


def _count(value: str | None) -> int | None:
    return int(value) if value is not None and _COUNT.fullmatch(value) else None


def _listed(value: str | None) -> int | None:
    """Count a list like "0-111,224-335"; None for anything else."""
    if value is None:
        return None
    found = [_RANGE.fullmatch(part.strip()) for part in value.split(",")]
    spans = [(int(each[1]), int(each[2] or each[1])) for each in found if each is not None]
    if len(spans) != len(found) or any(first > last for first, last in spans):
        return None
    return sum(last - first + 1 for first, last in spans)
