"""A boot's progress as the evidence that its verdict is drawn from: JSON, without anything that must stay secret."""

import json
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.boot.boots import Boot, BootEvent, Identity, Milestone
from fleet_runner.core.boot.progress import Progress
from fleet_runner.core.checks.parsers.json_text import json_object

MOST_EVENTS = 50


def to_json(progress: Progress) -> dict[str, Any]:
    """Return plain JSON types; ssh host keys and the nonce's hash stay behind."""
    return {
        "boot": _boot(progress.boot),
        "now": progress.now,
        "limits": {milestone.value: seconds for milestone, seconds in progress.limits.items()},
        "refused": [_event(event) for event in progress.refused[-MOST_EVENTS:]],
        "beats": dict(progress.beats),
        "stuck": list(progress.stuck),
        "passed": progress.passed,
        "again": progress.again,
        "power": progress.power,
        "ssh": progress.ssh,
    }


def parse(text: str, what: str) -> Progress:
    """Read what `to_json` gave, as a text; EvidenceError for anything else."""
    raw = json_object(text, what)
    try:
        return _progress(raw)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise EvidenceError(f"{what}: {json.dumps(raw):.60} is not a boot's progress ({error!r:.80})") from error


def _progress(raw: Mapping[str, Any]) -> Progress:
    boot = raw["boot"]
    expected = boot["expected"]
    return Progress(
        boot=Boot(
            id=int(boot["id"]),
            node=str(boot["node"]),
            run=None,
            armed_at=float(boot["armed_at"]),
            expires_at=float(boot["expires_at"]),
            expected=Identity(
                frozenset(map(str, expected["macs"])),
                str(expected["serial"]),
                str(expected["uuid"]),
                frozenset(map(str, expected["addresses"])),
            ),
            claimed_at=_moment(boot["claimed_at"]),
            claimed_by=str(boot["claimed_by"]),
            reached={Milestone(step): float(at) for step, at in boot["reached"].items()},
            closed_at=_moment(boot["closed_at"]),
            closed_because=str(boot["closed_because"]),
            leased=frozenset(map(str, boot["leased"])),
        ),
        now=float(raw["now"]),
        limits={milestone: float(raw["limits"][milestone.value]) for milestone in Milestone},
        refused=tuple(_read_event(event, str(boot["node"])) for event in raw["refused"]),
        beats={str(who): float(at) for who, at in raw["beats"].items()},
        stuck=tuple(map(str, raw["stuck"])),
        passed=str(raw["passed"]),
        again=bool(raw["again"]),
        power=str(raw["power"]),
        ssh=str(raw["ssh"]),
    )


def _boot(boot: Boot) -> dict[str, Any]:
    return {
        "id": boot.id,
        "node": boot.node,
        "armed_at": boot.armed_at,
        "expires_at": boot.expires_at,
        "expected": {
            "macs": sorted(boot.expected.macs),
            "serial": boot.expected.serial,
            "uuid": boot.expected.uuid,
            "addresses": sorted(boot.expected.addresses),
        },
        "claimed_at": boot.claimed_at,
        "claimed_by": boot.claimed_by,
        "reached": {milestone.value: boot.reached[milestone] for milestone in Milestone if milestone in boot.reached},
        "closed_at": boot.closed_at,
        "closed_because": boot.closed_because,
        "leased": sorted(boot.leased),
    }


def _event(event: BootEvent) -> dict[str, Any]:
    return {
        "at": event.at,
        "last_at": event.last_at,
        "boot": event.boot,
        "code": event.code,
        "sentence": event.sentence,
        "source": event.source,
        "times": event.times,
    }


def _read_event(raw: Mapping[str, Any], node: str) -> BootEvent:
    boot = None if raw["boot"] is None else int(raw["boot"])
    return BootEvent(
        0, node, boot, float(raw["at"]), "refused", str(raw["sentence"]), str(raw["source"]), int(raw["times"]),
        str(raw["code"]), float(raw["last_at"]),
    )  # fmt: skip


def _moment(value: object) -> float | None:
    return None if value is None else float(str(value))
