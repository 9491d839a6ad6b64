"""What fleet-runner answers of a node, read from JSON that may say anything: what does not fit is left out."""

import math
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

LONGEST = 400
"""Characters of a text that is shown."""

MOST = 200
"""Rows of a list that are shown."""

LAST_SECOND = 253_402_300_799.0
"""The end of the year 9999, in epoch seconds."""


class BriefError(ValueError):
    """An answer that is no brief of the node that was asked for."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """An open ticket; `url` is its page at fleet-runner, `urls` those at other trackers."""

    id: int
    title: str
    opened_at: datetime | None
    urls: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Component:
    """A firmware component: found, accepted, and how they compare."""

    name: str
    found: str
    pins: str
    comparison: str


@dataclass(frozen=True, slots=True)
class Link:
    """A designed link: the node's port, what it is designed to be joined with, and what was seen."""

    port: str
    far: str
    comparison: str
    seen: str


@dataclass(frozen=True, slots=True)
class Brief:
    """A node in short; every text is one line that can be shown, once it is escaped."""

    state: str
    since: datetime | None
    why: str
    waiting: str
    mode: str
    conditions: tuple[tuple[str, str], ...]
    wanted: frozenset[str]
    tickets: tuple[Ticket, ...]
    firmware: tuple[Component, ...]
    links: tuple[Link, ...]


def read(answer: object, name: str) -> Brief:
    """Return the brief of a node that an answer holds. BriefError where it is about another one, or about nothing."""
    said = _mapping(answer)
    node = _mapping(said.get("node"))
    if node.get("name") != name or not isinstance(node.get("state"), str):
        raise BriefError(f"the answer is not about {plain(name)}")
    return Brief(
        state=plain(node.get("state")),
        since=moment(node.get("since")),
        why=plain(said.get("why")),
        waiting=plain(node.get("waiting")),
        mode=plain(said.get("mode")),
        conditions=tuple(
            (plain(each), plain(_mapping(held).get("reason")))
            for each, held in list(_mapping(node.get("conditions")).items())[:MOST]
        ),
        wanted=frozenset(each for each in _list(said.get("wanted")) if isinstance(each, str)),
        tickets=tuple(
            Ticket(number, plain(each.get("title")), moment(each.get("opened_at")), urls(each.get("urls")))
            for each in _rows(said.get("tickets"))
            if isinstance(number := each.get("id"), int)
        ),
        firmware=tuple(
            Component(
                plain(each.get("entry")),
                plain(each.get("found")),
                " or ".join(plain(pin) for pin in _list(each.get("pins"))[:MOST]),
                plain(each.get("comparison")),
            )
            for each in _rows(said.get("firmware"))
        ),
        links=tuple(
            Link(
                plain(each.get("port")),
                plain(each.get("far")),
                plain(each.get("comparison")),
                plain(each.get("seen")),
            )
            for each in _rows(said.get("links"))
        ),
    )


def plain(value: object) -> str:
    """Return a text as one line without signs that hide or turn others round; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    text = "".join(each if unicodedata.category(each)[0] != "C" else " " for each in value[: 2 * LONGEST])
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def moment(value: object) -> datetime | None:
    """Return epoch seconds as a time, None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not (math.isfinite(value) and 0 < value <= LAST_SECOND):
        return None
    return datetime.fromtimestamp(value, UTC)


def urls(value: object) -> tuple[str, ...]:
    """Return the addresses that a browser may be led to: of http and https alone."""
    return tuple(each for each in _list(value)[:MOST] if isinstance(each, str) and web(each))


def web(url: str) -> bool:
    """Whether an address is one of the web, with a host, and without signs that an address does not have."""
    if len(url) > 2 * LONGEST or not url.isascii() or not url.isprintable() or " " in url:
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.username is None
    except ValueError:
        return False


def _rows(value: object) -> Iterator[Mapping[str, Any]]:
    return (_mapping(each) for each in _list(value)[:MOST] if isinstance(each, dict))


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
