"""The BIOS settings of a device type, and what is to be sent to a BMC so that its computer has them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from fleet_runner.core.base.fields import NEAR, Problem, Section, Unfit, shown, text
from fleet_runner.core.firmware.bios_locks import forced, freed, locked
from fleet_runner.core.firmware.bios_values import Row, Value, fit, same
from fleet_runner.core.firmware.catalogue import CatalogueError

SECTION = "bios"
"""The key of a profile under which they stand."""

LONGEST = 4000
"""Characters of a value: a boot order with its devices in it takes more than a thousand."""

SHOWN = 3
"""Settings that a sentence names."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a BMC says: the settings in force, those that wait for a reset, and its registry, {} where it has none.

    `dependencies` are the registry's, of what a setting makes of others; `said` is what the BMC complains of
    since the host took settings up the last time.
    """

    attributes: Mapping[str, Any]
    pending: Mapping[str, Any] = field(default_factory=dict[str, Any])
    registry: Mapping[str, Row] = field(default_factory=dict[str, Row])
    dependencies: Sequence[Row] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """What is still to be done. With anything `refused`, nothing of it may be sent.

    `changes` are to be sent and `waiting` need only a reset, both in the BMC's own types; `later` are those of the
    changes that some BMCs take only once others of them are in force. `settled` are in force and stay so. `wrong` are
    those of all that are not in force, with what is in force instead. `said` is what the BMC complains of.
    """

    changes: Mapping[str, Value] = field(default_factory=dict[str, Value])
    waiting: Mapping[str, Value] = field(default_factory=dict[str, Value])
    settled: tuple[str, ...] = ()
    wrong: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refused: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    later: tuple[str, ...] = ()


def read(profile: Mapping[str, Any]) -> dict[str, Value]:
    """Return the settings that a profile names; none where it has no such section.

    Raises:
        CatalogueError: with everything that is wrong with it.
    """
    if SECTION not in profile:
        return {}
    problems: list[Problem] = []
    section = Section(profile[SECTION], (SECTION,), problems)
    rows = section.below("attributes")
    if rows is None and section.sound:
        section.wrong("attributes", "nothing", "it to be given")
    section.strangers()
    found = _rows(rows) if rows is not None else {}
    if problems:
        raise CatalogueError(tuple(problems))
    return found


def pending(attributes: Mapping[str, Any], future: object) -> dict[str, Any]:
    """Return what waits for a reset, of the settings in force and of those that the settings object shows.

    Some BMCs show there only what waits, some all settings as they will be.
    """
    wait = future.items() if isinstance(future, Mapping) else ()
    return {str(name): value for name, value in wait if name not in attributes or attributes[name] != value}


def plan(wanted: Mapping[str, Value], seen: Seen) -> Plan:
    """Compare what a profile wants with what a BMC says, and check it against its registry."""
    wrong = {
        name: seen.attributes.get(name)
        for name, value in wanted.items()
        if not same(seen.attributes.get(name), value)
    }
    shown_then = {**seen.attributes, **seen.pending}
    then = shown_then | {name: value for name, value in wanted.items() if not same(shown_then.get(name), value)}
    changes: dict[str, Value] = {}
    waiting: dict[str, Any] = {}
    settled: list[str] = []
    refused: list[str] = []
    for name, value in wanted.items():
        future = shown_then.get(name)
        if same(future, value):
            if name in wrong:
                waiting[name] = future
            else:
                settled.append(name)
        elif name not in seen.attributes and name not in seen.registry:
            refused.append(_unknown(name, {*seen.attributes, *seen.registry}))
        else:
            try:
                changes[name] = fit(value, seen.attributes.get(name), _row(name, seen, then))
            except Unfit as unfit:
                refused.append(f"{name}: found {shown(value)}, expected {unfit}")
    then |= changes
    locks = {name: why for name in changes if (why := locked(name, seen.dependencies, then))}
    refused += [f"{name}: {why}" for name, why in locks.items()]
    refused += filter(None, (_made_otherwise(name, wanted, seen, then) for name in wanted if name not in locks))
    later = tuple(name for name in changes if locked(name, seen.dependencies, seen.attributes))
    notes = _others(wanted, seen.pending)
    return Plan(changes, waiting, tuple(settled), wrong, tuple(refused), notes, seen.said, later)


def told(attributes: Mapping[str, Value]) -> str:
    """Return settings as a sentence names them: "SRIOVEnable 'Enabled', MaxPayload 512"."""
    names = [f"{name} {shown(value)}" for name, value in attributes.items()]
    return ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def setting(value: object) -> Value:
    """A value as a BMC may have it; not a password, which nobody should read here."""
    if isinstance(value, bool | int):
        return value
    if isinstance(value, str) and len(value) <= LONGEST and (value.isprintable() or not value):
        return value
    raise Unfit("true, false, a whole number, or a text of one line; quote anything else that YAML reads otherwise")


def _row(name: str, seen: Seen, then: Mapping[str, Any]) -> Row | None:
    """Return what the registry says of a setting; one that others free, or lock, is not read-only by itself."""
    row = seen.registry.get(name)
    others = freed(name, seen.dependencies, then) or bool(locked(name, seen.dependencies, then))
    return row if row is None or not others else {**row, "ReadOnly": False}


def _made_otherwise(name: str, wanted: Mapping[str, Value], seen: Seen, then: Mapping[str, Any]) -> str:
    """Say which other setting of a profile makes another value of one; "" where none does.

    Nor where the BMC itself shows otherwise.
    """
    value = wanted[name]
    made, why = forced(name, seen.dependencies, then, wanted)
    if not why or same(made, value) or str(made) == str(value):
        return ""
    already, _ = forced(name, seen.dependencies, seen.attributes, wanted)
    if already == made and not same(seen.attributes.get(name), made):
        return ""
    return f"{name}: found {shown(value)}, but {why}, which makes it {shown(made)}; correct one of them"


def _rows(rows: Section) -> dict[str, Value]:
    found: dict[str, Value] = {}
    nothing: Value = ""
    for key in rows.rows:
        try:
            name = text(key)
        except Unfit as unfit:
            rows.wrong(str(key), f"the key {shown(key)}", str(unfit))
            continue
        found[name] = rows.take(name, setting, nothing)
    return found


def _unknown(name: str, known: Collection[str]) -> str:
    """Say that there is no such setting, and which one may be meant: some vendors add a number to each name."""
    small = {each.lower(): each for each in sorted(known)}
    near = [each for each in small if each.startswith(f"{name.lower()}_")]
    near = near or get_close_matches(name.lower(), list(small), n=1, cutoff=NEAR)
    hint = f"; {small[near[0]]!r} is the nearest" if near else ""
    return f"{name}: found no such setting, expected one of the {len(known)} of this BIOS{hint}"


def _others(wanted: Mapping[str, Value], pending: Mapping[str, Any]) -> tuple[str, ...]:
    """Tell of what else the next reset brings; not its values, among which could be passwords."""
    names = sorted(set(pending) - set(wanted))
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    told = ", ".join(names[:SHOWN]) + more
    return (f"{told} will change at the next reset too, which the profile does not ask for",) if names else ()
