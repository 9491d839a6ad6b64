"""What an NVLink 5 error (Xid 144 to 150) is about: its unit, its bits, and what they ask for.

The driver prints a name, a severity, the link, and words of 32 bits: `RLW_REMAP Fatal XC0 i0 Link 08 (0x00000004
0x00000040 ...)`. The first word holds the unit, in one layout before driver R575 and in another one from it on; the
second one the error, mostly a bit of its own. Units, bits and actions are facts of NVIDIA's published Xid catalogue
(its table for 144 to 150); where a word says something else than the table knows, nothing is decoded.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.checks.verdicts import Remedy

_LINE = re.compile(
    r"(?:^|, )(?P<name>[A-Z0-9_]{2,30}(?:[ /][A-Za-z0-9_]{2,30})?)\s{1,4}(?:Link\s)?(?:Non-?)?[Ff]atal\s{1,4}"
    r"XC-?\d{1,4} i-?\d{1,4} Link (?P<link>-?\d{1,4}) "
    r"\(0x(?P<unit>[0-9A-Fa-f]{8}) 0x(?P<error>[0-9A-Fa-f]{8})(?: 0x[0-9A-Fa-f]{8}){0,8}\)$"
)
"""The end of a line: a process named like an error stands before it."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a line says. `link` is the GPU's NVLink, -1 where it is not about one; `look` where to look, "" for none.

    `remedy` is RESET, or RECORD: the error asks for nothing by itself, or leaves it to the Xid 154 that follows it.
    """

    unit: str
    link: int
    remedy: Remedy
    look: str


class Unit(NamedTuple):
    """A row: the names of a unit, its bits in the first word before R575 and from it on, and what its errors ask for.

    `resets` are the errors after which the GPU must be reset, `known` all the others. Of most units an error is a bit
    (`whole` is False); of the others it is the whole word. `often` is the bit of the first word, in both layouts,
    that says of some errors that they came often enough to need a reset.
    """

    names: tuple[str, ...]
    before: int
    since: int
    resets: frozenset[int] = frozenset()
    known: frozenset[int] = frozenset()
    whole: bool = False
    often: tuple[int, int] = (0, 0)


def _bits(*errors: int) -> frozenset[int]:
    return frozenset(errors)


_SOFTWARE = 0x8000_0000
"""The bit by which most units tell of an error that the driver itself made known."""

UNITS: dict[int, tuple[Unit, ...]] = {
    144: (
        Unit(("SAW_MVB",), 0x021, 0x01, _bits(0x2, 0x10), _bits(0x1, 0x4, 0x8, 0x20)),
    ),
    145: (
        Unit(("RLW_CTRL",), 0x062, 0x03, known=_bits(_SOFTWARE)),
        Unit(("RLW_REMAP",), 0x082, 0x04, _bits(0x40, 0x80),
             _bits(0x1, 0x2, 0x4, 0x8, 0x10, 0x20, 0x100, 0x200, _SOFTWARE)),
        Unit(("RLW_RSPCOL",), 0x0A2, 0x05, _bits(0x2), _bits(0x1, _SOFTWARE)),
        Unit(("RLW_RXPIPE",), 0x0C2, 0x06, known=_bits(0x1, 0x2, 0x4, 0x8, _SOFTWARE), often=(0x400, 0x80)),
        Unit(("RLW_SRC_TRACK",), 0x0E2, 0x07, _bits(0x1, 0x10, 0x20), _bits(0x2, 0x4, 0x8, _SOFTWARE)),
        Unit(("RLW_TAGSTATE",), 0x102, 0x08, _bits(0x2, 0x20000, 0x100000), _bits(0x1, 0x10000, _SOFTWARE)),
    ),
    146: (
        Unit(("TLW_CTRL",), 0x123, 0x09, _bits(0x4), _bits(0x1, 0x2, _SOFTWARE)),
        Unit(("TLW_RX", "TLW_RX_PIPE0"), 0x143, 0x0A, _bits(0x4), _bits(0x1, 0x2, _SOFTWARE)),
        Unit(("TLW_RX", "TLW_RX_PIPE1"), 0x143, 0x0B, _bits(0x4), _bits(0x1, 0x2, _SOFTWARE)),
        Unit(("TLW_TX", "TLW_TX_PIPE0"), 0x163, 0x0C, _bits(0x4), _bits(0x1, 0x2, _SOFTWARE)),
        Unit(("TLW_TX", "TLW_TX_PIPE1"), 0x163, 0x0D, _bits(0x4), _bits(0x1, 0x2, _SOFTWARE)),
    ),
    147: (
        Unit(("TREX",), 0x184, 0x0E, known=_bits(0x1, _SOFTWARE)),
    ),
    148: (
        Unit(("NVLPW_CTRL", "NVLPW"), 0x005, 0x0F, known=_bits(_SOFTWARE)),
    ),
    149: (
        Unit(("NETIR_BER_EVENT",), 0x226, 0x13, known=_bits(0x0, 0x1, 0x2, 0x3), whole=True),
        Unit(("NETIR_MFDE_EVENT",), 0x246, 0x14, _bits(0x1, 0x4, 0x5, 0x7), _bits(0x3), whole=True),
    ),
}  # fmt: skip
"""Units by their Xid; links, interrupts and the management engine have rules of their own below."""

_BEFORE, _SINCE = 0x3FF, 0x7F
"""The bits of the first word that name the unit, in both layouts."""

_OFTEN = frozenset({0x1, 0x2, 0x4})
"""The errors of RLW_RXPIPE of which the first word says whether they came often."""

_NETIR, _MSE = 149, 150
"""The network interface, whose links have reasons; the management engine, whose unit is 0."""

_SIGNAL = "the link's signal: its connectors, cables and the tray they end in"
_ALONE = "the other errors beside it; alone it must be told to NVIDIA"
_PEER = "the device at the link's other end, whose own log tells more"
_SOFTWARE_MADE = "who brought the link down: software did"

LINK_DOWN: dict[int, tuple[Remedy, str]] = {
    0x00: (Remedy.RESET, _ALONE),
    0x01: (Remedy.RESET, "how often it comes: more than once a day must be told to NVIDIA"),
    0x02: (Remedy.RESET, _SIGNAL),
    0x04: (Remedy.RESET, _SIGNAL),
    0x0A: (Remedy.RESET, _SIGNAL),
    0x0F: (Remedy.RESET, _SOFTWARE_MADE),
    0x10: (Remedy.RESET, f"{_SOFTWARE_MADE}, or {_SIGNAL}"),
    0x11: (Remedy.RESET, _SOFTWARE_MADE),
    0x12: (Remedy.RESET, f"{_SOFTWARE_MADE}, or {_SIGNAL}"),
    0x15: (Remedy.RESET, _PEER),
    0x16: (Remedy.RESET, _SOFTWARE_MADE),
    **dict.fromkeys(range(32, 38), (Remedy.RESET, _PEER)),
    0x26: (Remedy.RECORD, _SOFTWARE_MADE),
    0x28: (Remedy.RECORD, "the host, which ended the link"),
    0x2A: (Remedy.RESET, _SIGNAL),
    0x2B: (Remedy.RESET, _SIGNAL),
}
"""Why a link went down (bits 20 to 25 of the first word), and what follows."""

_LINK_NAMES, _LINK_UNITS = frozenset({"NETIR_LINK_EVT", "NETIR_LINK_DOWN"}), (0x1C6, 0x11)
_INTERRUPT_NAMES, _INTERRUPT_UNITS = frozenset({"NETIR", "NETIR_INT"}), (0x006, 0x18)
_ENGINE_NAMES = frozenset({"MSE_WATCHDOG", "MSE Degraded", "MSE"})


def decode(code: int, text: str) -> Decoded | None:
    """Return what a line of an Xid from 144 to 150 says, by the text behind its code; None where it is not known."""
    found = _LINE.search(text)
    if found is None:
        return None
    names, link = frozenset(found["name"].split("/")), int(found["link"])
    unit, error = int(found["unit"], 16), int(found["error"], 16)
    answer = _answer(code, names, unit, error)
    return None if answer is None else Decoded(found["name"], link, *answer)


def _answer(code: int, names: frozenset[str], word: int, error: int) -> tuple[Remedy, str] | None:
    if code == _MSE:
        return (Remedy.RESET, "") if names & _ENGINE_NAMES and not word & _SINCE else None
    if code == _NETIR and names & _LINK_NAMES:
        return LINK_DOWN.get(word >> 20 & 0x3F) if _is(word, *_LINK_UNITS) else None
    if code == _NETIR and names & _INTERRUPT_NAMES:
        return (Remedy.RESET, _ALONE) if _is(word, *_INTERRUPT_UNITS) else None
    rows = (row for row in UNITS.get(code, ()) if names & set(row.names) and _is(word, row.before, row.since))
    row = next(rows, None)
    return _judged(row, word, error) if row is not None else None


def _is(word: int, before: int, since: int) -> bool:
    """Whether a first word names a unit, in either layout."""
    return word & _BEFORE == before or word & _SINCE == since


def _judged(row: Unit, word: int, error: int) -> tuple[Remedy, str] | None:
    said = {error} if row.whole else {1 << bit for bit in range(32) if error >> bit & 1}
    if not said or not said <= row.resets | row.known:
        return None
    often = word & row.often[0 if word & _BEFORE == row.before else 1] and said & _OFTEN
    look = _SIGNAL if row.whole and not row.resets else ""
    return (Remedy.RESET if often or said & row.resets else Remedy.RECORD), look
