"""A plan in lines that people read, and as plain values that programs do."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from fleet_runner.core.netbox_init.objects import ABOUT, Wanted
from fleet_runner.core.netbox_init.plan import Act, Step
from fleet_runner.core.netbox_init.rights import missing

COUNTED = {
    Act.MAKE: "to make",
    Act.CHANGE: "to change",
    Act.KEEP: "there already",
    Act.DIFFERS: "of somebody else that differ",
    Act.LACKS: "the token may not make or change",
    Act.WAITS: "waiting for those",
}


def named(wanted: Wanted) -> str:
    """Return what an object is called in a line: "custom field fleet_state"."""
    of = f" of {wanted.of}" if wanted.of else ""
    return f"{ABOUT[wanted.kind].word} {wanted.name}{of}"


def lines(step: Step) -> Iterator[str]:
    """Say what is to be done with an object, and why."""
    yield f"{step.act:8}{named(step.wanted)}"
    for each in step.differences:
        yield f"        {each.field} is {each.observed}, expected {each.expected}"
    if step.act is Act.DIFFERS:
        yield "        somebody else made it, so it stays; rename or correct it in NetBox"
    if step.lacks:
        yield f"        for want of {', '.join(step.lacks)}"
    if step.waits_for is not None:
        yield f"        for {ABOUT[step.waits_for.kind].word} {step.waits_for.name}"


def summary(steps: Iterable[Step]) -> str:
    """Count a plan's steps: "9 to make, 2 there already"."""
    counts = Counter(step.act for step in steps)
    return ", ".join(f"{counts[act]} {words}" for act, words in COUNTED.items() if counts[act])


def advice(steps: Iterable[Step]) -> str:
    """Say which permissions to give, or nothing if none is missing."""
    lacks = missing(steps)
    return f"give the token's user {', '.join(lacks)}, then run it again" if lacks else ""


def plain(step: Step, why: str = "") -> dict[str, Any]:
    """Return a step for programs. `why` it was not done, where it was to be and was not."""
    return {
        "act": step.act.value,
        "kind": ABOUT[step.wanted.kind].model,
        "name": step.wanted.name,
        "object_type": step.wanted.of or None,
        "id": step.row.get("id"),
        "differences": [
            {"field": each.field, "observed": each.observed, "expected": each.expected} for each in step.differences
        ],
        "lacks": list(step.lacks),
        "waits_for": step.waits_for.name if step.waits_for is not None else None,
        "why_not": why or None,
    }
