"""Requests of NetBox 4.7 for several objects: all or none, and what is wrong with each that is."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.netbox.database import ProtectedError, Row
from tests.netbox.values import InvalidError

DENIED, CONFLICT, INVALID = 403, 409, 400


class RefusedError(Exception):
    """A request that is answered with a status and a sentence; `errors` say what is wrong with each of several."""

    def __init__(self, status: int, detail: str, errors: list[Row] | None = None) -> None:
        super().__init__(detail)
        self.status, self.body = status, {"detail": detail} | ({"errors": errors} if errors else {})
        self.headers: dict[str, str] = {}


class DeniedError(Exception):
    """A user may not do this."""


def wanted(body: Any, allowed: Iterable[Row]) -> dict[int, Row]:
    """Return what a client asks of each of several objects, by their ids. Raises RefusedError."""
    if not isinstance(body, list):
        raise RefusedError(INVALID, f"Expected a list of objects, but got {type(body).__name__}.")
    ids = Counter(each["id"] for each in body if isinstance(each, Mapping) and "id" in each)
    there = {row["id"] for row in allowed}
    unnamed = [at for at, each in enumerate(body) if not isinstance(each, Mapping) or "id" not in each]
    twice = {each: times for each, times in ids.items() if times > 1}
    text = "Each object may be specified only once; ID {} is listed {} times"
    for said, wrong in (
        ("failed validation", [_wrong("index", at, "This field is required.") for at in unnamed]),
        ("are listed more than once", [_wrong("id", each, text.format(each, twice[each])) for each in twice]),
        (
            "could not be found",
            [_wrong("id", each, f"Object with ID {each} does not exist") for each in ids if each not in there],
        ),
    ):
        _none(said, len(body), wrong)
    return {each["id"]: each for each in body}


def each(done: str, name: str, several: Iterable[tuple[int, Any]], act: Callable[[Any], Any]) -> list[Any]:
    """Do something with each of several objects, which have numbers. Raises RefusedError where one cannot be done."""
    found: list[Any] = []
    wrong: list[Row] = []
    statuses: set[int] = set()
    for number, given in several:
        errors: Any
        try:
            found.append(act(given))
            continue
        except DeniedError:
            status, errors = (
                DENIED,
                {"__all__": ["You do not have permission to perform this action on this object."]},
            )
        except ProtectedError as error:
            text = f"Unable to delete: {len(error.held)} dependent object(s) prevent deletion."
            status, errors = CONFLICT, {"__all__": [text]}
        except InvalidError as error:
            status, errors = INVALID, error.detail
        wrong.append({name: number, "errors": errors})
        statuses.add(status)
    worst = next((one for one in (DENIED, CONFLICT, INVALID) if one in statuses), 0)
    _none(f"could not be {done}", len(found) + len(wrong), wrong, worst)
    return found


def _wrong(name: str, number: int, text: str) -> Row:
    return {name: number, "errors": {"id": [text]}}


def _none(said: str, total: int, wrong: list[Row], status: int = INVALID) -> None:
    """Refuse a request in which something is wrong with some objects."""
    if wrong:
        raise RefusedError(status, f"{len(wrong)} of {total} objects {said}.", wrong)
