"""Many resources of a BMC by a few patterns: each is asked once, and what cannot be read is said, not raised.

A pattern begins with the URI of a collection, and each word after it goes on from what was found so far:

    *              each member of a collection
    *=SEL,EventLog those members whose URI ends with one of the names
    *!HGX_*        all members but those whose URI ends like this
    *-20           the last 20 members, or more where the BMC shows all of them at once
    Thermal        the resource that a link of this name leads to
    Sensors!Thermal the same, of those resources alone that have no link named Thermal
"""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from fleet_runner.adapters.redfish.exchange import DroppedError, NoAnswerError
from fleet_runner.adapters.redfish.resources import Body, Resources
from fleet_runner.core.base.errors import BmcError, BmcRefused

MOST_RESOURCES = 500
"""Requests that one gathering may cost; a DGX has 800 resources, and a weak BMC answers a few in a second."""

MOST_PAGES = 20
"""Pages that are read of one collection of log entries; what is left keeps its link to the next page."""

NEXT = "Members@odata.nextLink"


class Gathering:
    """What was read so far: `add` reads what a pattern names, `told` returns all that was found."""

    def __init__(self, resources: Resources) -> None:
        self.found: dict[str, Body | None] = {}
        self._resources = resources
        self._known: dict[str, Body | None] = {}
        self._failed: dict[str, BmcError] = {}

    def add(self, pattern: str) -> None:
        """Read what a pattern names.

        Raises:
            BmcError: the BMC cannot be talked to at all, or has more resources than may be asked for.
        """
        words = pattern.strip("/").split("/")
        first = next((place for place, word in enumerate(words) if word[0] == "*"), len(words))
        uris = ["/" + "/".join(words[:first])]
        for word in words[first:]:
            uris = list(dict.fromkeys(each for uri in uris for each in self._next(uri, word)))
        for uri in uris:
            body = self._whole(uri)
            if body is not None:
                self.found[uri] = body

    def told(self) -> dict[str, Body | None]:
        """Return what was found, with None for what could not be read; raise if there was nothing but that."""
        if self._failed and not self.found:
            raise next(iter(self._failed.values()))
        return {**dict.fromkeys(self._failed), **self.found}

    def _next(self, uri: str, word: str) -> Iterator[str]:
        body = self._read(uri)
        if body is None:
            return
        if not word.startswith("*"):
            name, _, unless = word.partition("!")
            link = self._resources.link(body, *name.split(":"))
            if link is not None and not (unless and self._resources.link(body, unless)):
                yield link
            return
        if word.startswith("*-"):
            for own, whole in self._resources.newest(uri, int(word[2:])).items():
                if whole is not None:
                    self._known.setdefault(own, whole)
                yield own
            return
        for member in self._members(uri, body):
            if chosen(member.rpartition("/")[2], word):
                yield member

    def _members(self, uri: str, body: Body) -> Iterator[str]:
        for page in self._pages(uri, body):
            for member in self._resources.listed(uri, page):
                own = self._resources.wire.own(member.get("@odata.id"))
                if "@odata.type" in member and "Id" in member:
                    self._known.setdefault(own, member)
                yield own

    def _pages(self, uri: str, body: Body) -> Iterator[Body]:
        seen = {uri}
        page: Body | None = body
        while page is not None and len(seen) <= MOST_PAGES:
            yield page
            following = page.get(NEXT)
            where = self._resources.wire.own(following) if following else ""
            if not where or where in seen:
                return
            seen.add(where)
            page = self._read(where)

    def _whole(self, uri: str) -> Body | None:
        """Return a resource; one that is a collection has the members of its next pages too."""
        body = self._read(uri)
        if body is None or not body.get(NEXT):
            return body
        pages = list(self._pages(uri, body))
        members = [member for page in pages for member in self._resources.listed(uri, page)]
        return {**body, "Members": members, NEXT: pages[-1].get(NEXT)}

    def _read(self, uri: str) -> Body | None:
        if uri not in self._known and uri not in self._failed:
            if len(self._known) >= MOST_RESOURCES:
                raise BmcError(
                    f"{self._resources.wire.url} has more than {MOST_RESOURCES} resources that are asked for;"
                    " the others were not read"
                )
            try:
                self._known[uri] = self._resources.read(uri, missing_ok=True)
            except (BmcRefused, DroppedError, NoAnswerError):
                raise
            except BmcError as error:
                self._failed[uri] = error
        return self._known.get(uri)


def chosen(name: str, word: str) -> bool:
    """Tell if a member of this name is meant by a word that begins with a star."""
    if word.startswith("*="):
        return name in word[2:].split(",")
    return not (word.startswith("*!") and fnmatchcase(name, word[2:]))


def gather(resources: Resources, patterns: Iterable[str]) -> dict[str, Body | None]:
    """Return {URI: body} of all that some patterns name; None for what answered with an error.

    Links that lead nowhere and members that are not there are left out.
    """
    gathering = Gathering(resources)
    for pattern in patterns:
        gathering.add(pattern)
    return gathering.told()
