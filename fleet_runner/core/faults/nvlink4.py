"""What an Xid 74 says up to NVLink 4: which link failed, and what its registers ask for.

The driver prints `NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)`: seven registers,
of which the first, third, fourth and fifth are known. Bits and actions are facts of NVIDIA's published Xid catalogue
(its workflow NVLINK_ERR). Where it wants a bug reported, the GPU is reset first: a link that failed fatally carries
nothing until then, and a fault that comes back climbs to a person.
"""

import re
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Remedy

_LINE = re.compile(r"\blink (?P<link>\d{1,3})\s?\((?P<registers>0x[0-9A-Fa-f]{1,8}(?:,\s?0x[0-9A-Fa-f]{1,8}){4,8})\)")


class Decoded(NamedTuple):
    """What a line says: the GPU's NVLink, what follows, and what it means, "" where its bits are not known."""

    link: int
    remedy: Remedy
    meaning: str


class Row(NamedTuple):
    """Bits that mean one thing, by the register's place in the line, from 0; the hardest row of a line decides."""

    bits: tuple[tuple[int, frozenset[int]], ...]
    remedy: Remedy
    meaning: str


ROWS = (
    Row(
        ((0, frozenset({4, 5})), (2, frozenset({0, 1, 2, 6})), (4, frozenset({18, 19, 21, 22, 24, 25, 27, 28}))),
        Remedy.RESET,
        "an ECC or parity error in the link's logic: more than twice on one link is the hardware",
    ),
    Row(
        ((0, frozenset({8, 9, 12, 16, 17, 24, 28})),),
        Remedy.RESET,
        "maybe the hardware: if it comes back, seat the link's connections anew and run a field diagnostic",
    ),
    Row(
        ((0, frozenset({21, 22})),),
        Remedy.RESET,
        "a weak signal: if it comes back, look at the link's connections and run a field diagnostic",
    ),
    Row(((3, frozenset({18})),), Remedy.RESET, "it follows another error, and the fabric needs a reset"),
    Row(
        ((0, frozenset({27, 29})), (2, frozenset({13, 16, 17, 18, 19}))),
        Remedy.RESET,
        "if it comes back, run a field diagnostic and tell NVIDIA",
    ),
    Row(
        ((0, frozenset({1, 20})), (3, frozenset({16, 17}))),
        Remedy.RESET,
        "it follows another error: look at the device at the link's other end",
    ),
    Row(
        ((4, frozenset({20, 23, 26, 29})),),
        Remedy.RECORD,
        "many errors were corrected, and none was left: the link works on",
    ),
)
"""What the bits mean, the weightiest first."""

IGNORED = (0, frozenset({0, 23, 30}))
"""Bits that NVIDIA says mean nothing."""


def decode(text: str) -> Decoded | None:
    """Return what the text of an Xid 74 says; None where it has no registers, or they say nothing.

    Bits that are not in the table count as fatal, since the driver logs the line as such.
    """
    found = _LINE.search(text)
    if found is None:
        return None
    registers = [int(each, 16) for each in found["registers"].split(",")]
    place, ignored = IGNORED
    told = {
        (index, bit)
        for index, register in enumerate(registers)
        for bit in range(32)
        if register >> bit & 1 and not (index == place and bit in ignored)
    }
    if not told:
        return None
    link = int(found["link"])
    known = {row: told & {(index, bit) for index, bits in row.bits for bit in bits} for row in ROWS}
    strange = told - set[tuple[int, int]]().union(*known.values())
    first = next((row for row, mine in known.items() if mine), None)
    if first is None or (strange and first.remedy is Remedy.RECORD):
        return Decoded(link, Remedy.RESET, "")
    return Decoded(link, first.remedy, first.meaning)
