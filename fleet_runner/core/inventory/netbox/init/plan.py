"""What is to be done for what is wanted: make it, change what `netbox init` made, and leave alone what others did."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fleet_runner.core.inventory.netbox.init.objects import ABOUT, MARK, Kind, Ref, RequiredObject

Row = Mapping[str, Any]
Found = Mapping[Kind, Sequence[Row]]
"""What a NetBox has, by kind, as its REST API gives it."""

UNSAID = {"secret": "another", "template_code": "another version", "link_text": "another", "conditions": "others"}
"""Fields that no plan shows, for they are secret or long; and what it says of their value in NetBox."""

SHOWN = 3
"""Things of a list that a plan shows."""

CHOICES = "extra_choices"


class Act(StrEnum):
    """What is to be done with an object."""

    MAKE = "make"
    CHANGE = "change"
    KEEP = "keep"
    DIFFERS = "differs"  # and somebody else made it
    LACKS = "lacks"  # the token may not do it
    WAITS = "waits"  # for something that differs, or cannot be made


DUE = frozenset({Act.MAKE, Act.CHANGE})
"""What is done when a plan is carried out."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that is not as it is needed; both values as people read them."""

    field: str
    observed: str
    expected: str


@dataclass(frozen=True, slots=True)
class Step:
    """One object of a plan: what to do with it.

    `change` are the fields to send for one that is there, `lacks` the permissions that are missing for it.
    """

    act: Act
    wanted: RequiredObject
    row: Row = field(default_factory=dict[str, Any])
    differences: tuple[Difference, ...] = ()
    change: Mapping[str, Any] = field(default_factory=dict[str, Any])
    lacks: tuple[str, ...] = ()
    waits_for: Ref | None = None


@dataclass(slots=True)
class _There:
    """What a NetBox has, what is wanted of it, and the ids of what is both."""

    found: Found
    wanted: Mapping[Ref, RequiredObject]
    ids: dict[Ref, int] = field(default_factory=dict[Ref, int])


def plan(wanted: Sequence[RequiredObject], found: Found) -> tuple[Step, ...]:
    """Return a step for each object, in the order in which they are made.

    A kind that is not in `found` cannot be seen by the token.
    """
    there = _There(found, {want.ref: want for want in wanted})
    steps = [step for want in wanted if (step := _step(want, there)) is not None]
    return waiting(_needed(steps))


