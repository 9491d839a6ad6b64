"""`nvidia-smi topo -m`: how far each adapter is from each GPU, as the driver sees the PCIe tree.

From driver 510 on adapters are columns NIC0, NIC1, … and a legend below the table names them; before, their names are
the columns.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError

DISTANCES = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""From near to far: one PCIe bridge, several, a host bridge, within a NUMA node, across NUMA nodes."""

BEHIND_SWITCH = ("PIX", "PXB")
"""Distances of an adapter that is reached without passing the processor."""

MOST = 256
"""GPUs and adapters of a table: a DPU or virtual functions give some dozens."""

_ESCAPE = re.compile(r"\x1b\[[0-9;]{0,8}m")
_GPU = re.compile(r"GPU([0-9]{1,3})")
_NUMBERED = re.compile(r"NIC[0-9]{1,3}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,31}")
_LEGEND = re.compile(r" *(NIC[0-9]{1,3}): ([^\s]{1,64})[ \t]*")
_OTHERS = frozenset({"CPU", "NUMA", "GPU"})
"""The first words of the columns behind the devices: "CPU Affinity", "NUMA Affinity", "GPU NUMA ID"."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The distance ("PXB") of each adapter ("mlx5_0") from each GPU, by the GPU's number in nvidia-smi."""

    gpus: Mapping[int, Mapping[str, str]]

    @property
    def adapters(self) -> tuple[str, ...]:
        """Return all adapters, in the order of the table."""
        return tuple(next(iter(self.gpus.values())))


def parse(text: str) -> Topology:
    """Read the table; EvidenceError where a row or an adapter's name is missing, or a word is none of the tool's."""
    lines = _ESCAPE.sub("", text).split("\n")[:-1]  # a line without its end may be cut within a name
    at, columns = _header(lines)
    cells = {name: _cells(lines[at + 1 :], name, len(columns)) for name in columns if _GPU.fullmatch(name)}
    names = _names(lines, columns)
    return Topology(
        {
            int(gpu[3:]): {
                names[column]: _distance(gpu, names[column], row[place])
                for place, column in enumerate(columns)
                if column in names
            }
            for gpu, row in cells.items()
        }
    )


def _header(lines: Sequence[str]) -> tuple[int, tuple[str, ...]]:
    """Return where the table begins, and what its columns are called."""
    for at, line in enumerate(lines):
        words = line.split()
        if words[:1] != ["GPU0"] or "CPU" not in words:
            continue
        end = next(place for place, word in enumerate(words) if word in _OTHERS)
        columns = tuple(words[:end])
        if len(set(columns)) != len(columns) or len(columns) > MOST or not all(map(_NAME.fullmatch, columns)):
            raise EvidenceError(f"nvidia-smi topo -m: found the columns {' '.join(columns):.200}, expected names")
        return at, columns
    raise EvidenceError("nvidia-smi topo -m prints no table that begins with GPU0; is the driver loaded?")


def _cells(lines: Sequence[str], name: str, count: int) -> list[str]:
    rows = [words[1:] for line in lines if (words := line.split())[:1] == [name]]
    if len(rows) != 1 or len(rows[0]) < count:
        raise EvidenceError(f"nvidia-smi topo -m: the row of {name} is missing or cut, expected {count} cells")
    return rows[0][:count]


def _names(lines: Sequence[str], columns: Sequence[str]) -> dict[str, str]:
    """Return what each adapter's column is called by its driver."""
    legend = {found[1]: found[2] for line in lines if (found := _LEGEND.fullmatch(line))}
    numbered = [name for name in columns if _NUMBERED.fullmatch(name)]
    missing = [name for name in numbered if name not in legend]
    if missing:
        raise EvidenceError(f"nvidia-smi topo -m: its NIC legend does not name {', '.join(missing):.100}")
    names = {name: legend.get(name, name) for name in columns if not _GPU.fullmatch(name)}
    if len(set(names.values())) != len(names):
        raise EvidenceError("nvidia-smi topo -m: its NIC legend gives two adapters one name")
    return names


def _distance(gpu: str, adapter: str, word: str) -> str:
    if word not in DISTANCES:
        raise EvidenceError(
            f"nvidia-smi topo -m: {adapter} is {word!r:.20} from {gpu}, expected one of {', '.join(DISTANCES)}"
        )
    return word
