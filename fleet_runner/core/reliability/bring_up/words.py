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
    Wait.BUDGET: "a slot for firmware",
    Wait.RETRY: "another try",
    Wait.RUNNER: "the runner",
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
    Wait.RUNNER: "raise batches_at_once, or add a runner: fleet-runner queue",
    Wait.DEVICE: "look at the slow ones, and at what was done twice",
}


def shorter(gain: Gain) -> str:
    """Say what would shorten the way, and by how many hours of all nodes."""
    nodes = counted(gain.nodes, "node")
    if gain.wait is Wait.DEVICE:
        waited = f"{nodes} took longer in {gain.state} than the median of {duration(gain.median)}"
    else:
        waited = f"{nodes} waited in {gain.state} for {WAITS[gain.wait]}, {duration(gain.median)} each (median)"
    cure = _PEOPLE.get(gain.state, "") if gain.wait is Wait.PERSON else _CURES[gain.wait]
    return f"{hours(gain.seconds)} h: {waited}{f'; {cure}' if cure else ''}."


def path(way: Way) -> str:
    """Say a way in one line."""
    return ", ".join(f"{each.state} {duration(each.seconds)} ({WAITS[each.wait]})" for each in way.parts)


def summary(found: Ways) -> str:
    """Say what the time of all ways went into."""
    whole = sum(found.waits.values())
    if not whole:
        return "No node was on its way into production."
    told = ", ".join(
        f"{share(seconds / whole)} for {WAITS[wait]}"
        for wait, seconds in sorted(found.waits.items(), key=lambda row: -row[1])
        if seconds
    )
    coming = sum(not each.done for each in found.ways)
    return f"{counted(len(found.ways), 'node')} on the way into production, {coming} of them still; time: {told}."


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
