"""BIOS settings that others lock: the dependencies of a BMC's attribute registry (DSP0268, AttributeRegistry)."""

from collections.abc import Mapping, Sequence
from typing import Any

from fleet_runner.core.base.fields import shown
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.firmware.bios_values import Row

LOCKS = {"ReadOnly": "read-only", "GrayOut": "greyed out", "Hidden": "hidden"}
"""What another setting can make of one so that nobody can change it."""

MOST_TERMS = 32
LONGEST = 20  # digits of a number


def locked(name: str, dependencies: Sequence[Row], values: Mapping[str, Any]) -> str:
    """Say which setting keeps one from being changed, if `values` are in force; "" where none is known to.

    Later dependencies outdo earlier ones. What a condition is about and nobody knows locks nothing: the BMC may
    refuse it still.
    """
    locks: dict[str, str] = {}
    for each in dependencies:
        found = each.get("Dependency")
        if each.get("Type", "Map") != "Map" or not isinstance(found, Mapping) or found.get("MapToAttribute") != name:
            continue
        lock, why = str(found.get("MapToProperty")), _holds(found.get("MapFrom"), values)
        if lock in LOCKS and why:
            locks.pop(lock, None)
            if _is_true(found.get("MapToValue")):
                locks[lock] = why
    return next((f"found it {LOCKS[lock]} while {why}, expected a setting that can be changed"
                 for lock, why in locks.items()), "")  # fmt: skip


def _holds(terms: object, values: Mapping[str, Any]) -> str:
    """Return a condition in words if it holds, "" if not; its terms are joined from left to right."""
    holds, said = False, ""
    for at, term in enumerate(terms[:MOST_TERMS] if isinstance(terms, list) else []):
        one = isinstance(term, Mapping) and _is_met(term, values)
        also = at > 0 and isinstance(term, Mapping) and term.get("MapTerms") == "AND"
        holds = (holds and one) if also else (holds or one)
        if one:
            said = f"{term['MapFromAttribute']} is {shown(values[str(term['MapFromAttribute'])])}"
    return said if holds else ""


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
