"""Subscriptions to a BMC's events: which of them are ours and good, and what is asked of which BMC for a new one.

Told apart they are by their Context: it begins like the token's SHA-256, which tells nothing of the token. A BMC that
knows no HttpHeaders gets the token itself as Context.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.faults.signals.redfish import BUSINESS

Body = dict[str, Any]

MARK = "fleet-runner "
"""How the Context of ours begins, before the first digits of the token's digest."""

DIGITS = 12

IDLE = frozenset({"Disabled", "Deferring", "UnavailableOffline", "StandbyOffline"})
"""States (Resource.State) of a subscription to which nothing is sent any more, as after retries in vain."""

OPTIONAL = (
    "DeliveryRetryPolicy", "VerifyCertificate", "RegistryPrefixes", "SubscriptionType", "EventFormatType",
    "EventTypes", "HttpHeaders",
)  # fmt: skip
"""What a BMC may not know of a subscription; it is asked without what it does not want, the last one last."""

NEEDED = ("Destination", "Protocol")
"""What no subscription can do without."""

EVENT_TYPES = ("Alert", "StatusChange")
"""Of the types that older BMCs tell apart (iDRAC 9, iLO 5, Supermicro X10), those that tell of faults."""

FULL = ("EventSubscriptionLimitExceeded", "CreateLimitReachedForResource")
"""Messages of DMTF's Base registry with which a BMC takes no further subscription; OpenBMC takes 20."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """One that a BMC lists: `state` is its Status.State, "" where it has none."""

    uri: str
    destination: str
    context: str
    state: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done at a BMC: `keeps` is good as it is, `ends` are ours and good for nothing.

    `others` are where everybody else has events sent.
    """

    keeps: Subscription | None
    ends: tuple[Subscription, ...]
    others: tuple[str, ...]


def context(digest: str) -> str:
    """Return the Context of a subscription whose token has this SHA-256."""
    return f"{MARK}{digest[:DIGITS]}"


def plan(found: Iterable[Subscription], destination: str, digest: str, digest_of: Callable[[str], str]) -> Plan:
    """Return what is to be done so that just one subscription of ours is there, with the token of this SHA-256.

    `digest_of` is the SHA-256 of a text; with an empty `digest` none of ours is good.
    """
    listed = tuple(found)
    mine = [each for each in listed if is_at(each, destination) and _is_marked(each)]
    good = [each for each in mine if digest and each.state not in IDLE and _holds(each, digest, digest_of)]
    others = tuple(each.destination for each in listed if each not in mine and each.destination)
    return Plan(good[0] if good else None, tuple(each for each in mine if each not in good[:1]), others)


def is_at(subscription: Subscription, destination: str) -> bool:
    """Whether events go to a destination, however the BMC writes that."""
    return subscription.destination.rstrip("/").lower() == destination.rstrip("/").lower()


def _is_marked(subscription: Subscription) -> bool:
    return subscription.context.startswith((MARK, "frs_"))


def _holds(subscription: Subscription, digest: str, digest_of: Callable[[str], str]) -> bool:
    return subscription.context == context(digest) or digest_of(subscription.context) == digest


def body(service: Mapping[str, Any], destination: str, token: str, digest: str, *, verify: bool) -> Body:
    """Return what is posted to a BMC with this event service.

    `verify` is whether it may check the listener's certificate, as it does by itself.
    """
    return {
        "Destination": destination,
        "Protocol": "Redfish",
        "Context": context(digest),
        "HttpHeaders": [{"Authorization": f"Bearer {token}"}],
        "DeliveryRetryPolicy": "RetryForever",
        **({} if verify else {"VerifyCertificate": False}),
        **_chosen(service),
    }


def _chosen(service: Mapping[str, Any]) -> Body:
    """Return which events are asked for: of hardware, as far as the service can tell them apart."""
    formats, prefixes, types = (
        _texts(service.get(name)) for name in ("EventFormatTypes", "RegistryPrefixes", "EventTypesForSubscription")
    )
    found: Body = {}
    if "Event" in formats:
        found["EventFormatType"] = "Event"
    if wanted := [each for each in prefixes if each not in BUSINESS]:
        found["RegistryPrefixes"] = wanted
    known = [each for each in EVENT_TYPES if each in types]
    if known and not formats and not prefixes:
        found["EventTypes"] = known
    return found


def fewer(asked: Mapping[str, Any], refusal: Mapping[str, Any] | None, token: str) -> Body | None:
    """Return what is posted after a refusal: without what the BMC names, else without the first that it may not know.

    None where nothing is left that could be left out, or it does not want what is needed.
    """
    left = [name for name in OPTIONAL if name in asked]
    if not left:
        return None
    told = "\n".join(_told(refusal))
    named = {name for name in left if name in told}
    if not named and any(name in told for name in NEEDED):
        return None
    gone = named or {left[0]}
    found = {name: value for name, value in asked.items() if name not in gone}
    return {**found, "Context": token} if "HttpHeaders" in gone else found


def is_full(refusal: Mapping[str, Any] | None) -> bool:
    """Whether a BMC takes no further subscription."""
    return any(text.endswith(FULL) for text in _told(refusal))


def _told(refusal: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield the message ids and the properties that an error of Redfish names."""
    error = (refusal or {}).get("error")
    found = error.get("@Message.ExtendedInfo") if isinstance(error, Mapping) else None
    for info in found if isinstance(found, list) else ():
        if isinstance(info, Mapping):
            yield from _texts([info.get("MessageId")])
            yield from _texts(info.get("RelatedProperties"))
            yield from _texts(info.get("MessageArgs"))


def _texts(found: object) -> Collection[str]:
    return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
