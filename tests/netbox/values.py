"""Values that a client sends, checked and turned into what a stand-in NetBox keeps."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from tests.netbox.description import Shape, listed, models

if TYPE_CHECKING:
    from tests.netbox.database import Database, Row


class InvalidError(Exception):
    """A request that NetBox refuses, with what it answers."""

    def __init__(self, detail: Any) -> None:
        super().__init__(str(detail))
        self.detail = detail


class UnfitError(InvalidError):
    """A value of the right form that NetBox refuses for the object as a whole."""


def value(database: Database, shape: Shape, given: Any) -> Any:
    """Return a field's value as it is kept. Raises InvalidError."""
    match shape.kind:
        case "one":
            return None if given is None and shape.nullable else reference(database, shape, given)
        case "many":
            if not isinstance(given, list):
                raise InvalidError({"non_field_errors": [f'Expected a list of items but got type "{_type(given)}".']})
            return [reference(database, shape, each) if listed(shape.of) else each for each in given]
        case "plain choice":
            return _choice(shape, given)
        case _:
            return _plain(shape, given)


def reference(database: Database, shape: Shape, given: Any) -> int:
    """Return the id of the object that a client names by its id or by some of its values."""
    path = listed(shape.of)
    if given is None:
        raise InvalidError(["This field may not be null."])
    if not path:
        raise InvalidError([f"the stand-in has no {shape.of}"])
    if isinstance(given, Mapping):
        found = database.where(path, **given)
        if len(found) == 1:
            return int(found[0]["id"])
        many = "Multiple objects match" if found else "Related object not found using"
        raise InvalidError([f"{many} the provided attributes: {dict(given)}"])
    try:
        number = int(given)
    except (TypeError, ValueError):
        text = "Related objects must be referenced by numeric ID or by dictionary of attributes. Received an"
        raise InvalidError([f"{text} unrecognized value: {given}"]) from None
    if database.get(path, number) is None:
        raise InvalidError([f"Related object not found using the provided numeric ID: {number}"])
    return number


def check_custom_fields(database: Database, object_type: str, old: Row, given: Any) -> Row:
    """Return the custom fields of an object after a change. Raises InvalidError."""
    known = {row["name"]: row for row in database.lists["extras/custom-fields"].values()}
    known = {name: row for name, row in known.items() if object_type in row["object_types"]}
    kept = dict(old)
    if not isinstance(given, Mapping):
        raise InvalidError(["Invalid data format. Custom field data must be passed as a dictionary."])
    for name in given:
        if name not in known:
            raise InvalidError({name: f"Custom field '{name}' does not exist for this object type."})
    for name, each in given.items():
        if problem := _custom(database, known[name], each):
            raise UnfitError({"__all__": [f"Invalid value for custom field '{name}': {problem}"]})
        kept[name] = each
    return kept


def _custom(database: Database, field: Row, given: Any) -> str:
    if given is None or given == "":
        return "Required field cannot be empty." if field["required"] else ""
    kind = field["type"]
    if kind in {"select", "multiselect"}:
        choices = database.lists["extras/custom-field-choice-sets"][field["choice_set"]]
        known = [each[0] for each in choices["extra_choices"]]
        wrong = [each for each in ([given] if kind == "select" else given) if each not in known]
        if wrong and kind == "select":
            return f"Invalid choice ({given}) for choice set {choices['name']}."
        return f"Invalid choice(s) ({given}) for choice set {choices['name']}." if wrong else ""
    types = {"text": str, "longtext": str, "url": str, "integer": int, "boolean": bool}
    expected = types.get(kind)
    if expected and not isinstance(given, expected):
        return "Value must be a string." if expected is str else f"Value must be {_article(kind)}."
    reading = {"date": date.fromisoformat, "datetime": datetime.fromisoformat}.get(kind)
    if reading:
        try:
            reading(given)
        except (TypeError, ValueError):
            shown = "(YYYY-MM-DD)" if kind == "date" else "(YYYY-MM-DD HH:MM:SS)"
            return f"{'Date' if kind == 'date' else 'Date and time'} values must be in ISO 8601 format {shown}."
    return ""


def _article(kind: str) -> str:
    return "an integer" if kind == "integer" else "true or false"


def _choice(shape: Shape, given: Any) -> Any:
    if given is None or given == "":
        return "" if given == "" else None
    if isinstance(given, (dict, list)):
        raise InvalidError(['Value must be passed directly (e.g. "foo": 123); do not use a dictionary or list.'])
    if str(given) not in (shape.choices or {}):
        raise InvalidError([f"{given} is not a valid choice."])
    return given


def _plain(shape: Shape, given: Any) -> Any:  # noqa: C901  one case for each type
    if given is None:
        if shape.nullable or not shape.of:
            return None
        raise InvalidError(["This field may not be null."])
    match shape.of:
        case "string":
            if isinstance(given, (dict, list, bool)):
                raise InvalidError(["Not a valid string."])
            if shape.shortest and not str(given).strip():
                raise InvalidError(["This field may not be blank."])
            if shape.longest and len(str(given)) > shape.longest:
                raise InvalidError([f"Ensure this field has no more than {shape.longest} characters."])
            return str(given).strip()
        case "integer" | "number":
            try:
                return int(given) if shape.of == "integer" else float(given)
            except (TypeError, ValueError):
                text = "A valid integer is required." if shape.of == "integer" else "A valid number is required."
                raise InvalidError([text]) from None
        case "boolean":
            if not isinstance(given, bool):
                raise InvalidError(["Must be a valid boolean."])
            return given
        case _:
            return given


def _type(given: Any) -> str:
    return type(given).__name__


def object_types() -> list[str]:
    """Return the kinds of objects, in the order of their ids."""
    return sorted(model.object_type for model in models().values())
