"""What a Kubernetes node says of the machine under it: labels to select by, and conditions with a reason each.

A cluster's people read them, and of a shared fleet they are tenants. So a message says what was found on this node
in the words of the check's own catalogue, and never a finding's text, which may name other nodes.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.catalogue.xid import named
from fleet_runner.core.checks.verdicts import Finding, Remedy, Verdict
from fleet_runner.core.lifecycle.idle import SCHEDULER
from fleet_runner.core.lifecycle.preflight import work
from fleet_runner.core.lifecycle.runs import Held, Node, Stored, Ticket
from fleet_runner.core.lifecycle.states import STATES, Condition, State

PREFIX = "fleet-runner.dev/"
STATE, REASON, TRANSITION = f"{PREFIX}state", f"{PREFIX}reason-code", f"{PREFIX}transition"
LABELS = (STATE, REASON, TRANSITION)

NONE = "none"

UNDER_REMEDIATION = "UnderRemediation"

FAMILIES: Mapping[str, frozenset[str]] = {
    "GpuHealthy": frozenset({
        "parts_gpu", "gpu_errors", "gpu_retired", "gpu_thermals", "gpu_pcie", "gpu_power", "gpu_settings",
        "gpu_clocks", "gpu_fabric", "gpu_memory_held", "fabric_manager", "nvlink", "xgmi", "xid", "dcgm", "gpu_burn",
        "gpu_bandwidth", "gemm", "training", "nccl_allreduce", "rvs",
    }),
    "NetworkHealthy": frozenset({"nic_ports", "roce_ports", "cabling_ethernet", "network_speed"}),
    "FabricHealthy": frozenset({
        "parts_hca", "gpu_nics", "ib_ports", "hca_events", "link_flaps", "optics", "cabling_infiniband", "ib_write",
        "ib_write_pair", "allreduce",
    }),
    "HostHealthy": frozenset({
        "parts_cpu", "parts_dimm", "parts_nvme", "pcie_devices", "pcie_settings", "memory_errors", "disk_health",
        "file_systems", "kernel", "kernel_log", "processes", "services", "time_sync", "cpu_stress",
        "memory_bandwidth", "disk_speed", "chassis_health", "sensors", "sel", "power_supplies", "power_redundancy",
    }),
    "FirmwareCurrent": frozenset({"firmware_pins", "bios_settings", "boot_settings"}),
}  # fmt: skip
"""Each condition, and the checks that it is made from. Others are about an act of ours, or about a whole fabric."""

CONDITIONS = (*FAMILIES, UNDER_REMEDIATION)

OUT = frozenset({
    State.RESET, State.REBOOT, State.TRIAGE, State.DEBUG, State.RMA, State.FIRMWARE, State.FIRMWARE_FAILED,
    State.WIPE,
})  # fmt: skip
"""States in which a node is worked on; nothing waits for its idleness any more."""

LOOKED_AT = frozenset({Remedy.RECORD, Remedy.WATCH})
"""Remedies of which nothing follows for the node's work."""

BY_RUNNER = frozenset({Remedy.RESTART, Remedy.RESET, Remedy.REBOOT, Remedy.POWER_CYCLE})
"""Remedies that need no ticket: the runner drains the node for them."""

_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)
_PART = re.compile(r"(?:GPU|DIMM|PSU|FAN|NIC|CPU|HCA) [A-Za-z0-9:._/-]{1,40}", re.ASCII)
_XID = re.compile(r"xid\.([0-9]{1,4})", re.ASCII)
_WORD = re.compile(r"[A-Za-z0-9]+", re.ASCII)


class Told(NamedTuple):
    """One condition: its status is "True", "False" or "Unknown"."""

    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """All that a node is to say: `lifecycle` in Kubernetes' own words, as far as it is true."""

    labels: Mapping[str, str]
    conditions: tuple[Told, ...]
    lifecycle: tuple[Told, ...] = ()


def wanted(node: Node, latest: Iterable[Stored], tickets: Sequence[Ticket]) -> Wanted:
    """Return what a node is to say, from its row, its checks' newest results and its open tickets.

    A cluster may drain a node whose condition is "False". So that is said only of a fault that the runner follows:
    one with a ticket, or that has the node drained. What was seen once, or is excused, is "Unknown".
    """
    latest = list(latest)
    results = {each.result.check: each for each in latest if each.at >= node.since}
    numbers = {ticket.fault: ticket.id for ticket in tickets}
    told: list[Told] = []
    worst: Finding | None = None
    for name, checks in FAMILIES.items():
        found = _findings(checks, results)
        standing = [each for each in found if _stands(node, each, numbers)]
        told.append(_family(name, (checks, results), (found, standing), numbers))
        worst = _worst([*standing, *([worst] if worst is not None else [])])
    pending = Condition.PENDING in node.conditions
    transition = "immediate" if node.state in OUT else "pending" if pending else NONE
    code = worst.code if worst is not None else NONE
    labels = {STATE: node.state.value, REASON: code if _LABEL.fullmatch(code) else NONE, TRANSITION: transition}
    return Wanted(labels, (*told, _remediation(node, use(latest))))


def _findings(checks: frozenset[str], results: Mapping[str, Stored]) -> list[Finding]:
    mine = (results[name].result for name in sorted(checks & results.keys()))
    return [
        finding
        for result in mine
        if result.verdict is Verdict.FAIL
        for finding in result.findings
        if finding.remedy not in LOOKED_AT
    ]


