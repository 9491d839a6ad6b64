"""What ibnetdiscover would print of links, in both of its forms, and in the shapes that it takes on its way."""

from collections.abc import Iterable
from hashlib import sha256

from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.checks.parsers.discovery import Discovery
from fleet_runner.core.checks.parsers.ibnetdiscover import parse, whole


def discovered(text: str) -> Discovery:
    """Read a whole capture."""
    return whole(parse(text))


def by_port(links: Iterable[Link]) -> str:
    """A line for each port end, as with -p: adapters first."""
    ends = sorted((_kind(near), near, far) for each in links for near, far in (each, each[::-1]))
    return "".join(
        f"{_end(near)} 4x NDR - {_end(far)} ( '{_name(near)}' - '{_name(far)}' )\n" for _, near, far in ends
    )


def plain(links: Iterable[Link]) -> str:
    """A record for each device, each with its side of its links: switches first."""
    records: dict[str, list[tuple[Port, Port]]] = {}
    for each in links:
        for near, far in (each, each[::-1]):
            records.setdefault(_id(near), []).append((near, far))
    head = "#\n# Topology file: generated on Sat Nov 21 05:00:00 2026\n#\n# Initiated from node 1 port 1\n"
    return head + "".join(_record(key, ends) for key, ends in sorted(records.items(), reverse=True))


def _record(key: str, ends: list[tuple[Port, Port]]) -> str:
    switch = key.startswith("S")
    name = _name(ends[0][0])
    head = (
        f'Switch\t65 "{key}"\t\t# "{name}" enhanced port 0 lid 3 lmc 0' if switch else f'Ca\t1 "{key}"\t\t# "{name}"'
    )
    return f"\nvendid=0x2c9\ndevid=0xd2f2\n{head}\n" + "".join(_row(*pair) for pair in sorted(ends))


def _row(near: Port, far: Port) -> str:
    own = "" if _kind(near) == "SW" else f"({_guid(near)})"
    theirs = "" if _kind(far) == "SW" else f"({_guid(far)})"
    comment = f'"{_name(far)}" lid 5 4xNDR' if not own else f'lid 7 lmc 0 "{_name(far)}" lid 5 4xNDR'
    return f'[{_number(near)}]{own}\t"{_id(far)}"[{_number(far)}]{theirs}\t\t# {comment}\n'


def _kind(port: Port) -> str:
    return "CA" if port.device.startswith("gpu") else "SW"


def _number(port: Port) -> str:
    return "1" if _kind(port) == "CA" else port.interface


def _name(port: Port) -> str:
    return f"{port.device} {port.interface}" if _kind(port) == "CA" else port.device


def _guid(port: Port) -> str:
    return sha256(_name(port).encode()).hexdigest()[:16]


def _id(port: Port) -> str:
    return f"{'H' if _kind(port) == 'CA' else 'S'}-{_guid(port)}"


def _end(port: Port) -> str:
    return f"{_kind(port):2} {7:5d} {_number(port):>2} 0x{_guid(port)}"
