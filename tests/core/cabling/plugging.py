"""What a fabric tells of links when devices have other names or GUIDs than the design knows."""

from collections.abc import Iterable, Mapping

from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.judge import Verdicts, judge
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.plan import renamed
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from tests.core.cabling.fabrics import SERVERS, places

FACTORY_HCA = "MT4129 ConnectX7   Mellanox Technologies"
FACTORY_SWITCH = "Quantum Mellanox Technologies"

Said = Mapping[Port | str, str]
"""What is said of an adapter's port, or of a switch by its name."""


def guid_of(end: Port | str) -> str:
    """Return the GUID with which an adapter, or a switch, was built."""
    text = end if isinstance(end, str) else f"{end.device}{end.interface}"
    return text.encode().hex()[-16:].rjust(16, "0")


def seen(links: Iterable[Link], called: Said, guids: Said) -> list[FabricLink]:
    """Return links as a fabric tells them; `called` and `guids` are what differs from how it was built."""

    def end(port: Port) -> FabricPort:
        if port.device.startswith("gpu"):
            name = called.get(port, f"{port.device} {port.interface}")
            return FabricPort(name, 1, "CA", guids.get(port, guid_of(port)))
        device = port.device
        number = int(port.interface)
        return FabricPort(called.get(device, f"MF0;{device}:Q/U1"), number, "SW", guids.get(device, guid_of(device)))

    return [FabricLink(end(a), end(b), 4, "NDR") for a, b in links]


def judged(
    designed: Iterable[Link],
    plugged: Iterable[Link],
    called: Said | None = None,
    guids: Said | None = None,
    known: Iterable[Port] = (),
) -> Verdicts:
    """Judge what is plugged; the design knows the GUIDs with which the `known` ports' adapters were built."""
    links = tuple(designed)
    built = {guid_of(port if port.device in SERVERS else port.device): port for port in known}
    spoken = names([port for joined in links for port in joined], built, {}, links)
    return judge(links, seen(plugged, called or {}, guids or {}), spoken, places(links))


def exchanged(links: Iterable[Link], *devices: str) -> tuple[Link, ...]:
    """Return what is plugged where each device stands in the next one's place."""
    turned = dict(zip((*devices[1:], devices[0]), devices, strict=True))
    return tuple(renamed(links, turned))


def without(links: Iterable[Link], *devices: str) -> tuple[Link, ...]:
    """Return the links that touch none of the devices."""
    return tuple(joined for joined in links if not {joined.a.device, joined.b.device} & set(devices))


def swapped(links: Iterable[Link], one: Link, other: Link) -> tuple[Link, ...]:
    """Return the links with the far ends of two of them exchanged."""
    kept = [joined for joined in links if joined not in {one, other}]
    return (*kept, link(one.a, other.b), link(other.a, one.b))


def at(links: Iterable[Link], device: str) -> tuple[Link, ...]:
    """Return a device's links."""
    return tuple(joined for joined in links if device in {joined.a.device, joined.b.device})


NOWHERE = Places({}, {}, SERVERS)
