"""What a check answers: a verdict, the findings behind it, and what was observed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self


class Verdict(StrEnum):
    """The answer to one question about one node. UNKNOWN is not FAIL: it never condemns hardware.

    SKIPPED means that nobody asked: the device type's profile wants nothing of the kind, or the test gave way to a
    tenant's work. It is no news about the node, neither good nor bad.
    """

    PASS = "PASS"  # noqa: S105  the field's own word
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"
    SKIPPED = "SKIPPED"


PREEMPTED = "preempted"
"""What a SKIPPED result observed whose test gave way: unlike one that nobody wants, it has to be run again."""


OWN = "own"
"""What an UNKNOWN result observed where something of ours failed: it says nothing of the node, and is no try."""


UNSURE = "unsure"
"""The fact under which a check names what it could not tell: a device, or a list of the two that a link joins."""


NOT_SOUGHT = "not_sought"
"""The fact under which a FAIL names the codes of faults that it could not look for: they may still be there."""


class Remedy(StrEnum):
    """What should follow a finding, from the mildest to the hardest."""

    RECORD = "RECORD"  # nothing by itself; kept for trends
    WATCH = "WATCH"  # look again sooner
    RECABLE = "RECABLE"  # a technician moves, adds, removes or cleans a cable
    RESTART = "RESTART"  # restart a service of the node, like Fabric Manager
    RESET = "RESET"  # reset the GPU
    REBOOT = "REBOOT"  # a reboot clears it
    POWER_CYCLE = "POWER_CYCLE"  # only power taken away and given back clears it
    REFLASH = "REFLASH"  # firmware or settings off their pin
    TRIAGE = "TRIAGE"  # leave production; a person decides
    RMA = "RMA"  # the part goes back


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault seen by one check.

    `code` names the kind of fault ("xid.79", "cabling.swap"); `component` the part it is about ("GPU 3");
    `fault` is the key of the physical fault: equal keys are one fault and one ticket, whoever sees it, however
    often. `nodes` are the nodes whose passing check proves the fault gone. `steps` tell a technician what to do,
    one sentence each; empty where no hand is needed. `devices` are all that the fault touches, those without a
    lifecycle too; where it names none, the nodes are all.
    """

    code: str
    component: str
    message: str
    remedy: Remedy
    fault: str
    nodes: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "code": self.code,
            "component": self.component,
            "message": self.message,
            "remedy": self.remedy.value,
            "fault": self.fault,
            "nodes": list(self.nodes),
            "steps": list(self.steps),
            "devices": list(self.devices),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        return cls(
            code=raw["code"],
            component=raw["component"],
            message=raw["message"],
            remedy=Remedy(raw["remedy"]),
            fault=raw["fault"],
            nodes=tuple(raw["nodes"]),
            steps=tuple(raw["steps"]),
            devices=tuple(raw.get("devices", ())),
        )


@dataclass(frozen=True, slots=True)
class Result:
    """One check's answer for one node, with the hashes (SHA-256, hex) of the evidence it was drawn from.

    `observed` holds parsed facts worth keeping (plain JSON): counts, temperatures, whether work still runs.
    """

    check: str
    verdict: Verdict
    message: str
    findings: tuple[Finding, ...] = ()
    observed: Mapping[str, Any] = field(default_factory=dict[str, Any])
    evidence: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "check": self.check,
            "verdict": self.verdict.value,
            "message": self.message,
            "findings": [finding.to_json() for finding in self.findings],
            "observed": dict(self.observed),
            "evidence": list(self.evidence),
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        return cls(
            check=raw["check"],
            verdict=Verdict(raw["verdict"]),
            message=raw["message"],
            findings=tuple(Finding.from_json(finding) for finding in raw["findings"]),
            observed=raw["observed"],
            evidence=tuple(raw["evidence"]),
        )


def is_unasked(result: Result) -> bool:
    """Whether nobody asked: the profile wants nothing of the kind. A test that gave way was asked for."""
    return result.verdict is Verdict.SKIPPED and result.observed.get(PREEMPTED) is not True


def worst(verdicts: tuple[Verdict, ...]) -> Verdict:
    """FAIL if any failed, SKIPPED if all were, else UNKNOWN if any is unknown or none says anything, else PASS."""
    if Verdict.FAIL in verdicts:
        return Verdict.FAIL
    if verdicts and set(verdicts) == {Verdict.SKIPPED}:
        return Verdict.SKIPPED
    if Verdict.UNKNOWN in verdicts or Verdict.PASS not in verdicts:
        return Verdict.UNKNOWN
    return Verdict.PASS
