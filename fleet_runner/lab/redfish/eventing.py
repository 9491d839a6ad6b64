"""The event service of an emulated BMC: subscriptions, and how events reach whoever subscribed.

It takes what OpenBMC's bmcweb takes, and no more subscriptions than `BmcBehaviour.subscriptions`. An event that was
not taken is sent again as often as the service's DeliveryRetryAttempts say; then the subscription ends, is
suspended, or goes on trying, as its DeliveryRetryPolicy says.
"""

import asyncio
import contextlib
import json
import ssl
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.tasks import moment
from fleet_runner.lab.redfish.trees import ROOT, Body
from fleet_runner.lab.redfish.wire import Refused, Reply, Request

POLICIES = ("TerminateAfterRetries", "SuspendRetries", "RetryForever")
"""What a subscription may ask for once retries are used up; the first holds unless it asks."""

KNOWN = frozenset(
    {"Destination", "Protocol", "Context", "SubscriptionType", "EventFormatType", "EventTypes", "RegistryPrefixes",
     "ResourceTypes", "MessageIds", "HttpHeaders", "DeliveryRetryPolicy", "VerifyCertificate"}
)  # fmt: skip

ANSWER_SECONDS = 5.0
MOST_WAITING = 100
"""Events that wait for one subscriber; the oldest go first."""


@dataclass(slots=True)
class Subscription:
    """One, with what its subscriber said but for his headers, which nobody is shown."""

    number: int
    said: Mapping[str, Any]
    headers: Mapping[str, str]
    state: str = "Enabled"
    waiting: deque[Body] = field(default_factory=lambda: deque[Body](maxlen=MOST_WAITING))
    sender: "asyncio.Task[None] | None" = None


