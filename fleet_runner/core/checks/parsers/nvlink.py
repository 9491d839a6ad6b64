"""`nvidia-smi nvlink -s` and `-e`: each GPU's NVLinks, their speed, and the errors that they count."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError

MAX_LINKS = 64
"""Of a GPU: current ones have 18."""

MAX_COUNTERS = 64
"""Of a link: NVLink 5 counts about forty things."""

_GPU = re.compile(r"GPU (\d{1,3}): [^\n]{0,200}?\(UUID: (GPU-[0-9a-fA-F-]{1,40})\)")
_SPEED = re.compile(r"Link (\d{1,3}): (\d{1,5}(?:\.\d{1,6})?) GB/s(?:\s.*)?")
_INACTIVE = re.compile(r"Link (\d{1,3}): <?inactive>?", re.IGNORECASE)
_COUNTER = re.compile(r"Link (\d{1,3}): ([A-Za-z][A-Za-z0-9 /_-]{0,60}?): +(\d{1,18})")
_ALL_INACTIVE = "all links are inactive"
_REASONS = ("not supported", "not have or support", "mig mode")


@dataclass(frozen=True, slots=True)
class Links:
    """One GPU of the report. `gbytes_per_second` is by link; `inactive` are links that are named and down.

    `dead` says that the tool calls every link inactive; `reason` holds its words where it does not tell of links at
    all (MIG is on, the GPU has none). `whole` is False for the last GPU, whose lines may have been cut off.
    """

    uuid: str
    gbytes_per_second: Mapping[int, float]
    inactive: frozenset[int]
    dead: bool
    reason: str
    whole: bool


def status(text: str) -> dict[str, Links]:
    """Read each GPU's links, by its UUID; EvidenceError for a text that names no GPU."""
    blocks = list(_blocks(text))
    found = {
        uuid.lower(): _links(uuid, lines, whole=place < len(blocks))
        for place, (uuid, lines) in enumerate(blocks, start=1)
    }
    if not found or len(found) != len(blocks):
        raise EvidenceError(f"nvidia-smi nvlink -s names {len(found)} GPUs in {len(blocks)} places; read it again")
    return found


def errors(text: str) -> dict[str, dict[int, dict[str, int]]]:
    """Read what each link of each GPU counts: {UUID: {link: {"Replay Errors": 0}}}, rates and ratios left out."""
    found: dict[str, dict[int, dict[str, int]]] = {}
    for uuid, lines in _blocks(text.rpartition("\n")[0]):  # a count without its line's end may be half a count
        links = found.setdefault(uuid.lower(), {})
        for line in lines:
            match = _COUNTER.fullmatch(line)
            if match is not None and int(match[1]) < MAX_LINKS:
                counters = links.setdefault(int(match[1]), {})
                if len(counters) < MAX_COUNTERS:
                    counters[" ".join(match[2].split())] = int(match[3])
    if not found:
        raise EvidenceError("nvidia-smi nvlink -e names no GPU; is the driver loaded?")
    return found


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Part a report by GPU: what stands behind its name, and the lines below."""
    uuid, lines = "", list[str]()
    for line in text.split("\n"):
        found = _GPU.match(line.strip())
        if found is not None:
            if uuid:
                yield uuid, lines
            uuid, lines = found[2], [line.strip()[found.end() :]]
        elif uuid:
            lines.append(line.strip())
    if uuid:
        yield uuid, lines


def _links(uuid: str, lines: list[str], *, whole: bool) -> Links:
    speeds = [match for match in map(_SPEED.fullmatch, lines) if match is not None]
    down = [match for match in map(_INACTIVE.fullmatch, lines) if match is not None]
    said = [line for line in lines if any(word in line.lower() for word in _REASONS)]
    return Links(
        uuid=uuid,
        gbytes_per_second={int(match[1]): float(match[2]) for match in speeds if int(match[1]) < MAX_LINKS},
        inactive=frozenset(int(match[1]) for match in down if int(match[1]) < MAX_LINKS),
        dead=any(_ALL_INACTIVE in line.lower() for line in lines),
        reason=said[0][:120] if said else "",
        whole=whole,
    )
