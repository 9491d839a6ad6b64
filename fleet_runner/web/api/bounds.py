"""What of a request is bounded, how its refusals look, and how long lists are cut into pages."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from typing import Annotated, Any, TypeVar

from fastapi import HTTPException, Path, Query
from pydantic import AfterValidator

from fleet_runner.core.access.api import Page, Trouble
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.web.site import Site

T = TypeVar("T")

LAST_SECOND = 253_402_300_799.0
"""The end of the year 9999, in epoch seconds: what never comes."""

MOST = 500
"""Items of a page."""

LARGEST = 2**63 - 1
"""The largest id that a store can hold."""

PLAIN = r"^[^\x00-\x1f\x7f]+$"
"""Names hold no control characters; PostgreSQL could not even be asked for one with NUL."""


def sound(text: str) -> str:
    """Return a text that a store can be asked for."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError("it is no text: half of a surrogate pair stands alone") from None
    return text


Sound = AfterValidator(sound)

Name = Annotated[str, Path(min_length=1, max_length=100, pattern=PLAIN, description="a name, as listed"), Sound]
Number = Annotated[int, Path(ge=1, le=LARGEST, description="an id, as listed")]
Narrow = Annotated[str, Query(max_length=100, pattern=r"^[^\x00-\x1f\x7f]*$", description="only this one's"), Sound]
Limit = Annotated[int, Query(ge=1, le=MOST, description="items of a page")]
Cursor = Annotated[
    str, Query(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$", description="`next` of the page before it"), Sound
]
Since = Annotated[float, Query(ge=0.0, le=1e11, description="not older than this, in epoch seconds")]

Refusals = dict[int | str, dict[str, Any]]

NOT_FOUND: Refusals = {404: {"model": Trouble, "description": "Nothing has this name or id."}}
CONFLICT: Refusals = {
    409: {"model": Trouble, "description": "It cannot be done in the present state; the sentence says why."}
}

PLAINLY = {"text/plain": {"schema": {"type": "string"}}}
"""What is refused before it comes to any route is refused in plain text."""

REFUSALS: Refusals = {
    400: {"model": Trouble, "description": "The request cannot be read.", "content": PLAINLY},
    401: {"model": Trouble, "description": "No token, a wrong one, or one that has ended."},
    403: {"model": Trouble, "description": "The token's role may not do this."},
    413: {"description": "The body is too large.", "content": PLAINLY},
    414: {"description": "The path or the query is too long.", "content": PLAINLY},
    422: {"model": Trouble, "description": "A parameter does not match this description."},
    429: {"description": "This address asks too often; Retry-After says when to ask again.", "content": PLAINLY},
    503: {"model": Trouble, "description": "The store or the source of truth cannot be read now."},
}
"""What any route may answer instead."""


def page_of(items: Iterable[T], limit: int, key: Callable[[T], object]) -> Page[T]:
    """Return the first items as a page; `key` of its last one is the cursor of what is behind it."""
    found = tuple(islice(items, limit + 1))
    more = len(found) > limit
    return Page(found[:limit], str(key(found[limit - 1])) if more else None)


def numbered(cursor: str) -> int | None:
    """Return the id that a cursor is, None for the first page; 422 where it is none."""
    if not cursor:
        return None
    if not (cursor.isascii() and cursor.isdigit()) or int(cursor[:20]) > LARGEST or len(cursor) > len(str(LARGEST)):
        raise HTTPException(422, "query.cursor: not a cursor of this list; use `next` of the page before")
    return int(cursor)


def missing(what: str) -> HTTPException:
    """Return the refusal of what is not there."""
    return HTTPException(404, f"there is no {what}")


def known(here: Site, name: str) -> Node:
    """Return a node or a fabric by name; 404 where there is none."""
    node = here.store.node(name)
    if node is None:
        raise missing(f"node {name!r}")
    return node


def shown(node: Node) -> Node:
    """Return a node as JSON can say it, which has no word for never."""
    return replace(node, wake_at=min(node.wake_at, LAST_SECOND))


def source(here: Site) -> Fleet:
    """Return what the source of truth said last; 503 where it could not be read yet."""
    fleet = here.fleet()
    if fleet is None:
        raise HTTPException(503, "the source of truth could not be read yet")
    return fleet
