"""A parcel is opened: what its texts tell, of which nodes of the fleet, as far as its sender may speak for them."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.faults.signals import alertmanager, fabric, json_lines, kernel, redfish, syslog
from fleet_runner.core.faults.signals import plain as told
from fleet_runner.core.faults.signals.kernel import Line
from fleet_runner.core.faults.signals.places import Places
from fleet_runner.core.faults.signals.signal import Signal
from fleet_runner.core.faults.signals.speakers import ANOTHER, NO_RELAY, Speakers
from fleet_runner.services.signals.inbox import Delivery
from fleet_runner.services.signals.inputs import SYSLOG

UNREADABLE, STRANGER, OTHERS = "refused: unreadable", "refused: no such node", "refused: token of others"

SHOWN = 5
"""Names of strangers that are told of."""


class Read(NamedTuple):
    """What a text tells, and how many of its parts were not understood."""

    signals: tuple[Signal, ...]
    bad: int = 0


@dataclass(frozen=True, slots=True)
class Opened:
    """What a parcel told. `refused` counts by reason what is not gone on with, `details` say more of them.

    `why` is the sentence for its sender, "" where nothing was refused.
    """

    parcel: Delivery
    signals: tuple[Signal, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    details: Mapping[str, str] = field(default_factory=dict[str, str])
    why: str = ""

    @property
    def nothing(self) -> bool:
        """Whether nothing of it was understood."""
        return not self.signals and UNREADABLE in self.refused


OWN_LOGS = frozenset({"log", SYSLOG})
"""Ways in whose lines a machine tells of itself, whatever it calls itself."""


def opened(parcel: Delivery, places: Places, speakers: Speakers) -> Opened:
    """Return what a parcel tells, as far as its sender may; without proof of the sender nothing is authenticated."""
    refused: Counter[str] = Counter()
    details: dict[str, str] = {}
    try:
        read = READERS[parcel.kind](parcel)
    except EvidenceError as error:
        return Opened(parcel, (), {UNREADABLE: 1}, {UNREADABLE: f"from {parcel.sender}: {error}"}, str(error))
    told = speakers.named(read.signals, parcel.sender, places) if parcel.kind in OWN_LOGS else read.signals
    spoken = speakers.spoken(told, parcel.sender, parcel.token, places)
    placed = spoken.placed
    if read.bad:
        refused[UNREADABLE] = read.bad
    if placed.unknown:
        refused[STRANGER] = sum(placed.unknown.values())
        details[STRANGER] = f"from {parcel.sender}: {', '.join(sorted(placed.unknown)[:SHOWN])}"
    if spoken.another:
        refused[ANOTHER] = sum(spoken.another.values())
        details[ANOTHER] = f"from {parcel.sender}: {', '.join(sorted(spoken.another)[:SHOWN])}"
    if spoken.no_relay:
        refused[NO_RELAY] = spoken.no_relay
    mine = tuple(signal for signal in placed.signals if parcel.token is None or parcel.token.speaks_of(signal.node))
    if len(mine) < len(placed.signals):
        refused[OTHERS] = len(placed.signals) - len(mine)
    why = "; ".join(f"{what.removeprefix('refused: ')}: {count}" for what, count in refused.items())
    if speakers.proves(parcel.sender, parcel.token):
        mine = tuple(replace(signal, authenticated=True) for signal in mine)
    return Opened(parcel, mine, refused, details, why)


def _text(parcel: Delivery) -> str:
    """Return the text of a parcel that has one."""
    return parcel.texts[0].decode("utf-8", "replace")


def _log(parcel: Delivery) -> Read:
    lines, bad = json_lines.read(_text(parcel), parcel.node, parcel.at)
    return Read(kernel.read(lines, parcel.at), bad)


def _syslog(parcel: Delivery) -> Read:
    lines: list[Line] = []
    bad = 0
    for message in parcel.texts:
        try:
            line = syslog.read(message.decode("utf-8", "replace"), parcel.at)
        except EvidenceError:
            bad += 1
        else:
            lines += [line] if line is not None else []
    return Read(kernel.read(lines, parcel.at), bad)


def _alertmanager(parcel: Delivery) -> Read:
    return Read(alertmanager.read(_text(parcel), parcel.at))


def _redfish(parcel: Delivery) -> Read:
    return Read(redfish.read(_text(parcel), parcel.at, parcel.node))


def _fabric(parcel: Delivery) -> Read:
    return Read(fabric.read(_text(parcel), parcel.at))


def _told(parcel: Delivery) -> Read:
    return Read(told.read(_text(parcel), parcel.at))


READERS: Mapping[str, Callable[[Delivery], Read]] = {
    "log": _log,
    SYSLOG: _syslog,
    "alertmanager": _alertmanager,
    "redfish": _redfish,
    "fabric": _fabric,
    "": _told,
}
"""Who reads what comes through a door."""
