"""The words of a bring-up: what a node waits for where, and what would shorten that."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.plural import counted
from fleet_runner.core.lifecycle.states import State
from fleet_runner.core.reliability.bring_up.figures import Gain, Ways
from fleet_runner.core.reliability.bring_up.way import Wait, Way
from fleet_runner.core.reliability.report.text import duration, hours, share

WAITS: Mapping[Wait, str] = {
    Wait.DEVICE: "devices at work",
    Wait.PERSON: "a person",
    Wait.VENDOR: "the vendor",
    Wait.HOLD: "a hold or planned work",
    Wait.BUDGET: "a slot for firmware or room for a play",
    Wait.RETRY: "another try",
    Wait.RUNNER: "the runner or a mode",
}
"""What each wait is called."""

_PEOPLE: Mapping[State, str] = {
    State.ONBOARD: "certify nodes as soon as they are cabled: fleet-runner certify NODE",
    State.TRIAGE: "decide about nodes in triage sooner: fleet-runner tickets",
    State.DEBUG: "finish the work in place, and say so: fleet-runner repaired NODE",
    State.FIRMWARE_FAILED: "look into failed updates, and ask for another try: fleet-runner firmware show NODE",
}

_CURES: Mapping[Wait, str] = {
    Wait.VENDOR: "keep spare parts here",
    Wait.HOLD: "release nodes that need no hold: fleet-runner release NODE",
    Wait.BUDGET: "raise firmware_at_once or firmware_at_once_rack if power and the network allow it",
    Wait.RETRY: "find out why tries give no verdict: fleet-runner node NODE",
    Wait.RUNNER: "see whether a mode or room for plays held them up: fleet-runner mode, fleet-runner queue",
    Wait.DEVICE: "look at the slow ones, and at what was done twice",
}


def shorter(gain: Gain) -> str:
    """Say what would shorten the way, and by how many hours of all nodes."""
    nodes = counted(gain.nodes, "node")
    if gain.wait is Wait.DEVICE:
        waited = f"{nodes} took longer in {gain.state} than the median of {duration(gain.median)}"
    else:
        each = f"{duration(gain.median)}{' each (median)' if gain.nodes > 1 else ''}"
        waited = f"{nodes} waited in {gain.state} for {WAITS[gain.wait]}, {each}"
    cure = _PEOPLE.get(gain.state, "") if gain.wait is Wait.PERSON else _CURES[gain.wait]
    return f"{hours(gain.seconds)} h: {waited}{f'; {cure}' if cure else ''}."


def path(way: Way) -> str:
    """Say a way in one line: each state and wait once, in the order in which they first came."""
    spent: dict[tuple[State, Wait], float] = {}
    for each in way.parts:
        spent[each.state, each.wait] = spent.get((each.state, each.wait), 0.0) + each.seconds
    return ", ".join(f"{state} {duration(seconds)} ({WAITS[wait]})" for (state, wait), seconds in spent.items())


def summary(found: Ways) -> str:
    """Say what the time of all ways went into."""
    if not found.ways:
        return "No node was on its way into production."
    coming, every = sum(not each.done for each in found.ways), len(found.ways)
    said = f"{counted(every, 'node')} on the way into production, {_arrived(every, coming)}"
    whole = sum(found.waits.values())
    told = ", ".join(
        f"{share(seconds / whole)} for {WAITS[wait]}"
        for wait, seconds in sorted(found.waits.items(), key=lambda row: -row[1])
        if seconds
    )
    return f"{said}; time: {told}." if told else f"{said}."


def _arrived(every: int, coming: int) -> str:
    if not coming:
        return "and there now" if every == 1 else "none of them still"
    if coming == every:
        return "still" if every == 1 else "all of them still"
    return f"{coming:,} of them still"


def plain(found: Ways, listed: int) -> dict[str, Any]:
    """Return the figures as a program takes them; the ways are cut at `listed`, the longest first."""
    return {
        "sentence": summary(found),
        "waits": {wait.value: seconds for wait, seconds in found.waits.items()},
        "states": [
            {"state": each.state.value, "nodes": each.nodes, "median": each.median, "ninetieth": each.ninetieth,
             "now": each.now}
            for each in found.states
        ],
        "shorter": [
            {"wait": each.wait.value, "state": each.state.value, "seconds": each.seconds, "nodes": each.nodes,
             "median": each.median, "sentence": shorter(each)}
            for each in found.gains
        ],
        "critical": None if found.critical is None else _way(found.critical),
        "ways": [_way(each) for each in found.ways[:listed]],
    }  # fmt: skip


def _way(way: Way) -> dict[str, Any]:
    return {
        "node": way.node,
        "done": way.done,
        "seconds": way.seconds,
        "parts": [
            {"state": each.state.value, "wait": each.wait.value, "begins": each.begins, "ends": each.ends}
            for each in way.parts
        ],
    }
