"""What is read of a BMC, part by part: patterns over its resources, followed by what is known so far.

A pattern begins with a URI, and each word after it goes on from what was found:

    *              each member of a collection, of all its pages
    *=SEL,EventLog those members whose URI ends with one of the names
    *!HGX_*        all members but those whose URI ends like this
    *~GPU*         those members alone whose URI ends like this
    Thermal        the resource that a link of this name leads to
    Sensors!Thermal the same, of those resources alone that have no link named Thermal
    Drives[]       each resource that a list of links of this name leads to
"""

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers.redfish import type_of
from fleet_runner.core.checks.reads.bmc import CHASSIS, LOGS, SENSORS, SUPPLIES

Body = Mapping[str, Any]

ROOT = "/redfish/v1"
OWN_SYSTEMS = f"{ROOT}/Systems/*!HGX_*"
NEXT = "Members@odata.nextLink"

MOST_PAGES = 20
"""Pages that are followed of one collection."""

DEEPEST = 50
"""Objects within objects of one resource; Redfish's own have fewer than ten."""

MOST_CHARACTERS = 200_000_000
"""Of all resources together; a big server's whole tree has 20 million."""


class Part(NamedTuple):
    """One part of a look: its name, and the patterns of what is read for it."""

    name: str
    patterns: tuple[str, ...]


MACHINE = Part("machine", (f"{ROOT}/Systems/*", f"{ROOT}/Managers/*", f"{ROOT}/Chassis/*"))
FIRMWARE = Part("firmware", (f"{ROOT}/UpdateService/FirmwareInventory/*",))
POWER = Part("power supplies", (f"{ROOT}/Chassis/*/Power", *SUPPLIES))
SENSED = Part("sensors", SENSORS)
LOGGED = Part("event logs", LOGS)
PROCESSORS = Part("processors", (f"{ROOT}/Systems/*/Processors/*",))
MEMORY = Part("memory", (f"{OWN_SYSTEMS}/Memory/*",))
STORAGE = Part("drives", (f"{OWN_SYSTEMS}/Storage/*", f"{OWN_SYSTEMS}/Storage/*/Drives[]"))
ADAPTERS = Part("network adapters", (f"{CHASSIS}/NetworkAdapters/*",))
CARDS = Part("GPU cards", (f"{CHASSIS}/PCIeDevices/*~GPU*",))

PARTS = (MACHINE, FIRMWARE, POWER, SENSED, LOGGED, PROCESSORS, MEMORY, STORAGE, ADAPTERS, CARDS)
"""In the order in which they are read: what says most first, for a BMC that is slow."""


