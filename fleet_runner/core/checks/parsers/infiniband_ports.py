"""RDMA adapters and their ports, as /sys/class/infiniband shows them: InfiniBand and RoCE alike."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import files
from fleet_runner.core.checks.parsers.files import whole, word

FOLDER = "/sys/class/infiniband"

_RATE = re.compile(r"([0-9]{1,5}(?:\.[0-9]{1,3})?) Gb/sec", re.ASCII)
_NUMBERED = re.compile(r"[0-9]{1,2}:", re.ASCII)


@dataclass(frozen=True, slots=True)
class Port:
    """A port. Texts are as the kernel prints them without their number ("ACTIVE", "LinkUp"), "" where not told.

    `rate` is what it says in whole ("400 Gb/sec (4X NDR)"), `gbps` the number in it. `counters` are those that were
    read, by name.
    """

    adapter: str
    number: int
    state: str
    physical: str
    layer: str
    rate: str
    gbps: float | None
    counters: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter: its name, firmware, board, and ports by number."""

    name: str
    firmware: str
    board: str
    ports: Mapping[int, Port]


def parse(text: str) -> dict[str, Adapter]:
    """Return the adapters by name; EvidenceError where there is none at all, as without a driver."""
    folders = files.below(files.parse(text), FOLDER)
    found = {name: _adapter(name, each) for name, each in sorted(folders.items())}
    if not found:
        raise EvidenceError(f"{FOLDER} has no adapter; is the driver (mlx5_ib) loaded?")
    return found


def _adapter(name: str, found: files.Files) -> Adapter:
    ports: dict[int, dict[str, str | None]] = {}
    for path, value in found.items():
        head, _, rest = path.partition("/")
        number, _, what = rest.partition("/")
        if head == "ports" and what and (port := whole(number)) is not None:
            ports.setdefault(port, {})[what] = value
    return Adapter(
        name,
        firmware=word(found.get("fw_ver")),
        board=word(found.get("board_id")),
        ports={number: _port(name, number, each) for number, each in sorted(ports.items())},
    )


def _port(adapter: str, number: int, found: files.Files) -> Port:
    rate = word(found.get("rate"))
    told = _RATE.match(rate)
    counters = {
        path.rpartition("/")[2]: count
        for path, value in found.items()
        if path.startswith(("counters/", "hw_counters/")) and (count := whole(value)) is not None
    }
    return Port(
        adapter=adapter,
        number=number,
        state=_named(found.get("state")),
        physical=_named(found.get("phys_state")),
        layer=word(found.get("link_layer")),
        rate=rate,
        gbps=float(told[1]) if told else None,
        counters=counters,
    )


def _named(value: str | None) -> str:
    """Return "ACTIVE" of "4: ACTIVE"."""
    return _NUMBERED.sub("", word(value), count=1).strip()
