"""What Alertmanager posts (webhook version 4): alerts that fire, and alerts that are over.

An alert tells what is so now: it counts from when it was heard. Its fingerprint with its beginning is its key.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers.json_text import json_object, objects
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.clock import moment
from fleet_runner.core.faults.signals.signal import Signal, Source

NODE = ("fleet_node", "node", "nodename", "Hostname", "hostname", "host", "exported_instance", "instance")
"""Labels that may name the node, in this order; DCGM's exporter writes `Hostname`, Prometheus `instance`."""

COMPONENT = ("component", "gpu", "device", "interface", "sensor", "name")
"""Labels that say which part of the node it is about."""

SEVERITY: Mapping[str, Remedy] = {"critical": Remedy.WATCH, "error": Remedy.WATCH, "page": Remedy.WATCH}
"""What follows from an alert's severity unless the rules know its name; every other severity is recorded."""

MOST_ALERTS = 5_000
"""Alerts of one post."""

VERSION = "4"

_SAID = ("summary", "description", "message")


def read(text: str, heard: float) -> tuple[Signal, ...]:
    """Return a signal for each alert that names a node; EvidenceError for what is no such post."""
    post = json_object(text, "the post")
    if post.get("version") != VERSION:
        raise EvidenceError(
            f"the post has the version {post.get('version')!r:.20}, expected {VERSION!r}: Alertmanager's webhook"
        )
    alerts = objects(post.get("alerts"), "the post's alerts")
    if len(alerts) > MOST_ALERTS:
        raise EvidenceError(f"the post has {len(alerts)} alerts, expected at most {MOST_ALERTS}; set max_alerts")
    return tuple(_signals(alerts, heard))


def _signals(alerts: list[dict[str, Any]], heard: float) -> Iterator[Signal]:
    for alert in alerts:
        labels = _texts(alert.get("labels"))
        name = _line(labels.get("alertname", ""))
        if not name:
            continue
        yield Signal(
            node=_node(labels),
            code=f"alert.{name}"[:120],
            component=_component(labels),
            at=heard,
            source=Source.ALERT,
            message=_message(name, _texts(alert.get("annotations"))),
            remedy=SEVERITY.get(labels.get("severity", "").lower(), Remedy.RECORD),
            ended=alert.get("status") == "resolved",
            key=f"{alert.get('fingerprint')}@{alert.get('startsAt')}"[:120],
            began=moment(alert.get("startsAt"), heard),
        )


def _texts(found: Any) -> dict[str, str]:
    return {key: said for key, said in found.items() if isinstance(said, str)} if isinstance(found, dict) else {}


def _node(labels: Mapping[str, str]) -> str:
    """Return what an alert calls its node, "" where it names none; of an address the port is left out."""
    said = next((labels[name].strip() for name in NODE if labels.get(name, "").strip()), "")
    said = said.partition("://")[2].partition("/")[0] if "://" in said else said
    name, _, port = said.rpartition(":")
    return (name if name and port.isdigit() and "]" not in port else said).strip("[]")[:255]


def _component(labels: Mapping[str, str]) -> str:
    """Return the part as checks call it where that can be told."""
    name = next((name for name in COMPONENT if labels.get(name)), "")
    said = _line(labels.get(name, ""))[:80]
    return f"GPU {said}" if name == "gpu" else said


def _message(name: str, annotations: Mapping[str, str]) -> str:
    said = next((annotations[each] for each in _SAID if annotations.get(each)), "")
    return _line(f"{name}: {said}" if said else name)[:300]


def _line(said: str) -> str:
    return printable(said).replace("\n", " ")