class Tree:
    """A BMC's resources by URI, as far as they are known, and why others are not.

    `absent` are those that it names and says are not there (404).
    """

    def __init__(self, bodies: Mapping[str, Body | None] | None = None) -> None:
        self.bodies: dict[str, Body] = {}
        self.unread: dict[str, str] = {}
        self.absent: list[str] = []
        self._room = MOST_CHARACTERS
        for uri, body in (bodies or {}).items():
            if body is None:
                self.unread[_key(uri)] = "it could not be read when this file was saved"
            else:
                self._keep(uri, body)
        for body in list(self.bodies.values()):
            self._members_of(body)

    def learn(self, uri: str, body: Body) -> None:
        """Note a resource, and the members that a collection shows whole."""
        if self._keep(uri, body):
            self._members_of(body)

    def _keep(self, uri: str, body: Body) -> bool:
        size = _size(body)
        if size is None or size > self._room:
            self.lose(uri, "it is nested too deep, or the BMC sent too much in all")
            return False
        self._room -= size
        self.bodies[_key(uri)] = body
        return True

    def lose(self, uri: str, why: str) -> None:
        """Note that a resource could not be read."""
        self.unread[_key(uri)] = why

    def miss(self, uri: str) -> None:
        """Note that a resource is not there."""
        self.absent.append(_key(uri))

    def wanted(self, part: Part) -> list[str]:
        """Return the URIs to be read next for a part; none when it is whole."""
        known = {*self.unread, *self.absent}
        open_ = (uri for pattern in part.patterns for uri in self._follow(pattern)[1])
        return list({_key(uri): uri for uri in open_ if _key(uri) not in known}.values())

    def of(self, part: Part) -> dict[str, Body]:
        """Return what is known of a part: the resources that its patterns end with."""
        return self.at(*part.patterns)

    def at(self, *patterns: str) -> dict[str, Body]:
        """Return the known resources that patterns end with."""
        ends = dict.fromkeys(_key(uri) for pattern in patterns for uri in self._follow(pattern)[0])
        return {uri: self.bodies[uri] for uri in ends if uri in self.bodies}

    def _follow(self, pattern: str) -> tuple[list[str], list[str]]:
        """Return where a pattern leads, and what must be known first to go on."""
        words = pattern.strip("/").split("/")
        first = next((place for place, word in enumerate(words) if word[0] == "*"), len(words))
        uris, unknown = ["/" + "/".join(words[:first])], []
        for word in words[first:]:
            found: list[str] = []
            for uri in uris:
                body = self.bodies.get(_key(uri))
                if body is None:
                    unknown.append(uri)
                else:
                    found += self._next(uri, body, word, unknown)
            uris = list(dict.fromkeys(found))
        for uri in uris:
            end = self.bodies.get(_key(uri))
            if end is None:
                unknown.append(uri)
            else:
                list(self._pages(uri, end, unknown))
        return uris, unknown

    def _next(self, uri: str, body: Body, word: str, unknown: list[str]) -> Iterable[str]:
        if word.startswith("*"):
            pages = self._pages(uri, body, unknown)
            members = (own(row) for page in pages for row in _rows(page.get("Members")))
            return [each for each in members if each and chosen(_key(each).rpartition("/")[2], word)]
        if word.endswith("[]"):
            return [each for row in _rows(body.get(word.removesuffix("[]"))) if (each := own(row))]
        name, _, unless = word.partition("!")
        link = own(body.get(name))
        return [link] if link and not (unless and own(body.get(unless))) else []

    def _pages(self, uri: str, body: Body, unknown: list[str]) -> Iterator[Body]:
        seen = {_key(uri)}
        page: Body | None = body
        while page is not None:
            yield page
            following = own({"@odata.id": page.get(NEXT)})
            if not following or _key(following) in seen or len(seen) >= MOST_PAGES:
                return
            seen.add(_key(following))
            page = self.bodies.get(_key(following))
            if page is None:
                unknown.append(following)

    def whole(self, uri: str, body: Body) -> Body:
        """Return a collection with the members of its next pages, as far as they are known."""
        pages = list(self._pages(uri, body, []))
        if len(pages) == 1:
            return body
        return {**body, "Members": [row for page in pages for row in _rows(page.get("Members"))],
                NEXT: pages[-1].get(NEXT)}  # fmt: skip

    def _members_of(self, body: Body) -> None:
        if type_of(body) == "LogEntryCollection":
            return
        for row in _rows(body.get("Members")):
            if "@odata.type" in row and "Id" in row and (member := own(row)):
                self.bodies.setdefault(_key(member), row)


def own(link: object) -> str:
    """Return where a link leads within the same BMC, without its fragment; "" for any other."""
    found = link.get("@odata.id") if isinstance(link, Mapping) else None
    uri = found.partition("#")[0] if isinstance(found, str) else ""
    inside = uri.startswith("/redfish/") and ".." not in uri and "//" not in uri
    return uri if inside and uri.isprintable() and " " not in uri else ""


def chosen(name: str, word: str) -> bool:
    """Tell if a member of this name is meant by a word that begins with a star."""
    if word.startswith("*="):
        return name in word[2:].split(",")
    if word.startswith("*~"):
        return fnmatchcase(name, word[2:])
    return not (word.startswith("*!") and fnmatchcase(name, word[2:]))


def shown(uri: str) -> str:
    """Return a URI as people are shown it: short, and safe for a terminal."""
    return printable(uri.removeprefix(f"{ROOT}/"))[:120]


def _size(body: Body) -> int | None:
    """Return about how many characters a resource has; None where it is nested too deep."""
    size = 0
    values: list[object] = [body]
    for _ in range(DEEPEST):
        inner: list[object] = []
        for value in values:
            size += len(value) if isinstance(value, str) else 8
            if isinstance(value, Mapping):
                inner += [*value, *value.values()]
            elif isinstance(value, list):
                inner += value
        if not inner:
            return size
        values = inner
    return None


def _rows(found: object) -> list[Body]:
    return [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []


def _key(uri: str) -> str:
    return uri.rstrip("/")
