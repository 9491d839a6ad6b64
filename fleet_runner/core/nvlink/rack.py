"""An NVLink domain as one machine: its state in one sentence, and each thing in its racks with a word about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.base.plural import counted
from fleet_runner.core.checks.shared.leaks import DETECTED, SUSPECTED
from fleet_runner.core.checks.verdicts import NOT_SOUGHT, Result, Verdict
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.states import SERVING
from fleet_runner.core.nvlink.domains import Domain
from fleet_runner.core.nvlink.trouble import named

SENSORS = "sensors"
"""The check whose answer of a tray has its leak detectors."""

SHELVES: Mapping[str, str] = {"power-shelf": "power shelf", "cdu": "coolant unit", "manifold": "manifold"}
"""Roles of what belongs to such a rack and is no tray: it is in the design, and nothing asks it."""


WORDS: Mapping[str, str] = {
    "nvlink.partition": "in another partition than designed",
    "nvlink.cluster": "in another NVLink cluster",
    "nvlink.driver": "another driver than most",
    "nvlink.tray": "all its NVLinks are down",
    "nvlink.connector": "NVLinks of all its GPUs are down",
    "nvlink.port": "an NVLink is down",
    "imex.inactive": "IMEX does not run",
    "imex.missing": "missing in other trays' IMEX",
    "imex.not_ready": "IMEX is not READY",
    "imex.config": "IMEX is configured otherwise",
    "imex.version": "IMEX has another version",
}
"""What a sweep's finding says of a compute tray that it names."""


_LEAKS: Mapping[str, list[str]] = {DETECTED: ["a leak"], SUSPECTED: ["a leak is suspected"]}


class Tray(NamedTuple):
    """What is known of a compute tray: its state ("production"), and its newest answer of SENSORS, if any.

    `tickets` are the codes of the faults that open tickets of it are about: what is mute since may be wet still.
    """

    state: str
    sensors: Result | None = None
    tickets: frozenset[str] = frozenset()

    @property
    def leak(self) -> str:
        """DETECTED, SUSPECTED, or "" for neither."""
        codes = _codes(self.sensors) | self.tickets
        return next((code for code in (DETECTED, SUSPECTED) if code in codes), "")


class Row(NamedTuple):
    """One thing in the rack: what it is, a word about it, and whether somebody should look."""

    name: str
    kind: str
    unit: str
    word: str
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Rack:
    """A domain's state in a sentence, and its rows from the top of the racks down."""

    sentence: str
    rows: tuple[Row, ...]


def rack(domain: Domain, fleet: Fleet, trays: Mapping[str, Tray], sweep: Result | None) -> Rack:
    """Return a domain's state; `trays` are those that the store knows, `sweep` the newest answer about the domain."""
    lost = _lost(sweep)
    rows = [_compute(name, fleet.devices.get(name), trays.get(name), sweep) for name in domain.trays]
    rows += [_switch(name, fleet.devices.get(name), sweep, lost) for name in domain.switches]
    rows += [_beside(each) for each in _others(domain, fleet)]
    places = {name: device.rack or "" for name, device in fleet.devices.items()}
    ordered = sorted(rows, key=lambda row: (natural(places.get(row.name, "")), -_height(row), natural(row.name)))
    return Rack(_sentence(domain, trays, sweep), tuple(ordered))


def leaking(trays: Mapping[str, Tray], code: str = DETECTED) -> tuple[str, ...]:
    """Return the trays at which coolant was found (DETECTED), or is suspected."""
    return tuple(name for name, tray in trays.items() if tray.leak == code)


def leak_sentence(found: Iterable[str]) -> str:
    """Say what to do about trays that leak; "" for none. Where several do, it is what they share."""
    trays = sorted(found, key=natural)
    if not trays:
        return ""
    if len(trays) > 1:
        return (
            f"{len(trays)} compute trays leak ({named(trays)}): power the whole rack off, close its coolant valves,"
            " look at its manifold"
        )
    return f"{trays[0]} leaks: power it off, close its coolant valves, look at the trays below it"


