"""What a wipe does next with each device: a pure function of what the profile wants and what the node says.

Asked again after every step, from a fresh look, it needs no memory of its own: what ran, or runs, is told by the
device itself and by the node's log; what was proven in this stay, by the results that are stored.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from fleet_runner.core.checks.parsers.nvme_tool import Sanitized
from fleet_runner.core.lifecycle.wipe import reports
from fleet_runner.core.lifecycle.wipe.devices import Device, Kind
from fleet_runner.core.lifecycle.wipe.methods import IDENTITY_KEY, SET_PASSWORD, UNLOCK, WAYS, Method
from fleet_runner.core.lifecycle.wipe.reports import Report, TryStatus
from fleet_runner.core.lifecycle.wipe.wanted import Row, WipePlan

SAMPLES = 64
"""Blocks of 4 KiB that are read before and after."""

MOST_LOST = 2
"""Tries of one method that may get lost before it counts as failed."""


class Next(StrEnum):
    """What follows for one device."""

    ERASE = "erase"
    WAIT = "wait"
    DONE = "done"
    REFUSE = "refuse"  # it is the node's, and cannot or must not be erased: a person must
    LEAVE = "leave"  # it is none of the node's own disks
    UNREAD = "unread"  # it is not known well enough to be touched


@dataclass(frozen=True, slots=True)
class Item:
    """One device and what follows. `code` and `steps` are for the ticket of one that is refused."""

    device: Device
    next: Next
    why: str
    method: Method | None = None
    report: Report | None = None
    code: str = ""
    steps: tuple[str, ...] = ()
    kept: Mapping[str, Any] | None = None
    number: int = 1


@dataclass(frozen=True, slots=True)
class Missing:
    """Disks that the node should have and has not."""

    what: str
    why: str


@dataclass(frozen=True, slots=True)
class Stay:
    """What is known of this stay in the state wipe: its begin, and what was proven in it, by the devices' keys."""

    since: float
    now: float
    reports: tuple[Report, ...] = ()
    proven: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])


STEPS: dict[str, str] = {
    "wipe.model": "Find out whose disk it is; if it is the node's, add its model to the device type's profile.",
    "wipe.serial": "Find out whose disk it is; if it is the node's, add it to the source of truth.",
    "wipe.too_many": "Take out the disk that is not the node's, or list the node's own in the source of truth.",
    "wipe.hurdle": "Boot the node from the network without using this disk, and remove what blocks the wipe.",
    "wipe.stuck": "Power the node off and on and see if the disk ends it by itself; else destroy the disk.",
    "wipe.failed": "Take out the disk with serial {serial} and destroy it, or use its vendor's own tool; one that "
    "encrypts itself and is locked, with the PSID on its label.",
    "wipe.no_method": "Take out the disk with serial {serial} and destroy it, or use its vendor's own tool.",
}
"""What a person does about a disk that is refused, by the code of its finding."""

OF_TPM = (
    "Clear the TPM in the firmware's setup, or by the BIOS attribute that its vendor has for it (TPM Clear, TPM "
    "Operation, Pending Operation), and boot the node anew."
)


@dataclass(frozen=True, slots=True)
class _Case:
    """What a decision about one device rests on beside the device."""

    wanted: WipePlan
    own: frozenset[str]
    crowded: Counter[Row]
    stay: Stay


def plan(wanted: WipePlan, own: Collection[str], found: Sequence[Device], stay: Stay) -> tuple[Item, ...]:
    """Return what follows for each device. `own` are the serial numbers of the node's disks, if they are known."""
    case = _Case(wanted, frozenset(own), _counted(wanted, found), stay)
    return tuple(_item(device, case) for device in found)


def missing(wanted: WipePlan, own: Collection[str], found: Sequence[Device]) -> tuple[Missing, ...]:
    """Return the disks that should be there and are not: what they hold is somewhere."""
    there, serials = _counted(wanted, found), {device.serial for device in found if not device.left}
    gone = [Missing(each, f"the disk with serial {each} is not there") for each in sorted(set(own) - serials)]
    fewer = [
        Missing(row.model, f"{there[row]} of {row.count} disks of model {row.model} are there")
        for row in wanted.rows
        if there[row] < row.count
    ]
    return (*gone, *fewer)


def _counted(wanted: WipePlan, found: Sequence[Device]) -> Counter[Row]:
    local = (wanted.row(device.model) for device in found if device.kind is Kind.DISK and not device.left)
    return Counter(row for row in local if row is not None)


def _item(device: Device, case: _Case) -> Item:
    """What is not the node's is left; what goes on is waited for; only then anything else is asked of a device."""
    if device.left:
        return Item(device, Next.LEAVE, device.left)
    mine = [each for each in case.stay.reports if each.key == device.key]
    going = _going(device, mine, case)
    if going is not None:
        return going
    if device.unread:
        return Item(device, Next.UNREAD, device.unread)
    if device.kind is Kind.TPM:
        return _next(device, (Method.TPM_CLEAR,), mine)
    found = _row(device, case)
    return _next(device, found.methods, mine) if isinstance(found, Row) else _refused(device, *found)


