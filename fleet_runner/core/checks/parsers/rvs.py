"""What AMD's validation suite (RVS) prints: for each action and GPU whether it reached its target.

The suite exits with 0 whatever it found. A GPU has the number that the kernel's driver gave it ("[GPU:: 42583]").
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import files
from fleet_runner.core.faults.pci import canonical

MOST = 4000
"""Results of a run that are read: every action of every GPU."""

SAID = 5
"""Lines of trouble that are kept."""

_RESULT = r"\[RESULT\] {0,2}\[ {0,8}[0-9.]{1,20}\] \[(?P<action>[^\]\n]{1,80})\] "
_GPU_AT = r"\[GPU:: {0,4}[0-9]{1,4} - {0,6}[0-9]{1,9} - (?P<%s>[0-9a-fA-F:.]{7,16})\]"
_RATE = r".{0,60}? (?P<rate>[0-9]{1,6}\.[0-9]{1,6}) GBps duration: [0-9.]{1,20} secs"
_PEERS = re.compile(
    _RESULT + r"p2p-bandwidth ?\[[ 0-9/]{1,12}\] " + _GPU_AT % "a" + " " + _GPU_AT % "b" + _RATE, re.ASCII
)
_HOST = re.compile(
    _RESULT + r"pcie-bandwidth ?\[[ 0-9/]{1,12}\] \[CPU:: {0,4}[0-9]{1,4}\] " + _GPU_AT % "a" + _RATE, re.ASCII
)
_COLOUR = re.compile("\x1b\\[[0-9;]{0,8}m")
_HEAD = _RESULT + r"\[GPU:: {1,6}(?P<gpu>[0-9]{1,9})\] "
_SPEED = re.compile(
    _HEAD + r"GFLOPS (?P<reached>[0-9]{1,12}) Target GFLOPS: (?P<target>[0-9]{1,12}) met: (?P<met>TRUE|FALSE)",
    re.ASCII,
)
_POWER = re.compile(_HEAD + "pass: (?P<met>TRUE|FALSE)", re.ASCII)
_TROUBLE = re.compile(r"\[ERROR {0,2}\] {0,2}(?:\[ {0,8}[0-9.]{1,20}\] )?(.{1,300})|RVS-ERROR (.{1,300})", re.ASCII)
_ROW = re.compile(r"\| (?P<action>[^|\n]{1,80}?) {1,80}\| (?P<module>\w{1,20}) {1,20}\| (?P<said>PASS|FAIL) {1,40}\|")
_BOTTOM = re.compile(r"\+-{20,200}\+")
_NODE = re.compile(r"(/sys/class/kfd/kfd/topology/nodes/[0-9]{1,4})/gpu_id", re.ASCII)
_PLACE = re.compile(r"^(location_id|domain) ([0-9]{1,10})$", re.MULTILINE | re.ASCII)


class Outcome(NamedTuple):
    """What one action says of one GPU; `reached` and `target` are Gflop/s, None where its power is what was asked."""

    action: str
    gpu: int
    met: bool
    reached: float | None = None
    target: float | None = None


class Copy(NamedTuple):
    """How fast one action copied, in GB/s: between two GPUs, or between a GPU and a processor (one address)."""

    action: str
    gpus: tuple[str, ...]
    rate: float


@dataclass(frozen=True, slots=True)
class Report:
    """All that was said. `failed` are actions that the summary at the end calls so; `ended`: it is whole."""

    outcomes: tuple[Outcome, ...]
    copies: tuple[Copy, ...]
    failed: tuple[str, ...]
    trouble: tuple[str, ...]
    ended: bool


def parse(output: str) -> Report:
    """Read what was printed; EvidenceError for a text that is no output of RVS."""
    begun, _, _ = _COLOUR.sub("", output).rpartition("\n")  # the last line may be half a line
    lines = [line.strip() for line in begun.split("\n")]
    outcomes = tuple(_outcomes(lines))[:MOST]
    rows = [row for line in lines if (row := _ROW.fullmatch(line))]
    trouble = [found[1] or found[2] for line in lines if (found := _TROUBLE.match(line))]
    copies = tuple(_copies(lines))[:MOST]
    if not outcomes and not copies and not rows and not trouble:
        raise EvidenceError("this is no output of RVS: it has no result; is it installed (/opt/rocm/bin/rvs)?")
    failed = dict.fromkeys(row["action"] for row in rows if row["said"] == "FAIL")
    ended = bool(rows) and _BOTTOM.fullmatch([line for line in lines if line][-1]) is not None
    return Report(outcomes, copies, tuple(failed), tuple(trouble[:SAID]), ended=ended)


def _outcomes(lines: list[str]) -> Iterator[Outcome]:
    for line in lines:
        speed = _SPEED.fullmatch(line)
        if speed is not None:
            figures = float(speed["reached"]), float(speed["target"])
            yield Outcome(speed["action"], int(speed["gpu"]), speed["met"] == "TRUE", *figures)
            continue
        power = _POWER.fullmatch(line)
        if power is not None:
            yield Outcome(power["action"], int(power["gpu"]), power["met"] == "TRUE")


def _copies(lines: list[str]) -> Iterator[Copy]:
    """Of a pair that is told in both directions both are kept."""
    for line in lines:
        found = _PEERS.fullmatch(line) or _HOST.fullmatch(line)
        if found is None:
            continue
        told = [canonical(text) for name, text in found.groupdict().items() if name in {"a", "b"}]
        gpus = tuple(address for address in told if address is not None)
        if len(gpus) == len(told):
            yield Copy(found["action"], gpus, float(found["rate"]))


def addresses(text: str) -> dict[int, str]:
    """Return the PCI address of each GPU by the driver's number, from the files of the driver's topology.

    `location_id` is bus, device and function as PCI packs them into 16 bits (the kernel's kfd_topology.c).
    """
    found: dict[int, str] = {}
    given = files.parse(text)
    for path, number in given.items():
        node = _NODE.fullmatch(path)
        gpu = files.whole(number)
        if node is None or gpu is None:
            continue
        place = {key: int(value) for key, value in _PLACE.findall(given.get(f"{node[1]}/properties") or "")}
        at = place.get("location_id", 0)
        address = canonical(f"{place.get('domain', 0):04x}:{at >> 8:02x}:{at >> 3 & 31:02x}.{at & 7}")
        if at and address is not None:
            found[gpu] = address
    return found
