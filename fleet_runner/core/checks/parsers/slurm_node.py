"""A node as Slurm has it: `scontrol show node NAME`, line by line, and its jobs as `squeue` lists them.

The one-line form (`-o`) has no end of a field that a reason could not hold as well.
"""

import re
from collections.abc import Mapping

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.lifecycle import scheduler
from fleet_runner.core.lifecycle.scheduler import Seen

SHOW = ("scontrol", "show", "node")

WORKING = "RUNNING,COMPLETING,CONFIGURING,SUSPENDED,STOPPED,STAGE_OUT,SIGNALING,RESIZING"

QUEUE = ("squeue", "--noheader", "--all", f"--states={WORKING}", "--format=%i %T")

MOST_LINES = 400
MOST_JOBS = 10_000

_FIELD = re.compile(r" {3}(State|Reason|Comment|Extra|CfgTRES|AllocTRES|CPUAlloc)=(.{0,4000})")
_GPUS = re.compile(r"(?:^|,)gres/gpu=(\d{1,6})(?:,|$)", re.ASCII)
_CPUS = re.compile(r"(\d{1,6})(?: \S{1,40})? CPUTot=(\d{1,6})(?: .*)?", re.ASCII)
_FIRST = re.compile(r"NodeName=(\S{1,255})(?: .*)?")
_WHO = re.compile(r"(.*) \[[^\[\]]{1,80}@[0-9T:-]{1,30}\]")
_JOB = re.compile(r"\s{0,20}(\S{1,80}) ([A-Z_]{1,30})\s{0,20}", re.ASCII)
_SUFFIX = "*~#!%$@^-"

BASES = frozenset({"ALLOCATED", "DOWN", "ERROR", "FUTURE", "IDLE", "MIXED"})
"""What a node does (slurm/slurm.h, node_states); UNKNOWN is one that has not told slurmctld since it began."""

CLOSED = frozenset({"DRAIN", "FAIL", "REBOOT_ISSUED"})
"""Flags of a node that is given no work."""

NOT_SET_BY_ANYBODY = frozenset({"", "Not responding"})
"""Reasons of a node that is down, in place of which a drain of ours may give its own."""


def parse(node: str, shown: str, queued: str) -> Seen:
    """Return what Slurm says of a node; EvidenceError for anything that is not about this node alone."""
    fields = _fields(node, shown)
    reason = _reason(fields.get("Reason", ""))
    state = fields["State"].split()[0] if fields.get("State", "").split() else ""
    base, flags = _state(state)
    jobs = _jobs(queued)
    busy = base in {"ALLOCATED", "MIXED"} or "COMPLETING" in flags
    work = jobs or (("work that squeue does not list",) if busy else ())
    closed = bool(CLOSED & flags) or base in {"DOWN", "ERROR", "FUTURE"}
    return Seen(
        state=state.lower(),
        takes_work=not closed,
        work=work,
        why=fields.get("Reason", "") if closed else "",
        ours=scheduler.mark(node, reason) if closed else None,
        sole=len(jobs) == 1 and _is_whole(fields),
    )


def drainable(node: str, shown: str) -> bool:
    """Whether a drain of ours may give its reason: not in place of another one, which is somebody's."""
    fields = _fields(node, shown)
    base, flags = _state(fields.get("State", "").partition(" ")[0])
    taken = _reason(fields.get("Reason", "")) not in NOT_SET_BY_ANYBODY
    return not CLOSED & flags and not (base in {"DOWN", "ERROR"} and taken)


def _is_whole(fields: Mapping[str, str]) -> bool:
    """Whether all GPUs of a node are given away, or, where Slurm does not count them, all of its processors."""
    there, given = (_GPUS.search(fields.get(name, "")) for name in ("CfgTRES", "AllocTRES"))
    if there is not None:
        return given is not None and given[1] == there[1]
    processors = _CPUS.fullmatch(fields.get("CPUAlloc", ""))
    return processors is not None and processors[1] == processors[2] != "0"


def _fields(node: str, shown: str) -> dict[str, str]:
    """Return the fields of one node that are of use; a text in which one comes twice is somebody's trick."""
    lines = shown.split("\n")
    first = _FIRST.fullmatch(lines[0])
    if first is None or len(lines) > MOST_LINES:
        raise EvidenceError(f"scontrol shows {shown.strip()!r:.80}, expected the node {node}")
    if first[1] != node or any(line.startswith("NodeName=") for line in lines[1:]):
        raise EvidenceError(f"scontrol shows {first[1]:.80}, expected {node} alone; correct scheduler_node")
    found = [match for line in lines if (match := _FIELD.match(line))]
    names = [match[1] for match in found]
    if len(set(names)) < len(names):
        raise EvidenceError(f"scontrol shows a field of {node} twice; look at its reason and comment")
    return {match[1]: match[2].rstrip() for match in found}


def _state(text: str) -> tuple[str, frozenset[str]]:
    base, *flags = [word.rstrip(_SUFFIX) for word in text.split("+")]
    if base not in BASES:
        raise EvidenceError(f"Slurm says the state of the node is {text!r:.60}, expected one like IDLE+DRAIN")
    return base, frozenset(flags)


def _reason(text: str) -> str:
    """Return a reason without who gave it, and when."""
    who = _WHO.fullmatch(text)
    return who[1] if who is not None else text


def _jobs(queued: str) -> tuple[str, ...]:
    lines = [line for line in queued.split("\n") if line.strip()]
    if len(lines) > MOST_JOBS:
        raise EvidenceError(f"squeue lists {len(lines)} jobs on one node, expected at most {MOST_JOBS}")
    found = [_JOB.fullmatch(line) for line in lines]
    strange = next((line for line, job in zip(lines, found, strict=True) if job is None), None)
    if strange is not None:
        raise EvidenceError(f"squeue printed {strange.strip()!r:.80}, expected a job and its state")
    return tuple(f"job {job[1]} ({job[2].lower()})" for job in found if job is not None)
