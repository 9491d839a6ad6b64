"""What each kind of fault looks like, and what somebody does about it: the words of documents and explanations."""

from collections.abc import Iterable
from typing import NamedTuple

from fleet_runner.core.cabling.explain import Fault, Kind


class Row(NamedTuple):
    """How a kind is told from the others, and what its ticket asks for."""

    told_by: str
    to_do: str


KINDS: dict[Kind, Row] = {
    Kind.MISSING: Row(
        "A designed link is not there, and both its ports are empty.", "Put the cable in, or reseat it."
    ),
    Kind.EXTRA: Row("A link joins two ports for which no cable is designed.", "Take the cable out."),
    Kind.MOVED: Row("One end of a cable is in another port of the right device.", "Move that end."),
    Kind.WRONG_SWITCH: Row("One end of a cable is in another device.", "Move that end to the right device."),
    Kind.MOVED_AND_MISSING: Row(
        "One end of a cable took the port of another, and that other cable is gone.",
        "Move the end back, and put the missing cable in.",
    ),
    Kind.OCCUPIED: Row(
        "The two ports of one designed cable hold two others.", "Take one of them out, and move one end of the other."
    ),
    Kind.SWAP: Row("Two cables have taken each other's ports.", "Exchange two plugs."),
    Kind.WRONG_RAIL: Row("Two rails of one server have taken each other's ports.", "Exchange two plugs."),
    Kind.ROTATION: Row(
        "Three or more cables have taken each other's ports in a ring: a bundle plugged in turned or shifted.",
        "Move one plug of each cable.",
    ),
    Kind.SHIFTED: Row(
        "Cables have taken their neighbours' ports in a row, with a port left over at its end.",
        "Move one plug of each cable, starting at the free port.",
    ),
    Kind.DARK: Row(
        "None of a device's designed links is up: the device, not its cables.",
        "Look at its power, then at its cables.",
    ),
    Kind.CARRIER: Row(
        "None of the designed links through a trunk, a panel or a cage is up: the bundle, not its cables.",
        "Look at the bundle.",
    ),
    Kind.UNPLANNED: Row(
        "A device that the design does not know is plugged in, with all of its links.",
        "Take it off the fabric, or add it to the design.",
    ),
    Kind.EXCHANGED: Row(
        "The links of whole devices are found at each other's ports: they, or their cables, are exchanged.",
        "Read the serials first; then exchange the devices, or their records.",
    ),
    Kind.REPLACED_HCA: Row(
        "A new GUID stands where an adapter was, and its link is as designed.", "Record the new GUID; move nothing."
    ),
    Kind.REPLACED_SWITCH: Row(
        "A new GUID stands where a switch was, and its links are as designed.", "Record the new GUID; move nothing."
    ),
    Kind.DEGRADED: Row(
        "A link joins what it should and runs slower or narrower than its designed type, or than most of its kind.",
        "Reseat the cable; if it stays, replace it.",
    ),
}


_FIRST = (Kind.EXCHANGED, Kind.DARK, Kind.CARRIER, Kind.UNPLANNED)
"""Whole devices and bundles: they are the most work, and explain the most."""


def ordered(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return faults as a list shows them: kind by kind, whole devices and bundles first."""
    ranks = {kind: rank for rank, kind in enumerate((*_FIRST, *sorted(set(Kind) - set(_FIRST))))}
    return tuple(sorted(faults, key=lambda fault: (ranks[fault.kind], fault.key)))


def said(kind: Kind) -> str:
    """Return a kind as people say it: "wrong switch", "replaced HCA"."""
    return kind.replace("_", " ").replace("hca", "HCA")


def clause(kind: Kind) -> str:
    """Return how a kind is told from the others, as one clause."""
    told = KINDS[kind].told_by.removesuffix(".")
    return f"{told[0].lower()}{told[1:]}"


def table() -> str:
    """Return every kind as a table in Markdown."""
    rows = [f"| {said(kind)} | {row.told_by} | {row.to_do} |" for kind, row in KINDS.items()]
    return "\n".join(["| kind | told by | to do |", "| --- | --- | --- |", *rows])
