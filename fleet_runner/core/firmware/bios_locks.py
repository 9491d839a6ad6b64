"""BIOS settings that others lock: the dependencies of a BMC's attribute registry (DSP0268, AttributeRegistry)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.core.base.fields import shown
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.firmware.bios_values import Row

LOCKS = {"ReadOnly": "read-only", "GrayOut": "greyed out", "Hidden": "hidden"}
"""What another setting can make of one so that nobody can change it."""

MOST_TERMS = 32
LONGEST = 20  # digits of a number


def locked(name: str, dependencies: Sequence[Row], values: Mapping[str, Any]) -> str:
    """Say which setting keeps one from being changed, and what to do, if `values` are in force; "" where none does.

    Later dependencies outdo earlier ones. What a condition is about and nobody knows locks nothing: the BMC may
    refuse it still.
    """
    locks: dict[str, _Met] = {}
    for found in _maps(name, dependencies):
        lock, met = str(found.get("MapToProperty")), _holds(found.get("MapFrom"), values)
        if lock in LOCKS and met:
            locks.pop(lock, None)
            if _is_true(found.get("MapToValue")):
                locks[lock] = met
    lock, met = next(iter(locks.items()), ("", None))
    if met is None:
        return ""
    why = f"found it {LOCKS[lock]} while {met.why}, expected a setting that can be changed"
    return f"{why}; {met.advice}, or take {name} out of the profile"


def freed(name: str, dependencies: Sequence[Row], values: Mapping[str, Any]) -> bool:
    """Say whether a setting that its registry calls read-only can be changed, if `values` are in force.

    A Dell's registry says what is so now, which other settings change (ironcore-dev/metal-operator issue 752).
    """
    kept: bool | None = None
    for found in _maps(name, dependencies):
        if found.get("MapToProperty") != "ReadOnly":
            continue
        if _holds(found.get("MapFrom"), values):
            kept = _is_true(found.get("MapToValue"))
        elif kept is None and _is_true(found.get("MapToValue")):
            kept = False
    return kept is False


def forced(
    name: str, dependencies: Sequence[Row], values: Mapping[str, Any], among: Collection[str]
) -> tuple[Any, str]:
    """Return what other settings make of one, and which do, if `values` are in force; (None, "") where none does.

    Only conditions about settings of `among` count. One that names the setting itself is left out: an HPE's registry
    says so of serial ports that trade places.
    """
    made: tuple[Any, str] = None, ""
    for found in _maps(name, dependencies):
        known = found.get("MapToProperty") == "CurrentValue" and isinstance(found.get("MapToValue"), bool | int | str)
        known = known and _named(found.get("MapFrom")) <= set(among) - {name}
        if known and (met := _holds(found.get("MapFrom"), values)):
            made = found.get("MapToValue"), met.why
    return made


class _Met(NamedTuple):
    """A condition that holds, in words, and what to do about it."""

    why: str
    advice: str


def _maps(name: str, dependencies: Sequence[Row]) -> Iterator[Mapping[str, Any]]:
    for each in dependencies:
        found = each.get("Dependency")
        if each.get("Type", "Map") == "Map" and isinstance(found, Mapping) and found.get("MapToAttribute") == name:
            yield found


def _named(terms: object) -> set[str]:
    """Return the settings that a condition is about."""
    listed = terms[:MOST_TERMS] if isinstance(terms, list) else []
    return {str(term.get("MapFromAttribute")) for term in listed if isinstance(term, Mapping)}


def _holds(terms: object, values: Mapping[str, Any]) -> _Met | None:
    """Return a condition if it holds, None if not; its terms are joined from left to right."""
    holds, said = False, _Met("", "")
    for at, term in enumerate(terms[:MOST_TERMS] if isinstance(terms, list) else []):
        one = isinstance(term, Mapping) and _is_met(term, values)
        also = at > 0 and isinstance(term, Mapping) and term.get("MapTerms") == "AND"
        holds = (holds and one) if also else (holds or one)
        if one:
            said = _met(term, values)
    return said if holds else None


def _met(term: Mapping[str, Any], values: Mapping[str, Any]) -> _Met:
    other = str(term["MapFromAttribute"])
    only = term.get("MapFromCondition") == "NEQ"
    advice = f"set {other} to {shown(term.get('MapFromValue'))}, too" if only else f"set {other} otherwise, too"
    return _Met(f"{other} is {shown(values[other])}", advice)


def _is_met(term: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    attribute = str(term.get("MapFromAttribute"))
    if term.get("MapFromProperty") != "CurrentValue" or values.get(attribute) is None:
        return False
    found, wanted = values[attribute], term.get("MapFromValue")
    match term.get("MapFromCondition"):
        case "EQU":
            return _text(found) == _text(wanted)
        case "NEQ":
            return _text(found) != _text(wanted)
        case condition:
            return _compares(str(condition), _number(found), _number(wanted))


def _compares(condition: str, found: float | None, wanted: float | None) -> bool:
    if found is None or wanted is None:
        return False
    outcomes = {"GTR": found > wanted, "GEQ": found >= wanted, "LSS": found < wanted, "LEQ": found <= wanted}
    return outcomes.get(condition, False)


def _number(found: object) -> float | None:
    """Return a number, also one that is written as a text."""
    text = found if isinstance(found, str) and len(found) < LONGEST else ""
    return number(int(text)) if text.isascii() and text.isdigit() else number(found)


def _is_true(found: object) -> bool:
    return _text(found) == "true"


def _text(found: object) -> str:
    """Return a value as registries write it: AMI's have truth values and numbers as texts."""
    return str(found).lower() if isinstance(found, bool) else str(found)
