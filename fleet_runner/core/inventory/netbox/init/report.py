"""A plan in lines that people read, and as plain values that programs do."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from textwrap import wrap
from typing import Any

from fleet_runner.core.inventory.netbox.init.objects import ABOUT, RequiredObject
from fleet_runner.core.inventory.netbox.init.plan import Act, Step
from fleet_runner.core.inventory.netbox.init.rights import missing

COUNTED = {
    Act.MAKE: "to make",
    Act.CHANGE: "to change",
    Act.KEEP: "there already",
    Act.DIFFERS: "of others differ",
    Act.LACKS: "not allowed",
    Act.WAITS: "waiting",
}
COLUMNS = 80
INDENT = " " * 8


def named(wanted: RequiredObject) -> str:
    """Return what an object is called in a line: "custom field fleet_state"."""
    return f"{ABOUT[wanted.kind].word} {_name(wanted)}"


def lines(steps: Iterable[Step]) -> Iterator[str]:
    """Say what is to be done and why, of objects for which it is the same together, and nothing of what is there."""
    for _, same in groupby((step for step in steps if step.act is not Act.KEEP), _same):
        some = list(same)
        first = some[0]
        word = ABOUT[first.wanted.kind].word + ("s" if len(some) > 1 else "")
        text = f"{first.act:8}{word} {', '.join(_name(step.wanted) for step in some)}"
        for sentence in (text, *(f"{INDENT}{each}" for each in _why(first))):
            yield from wrap(
                sentence, COLUMNS, subsequent_indent=INDENT, break_long_words=False, break_on_hyphens=False
            )


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


def _name(wanted: RequiredObject) -> str:
    return f"{wanted.name} of {wanted.of}" if wanted.of else wanted.name


def _same(step: Step) -> object:
    return step.act, step.wanted.kind, step.differences, step.lacks, step.waits_for


def _why(step: Step) -> Iterator[str]:
    for each in step.differences:
        yield f"{each.field}: found {each.observed}, expected {each.expected}"
    if step.act is Act.DIFFERS:
        yield "somebody else created it, so it stays; rename or correct it in NetBox"
    if step.lacks:
        yield f"missing permission: {', '.join(step.lacks)}"
    if step.waits_for is not None:
        yield f"needs {ABOUT[step.waits_for.kind].word} {step.waits_for.name} first"
