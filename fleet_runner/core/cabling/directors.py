"""Director switches: each ASIC of their cards describes itself alone, and all are one device.

Port 20 of "MF0;dir-1:MCS8500/L16/U2" is the port that the chassis calls "Blade 16_Port 2/20": card, ASIC, port.
Spine cards ("S02/U1") join line cards inside the chassis, by no cable.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers.discovery import FabricLink
from fleet_runner.core.checks.parsers.fabric_links import FabricLinks, columns

_ASIC = re.compile(r"MF0;([^:;]+):[^/:;]*/([LS])0*([0-9]{1,3})/U0*([0-9]{1,2})", re.ASCII)
_PORT = re.compile(
    r"(?:blade|leaf|line[ _-]?card|card|slot|l)[ _-]*0*([0-9]{1,3})"
    r"[^0-9]{1,8}0*([0-9]{1,2})[^0-9]{1,8}0*([0-9]{1,3})",
    re.ASCII | re.IGNORECASE,
)


class Asic(NamedTuple):
    """One ASIC of a director: the director's name, and the ASIC's place in it ("L16/U2")."""

    device: str
    place: str

    def port(self, number: str) -> str:
        """Return what a port of it is called in the whole director: "L16/U2/20"."""
        return f"{self.place}/{number}"

    def numbers(self, spoken: Mapping[str, Port]) -> Mapping[str, Port]:
        """Return of a director's ports by spoken name those of this ASIC, by their numbers."""
        begins = self.port("")
        return {name.removeprefix(begins): port for name, port in spoken.items() if name.startswith(begins)}


@lru_cache(maxsize=65_536)
def asic(name: str) -> Asic | None:
    """Return the ASIC that a description is of; None for a description of anything else."""
    found = _ASIC.match(name)
    return Asic(found[1], f"{found[2]}{found[3]}/U{found[4]}") if found else None


def port_key(interface: str) -> str:
    """Return what a designed port of a director answers to ("L16/U2/20"); "" for a name of another kind."""
    found = _PORT.fullmatch(interface)
    return f"L{found[1]}/U{found[2]}/{found[3]}" if found else ""


def cables(seen: Iterable[FabricLink]) -> FabricLinks:
    """Return the links that are not inside one director."""
    told = columns(seen)
    if not any("/U" in face[0] and asic(face[0]) for face in told.faces):  # next to none has an ASIC's number
        return told
    return columns(each for each in told if not _inside(each))


def _inside(joined: FabricLink) -> bool:
    a, b = asic(joined.a.name), asic(joined.b.name)
    return a is not None and b is not None and a.device == b.device