def waiting(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Return steps where those wait that need something which is not as it is needed."""
    found: list[Step] = []
    bad: set[Ref] = set()
    for step in steps:
        needed = sorted(bad & refs(step.wanted.fields))
        if step.act in DUE and needed:
            found.append(Step(Act.WAITS, step.wanted, step.row, waits_for=needed[0]))
        else:
            found.append(step)
        if found[-1].act not in {*DUE, Act.KEEP}:
            bad.add(step.wanted.ref)
    return tuple(found)


def refs(value: Any) -> set[Ref]:
    """Return the objects that a value refers to."""
    if isinstance(value, Ref):
        return {value}
    if isinstance(value, Mapping):
        return set().union(*map(refs, value.values()))
    if isinstance(value, list):
        return set().union(*map(refs, value))
    return set()


def filled(value: Any, ids: Callable[[Ref], Any]) -> Any:
    """Return a value with the ids of the objects that it refers to."""
    if isinstance(value, Ref):
        return ids(value)
    if isinstance(value, Mapping):
        return {key: filled(each, ids) for key, each in value.items()}
    if isinstance(value, list):
        return [filled(each, ids) for each in value]
    return value


def lost(want: RequiredObject, sent: Row, answer: Row) -> tuple[str, ...]:
    """Return the fields of what was sent that NetBox keeps otherwise, by its answer."""
    return tuple(
        name
        for name in want.settled
        if name in sent and _ordered(_plain(answer.get(name))) != _ordered(_plain(sent[name]))
    )


def ids(steps: Iterable[Step]) -> dict[Ref, int]:
    """Return the ids of what is there already."""
    return {step.wanted.ref: step.row["id"] for step in steps if step.row}


def ours(kind: Kind, row: Row) -> bool:
    """Whether `netbox init` made an object."""
    return MARK in str(row.get(ABOUT[kind].mark) or "")


def _step(want: RequiredObject, there: _There) -> Step | None:
    row = _match(want, there.found)
    if row is None:
        return None if want.only_there else Step(Act.MAKE, want)
    mine = ours(want.kind, row)
    if want.only_there and not mine:
        return None
    there.ids[want.ref] = row["id"]
    change = {name: new for name in want.settled if (new := _new(want, name, row, there)) is not None}
    if not change:
        return Step(Act.KEEP, want, row)
    differences = tuple(_difference(name, row, want) for name in change)
    if not mine:
        return Step(Act.DIFFERS, want, row, differences)
    return Step(Act.CHANGE, want, row, differences, change)


def _match(want: RequiredObject, found: Found) -> Row | None:
    """Return what is called as it is wanted; of several, what `netbox init` made."""
    named = ABOUT[want.kind].named
    rows = [row for row in found.get(want.kind, ()) if row[named] == want.name]
    if want.of:
        rows = [row for row in rows if want.of in row["object_types"]]
    return min(rows, key=lambda row: not ours(want.kind, row), default=None)


def _new(want: RequiredObject, name: str, row: Row, there: _There) -> Any:
    """Return what to send for a field, or None where it is as it is needed."""
    expected, observed = want.fields[name], _plain(row.get(name))
    if isinstance(expected, Ref) and expected.kind is Kind.CHOICE_SET and _offers(expected, observed, there):
        return None
    expected = filled(expected, lambda ref: there.ids.get(ref, ref))  # without an id it is still to be made
    if name not in ABOUT[want.kind].grow:
        return None if _ordered(observed) == _ordered(expected) else expected
    held = [_value(each) for each in observed or ()]
    more = [each for each in expected if _value(each) not in held]
    return [*(observed or ()), *more] if more else None


def _offers(wanted: Ref, number: Any, there: _There) -> bool:
    """Whether a field's choice set, whoever made it, has the choices of the wanted one."""
    needed = {_value(each) for each in there.wanted[wanted].fields[CHOICES]}
    sets = there.found.get(wanted.kind, ())
    return any(row["id"] == number and needed <= {_value(each) for each in row[CHOICES]} for row in sets)


def _value(choice: Any) -> Any:
    """Return the value of a choice, whose label is people's to change; anything else as it is."""
    return choice[0] if isinstance(choice, list) else choice


def _plain(value: Any) -> Any:
    """Return what NetBox takes in place of what it gives: a choice's value, an object's id."""
    if isinstance(value, Mapping):
        return value["value"] if set(value) == {"value", "label"} else value.get("id", value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


def _ordered(value: Any) -> Any:
    """Return a value as it is compared: lists of words or ids in any order, text as NetBox trims it."""
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return sorted(value)
    return value.strip() if isinstance(value, str) else value


def _difference(name: str, row: Row, want: RequiredObject) -> Difference:
    if name in UNSAID:
        return Difference(name, UNSAID[name], "this one's")
    return Difference(name, _words(row.get(name)), _words(want.fields[name]))


def _words(value: Any) -> str:
    """Return a value as people read it: of an object its name, of a list what is in it."""
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Mapping):
        named = (str(value[key]) for key in ("value", "name", "username", "display") if key in value)
        return next(named, ", ".join(f"{key} = {_words(each)}" for key, each in value.items()))
    if isinstance(value, list):
        some = [_words(_value(each)) for each in value[:SHOWN]]
        more = [f"{len(value) - SHOWN} more"] if len(value) > SHOWN else []
        return ", ".join(some + more) or "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value in {None, ""} else str(value)


def _needed(steps: Sequence[Step]) -> Iterable[Step]:
    """Leave out choice sets that would be made for fields that have others already."""
    used = set().union(*(refs(step.wanted.fields) for step in steps if step.act is not Act.KEEP))
    return (
        step
        for step in steps
        if step.wanted.kind is not Kind.CHOICE_SET or step.act is not Act.MAKE or step.wanted.ref in used
    )
