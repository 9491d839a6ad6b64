"""What is mounted (`findmnt --json`), and how full it is (`df --local`)."""

import re
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, objects

MOST = 10_000
"""A node that runs containers has hundreds of mounts; more than this is no node's."""

DEEPEST = 40

FINDMNT_ARGV = ("findmnt", "--json", "--output", "TARGET,SOURCE,FSTYPE,OPTIONS")
"""Without sizes it asks no file system, and so waits for none that hangs. A node that booted over the network may
have its root in memory, which `--real` would leave out."""

DF_ARGV = ("df", "--local", "--block-size=1", "--output=fstype,size,avail,itotal,iavail,target")
"""Only file systems of the node itself: one of another server may hang."""

_ROW = re.compile(r"(\S{1,40}) +(\d{1,18}|-) +(\d{1,18}|-) +(\d{1,18}|-) +(\d{1,18}|-) (/[^\n]*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Mount:
    """One mount: where, from what, of which type, with which options; None where those are not told."""

    target: str
    source: str
    type: str
    options: frozenset[str] | None


@dataclass(frozen=True, slots=True)
class Space:
    """Shares (0 to 1) of a file system that are free for its users; None where it does not count them."""

    free: float | None
    free_inodes: float | None


def mounts(text: str) -> dict[str, Mount]:
    """Return what is mounted by its place, the uppermost where several are; EvidenceError for anything else."""
    found: dict[str, Mount] = {}
    rows = [(row, DEEPEST) for row in reversed(objects(json_object(text, "findmnt").get("filesystems"), "findmnt"))]
    while rows:
        row, deeper = rows.pop()
        target, options = row.get("target"), row.get("options")
        if not isinstance(target, str):
            raise EvidenceError(f"findmnt: found {row!r:.80}, expected a mount")
        source, kind = row.get("source"), row.get("fstype")
        told = frozenset(options.split(",")) if isinstance(options, str) else None
        found[target] = Mount(target, str(source or "")[:200], str(kind or "")[:40], told)
        if len(found) > MOST:
            raise EvidenceError(f"findmnt lists more than {MOST} mounts; look at the node")
        below = row.get("children")
        if below and deeper:
            rows += [(each, deeper - 1) for each in reversed(objects(below, "findmnt"))]
    return found


def space(text: str) -> dict[str, Space]:
    """Return what is free by place; EvidenceError for a report without its first line. A line without end is none."""
    lines = text.split("\n")[:-1]
    if not lines or not lines[0].split()[:1] == ["Type"]:
        raise EvidenceError(f"df printed {text.strip()!r:.80}, expected its columns; was it cut short?")
    rows = [_ROW.fullmatch(line) for line in lines[1:]]
    return {row[6]: Space(_share(row[3], row[2]), _share(row[5], row[4])) for row in rows if row is not None}


def _share(free: str, total: str) -> float | None:
    if free == "-" or total == "-" or not int(total):
        return None
    return min(1.0, int(free) / int(total))