def _sentence(domain: Domain, trays: Mapping[str, Tray], sweep: Result | None) -> str:
    doubted = sorted(leaking(trays, SUSPECTED), key=natural)
    out = [name for name in domain.trays if name in trays and trays[name].state not in SERVING]
    told = [
        leak_sentence(leaking(trays)),
        f"a leak is suspected at {named(doubted)}: look" if doubted else "",
        sweep.message if sweep is not None and sweep.verdict is Verdict.FAIL else "",
        _out(out, trays, len(domain.trays)),
        _unknown(sweep),
        _mute([name for name in domain.trays if name in trays and _is_mute(trays[name].sensors)]),
        _strange([name for name in domain.trays if name not in trays], len(domain.trays)),
    ]
    return "; ".join(each for each in told if each) or (
        f"well: {counted(len(domain.trays), 'compute tray')} and {counted(len(domain.switches), 'switch tray')}"
        " are one machine"
    )


def _out(out: list[str], trays: Mapping[str, Tray], count: int) -> str:
    if not out:
        return ""
    told = named([f"{name}: {trays[name].state}" for name in out])
    rest = "; the others serve" if len(out) < count else ""
    return f"{len(out)} of {counted(count, 'compute tray')} {'is' if len(out) == 1 else 'are'} out ({told}){rest}"


def _unknown(sweep: Result | None) -> str:
    if sweep is None:
        return "whether its trays are one machine is unknown: it was not swept yet"
    return f"unknown: {sweep.message}" if sweep.verdict is Verdict.UNKNOWN else ""


def _mute(names: list[str]) -> str:
    return f"whether it is dry is not known of {named(names)}" if names else ""


def _is_mute(sensors: Result | None) -> bool:
    """Whether a tray's leak detectors could not all be read; one that was never read, or has none, is not mute."""
    return sensors is not None and bool(sensors.observed.get(NOT_SOUGHT))


def _strange(names: list[str], count: int) -> str:
    verb = "is" if len(names) == 1 else "are"
    return f"{len(names)} of {counted(count, 'compute tray')} {verb} not known to the store" if names else ""


def _compute(name: str, device: Device | None, tray: Tray | None, sweep: Result | None) -> Row:
    state = "not known to the store" if tray is None else "serves" if tray.state in SERVING else f"out: {tray.state}"
    found = sweep.findings if sweep is not None else ()
    wrong = [WORDS[each.code] for each in found if name in each.devices and each.code in WORDS]
    wrong += _LEAKS.get(tray.leak, []) if tray is not None else []
    unseen = _unseen(tray.sensors) if tray is not None else ""
    words = [state, *dict.fromkeys(wrong), *([unseen] if unseen else [])]
    return Row(name, "compute tray", _unit(device), "; ".join(words), bool(wrong) or state != "serves")


def _unseen(sensors: Result | None) -> str:
    """Say which leak detectors are not known to be dry; "" where all are known."""
    detectors = sensors.observed.get("leak_detectors") if sensors is not None else None
    if not isinstance(detectors, Mapping) or not detectors:
        return "no leak detector is known"
    mute = [str(each) for each, state in detectors.items() if state == "unknown"]
    return f"{len(mute)} of {counted(len(detectors), 'leak detector')} not known ({named(mute, 2)})" if mute else ""


def _switch(name: str, device: Device | None, sweep: Result | None, lost: frozenset[str]) -> Row:
    seen = sweep is not None and sweep.verdict is not Verdict.UNKNOWN
    word = "lost" if name in lost else "its links are up, as the compute trays see them" if seen else "not known"
    return Row(name, "switch tray", _unit(device), word, name in lost or not seen)


def _beside(device: Device) -> Row:
    return Row(device.name, SHELVES[device.role], _unit(device), "in the design; nothing asks it")


def _others(domain: Domain, fleet: Fleet) -> list[Device]:
    return [
        each
        for each in fleet.devices.values()
        if each.role in SHELVES and each.site == domain.site and each.rack in domain.racks
    ]


def _lost(sweep: Result | None) -> frozenset[str]:
    found = sweep.findings if sweep is not None else ()
    return frozenset(name for each in found if each.code == "nvlink.switch_tray" for name in each.devices)


def _codes(result: Result | None) -> frozenset[str]:
    return frozenset(each.code for each in result.findings) if result is not None else frozenset()


def _unit(device: Device | None) -> str:
    return f"U{device.position:g}" if device is not None and device.position is not None else ""


def _height(row: Row) -> float:
    return float(row.unit[1:] or 0.0)
