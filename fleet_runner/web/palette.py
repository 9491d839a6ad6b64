"""What somebody may go to from anywhere: a thing of the fleet, a page, or a request about one node."""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple
from urllib.parse import quote

from fastapi import Request

from fleet_runner.core.access.roles import Right, Who, needed
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.offers import offers
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.tickets.work_orders.search import (
    DEVICE,
    FABRIC,
    NODE,
    RACK,
    TICKET,
    Found,
    Known,
    Words,
    alike,
    exact,
    worded,
)
from fleet_runner.web.fleet import kept
from fleet_runner.web.rendering import NAVIGATION
from fleet_runner.web.site import Site

PATHS = {NODE: "/nodes/", RACK: "/fleet/racks/", TICKET: "/tickets/", FABRIC: "/fabric/"}
"""Where the page of each kind of thing is; a device without a lifecycle has none."""

BELOW = (
    ("/trends/weeks", "Weeks: faults, repairs, bring-up", Right.SEE),
    ("/trends/lemons", "Lemons: nodes that cost most work", Right.SEE),
    ("/trends/lifetimes", "Lifetimes of parts", Right.SEE),
    ("/trends/checks", "Checks: what each is worth", Right.SEE),
    ("/labels", "Labels to print", Right.MEND),
)
"""Pages that the head of a page does not name."""

FIRST = 4
"""Requests that are offered with a node before somebody names one."""

_kept: list[tuple[Fleet, Words]] = []
"""The words of the fleet that was looked through last."""


class Place(NamedTuple):
    """Somewhere to go: what it is, its name, what of it fits or what it does, where it stands, and its address."""

    kind: str
    name: str
    because: str
    place: str
    url: str


def known(request: Request, here: Site, text: str) -> Known:
    """Return where to look: a ticket whose number is asked for also if it is closed."""
    look = kept(request).look(here)
    plain = text.strip().removeprefix("#")
    number = int(plain) if plain.isascii() and plain.isdecimal() and len(plain) < 10 else 0  # noqa: PLR2004  ids are less
    asked = here.store.ticket(number) if number else None
    tickets = ((asked,) if asked is not None else ()) + look.tickets
    names = frozenset(look.spots)
    return Known(look.fleet, _words(look.fleet), names, tickets, tuple(row.name for row in look.fabrics))


def places(here: Site, it: Known, who: Who, text: str, most: int) -> tuple[Place, ...]:
    """Return at most so many places that a text may mean: what it names as a whole comes first, then pages."""
    return tuple(islice(_places(here, it, who, text, most), most))


def link(found: Found) -> str:
    """Return where somebody goes for something; "" where no page shows it."""
    return f"{PATHS[found.kind]}{quote(found.key)}" if found.kind in PATHS else ""


def _places(here: Site, it: Known, who: Who, text: str, most: int) -> Iterator[Place]:
    meant = exact(it, text)
    for found in meant:
        yield _place(it, found)
    nodes = [found.key for found in meant if found.kind == NODE][:1]
    yield from _requests(here, who, nodes[0], "", FIRST) if nodes else ()
    wanted = " ".join(text.casefold().split())
    verb, _, rest = wanted.partition(" ")
    named = [found.key for found in exact(it, rest) if found.kind == NODE] if rest else []
    for name in named[:1]:
        yield from _requests(here, who, name, verb, most)
    for url, name, right in (*NAVIGATION, *BELOW):
        if wanted and who.may(right) and any(word.startswith(wanted) for word in _tails(name.casefold())):
            yield Place("page", name, name, "", url)
    yield from (_place(it, found) for found in alike(it, text, most + len(meant)) if found[:2] not in _keys(meant))


def _keys(meant: tuple[Found, ...]) -> set[tuple[str, str]]:
    return {(found.kind, found.key) for found in meant}


def _tails(name: str) -> Iterator[str]:
    """Yield a name from each of its words on."""
    words = name.split()
    return (" ".join(words[number:]) for number in range(len(words)))


def _place(it: Known, found: Found) -> Place:
    where = it.fleet.place(found.key) if it.fleet is not None and found.kind in {NODE, DEVICE} else ""
    name = f"#{found.key}" if found.kind == TICKET else found.key
    return Place(found.kind, name, found.because if found.because != found.key else "", where, link(found))


def _requests(here: Site, who: Who, name: str, verb: str, most: int) -> Iterator[Place]:
    """Yield requests about a node whose name begins with a verb; each leads to the page that asks once more."""
    rows: tuple[Node, ...] = here.store.some_nodes([name])
    every = [each for row in rows for each in offers(row) if who.may(needed(each.kind))]
    for each in [each for each in every if each.row.label.casefold().startswith(verb)][:most]:
        url = f"/nodes/{quote(name, safe='')}/requests/{each.kind.value}"
        yield Place("action", f"{each.row.label}: {name}", each.row.does, "", url)


def _words(fleet: Fleet | None) -> Words:
    if fleet is None:
        return Words()
    found = next((words for each, words in tuple(_kept) if each is fleet), None)
    if found is None:
        found = worded(fleet)
        _kept[:] = [(fleet, found)]
    return found
