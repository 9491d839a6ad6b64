"""Does the scheduler give the node work, and do its jobs run there?"""

from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import kubernetes_node, slurm_node
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle import scheduler
from fleet_runner.core.lifecycle.preflight.work import CLUSTER, NEVER, OWNER, SOLE
from fleet_runner.core.lifecycle.scheduler import Seen

NAME = "scheduler"

READ = "scheduler_node"

MOST_WHY, MOST_NAME = 300, 63


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS whenever it can be told, with what is told observed: `in_use`, `ours`, `state`, `takes_work` and `work`.

    In use is a node on which work of the scheduler's runs. After a drain that it does not show the answer is UNKNOWN:
    work may begin at any moment. `ours` is whether a drain of ours keeps work away. SKIPPED is a drain of a node
    that no scheduler gives work.
    """
    del expected
    said = json_object(readings[READ].text, "the scheduler's answer")
    did = str(said.get("did") or "read")
    cluster = printable(str(said.get("cluster") or ""))[:MOST_NAME]
    where = f"cluster {cluster}: " if cluster else ""
    if trouble := said.get("trouble"):
        told = f"{where}{printable(str(trouble))[:MOST_WHY]}"
        return Result(NAME, Verdict.UNKNOWN, told, observed={CLUSTER: cluster} if cluster else {})
    if not said.get("name"):
        verdict = Verdict.PASS if did == "resume" else Verdict.SKIPPED
        return Result(NAME, verdict, "no scheduler gives it work (its scheduler_node is empty)")
    seen = _seen(said)
    if did == "drain" and seen.takes_work and not seen.owner:
        raise EvidenceError(f"it was drained, but its scheduler shows it {seen.state} and may give it work")
    if did == "resume" and seen.ours is scheduler.By.RUNNER:
        raise EvidenceError(f"it was resumed, but its scheduler still shows it {seen.state}: {seen.why}")
    observed = {
        "in_use": bool(seen.work),
        "ours": seen.ours is not None,
        "state": seen.state,
        "takes_work": seen.takes_work,
        "work": list(seen.work[: scheduler.SHOWN]),
        **({CLUSTER: cluster} if cluster else {}),
        **({SOLE: True} if seen.sole else {}),
        **({OWNER: seen.owner} if seen.owner else {}),
        **({NEVER: list(seen.never[: scheduler.SHOWN])} if seen.never else {}),
    }
    return Result(NAME, Verdict.PASS, f"{where}{_message(seen)}", observed=observed)


def _seen(said: dict[str, Any]) -> Seen:
    node, evidence = str(said["name"]), said.get("said")
    if not isinstance(evidence, dict):
        raise EvidenceError(f"of node {node} the scheduler's answer is {evidence!r:.60}, expected an object")
    match said.get("scheduler"):
        case "slurm":
            return slurm_node.parse(node, str(evidence.get("shown") or ""), str(evidence.get("queued") or ""))
        case "kubernetes":
            return kubernetes_node.parse(node, evidence)
        case other:
            raise EvidenceError(f"the scheduler is {other!r:.60}, expected slurm or kubernetes")


def _message(seen: Seen) -> str:
    uses = f"{scheduler.listed(seen.work)} on it" if seen.work else "no work on it"
    uses += f", beside {seen.others} pods without devices" if seen.others else ""
    uses += f"; it is left to {seen.owner}" if seen.owner else ""
    if seen.takes_work:
        return f"{seen.state}, {uses}"
    whose = "by fleet-runner" if seen.ours is not None else "not by fleet-runner"
    why = f": {printable(seen.why)[:MOST_WHY]}" if seen.why else ""
    return f"{seen.state}, {uses}; kept free, {whose}{why}"


CHECK = Check(
    name=NAME,
    question="Does the scheduler give the node work, and do its jobs run there?",
    reads=(READ,),
    judge=judge,
    source="Slurm: `scontrol show node`, `squeue`. Kubernetes: the Node and its pods. How: docs/schedulers.md.",
)