class Eventing:
    """The subscriptions of one BMC."""

    def __init__(self, chip: Chip) -> None:
        self._chip = chip
        self._service = chip.tree.link(ROOT, "EventService")
        self.collection = chip.tree.link(self._service, "Subscriptions")
        self._all: dict[int, Subscription] = {}
        self._places = chip.tree.members(self.collection)  # Supermicro's has sixteen, most of them empty
        self._made, self._events = len(self._places), 0

    def listed(self) -> list[str]:
        """Return the URIs of all, and of those that the tree has."""
        return [*self._places, *(f"{self.collection}/{number}" for number in self._all)]

    def anybody(self) -> bool:
        """Whether somebody subscribed."""
        return bool(self._all)

    def body(self, uri: str) -> Body | None:
        """Return one as it is shown, None where there is none."""
        found = self._find(uri)
        if found is None:
            return self._chip.tree.bodies.get(uri) if uri in self._places else None
        kind = {"@odata.id": uri, "@odata.type": "#EventDestination.v1_14_1.EventDestination"}
        named = {"Id": str(found.number), "Name": f"Event Destination {found.number}"}
        status = {"Status": {"State": found.state, "Health": "OK"}}
        return {**kind, **named, "DeliveryRetryPolicy": POLICIES[0], **found.said, "HttpHeaders": [], **status}

    async def add(self, request: Request) -> Reply:
        """Make one, or raise Refused."""
        said = await request.json()
        if len(self._all) >= self._chip.habits.subscriptions:
            words = "the number of simultaneous subscriptions exceeds the limit"
            raise Refused(400, words, "EventSubscriptionLimitExceeded")
        self._check(said)
        self._made += 1
        headers = {name: str(value) for each in said.get("HttpHeaders", []) for name, value in each.items()}
        shown = {name: value for name, value in said.items() if name != "HttpHeaders"}
        self._all[self._made] = Subscription(self._made, shown, headers)
        uri = f"{self.collection}/{self._made}"
        self._chip.emit("subscribed", uri=uri, destination=said["Destination"])
        return Reply(201, self.body(uri), {"Location": uri})

    def remove(self, uri: str) -> Reply:
        """End one."""
        found = self._find(uri)
        if found is None:
            raise Refused(404, f"there is no subscription {uri}", "ResourceMissingAtURI")
        self._end(found, "client")
        return Reply(204)

    def forget(self, why: str) -> None:
        """End all."""
        for each in list(self._all.values()):
            self._end(each, why)

    def silence(self) -> None:
        """Forget what waits to be sent, as a restart does; subscriptions are kept."""
        for each in self._all.values():
            each.waiting.clear()
            if each.sender is not None:
                each.sender.cancel()

    def tell(self, event: Body, *, enabled: bool) -> None:
        """Send an event to whoever wants such."""
        self._events += 1
        registry = str(event.get("MessageId")).partition(".")[0]
        whole = {"EventId": str(self._events), "MemberId": "0", "EventTimestamp": moment(time.time()), **event}
        for each in self._all.values() if enabled else ():
            wanted = each.said.get("RegistryPrefixes") or [registry]
            if registry in wanted and each.state == "Enabled":
                each.waiting.append(whole)
                if each.sender is None or each.sender.done():
                    each.sender = self._chip.spawn(self._send(each))

    def _check(self, said: Mapping[str, Any]) -> None:
        service = self._chip.tree.get(self._service)
        for name in said:
            if name not in KNOWN or name in self._chip.habits.unknown_to_events:
                raise Refused(400, f"the property {name} is not known here", "PropertyUnknown", (name,))
        split = urlsplit(str(said.get("Destination")))
        if split.scheme not in {"http", "https"} or not split.hostname:
            raise Refused(400, "Destination is no URL", "PropertyValueFormatError", ("Destination",))
        allowed = {
            "Protocol": ["Redfish"], "DeliveryRetryPolicy": list(POLICIES), "SubscriptionType": ["RedfishEvent"],
            "EventFormatType": service.get("EventFormatTypes", ["Event"]),
        }  # fmt: skip
        for name, values in allowed.items():
            if said.get(name, values[0] if name != "Protocol" else None) not in values:
                words = f"the value {said.get(name)!r} of {name} is not in the list"
                raise Refused(400, words, "PropertyValueNotInList", (str(said.get(name)), name))
        for each in said.get("RegistryPrefixes", []):
            if each not in service.get("RegistryPrefixes", []):
                about = (each, "RegistryPrefixes")
                raise Refused(400, f"the registry {each} is not known", "PropertyValueNotInList", about)

    def _find(self, uri: str) -> Subscription | None:
        head, _, number = uri.rpartition("/")
        return self._all.get(int(number)) if head == self.collection and number.isdigit() else None

    def _end(self, subscription: Subscription, why: str) -> None:
        self._all.pop(subscription.number, None)
        self._chip.emit("unsubscribed", uri=f"{self.collection}/{subscription.number}", why=why)
        subscription.waiting.clear()
        if subscription.sender is not None and why != "retries":  # which is the sender's own word
            subscription.sender.cancel()

    async def _send(self, to: Subscription) -> None:
        """Send what waits, one after the other."""
        failed = 0
        attempts = int(self._chip.tree.get(self._service).get("DeliveryRetryAttempts") or 3)
        policy = to.said.get("DeliveryRetryPolicy", POLICIES[0])
        while to.waiting:
            event = to.waiting[0]
            if await _posted(to, event):
                self._chip.emit("event_sent", number=to.number, message=event["MessageId"])
                to.waiting.popleft()
                failed = 0
                continue
            failed += 1
            self._chip.emit("event_refused", number=to.number, message=event["MessageId"], times=failed)
            if failed > attempts and policy != POLICIES[2]:
                if policy == POLICIES[0]:
                    self._end(to, "retries")
                to.state = "Disabled"
                to.waiting.clear()
                return
            await asyncio.sleep(self._chip.pace.event_retry)


async def _posted(to: Subscription, event: Body) -> bool:
    """Post an event; say whether it was taken."""
    split = urlsplit(str(to.said["Destination"]))
    secure = split.scheme == "https"
    context = {"Context": to.said["Context"]} if "Context" in to.said else {}
    told = {"@odata.type": "#Event.v1_7_0.Event", "Id": event["EventId"], "Name": "Event Log", "Events": [event]}
    text = json.dumps({**told, **context}).encode()
    lines = [
        f"POST {split.path or '/'} HTTP/1.1", f"Host: {split.netloc}", "Content-Type: application/json",
        f"Content-Length: {len(text)}", "Connection: close", *(f"{name}: {to.headers[name]}" for name in to.headers),
    ]  # fmt: skip
    head = "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n"
    tls = _tls(verify=bool(to.said.get("VerifyCertificate", True))) if secure else None
    writer = None
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            port = split.port or (443 if secure else 80)
            reader, writer = await asyncio.open_connection(split.hostname, port, ssl=tls)
            writer.write(head + text)
            status = (await reader.readline()).split(b" ")
    except (OSError, TimeoutError):
        return False
    finally:
        if writer is not None:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
    return len(status) > 1 and status[1].startswith(b"2")


def _tls(*, verify: bool) -> ssl.SSLContext:
    """OpenBMC checks a certificate unless it is told not to."""
    made = ssl.create_default_context()
    if not verify:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made