def _row(device: Device, case: _Case) -> Row | tuple[str, str]:
    """Return the row that a disk is of, or why it is doubtful that it is the node's own, behind a finding's code."""
    row = case.wanted.row(device.model)
    if row is None:
        return "wipe.model", "its model is in no row of the profile's section wipe"
    if case.own and device.serial not in case.own:
        return "wipe.serial", "the source of truth does not list its serial number"
    if not case.own and case.crowded[row] > row.count:
        there = f"{case.crowded[row]} disks of model {row.model} are there, expected {row.count}"
        return "wipe.too_many", f"{there}: one is not the node's, and none says which"
    return row


def _going(device: Device, mine: Sequence[Report], case: _Case) -> Item | None:
    """Say what was begun, or done, whoever began it; nothing where neither is so."""
    kept = case.stay.proven.get(device.key)
    if kept is not None:
        return Item(device, Next.DONE, str(kept.get("why", "")), kept=kept)
    for report in reversed(mine):
        if report.stand is TryStatus.RUNNING:
            return replace(_waits(device, report.started, case), method=report.method, report=report)
        if report.stand is TryStatus.ENDED and not reports.failure(report):
            return Item(device, Next.DONE, reports.proof(report), report.method, report)
    log = device.sanitize
    if log is not None and log.state is Sanitized.RUNNING:
        found = _waits(device, case.stay.since, case)
        return replace(found, why=f"{found.why}; {log.share:.0%} of a sanitize is done")
    if (
        log is not None
        and log.proves
        and not any(report.touched for report in mine if report.stand is TryStatus.ENDED)
    ):
        return Item(device, Next.DONE, "its own log says that it was sanitized, with no write since")
    return None


def _waits(device: Device, started: float, case: _Case) -> Item:
    """Wait for what runs, but not for ever: drives are known that never end a sanitize.

    `started` may be by the node's clock, which may be wrong; nothing of this stay began before the stay.
    """
    seconds, most = max(0.0, case.stay.now - max(started, case.stay.since)), case.wanted.seconds
    if seconds > most:
        why = f"it is being erased for {seconds / 3600:.1f} h, expected at most {most / 3600:g}"
        return _refused(device, "wipe.stuck", why)
    return Item(device, Next.WAIT, f"it is being erased for {seconds:.0f} s")


def _next(device: Device, methods: Sequence[Method], mine: Sequence[Report]) -> Item:
    if device.hurdle:
        return _refused(device, "wipe.hurdle", device.hurdle)
    failed = {method: why for method in methods if (why := _failed([each for each in mine if each.method is method]))}
    left = [method for method in methods if method in device.can and method not in failed]
    if left:
        return Item(device, Next.ERASE, WAYS[left[0]].meaning, left[0], number=len(mine) + 1)
    if failed:
        return _refused(device, "wipe.failed", "; ".join(f"{method}: {why}" for method, why in failed.items()))
    return _refused(device, "wipe.no_method", f"it knows none of {', '.join(methods)}")


def _failed(tries: Sequence[Report]) -> str:
    """Say why a method is not tried again; "" where it was not, or only got lost."""
    ended = [reports.failure(each) for each in tries if each.stand is TryStatus.ENDED]
    if ended:
        return ended[-1]
    lost = sum(each.stand is TryStatus.LOST for each in tries)
    return f"it got lost {lost} times" if lost >= MOST_LOST else ""


def _refused(device: Device, code: str, why: str) -> Item:
    step = OF_TPM if device.kind is Kind.TPM else STEPS[code].format(serial=device.serial)
    return Item(device, Next.REFUSE, why, code=code, steps=(step,))


def order(item: Item) -> dict[str, Any]:
    """Return what the module on the node needs to carry an ERASE out; it decides nothing by itself."""
    if item.method is None:
        raise ValueError(f"{item.device.key} is not to be erased")
    way, device = WAYS[item.method], item.device
    paths = device.paths[:1] if way.whole else device.paths
    # A disk with a password takes no other one: if it is not ours, of an erase that was cut off, it is refused.
    words = [UNLOCK if device.enabled and SET_PASSWORD in each else each for each in way.steps]
    first = paths[0] if paths else ""
    steps = [_words(each, path) for path in paths or ("",) for each in words]
    return {
        "key": device.key,
        "number": item.number,
        "method": item.method.value,
        "devices": [{"path": path, "serial": device.serial} for path in device.paths],
        "steps": steps,
        "poll": _words(way.poll, first),
        "while": way.while_,
        "samples": SAMPLES,
        "probe": list(IDENTITY_KEY) if device.kind is Kind.TPM else [],
    }


def _words(argv: Iterable[str], path: str) -> list[str]:
    return [path if word == "{path}" else word for word in argv]
