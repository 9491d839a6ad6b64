"""What a fabric says of itself, whichever tool asked it: links between ports as the fabric names them."""

from dataclasses import dataclass
from typing import NamedTuple


class FabricPort(NamedTuple):
    """One end as the fabric names it: the node's description and port number, the GUID as 16 lower-case digits.

    `kind` is CA, SW or RT. `guid` is the port's where the line tells it, else the node's.
    """

    name: str
    port: int
    kind: str
    guid: str


class FabricLink(NamedTuple):
    """Two ends that are up, with the width ("4x" is 4) and speed ("NDR") in use; 0 and "" where not told."""

    a: FabricPort
    b: FabricPort
    width: int
    speed: str


@dataclass(frozen=True, slots=True)
class Discovery:
    """What a fabric looked like; each link is in `links` once.

    `lonely` are those that only one of their ends told of: a whole capture tells each from both. `unread` are lines
    (counted from 1) that look like records and cannot be read.
    """

    links: tuple[FabricLink, ...]
    lonely: tuple[FabricLink, ...]
    unread: tuple[tuple[int, str], ...]
