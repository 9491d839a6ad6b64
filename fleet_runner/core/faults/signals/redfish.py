"""What BMCs post to who subscribed to their events: DMTF's Event 1.x, as iDRAC, iLO, OpenBMC and HGX send it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers.json_text import json_object, objects
from fleet_runner.core.checks.parsers.redfish import linked, text_in
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.clock import moment, settled
from fleet_runner.core.faults.signals.redfish_ends import ENDS
from fleet_runner.core.faults.signals.signal import Signal, Source

MOST_EVENTS = 1_000
"""Events of one post."""

SEVERITY: Mapping[str, Remedy] = {"critical": Remedy.WATCH, "warning": Remedy.RECORD}
"""What follows unless the rules know the message; of any other severity nothing is kept but what it takes back."""

BUSINESS = frozenset({
    "AccountSecurity", "Base", "Composition", "HeartbeatEvent", "JobEvent", "License", "LogService", "ManagerEvent",
    "ServiceCommunications", "TaskEvent", "Telemetry", "Update",
})  # fmt: skip
"""Registries of what BMCs do, not of what is wrong with hardware."""

_PART = re.compile(r"[^A-Za-z0-9_-]+")
_ROOTS = re.compile(
    r"/(?:Systems|Managers|Chassis|LogServices|EventService|Subscriptions)/[^/]+$|/LogServices/|/Entries/"
)
"""Origins that name no part: a whole system, or the log in which the event lies."""


def read(text: str, heard: float, host: str = "") -> tuple[Signal, ...]:
    """Return what a post tells of `host`, or of what its subscription's context names; EvidenceError for no post."""
    post = json_object(text, "the BMC's post")
    events = objects(post.get("Events"), "the BMC's post, its Events")
    if len(events) > MOST_EVENTS:
        raise EvidenceError(f"the BMC's post has {len(events)} events, expected at most {MOST_EVENTS}")
    named = host or text_in(post, "Context")
    return tuple(signal for event in events for signal in _signals(event, named or text_in(event, "Context"), heard))


def _signals(event: Mapping[str, Any], host: str, heard: float) -> Iterator[Signal]:
    name = _name(event)
    if name.partition(".")[0] in BUSINESS:
        return
    told = text_in(event, "EventTimestamp")
    at = moment(told, heard)
    part = _component(event)
    said = printable(text_in(event, "Message")).replace("\n", " ")[:300] or name
    severity = (text_in(event, "MessageSeverity") or text_in(event, "Severity")).lower()
    for ended in ENDS.get(name, ()):
        yield Signal(
            host, f"redfish.{ended}", part, settled(at, heard), Source.REDFISH, said, Remedy.RECORD, ended=True
        )
    if severity in SEVERITY:
        number = text_in(event, "EventId")
        key = f"{number}/{told}/{said:.200}" if number or told else ""
        yield Signal(
            host, f"redfish.{name}", part, settled(at, heard), Source.REDFISH, said, SEVERITY[severity], key=key
        )


def _name(event: Mapping[str, Any]) -> str:
    """Return "SensorEvent.SensorFailure" of "SensorEvent.1.0.1.SensorFailure": a new version changes no fault."""
    registry, *rest = text_in(event, "MessageId").split(".")
    words = [registry, *rest[-1:]] if registry else [text_in(event, "EventType") or "Event"]
    return ".".join(_PART.sub("_", word)[:60] for word in words)


def _component(event: Mapping[str, Any]) -> str:
    """Return what it is about: the resource that it came from, else the message's first argument."""
    origin = event.get("OriginOfCondition")
    path = origin.rstrip("/") if isinstance(origin, str) else linked(origin)
    arguments = event.get("MessageArgs")
    first = arguments[0] if isinstance(arguments, list) and arguments else None
    if path and not _ROOTS.search(path):
        return printable(path.rpartition("/")[2])[:80]
    return printable(first.strip())[:80] if isinstance(first, str) else ""
