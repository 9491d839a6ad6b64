"""Network interfaces and bonds, as /sys/class/net and /proc/net/bonding show them."""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import bonding, files
from fleet_runner.core.checks.parsers.bonding import Bond
from fleet_runner.core.checks.parsers.files import whole, word

SYS, PROC = "/sys/class/net", "/proc/net/bonding"


@dataclass(frozen=True, slots=True)
class Interface:
    """One interface. Texts are "" and numbers None where the kernel tells nothing, as it does of one that is down.

    `carrier_changes` counts since it was made, `statistics` likewise, by name.
    """

    name: str
    state: str
    carrier: int | None
    speed_mbps: int | None
    duplex: str
    mtu: int | None
    carrier_changes: int | None
    statistics: Mapping[str, int]
    mac: str = ""


@dataclass(frozen=True, slots=True)
class Network:
    """The interfaces and the bonds by their names."""

    interfaces: Mapping[str, Interface]
    bonds: Mapping[str, Bond]


def parse(text: str) -> Network:
    """Return what was read; EvidenceError where there is no interface at all: every kernel has its loopback."""
    found = files.parse(text)
    interfaces = {name: _interface(name, each) for name, each in sorted(files.below(found, SYS).items())}
    if not interfaces:
        raise EvidenceError(f"{SYS} has no interface, expected at least the loopback; read it again")
    bonds = {
        path.removeprefix(f"{PROC}/"): bonding.parse(value)
        for path, value in sorted(found.items())
        if path.startswith(f"{PROC}/") and value is not None
    }
    return Network(interfaces, bonds)


def _interface(name: str, found: files.Files) -> Interface:
    statistics = {
        path.rpartition("/")[2]: count
        for path, value in found.items()
        if path.startswith("statistics/") and (count := whole(value)) is not None
    }
    return Interface(
        name=name,
        state=word(found.get("operstate")),
        carrier=whole(found.get("carrier")),
        speed_mbps=whole(found.get("speed")) or None,  # -1 where the driver does not know it
        duplex=word(found.get("duplex")),
        mtu=whole(found.get("mtu")),
        carrier_changes=whole(found.get("carrier_changes")),
        statistics=statistics,
        mac=word(found.get("address")).lower(),
    )
