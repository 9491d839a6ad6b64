"""The links between AMD's GPUs (xGMI), as `amd-smi xgmi -l --json` and `-m --json` tell them.

Releases differ: the list stands alone, under "link_status" or "xgmi_metric", and the latter within a list of one.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.amd_smi import figure, listed, part
from fleet_runner.core.faults.pci import canonical

UP, DOWN = "U", "D"
"""A link's state; "X" is one that is not there, "SELF" the GPU itself."""


@dataclass(frozen=True, slots=True)
class Links:
    """Links of a GPU that are up and down, by their number, and gigabits per second of each lane (None: not told)."""

    up: tuple[int, ...]
    down: tuple[int, ...]
    gbits: float | None


def parse(status: str, metric: str | None) -> dict[str, Links]:
    """Return the links of each GPU by its PCI address; EvidenceError where `status` is none.

    `metric` only adds speeds: what it does not tell is not known.
    """
    speeds = _speeds(metric) if metric is not None else {}
    found: dict[str, Links] = {}
    for row in listed(status, "xgmi -l", "link_status"):
        pci, told = canonical(str(row.get("bdf"))), row.get("link_status")
        if pci is None or not isinstance(told, list):
            raise EvidenceError(f"amd-smi xgmi -l: found {str(row)[:80]!r}, expected a GPU's address and its links")
        up, down = (tuple(at for at, each in enumerate(told) if each == state) for state in (UP, DOWN))
        found[pci] = Links(up, down, speeds.get(pci))
    return found


def _speeds(metric: str) -> Mapping[str, float]:
    try:
        rows = listed(metric, "xgmi -m", "xgmi_metric")
    except EvidenceError:
        return {}
    told = {canonical(str(row.get("bdf"))): figure(part(row, "link_metrics").get("bit_rate")) for row in rows}
    return {pci: speed for pci, speed in told.items() if pci is not None and speed is not None}
