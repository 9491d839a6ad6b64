"""Designed cables as a topology file, as ibdiagnet and UFM write one and compare fabrics with it.

Each system has a section that an empty line ends: its type and its name, then a line for each of its ports, with the
type, the name and the port of the system at the other end: "   P1 -4x-50G-> HCA_1 gpu-01 P1".
"""

import re

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet, ended

_SYSTEM = re.compile(r"\s*(\S+)\s+([^\s/]+)(?:\s+CFG:.*)?\s*")
_PORT = r"(\S(?:.{0,60}?\S)?)"
_CABLE = re.compile(rf"\s*{_PORT}\s+-(?:[0-9]{{1,2}}[xX]-)?(?:[0-9.]+G?-)?>\s+(\S+)\s+(\S+)\s+{_PORT}\s*", re.ASCII)
_MARKS = frozenset(",;")
"""What stands between the cells of a table, in which an arrow may stand as well."""

_PANEL = re.compile(r"P([0-9]+)", re.ASCII)
_ADAPTER_PORT = re.compile(r"(.+)/P([0-9]+)", re.ASCII)
_ADAPTER = re.compile(
    r"HCA|CONNECTX|CX[0-9]|BLUEFIELD|BF[0-9]|MT2[356][0-9]{3}|MT4[0-9]{3}(?![0-9])", re.ASCII | re.IGNORECASE
)
_EXPECTED = "expected a system's type and name, or a cable such as P1 -4x-50G-> HCA_1 gpu-01 P1"


def begins(text: str) -> bool:
    """Whether a text is a topology file: a line of it is one of its cables."""
    found = (each for line in text.splitlines() if (each := _CABLE.fullmatch(line)))
    return any(" " not in each[1] or not _MARKS.intersection(each[0]) for each in found)


def read(text: str, name: str) -> Sheet:
    """Return the cables of a topology file; SourceError names the line, what was found and what was expected."""
    rows: list[Row] = []
    kind = system = ""
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            system = system if line.strip() else ""
        elif found := _CABLE.fullmatch(line):
            port, far_kind, far, far_port = found.groups()
            if not system:
                raise SourceError(f"{name}:{number}: found a cable before its system, {_EXPECTED}")
            ends = Port(system, _interface(port)), Port(far, _interface(far_port))
            roles = ((system, kind), (far, far_kind))
            rows.append(Row(number, link(*ends), roles=tuple((each, _role(of)) for each, of in roles)))
        elif found := _SYSTEM.fullmatch(line):
            kind, system = found.groups()
        else:
            raise SourceError(f"{name}:{number}: found {line.strip()[:60]!r}, {_EXPECTED}")
    if not rows:
        raise SourceError(f"{name}: it is a topology without a cable; {_EXPECTED}")
    return ended(Sheet(name, tuple(rows)), text)


def _interface(port: str) -> str:
    """Return a port as other forms have it: P7 is 7, HCA-1/P1 is HCA-1, and HCA-1/P2 is HCA-1/2."""
    if panel := _PANEL.fullmatch(port):
        return panel[1]
    adapter = _ADAPTER_PORT.fullmatch(port)
    if adapter is None:
        return port
    return adapter[1] if adapter[2] == "1" else f"{adapter[1]}/{adapter[2]}"


def _role(kind: str) -> str:
    """Return what a type of system is: an adapter's is a server's."""
    return "server" if _ADAPTER.match(kind) else "switch"
