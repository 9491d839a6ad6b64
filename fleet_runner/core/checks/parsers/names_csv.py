"""What a fabric calls the ports of a design that does not say it itself, declared in CSV.

The first line names the columns, in any order: `device` and `interface` as the design has them, and what the fabric
says instead: `adapter` ("mlx5_0"), `guid`, and `name`, another name of the device. "*" stands for any letters of a
device's name: alone for every device, and `leaf-*` for those that begin so.
`role` says what a device is ("gpu-server", "leaf").
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Port
from fleet_runner.core.checks.parsers.discovery import guid

COLUMNS = ("device", "interface", "adapter", "guid", "name", "role")
EVERY = "*"

_GUID = re.compile(r"(?:0x)?([0-9a-fA-F]{1,16})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Declared:
    """What was declared: adapters' interfaces by device, the port of each GUID, the device of each name, and roles.

    A GUID without an interface is a whole switch's: its port has the interface "".
    """

    adapters: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    guids: Mapping[str, Port] = field(default_factory=dict[str, Port])
    devices: Mapping[str, str] = field(default_factory=dict[str, str])
    roles: Mapping[str, str] = field(default_factory=dict[str, str])

    def adapters_of(self, device: str) -> dict[str, str]:
        """Return the interface of each adapter of a device; its own name says more than what stands for several."""
        several = sorted((pattern for pattern in self.adapters if EVERY in pattern), key=len)
        found: dict[str, str] = {}
        for name in (*(each for each in several if stands_for(each, device)), device):
            found |= self.adapters.get(name, {})
        return found


def stands_for(pattern: str, device: str) -> bool:
    """Whether a name in which "*" is any letters stands for a device."""
    head, *rest = pattern.split(EVERY)
    if not rest or not device.startswith(head):
        return device == pattern
    *pieces, tail = rest
    at = len(head)
    for piece in pieces:
        found = device.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return device.endswith(tail) and at <= len(device) - len(tail)


def parse(text: str, name: str) -> Declared:
    """Return every declaration; SourceError names the file, the line, what was found and what was expected."""
    rows = list(_rows(text, name))
    if not rows:
        raise SourceError(f"{name}: it is empty; expected a line of column names: {', '.join(COLUMNS)}")
    titles = [cell.lower() for cell in rows[0][1]]
    if "device" not in titles or not set(titles) <= set(COLUMNS):
        found = ",".join(rows[0][1])
        raise SourceError(f"{name}:{rows[0][0]}: found {found!r:.80}, expected column names: {', '.join(COLUMNS)}")
    adapters: dict[str, dict[str, str]] = {}
    guids: dict[str, Port] = {}
    devices: dict[str, str] = {}
    roles: dict[str, str] = {}
    for line, cells in rows[1:]:
        row = dict.fromkeys(COLUMNS, "") | dict(zip(titles, cells, strict=False))
        _checked(row, f"{name}:{line}")
        if row["adapter"]:
            adapters.setdefault(row["device"], {})[row["adapter"]] = row["interface"]
        if row["guid"]:
            guids[_guid(row["guid"])] = Port(row["device"], row["interface"])
        if row["name"]:
            devices[row["name"]] = row["device"]
        if row["role"]:
            roles[row["device"]] = row["role"]
    return Declared(adapters, guids, devices, roles)


def _rows(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text.lstrip("\ufeff").splitlines(), strict=True)
    try:
        for row in reader:
            if any(map(str.strip, row)) and not row[0].lstrip().startswith("#"):
                yield reader.line_num, [cell.strip() for cell in row]
    except csv.Error as error:
        raise SourceError(f"{name}:{reader.line_num}: {error}; expected comma-separated values") from error


def _checked(row: Mapping[str, str], where: str) -> None:
    said = ",".join(row[column] for column in COLUMNS)
    if not row["device"] or not any(row[told] for told in ("adapter", "guid", "name", "role")):
        raise SourceError(
            f"{where}: found {said!r:.80}, expected a device and its adapter, guid or name in the fabric, or its role"
        )
    if row["adapter"] and not row["interface"]:
        raise SourceError(f"{where}: found adapter {row['adapter']!r:.40}, expected the interface that it is, too")
    if EVERY in row["device"] and (row["guid"] or row["name"] or row["role"]):
        raise SourceError(
            f"{where}: a GUID, name or role is one device's; expected its name in place of {row['device']!r:.40}"
        )
    if row["guid"] and not _guid(row["guid"]):
        raise SourceError(f"{where}: found guid {row['guid']!r:.40}, expected up to 16 hexadecimal digits")


def _guid(written: str) -> str:
    """Return a GUID in its one form; "" for what is none."""
    found = _GUID.fullmatch(written.replace(":", ""))
    return guid(found[1]) if found else ""
