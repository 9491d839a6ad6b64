"""Why a fault is what it is said to be, why its plan is the one to follow, and what proves it done: in sentences."""

from collections.abc import Iterable

from fleet_runner.core.cabling.diff import Component, diff
from fleet_runner.core.cabling.explain import Fault, Kind, Places, says
from fleet_runner.core.cabling.kinds import KINDS
from fleet_runner.core.cabling.links import Link, matching
from fleet_runner.core.cabling.plan import Add, Move, Remove, Touch, handled, plans

SHOWN = 8
"""Links that one sentence names; a dark switch has dozens."""


def why(fault: Fault, places: Places) -> tuple[str, ...]:
    """Return by what the kind was told, and what speaks for the plan."""
    rule = KINDS[fault.kind].told_by
    touches = [action for action in fault.actions if isinstance(action, Move | Add | Remove)]
    if not touches or len(touches) < len(fault.actions):
        return (rule,)
    components = diff(matching(fault.expected), matching(fault.observed))
    fewest = sum(max(len(each.designed), len(each.observed)) for each in components)
    counted = (
        f"{_many(len(fault.expected), 'designed link')} against {_many(len(fault.observed), 'plugged one')}: "
        f"no plan takes fewer than {_many(fewest, 'touch', 'touches')}, this one takes {len(touches)}."
    )
    return (rule, counted, *_choice(components, touches, places))


def done_when(fault: Fault) -> str:
    """Return what the next sweep must see for the fault to be gone."""
    match fault.kind:
        case Kind.DEGRADED:
            return f"Done when a sweep sees {_listed(fault.expected)} at its expected rate."
        case Kind.REPLACED_HCA | Kind.REPLACED_SWITCH:
            return "Done when the source of truth has the GUID that is seen."
        case Kind.EXCHANGED if fault.expected == fault.observed:
            return "Done when a sweep sees each device under its own name."
        case _:
            absent = _listed(sorted(set(fault.expected) - set(fault.observed)))
            wrong = _listed(sorted(set(fault.observed) - set(fault.expected)))
            parts = [f"sees {absent}"] * bool(absent) + [f"no longer sees {wrong}"] * bool(wrong)
            return f"Done when a sweep {' and '.join(parts)}."


def _choice(components: Iterable[Component], touches: list[Touch], places: Places) -> tuple[str, ...]:
    """Say how many plans take as few touches, and by what this one was chosen."""
    others = 1
    for component in components:
        others *= len(plans(component))
    if others == 1:
        return ("There is no other plan with as few.",)
    devices = {port.device for touch in touches for port in handled(touch)}
    racks = {places.racks.get(device, device) for device in devices}
    where = f"{_many(len(racks), 'rack')} and at {_many(len(devices), 'device')}"
    side = "at the switches" if devices.isdisjoint(places.servers) else "with the fewest servers touched"
    return (
        f"{_many(others - 1, 'other plan takes', 'other plans take')} as few; this one stays in {where}, {side}.",
    )


def _listed(links: Iterable[Link]) -> str:
    every = [says(joined) for joined in links]
    more = f" and {len(every) - SHOWN} more" if len(every) > SHOWN else ""
    return ", ".join(every[:SHOWN]) + more


def _many(count: int, one: str, several: str = "") -> str:
    return f"{count} {one if count == 1 else several or one + 's'}"
