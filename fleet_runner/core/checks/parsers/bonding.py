"""A bond as /proc/net/bonding/NAME describes it: its mode, its members, and which aggregator each is in."""

from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError

LACP = "IEEE 802.3ad"
"""How the mode begins in which members speak LACP."""

MOST_LINES = 5_000


class Member(NamedTuple):
    """An interface of a bond: "up" or what else the bond says of its link, its aggregator (None where not told).

    `churned` says that LACP does not settle with the other side.
    """

    name: str
    status: str
    aggregator: int | None
    churned: bool


@dataclass(frozen=True, slots=True)
class Bond:
    """A bond. `partner` is the other side's address ("" where the kernel tells none: only to root does it).

    `aggregator` and `ports` are the aggregator in use and how many members it has; None where not told.
    """

    mode: str
    status: str
    partner: str
    aggregator: int | None
    ports: int | None
    members: tuple[Member, ...]

    @property
    def lacp(self) -> bool:
        """Whether its members are to speak LACP."""
        return self.mode.startswith(LACP)


def parse(text: str) -> Bond:
    """Read one bond's file; EvidenceError for a text that has no mode."""
    lines = text.splitlines()
    if len(lines) > MOST_LINES:
        raise EvidenceError(f"a bond's file has over {MOST_LINES} lines; look at /proc/net/bonding")
    blocks: list[dict[str, str]] = [{}]
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            continue
        if name.strip() == "Slave Interface":
            blocks.append({})
        blocks[-1].setdefault(name.strip(), value.strip())
    head, *members = blocks
    if "Bonding Mode" not in head:
        raise EvidenceError("a bond's file names no Bonding Mode; was it cut short?")
    return Bond(
        mode=head["Bonding Mode"][:80],
        status=head.get("MII Status", "")[:20],
        partner=head.get("Partner Mac Address", "")[:20],
        aggregator=_number(head.get("Aggregator ID")),
        ports=_number(head.get("Number of ports")),
        members=tuple(_member(block) for block in members),
    )


def _member(block: dict[str, str]) -> Member:
    churn = (block.get("Actor Churn State", ""), block.get("Partner Churn State", ""))
    return Member(
        block["Slave Interface"][:30],
        block.get("MII Status", "")[:20],
        _number(block.get("Aggregator ID")),
        "churned" in churn,
    )


def _number(value: str | None) -> int | None:
    return int(value) if value and value.isdecimal() and value.isascii() and len(value) < 10 else None  # noqa: PLR2004  an identifier's digits
