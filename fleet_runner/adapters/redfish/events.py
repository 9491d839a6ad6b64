"""A BMC's event service: who subscribed to its events; one more, or one less. It is found by its links."""

import re
from http import HTTPStatus
from typing import NamedTuple

from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.adapters.redfish.exchange import words
from fleet_runner.adapters.redfish.resources import Body
from fleet_runner.adapters.redfish.wire import DONE
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.faults.signals.subscriptions import Subscription, fewer, is_at, is_full

SERVICE = "EventService"

REFUSED = frozenset({HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.UNPROCESSABLE_ENTITY})
"""Answers to a subscription that may mean a property of it."""

_TOKEN = re.compile(r"frs_[A-Za-z0-9_-]{1,100}")


class Events(NamedTuple):
    """The event service of a BMC, where its subscriptions lie, and who has one."""

    uri: str
    service: Body
    collection: str
    subscriptions: tuple[Subscription, ...]


def read(bmc: Bmc) -> Events | None:
    """Return a BMC's event service; None where it has none to which anybody could subscribe."""
    bmc.begin()
    at = bmc.resources
    uri = at.service(SERVICE)
    service = at.find(uri)
    collection = at.link(service, "Subscriptions")
    if uri is None or service is None or collection is None:
        return None
    return Events(uri, service, collection, _listed(bmc, collection))


def switch_on(bmc: Bmc, events: Events) -> bool:
    """Have a BMC send events where it does not; say whether that was needed."""
    if events.service.get("ServiceEnabled") is not False:
        return False
    bmc.begin()
    bmc.resources.patch(events.uri, {"ServiceEnabled": True}, "switching its event service on")
    return True


def subscribe(bmc: Bmc, events: Events, asked: Body, token: str) -> str:
    """Make a subscription, without those properties that the BMC does not know; say why it refuses, "" where not.

    Raises:
        BmcError: it says that it took it, and does not list it; or what it said cannot be understood.
    """
    bmc.begin()
    body = asked
    while True:
        reply = bmc.resources.wire.ask("POST", events.collection, body)
        if reply.status in DONE:
            break
        if is_full(reply.body):
            many = len(events.subscriptions)
            return f"{bmc.url} takes no more than the {many} subscriptions that it has; end one of them"
        left = fewer(body, reply.body, token) if reply.status in REFUSED else None
        if left is None:
            said = without_tokens(words(reply.body))
            return f"{bmc.url} answered {reply.status} to a subscription: {said}"
        body = left
    if not any(is_at(each, asked["Destination"]) for each in _listed(bmc, events.collection)):
        raise BmcError(f"{bmc.url} took the subscription ({reply.status}) and does not list it; look at the BMC")
    return ""


def end(bmc: Bmc, uri: str) -> None:
    """End a subscription; one that is gone already is no trouble."""
    bmc.begin()
    reply = bmc.resources.wire.ask("DELETE", uri)
    if reply.status != HTTPStatus.NOT_FOUND:
        bmc.resources.done(reply, "the end of a subscription")


def without_tokens(text: str) -> str:
    """Return what a BMC said without the tokens that it may repeat."""
    return _TOKEN.sub("frs_…", text)


def _listed(bmc: Bmc, collection: str) -> tuple[Subscription, ...]:
    return tuple(_subscription(uri, body) for uri, body in bmc.resources.all(collection).items())


def _subscription(uri: str, body: Body) -> Subscription:
    status = body.get("Status")
    state = status.get("State") if isinstance(status, dict) else None
    told = [each if isinstance(each, str) else "" for each in (body.get("Destination"), body.get("Context"), state)]
    return Subscription(uri, *told)
