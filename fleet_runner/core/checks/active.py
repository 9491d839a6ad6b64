"""Active tests: what a node is to run for each, what is asked when, and when nothing more need be run.

The node runs them as one chain, in order and by itself (roles/active/files/supervise.py); a visit looks at all.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.check import Check, Order, Readings, run, unasked, wanted
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.job import STATES
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle import states
from fleet_runner.core.lifecycle.outcomes import is_silent
from fleet_runner.core.lifecycle.runs import Outcome, Run

LATE_SHARE, LATE_SECONDS = 0.5, 600.0
"""How much longer than asked for a test may take before it is ended: by half, and by ten minutes at least."""

DEVICES = ("/dev/nvidia-uvm", "/dev/kfd")
"""What every process holds open that computes on a GPU of NVIDIA or AMD. NVIDIA's monitoring (NVML) opens
/dev/nvidia0 as well, not this; AMD's may open /dev/kfd, and is then to be named."""

WATCHERS = (
    "nv-hostengine",
    "dcgm-exporter",
    "nvidia-persistenced",
    "nv-fabricmanager",
    "nvidia-device-plugin",
    "gpud",
)
"""Processes that may hold a GPU for good and use it for nothing: NVIDIA's daemons, and exporters of metrics."""

SLURM = {
    "DUE TO PREEMPTION": "a job of Slurm",
    "Unable to allocate resources": "Slurm, which has no room for it",
    "Immediate execution impossible": "Slurm, which has no room for it",
}
"""What srun and its slurmstepd print when Slurm takes a node back, or does not give it."""

IN_HAND = frozenset({Outcome.WORKING, Outcome.LOST, Outcome.CANCELLED})
"""Outcomes after which the next run looks at the same tests, and starts none anew."""

MOST_SILENT = 5
"""Looks in a row that learned nothing, after which tests that ran are given up."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a node is to run, by check, in order, and why some checks cannot be run."""

    orders: Mapping[str, Order]
    refused: Mapping[str, str]


def plan(checks: Iterable[Check], expected: Expected) -> Plan:
    """Return what the checks that the profile wants have the node run."""
    orders: dict[str, Order] = {}
    refused: dict[str, str] = {}
    for check in checks:
        if check.job is None or not wanted(check, expected.profile):
            if lacking := unasked(check, expected.profile):
                refused[check.name] = lacking
            continue
        try:
            orders[check.name] = check.job(expected)
        except EvidenceError as error:
            refused[check.name] = str(error)
    return Plan(orders, refused)


def wire(name: str, order: Order, slurm: Sequence[str] = ()) -> dict[str, Any]:
    """Return a job as the fleet_job module takes it.

    `slurm` are srun's arguments where the node's work comes through Slurm: the test is then work of its own there,
    which Slurm preempts by its own rules. Its name there is of this chain on this node: the module knows "{chain}".
    """
    limit = order.seconds + max(LATE_SECONDS, LATE_SHARE * order.seconds)
    job = {"name": name, "argv": list(order.argv), "seconds": order.seconds, "limit": limit}
    job |= {"program": order.program, "helpers": list(order.helpers)}
    if not slurm:
        return job
    called = f"fleet-runner-{name}-{{chain}}"
    how = ["srun", "--immediate=10", "--exclusive", "--nodes=1", "--ntasks=1", f"--job-name={called}"]
    minutes = f"--time={int(limit // 60) + 1}"
    argv = [*how, "--unbuffered", minutes, *slurm, "--", *order.argv]
    return job | {"argv": argv, "gave_way": SLURM, "cancel": ["scancel", "--quiet", f"--name={called}"]}


def gives_way(
    workers: Iterable[str] = (), ignored: Iterable[str] = (), resources: Iterable[str] = ()
) -> dict[str, list[str]]:
    """Return whose work tests give way to.

    `workers` are names of processes that are somebody's work by themselves, `ignored` of those that hold a GPU and
    are none, and of pods that are none; `resources` is what Kubernetes gives pods that work on GPUs.
    """
    way = {"devices": list(DEVICES), "names": list(workers), "ignored": [*WATCHERS, *ignored]}
    return way | {"resources": list(resources)}


def lasts(key: str) -> float:
    """Return how long a chain may run, from its key: as long as its node may stay in the state that wants it, or 0.

    Whoever moves the node on may be away then, or fail to reach it: the chain ends by itself.
    """
    kind = key.rpartition("-")[0]
    return next((place.deadline or 0.0 for state, place in states.STATES.items() if state == kind), 0.0)


def brought(made: Plan, jobs: Mapping[str, Any], trouble: str = "") -> dict[str, dict[str, Any]]:
    """Return the readings, by name, from what the node answered about each job; it is not trusted to be whole."""
    why = trouble or "the node's answer lacks it"
    unknown = {**dict.fromkeys(made.orders, why), **made.refused}
    found: dict[str, dict[str, Any]] = {
        name: {"state": "refused", "elapsed": 0.0, "seconds": 0.0, "reason": reason}
        for name, reason in unknown.items()
    }
    told = {name: each for name in made.orders if isinstance(each := jobs.get(name), Mapping)}
    found |= {name: dict(each) for name, each in told.items() if str(each.get("state")) in STATES}
    return {f"{name}_job": each for name, each in found.items()}


def asked(checks: Sequence[Check], readings: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the checks that may be asked now: one that uses the node by being read waits until no test runs."""
    busy = any(each.get("state") in {"running", "waiting"} for each in readings.values())
    return tuple(check.name for check in checks if check.job is not None or not (check.active and busy))


def faulty(checks: Iterable[Check], readings: Readings, expected: Expected) -> str:
    """Return the first check whose test has ended and found a fault: the rest need not run; "" where none has."""
    mine = (check for check in checks if check.job is not None and f"{check.name}_job" in readings)
    results = (run(check, readings, expected) for check in mine)
    return next((result.check for result in results if result.verdict is Verdict.FAIL), "")


def began(runs: Iterable[Run], opened: Run) -> float:
    """Return when the round of tests began that a run looks at: its own opening, or that of a run it goes on with."""
    at = opened.opened_at
    earlier = [run for run in runs if run.stage is opened.stage and run.fence > 0 and run.id < opened.id]
    silent = 0  # looks that learned nothing: they begin no round, and end none while they are few
    for run_before in sorted(earlier, key=lambda each: each.id, reverse=True):
        if run_before.outcome in IN_HAND:
            at, silent = run_before.opened_at, 0
        elif is_silent(run_before) and silent < MOST_SILENT:
            silent += 1
        else:
            break
    return at


def go_on(runs: Iterable[Run]) -> bool:
    """Whether tests of a node are in hand, from its looks at them, oldest first: one may fail to reach the node."""
    newest = list(runs)[: -MOST_SILENT - 2 : -1]
    said = next((each for each in newest if not is_silent(each) and each.outcome is not Outcome.LOST), None)
    return said is not None and said.outcome is Outcome.WORKING
