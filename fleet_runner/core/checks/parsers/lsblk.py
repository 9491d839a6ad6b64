"""Block devices as `lsblk --json --bytes` lists them (util-linux 2.37 and later)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.checks.parsers.json_text import json_object, number, objects

COLUMNS = "NAME,PATH,TYPE,SIZE,MODEL,SERIAL,REV,TRAN,RM,HOTPLUG,RO,MOUNTPOINTS,FSTYPE"
"""What must be asked for."""

DEEPEST = 20
"""A partition in a volume in a RAID in a container nests four or five deep."""


@dataclass(frozen=True, slots=True)
class Block:
    """One block device and what is made of it: partitions, volumes, arrays. `bytes` is its size."""

    path: str
    type: str
    bytes: int = 0
    model: str = ""
    serial: str = ""
    firmware: str = ""
    transport: str = ""
    removable: bool = False
    read_only: bool = False
    mounts: tuple[str, ...] = ()
    children: tuple["Block", ...] = ()

    def within(self) -> Iterator["Block"]:
        """Yield everything that is made of it, at any depth."""
        for child in self.children:
            yield child
            yield from child.within()


def parse(text: str) -> tuple[Block, ...]:
    """Return the devices at the top, each with what is made of it; EvidenceError for anything else."""
    return _blocks(json_object(text, "lsblk").get("blockdevices"), DEEPEST)


def _blocks(rows: object, deeper: int) -> tuple[Block, ...]:
    return tuple(_block(row, deeper) for row in objects(rows, "lsblk"))


def _block(row: Mapping[str, Any], deeper: int) -> Block:
    below = row.get("children") if deeper else None
    return Block(
        path=_text(row, "path"),
        type=_text(row, "type"),
        bytes=int(number(row.get("size")) or 0),
        model=_text(row, "model"),
        serial=_text(row, "serial"),
        firmware=_text(row, "rev"),
        transport=_text(row, "tran"),
        removable=_is_so(row, "rm") or _is_so(row, "hotplug"),
        read_only=_is_so(row, "ro"),
        mounts=_mounts(row.get("mountpoints")),
        children=_blocks(below, deeper - 1) if below else (),
    )


def _text(row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    return " ".join(value.split()) if isinstance(value, str) else ""


def _is_so(row: Mapping[str, Any], name: str) -> bool:
    return row.get(name) in (True, "1")


def _mounts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value if each) if isinstance(value, list) else ()
