"""What the kernel tells of RoCE in files: counters of the adapters' ports, and where DCQCN is on."""

from collections.abc import Mapping
from typing import NamedTuple

from fleet_runner.core.checks.parsers import files
from fleet_runner.core.checks.parsers.files import whole, word
from fleet_runner.core.checks.parsers.infiniband_ports import FOLDER
from fleet_runner.core.checks.parsers.net_interfaces import SYS

BOOT_ID = "/proc/sys/kernel/random/boot_id"

SIDES: Mapping[str, str] = {"roce_np": "notification point", "roce_rp": "reaction point"}
"""The two sides of DCQCN on a port: who is sent to, and tells of congestion, and who sends, and slows down."""


class RoceFiles(NamedTuple):
    """`boot` is the kernel's boot id, "" where it was not read.

    `counters` are those of each adapter's port by name ("mlx5_0", or "mlx5_0/2"). `ecn` says of each interface, side
    and priority whether DCQCN is on; a driver that has no such file tells nothing.
    """

    boot: str
    counters: Mapping[str, Mapping[str, int]]
    ecn: Mapping[tuple[str, str, int], bool]


def parse(text: str) -> RoceFiles:
    """Return what was read; EvidenceError for anything but files."""
    found = files.parse(text)
    counters: dict[str, dict[str, int]] = {}
    for adapter, mine in files.below(found, FOLDER).items():
        for path, value in mine.items():
            match path.split("/"):
                case ["ports", number, "hw_counters", name] if (count := whole(value)) is not None:
                    port = adapter if number == "1" else f"{adapter}/{number}"
                    counters.setdefault(port, {})[name] = count
                case _:
                    pass
    ecn: dict[tuple[str, str, int], bool] = {}
    for interface, mine in files.below(found, SYS).items():
        for path, value in mine.items():
            match path.split("/"):
                case ["ecn", side, "enable", priority] if side in SIDES and value in {"0", "1"}:
                    ecn[interface, side, whole(priority) or 0] = value == "1"
                case _:
                    pass
    return RoceFiles(word(found.get(BOOT_ID)), counters, ecn)