def _stands(node: Node, finding: Finding, tickets: Mapping[str, int]) -> bool:
    """Whether the runner follows a fault: by a ticket, or by what it does, or would do, to the node."""
    followed = node.state in OUT or not node.conditions.keys().isdisjoint({Condition.PENDING, Condition.ADVISED})
    return finding.fault in tickets or (followed and finding.remedy in BY_RUNNER)


def _worst(findings: Sequence[Finding]) -> Finding | None:
    return max(findings, key=lambda each: list(Remedy).index(each.remedy), default=None)


def _family(
    name: str,
    asked: tuple[frozenset[str], Mapping[str, Stored]],
    seen: tuple[Sequence[Finding], Sequence[Finding]],
    tickets: Mapping[str, int],
) -> Told:
    checks, results = asked
    found, standing = seen
    worst = _worst(standing)
    if worst is not None:
        number = f"; ticket {tickets[worst.fault]}" if worst.fault in tickets else ""
        more = f"; {len(standing) - 1} more" if len(standing) > 1 else ""
        return Told(name, "False", camel(worst.code), f"{meaning(worst)}{more}{number}")
    if found:
        return Told(
            name, "Unknown", "NotConfirmed", "what a check found is not confirmed, or has its cause elsewhere"
        )
    verdicts = {each: results[each].result.verdict for each in sorted(checks & results.keys())}
    unknown = [each for each, verdict in verdicts.items() if verdict is Verdict.UNKNOWN]
    passed = [each for each, verdict in verdicts.items() if verdict in {Verdict.PASS, Verdict.FAIL}]
    if unknown or not passed:
        why = f"no verdict of {', '.join(unknown)}" if unknown else "no check has passed yet"
        return Told(name, "Unknown", "NoVerdict", why)
    return Told(
        name, "True", "ChecksPassed", f"{counted(len(passed), 'check')} found nothing that asks for an action"
    )


def meaning(finding: Finding) -> str:
    """Return what a kind of finding means, with the part of this node that it is about."""
    codes = (code for check in CHECKS.values() for code in check.codes)
    found = next((code.meaning for code in codes if fnmatchcase(finding.code, code.code)), None)
    if number := _XID.fullmatch(finding.code):  # the catalogue has one row for all of them
        found = named(int(number[1]))
    found = found or printable(finding.code)[:200]
    return f"{finding.component}: {found}" if _PART.fullmatch(finding.component) else found


def _remediation(node: Node, scheduler: Stored | None) -> Told:
    if node.state in OUT:
        meaning_of_state = f"{STATES[node.state].meaning} Since {utc(node.since)}."
        return Told(UNDER_REMEDIATION, "True", camel(node.state.value), meaning_of_state)
    pending = node.conditions.get(Condition.PENDING)
    if pending is not None:
        return Told(UNDER_REMEDIATION, "True", "Pending", pending_sentence(node, pending, scheduler))
    if Condition.MAINTENANCE in node.conditions:
        return Told(UNDER_REMEDIATION, "True", "Maintenance", "A person does planned work on it.")
    return Told(UNDER_REMEDIATION, "False", "NothingAsked", "No remedy is asked for.")


def pending_sentence(node: Node, pending: Held, scheduler: Stored | None) -> str:
    """Say which remedy is pending, since when, and what it waits for."""
    follows = f"{pending.detail or 'a remedy'} follows once the node's work has ended"
    return f"{follows}; pending since {utc(pending.since)}, it waits for {waits_for(node, scheduler)}"


def use(latest: Iterable[Stored]) -> Stored | None:
    """Return the newest answer of the check `scheduler`, None where there is none."""
    return next((each for each in latest if each.result.check == SCHEDULER), None)


def waits_for(node: Node, scheduler: Stored | None = None) -> str:
    """Say what a pending remedy waits for; a node's own sentence, or a pod's name, may name tenants.

    `scheduler` is what its scheduler said last: an owner is named by its mark, which whoever reads this sees as well.
    """
    observed = scheduler.result.observed if scheduler is not None else {}
    if Condition.HELD in node.conditions:
        return "the end of a hold"
    if whose := observed.get(work.OWNER):
        return f"{whose} to give it back"
    if observed.get(work.NEVER):
        return "pods that are never to be interrupted"
    return "the end of its work" if Condition.IN_USE in node.conditions else "the word that no work runs on it"


def utc(at: float) -> str:
    """Return a moment as Kubernetes writes it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def camel(code: str) -> str:
    """Return a code as Kubernetes wants a reason: words run together, at most 200 characters."""
    return "".join(word[:1].upper() + word[1:] for word in _WORD.findall(code))[:200] or "Unknown"


def conditions(current: Sequence[Mapping[str, Any]], told: Iterable[Told], now: str) -> list[dict[str, str]]:
    """Return conditions as the API server keeps them; one whose status stays keeps the time of its last change."""
    before = {each.get("type"): each for each in current}
    found: list[dict[str, str]] = []
    for each in told:
        old = before.get(each.type, {})
        since = old.get("lastTransitionTime") if old.get("status") == each.status else None
        found.append(each._asdict() | {"lastTransitionTime": since if isinstance(since, str) else now})
    return found


def says(current: Mapping[str, Any], want: Wanted) -> bool:
    """Tell if a node, {"labels": ..., "conditions": [...]}, says already what it is to say."""
    labels = current.get("labels") or {}
    if {key: labels.get(key) for key in LABELS} != dict(want.labels):
        return False
    there = {each.get("type"): each for each in current.get("conditions") or ()}
    return all(
        [there.get(each.type, {}).get(key) for key in ("status", "reason", "message")] == list(each[1:])
        for each in want.conditions
    )
