"""A BMC's resources, found by following its links: one, a collection's members, an action's allowed values."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, NamedTuple

from fleet_runner.adapters.redfish.exchange import Reply, words
from fleet_runner.adapters.redfish.wire import DONE, ROOT, Connection
from fleet_runner.core.base.errors import BmcError, BmcRefused
from fleet_runner.core.base.printable import printable

MOST_MEMBERS = 4096
MOST_DEPTH = 6

Body = dict[str, Any]


class Action(NamedTuple):
    """An action that a resource offers: its name without the "#", where it is sent, and all that is said of it."""

    name: str
    target: str
    body: Body


class Resources:
    """The resources behind a wire. Nothing here starts the clock of a call."""

    def __init__(self, wire: Connection) -> None:
        self.wire = wire
        self._expand_query: str | None = None

    def get(self, uri: str) -> Body:
        """Return a resource, or raise."""
        return self.read(uri) or {}

    def find(self, uri: str | None) -> Body | None:
        """Return a resource; None where there is none, or no such link."""
        return None if uri is None else self.read(uri, missing_ok=True)

    def read(self, uri: str, *, missing_ok: bool = False) -> Body | None:
        """Return a resource; with `missing_ok`, None where the BMC says that there is none."""
        reply = self.wire.get(uri)
        if missing_ok and reply.status == HTTPStatus.NOT_FOUND:
            return None
        if reply.status != HTTPStatus.OK:
            raise BmcError(f"{self.wire.url}{uri} answered {reply.status}, expected 200: {words(reply.body)}")
        return reply.body

    def members(self, uri: str) -> list[str]:
        """Return the URIs of a collection's members, of all its pages."""
        found: list[str] = []
        pages: set[str] = set()
        page: str | None = uri
        while page is not None and page not in pages and len(found) < MOST_MEMBERS:
            pages.add(page)
            body = self.get(page)
            found += [self.wire.own(member.get("@odata.id")) for member in self.listed(page, body)]
            page = self._next(body)
        return found

    def all(self, collection: str) -> dict[str, Body]:
        """Return {URI: body} of every member of a collection; one that cannot be read is an error.

        A collection that the BMC can show with its members is one request instead of a hundred.
        """
        found = self._expanded(collection)
        known = dict.fromkeys(self.members(collection)) if found is None else found
        return {uri: body or self.get(uri) for uri, body in known.items()}

    def newest(self, collection: str, most: int) -> dict[str, Body | None]:
        """Return {URI: body} of a collection's members, where the BMC shows all at once; else its last ones, unread.

        New members stand at the end, as a queue's do.
        """
        found = self._expanded(collection)
        if found is None or None in found.values():
            return dict.fromkeys(list(found or self.members(collection))[-most:])
        return found

    def _expanded(self, collection: str) -> dict[str, Body | None] | None:
        """Return {URI: body} of a collection's members, None for one that came as a link alone.

        None instead where the BMC does not do that, or not well: it is not asked again.
        """
        query = self._expand()
        if not query:
            return None
        found: dict[str, Body | None] = {}
        try:
            body = self.get(f"{collection}?{query}")
            listed = self.listed(collection, body)
            for member in listed:
                found[self.wire.own(member.get("@odata.id"))] = member if "@odata.type" in member else None
            whole = not body.get("Members@odata.nextLink") and body.get("Members@odata.count", len(found)) == len(
                found
            )
        except BmcError:
            whole = False
        if not whole:
            self._expand_query = ""
            return None
        return found

    def _expand(self) -> str:
        """Return the query that shows a collection with its members, "" where the service root offers none."""
        if self._expand_query is None:
            features = self.get(ROOT).get("ProtocolFeaturesSupported")
            offered = features.get("ExpandQuery") if isinstance(features, Mapping) else None
            offered = offered if isinstance(offered, Mapping) else {}
            sign = "." if offered.get("NoLinks") is True else "*" if offered.get("ExpandAll") is True else ""
            level = "($levels=1)" if offered.get("Levels") is True else ""
            self._expand_query = f"$expand={sign}{level}" if sign else ""
        return self._expand_query

    def link(self, body: Mapping[str, Any] | None, *names: str) -> str | None:
        """Return where a link of a resource leads, by the names on the way to it; None where there is none."""
        found: Any = body
        for name in names:
            found = found.get(name) if isinstance(found, Mapping) else None
        return self.wire.own(found["@odata.id"]) if isinstance(found, Mapping) and "@odata.id" in found else None

    def links(self, body: Mapping[str, Any] | None, name: str) -> list[str]:
        """Return where the links of a name under Links lead; one that is no list counts as one."""
        under = (body or {}).get("Links")
        found = under.get(name) if isinstance(under, Mapping) else None
        listed = found if isinstance(found, list) else [found]
        named = [each for each in listed if isinstance(each, Mapping) and "@odata.id" in each]
        return [self.wire.own(each["@odata.id"]) for each in named]

    def service(self, name: str) -> str | None:
        """Return where the service root says that something of the BMC is; None where it names none."""
        return self.link(self.get(ROOT), name)

    def allowed(self, action: Mapping[str, Any], parameter: str = "ResetType") -> list[str]:
        """Return what an action takes for a parameter; nothing where the BMC does not say."""
        direct = action.get(f"{parameter}@Redfish.AllowableValues")
        if isinstance(direct, list):
            return [str(value) for value in direct]
        info = action.get("@Redfish.ActionInfo")
        where = info.get("@odata.id") if isinstance(info, Mapping) else info
        body = self.find(self.wire.own(where)) if where else None
        parameters = (body or {}).get("Parameters")
        for each in parameters if isinstance(parameters, list) else ():
            if isinstance(each, Mapping) and each.get("Name") == parameter:
                values = each.get("AllowableValues")
                return [str(value) for value in values] if isinstance(values, list) else []
        return []

    def actions(self, body: Mapping[str, Any] | None) -> dict[str, Action]:
        """Return the actions of a resource, its vendor's too, by name."""
        return {each.name: each for each in self._actions((body or {}).get("Actions"), MOST_DEPTH)}

    def patch(self, uri: str, change: Body, what: str) -> Reply:
        """Change a resource as it was just read.

        Raises:
            BmcRefused: the BMC refused the change.
        """
        reply = self._patch(uri, change, strong=False)
        if reply.status == HTTPStatus.PRECONDITION_FAILED:
            # Changed between our read and our write, which does not matter to who sets one value; or a BMC that gives
            # weak tags and takes only strong ones.
            reply = self._patch(uri, change, strong=True)
        return self.done(reply, what)

    def done(self, reply: Reply, what: str) -> Reply:
        """Return an answer that says that the BMC did something, or began to; raise any other."""
        if reply.status not in DONE:
            kind = BmcRefused if refuses(reply) else BmcError
            why = f"{self.wire.url} answered {reply.status} to {what}: {_elsewhere(reply) or words(reply.body)}"
            error = kind(why)
            error.status = reply.status
            raise error
        return reply

    def _patch(self, uri: str, change: Body, *, strong: bool) -> Reply:
        before = self.wire.get(uri)
        tag = str(before.headers.get("ETag") or (before.body or {}).get("@odata.etag") or "")
        tag = tag.removeprefix("W/") if strong else tag
        return self.wire.ask("PATCH", uri, change, {"If-Match": tag} if tag else {})

    def _actions(self, found: object, depth: int) -> Iterable[Action]:
        if not isinstance(found, Mapping) or depth == 0:
            return
        for name, body in found.items():
            if not isinstance(body, dict):
                continue
            if str(name).startswith("#"):
                if isinstance(body.get("target"), str):
                    yield Action(str(name)[1:], self.wire.own(body["target"]), body)
            else:  # "Oem", and a vendor's own folders in it
                yield from self._actions(body, depth - 1)

    def listed(self, page: str, body: Body) -> list[Body]:
        """Return the members that a collection, or a page of it, lists; some are links alone, some whole."""
        listed = body.get("Members") or []  # some storage collections have none
        if not isinstance(listed, list) or not all(isinstance(member, dict) for member in listed):
            raise BmcError(f"{self.wire.url}{page}: Members is not a list of links; this is not Redfish")
        return listed

    def _next(self, body: Body) -> str | None:
        following = body.get("Members@odata.nextLink")
        return self.wire.own(following) if following else None


def _elsewhere(reply: Reply) -> str:
    """Say what to do about a BMC that wants to be asked somewhere else; "" where it does not."""
    if not 300 <= reply.status < 400:  # noqa: PLR2004  HTTP's class
        return ""
    where = printable(reply.headers.get("Location", ""))[:120] or "nowhere"
    return f"it points to {where}, and nothing was done; if that is the BMC, give the device that address"


def refuses(reply: Reply) -> bool:
    """Tell if an answer says that nothing was done: the BMC did not want to, or could not just now.

    A 500 or a 502 may come from something that broke half-way, and a 503 without Redfish's words from a web server
    whose Redfish service has just died; those say nothing.
    """
    if reply.status == HTTPStatus.SERVICE_UNAVAILABLE:
        return isinstance((reply.body or {}).get("error"), dict)
    told = {HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.INSUFFICIENT_STORAGE}
    return (300 <= reply.status < 500 and reply.status != HTTPStatus.REQUEST_TIMEOUT) or reply.status in told  # noqa: PLR2004  HTTP's classes
