"""Values of BIOS settings: what a profile says, in the type that the BMC has for it, and what the BMC allows."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from fleet_runner.core.base.fields import NEAR, Unfit, shown
from fleet_runner.core.checks.parsers.json_text import number

Value = bool | int | str
"""What a setting can be; a BMC may show null for one that nobody has set."""

Row = Mapping[str, Any]
"""What a BMC's attribute registry says of one setting."""

MANY = 8
"""Allowed values that a sentence spells out."""

TYPES: dict[str, type] = {"Enumeration": str, "String": str, "Integer": int, "Boolean": bool}
"""What the types of a registry are in JSON (DSP0268, AttributeRegistry)."""

TRUTHS = {"true": True, "false": False}

_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")

UNQUOTED = "without quotes, YAML takes yes, no, on and off for true and false"


def same(observed: object, value: Value) -> bool:
    """Tell if what a BMC reports is what a profile says, compared in the BMC's own type."""
    kind = _kind(observed)
    if kind is None:
        return False
    try:
        return cast(value, kind, [observed] if isinstance(observed, str) else []) == observed
    except Unfit:
        return False


def fit(value: Value, observed: object, row: Row | None) -> Value:
    """Return what is to be sent so that a setting becomes a value, in the BMC's own type.

    The type is that of what the BMC reports, and the registry's where it reports nothing.

    Raises:
        Unfit: the BMC would not take it, or nothing could be compared with it afterwards.
    """
    if row is not None and row.get("Type") == "Password":
        raise Unfit("no password: it could not be read back, and would lie in a file that many can read")
    if row is not None and (row.get("ReadOnly") is True or row.get("Immutable") is True):
        raise Unfit(f"it to stay {shown(observed)}, because the BMC lets nobody change it")
    kind = TYPES.get(str((row or {}).get("Type"))) if observed is None else _kind(observed)
    if kind is None:
        raise Unfit(f"no request for it: the BMC reports {shown(observed)}, which no value can be compared with")
    names = _names(row) if kind is str else {}
    found = cast(value, kind, names or ([observed] if isinstance(observed, str) else []))
    if isinstance(found, str):
        _hold_text(found, names, row or {})
    elif kind is int:
        _hold_number(found, row or {})
    return found


def cast(value: Value, kind: type, known: Collection[str]) -> Value:
    """Return a value in a type; `known` are texts that the BMC uses for this setting.

    A number becomes a text only where the BMC writes one so, a truth value only where it writes "True" or "False":
    YAML makes numbers and truth values of texts (010, 1:30, off) that nobody can get back.
    """
    if kind is bool:
        if isinstance(value, str) and value.lower() in TRUTHS:
            return TRUTHS[value.lower()]
        if isinstance(value, bool):
            return value
        raise Unfit("true or false, as the BMC reports it")
    if kind is int:
        if isinstance(value, str) and _is_number(value):
            return int(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        raise Unfit("a whole number, as the BMC reports it")
    return value if isinstance(value, str) else _as_text(value, known)


def _kind(observed: object) -> type | None:
    if isinstance(observed, bool | str):
        return type(observed)
    return int if isinstance(observed, int | float) else None


def _as_text(value: bool | int, known: Collection[str]) -> str:  # noqa: FBT001  it is what a file said
    alike = [text for text in known if text.lower() == str(value).lower()]
    if len(alike) == 1:
        return alike[0]
    if not isinstance(value, bool) and known and all(_is_number(text) for text in known):
        return str(value)
    why = f" ({UNQUOTED})" if isinstance(value, bool) else ""
    raise Unfit(f"a text as the BMC writes it, in quotes{why}{_like(known)}")


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None


def _names(row: Row | None) -> dict[str, object]:
    """Return the values that a registry allows, each with what people see; none where it gives none, or only ""."""
    listed = (row or {}).get("Value")
    rows = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    return {
        name: each.get("ValueDisplayName") for each in rows if isinstance(name := each.get("ValueName"), str) and name
    }


def _hold_text(found: str, names: Mapping[str, object], row: Row) -> None:
    if found in names:
        return
    if names:
        raise Unfit(_meant(found, names) or f"one of {_listed(names)}{_near(found, names)}")
    least, most = number(row.get("MinLength")), number(row.get("MaxLength"))
    if (least is not None and len(found) < least) or (most is not None and len(found) > most):
        raise Unfit(f"a text of {_range(least, most)} characters")


def _hold_number(found: int, row: Row) -> None:
    least, most, step = (number(row.get(name)) for name in ("LowerBound", "UpperBound", "ScalarIncrement"))
    if (least is not None and found < least) or (most is not None and found > most):
        raise Unfit(f"a whole number of {_range(least, most)}")
    if least is not None and step is not None and step > 1 and (found - least) % step:
        raise Unfit(f"{least:g} and so on in steps of {step:g}")


def _meant(found: str, names: Mapping[str, object]) -> str:
    """Say what a value is called that was given by the name that people see."""
    meant = [name for name, label in names.items() if isinstance(label, str) and label.strip() == found]
    return f"{meant[0]!r}, which people are shown as {found!r}" if meant else ""


def _near(found: str, names: Collection[str]) -> str:
    near = get_close_matches(found, list(names), n=1, cutoff=NEAR)
    return f"; {near[0]!r} is the nearest" if near else ""


def _like(known: Collection[str]) -> str:
    return f", like {_listed(known)}" if known else ""


def _listed(names: Collection[str]) -> str:
    more = f" and {len(names) - MANY} more" if len(names) > MANY else ""
    return ", ".join(map(repr, list(names)[:MANY])) + more


def _range(least: float | None, most: float | None) -> str:
    ends = [f"at least {least:g}" if least is not None else "", f"at most {most:g}" if most is not None else ""]
    return " and ".join(filter(None, ends))
