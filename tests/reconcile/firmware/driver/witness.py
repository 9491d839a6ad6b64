"""What a BMC's own log and the store say of a scenario: whether anything was done that must never be."""

from collections.abc import Iterator, Mapping, Sequence

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import End, Flash
from fleet_runner.core.firmware.inventory import lasting
from fleet_runner.lab.redfish import Event
from tests.reconcile.firmware.driver.stage import Played

ENOUGH = {
    Activate.NONE: {"host_reset", "bmc_reset", "ac_drain"},
    Activate.HOST_RESET: {"host_reset", "ac_drain"},
    Activate.BMC_RESET: {"bmc_reset", "ac_drain"},
    Activate.AC_DRAIN: {"ac_drain"},
}
"""What a BMC's log must show before what was written may be given up."""

POWER = frozenset({"power", "ac_drain"})

BEGIN = frozenset({"accepted", "update_begun", "job_begun"})
END = frozenset({"update_done", "update_failed", "staged", "job_done"})

BY_OTHERS = frozenset({"own", "fault", "by hand"})
"""Why a BMC or a host restarts, where nobody of ours asked for it."""


def crimes(played: Played) -> list[str]:
    """Return a sentence for each thing that must never happen; none is what is expected."""
    return [
        *_concurrent(played.events),
        *_repeated(played.events, played.flashes),
        *powered(played.events),
        *_unwritten(played.events, played.flashes),
    ]


def untrue(played: Played, pins: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Return in which way a report is not what the machine shows."""
    wrong = [entry for entry, accepted in pins.items() if played.versions[entry] not in accepted]
    state, message = played.report["state"], str(played.report["message"])
    match state:
        case "done":
            return [f"done, but {entry} is at {played.versions[entry]}" for entry in wrong]
        case "failed":
            ends = [flash for flash in played.flashes if flash.end in {End.FAILED, End.NOT_SENT} and flash.detail]
            blamed = any(lasting(entry) in message for entry in wrong)
            return [] if wrong and ends and blamed else [f"failed with {message!r}, but wrong are {wrong}"]
        case _:
            return [f"{state}: {message}"]


def _concurrent(events: Sequence[Event]) -> Iterator[str]:
    for event in events:
        if event.kind == "accepted" and event["concurrent"]:
            yield f"update {event['update']} was sent while another ran"
        if event.kind == "refused" and event["busy"]:
            yield f"an image was sent while an update ran: {event['message']}"


def _repeated(events: Sequence[Event], flashes: Sequence[Flash]) -> Iterator[str]:
    """An update is repeated where its version runs, or is pending and had no reset that should have made it run.

    What was reset is told by the BMC alone, not by what the driver believes.
    """
    how = {entry: flash.activate for flash in flashes for entry in flash.targets}
    pending: dict[str, str] = {}
    reset: dict[str, set[str]] = {}
    for event in events:
        components = _lasting(event.get("components") or {})
        match event.kind:
            case "update_done":
                pending |= components
                reset |= {entry: set() for entry in components}
            case "activated":
                for entry in components:
                    pending.pop(entry, None)
            case "host_reset" | "bmc_reset" | "ac_drain":
                reset = {entry: had | {event.kind} for entry, had in reset.items()}
            case "accepted":
                given_up = {entry for entry, had in reset.items() if ENOUGH[how[entry]] & had}
                wrote = {entry: f"update {event['update']} wrote {entry} {to}" for entry, to in components.items()}
                before = _lasting(event["before"])
                ran = [entry for entry, to in components.items() if before.get(entry) == to]
                yield from (f"{wrote[entry]}, which ran" for entry in ran)
                same = [entry for entry, to in components.items() if pending.get(entry) == to]
                yield from (f"{wrote[entry]}, which was pending" for entry in same if entry not in given_up)


def _lasting(components: Mapping[str, str]) -> dict[str, str]:
    """Return versions by the ids that a flash has, which Dell's names are not."""
    return {lasting(entry): version for entry, version in components.items()}


def _unwritten(events: Sequence[Event], flashes: Sequence[Flash]) -> Iterator[str]:
    """Each update that was taken has a flash of its own that was open then: no intent is sent twice."""
    taken = [event for event in events if event.kind == "accepted"]
    for flash in flashes:
        begun = max((other.ended_at or 0.0 for other in flashes if other.id < flash.id), default=0.0)
        mine = [event for event in taken if begun <= event.at <= (flash.ended_at or event.at)]
        if len(mine) > 1:
            yield f"flash {flash.id} ({flash.component}) was taken {len(mine)} times"
    if len(taken) > len(flashes):
        yield f"{len(taken)} updates were taken, and {len(flashes)} were written down"


def powered(events: Sequence[Event]) -> Iterator[str]:
    """Nobody touches power, or the BMC, while an update or a job runs, nor begins a job of somebody else's.

    What a BMC does by itself is its own affair.
    """
    running: set[str] = set()
    ours = False
    for event in events:
        ours = event["why"] not in BY_OTHERS if event.kind in POWER else ours
        if event.kind in BEGIN:
            running.add(_work(event))
            if event.kind == "job_begun" and ours:
                yield f"{_work(event)}, somebody else's, was begun by a reset of ours"
        elif event.kind in END:
            running.discard(_work(event))
        elif running and event.kind in POWER:
            yield f"{event.kind} while {min(running)} ran"
        elif running and event.kind == "bmc_reset" and event["why"] not in BY_OTHERS:
            yield f"the BMC was reset while {min(running)} ran"


def _work(event: Event) -> str:
    return f"update {event['update']}" if event.get("update") is not None else f"job {event['name']}"
