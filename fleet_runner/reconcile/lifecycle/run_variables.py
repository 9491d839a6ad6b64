"""What a play is told about each run: who it is, what its checks saw before, and what may look like a fault."""

from collections.abc import Iterable
from typing import Any

from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Kind
from fleet_runner.core.cabling.exempt import STEADY, upset
from fleet_runner.core.cabling.fabrics import ETHERNET
from fleet_runner.core.checks import active
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.faults import escalation
from fleet_runner.core.faults.confirmation import speaks
from fleet_runner.core.firmware.rollout import refusal
from fleet_runner.core.lifecycle.preflight import decision
from fleet_runner.core.lifecycle.runs import RUNNER, Node, Run
from fleet_runner.core.lifecycle.states import STAGES, Condition, Stage, State
from fleet_runner.reconcile.cabling.node_neighbours import neighbours
from fleet_runner.reconcile.lifecycle.domains_view import DAY
from fleet_runner.reconcile.lifecycle.view import FleetView

LATELY = 2 * DAY
"""Seconds for which it is remembered that a node was upset: longer than any check looks back."""

LOOKS = (50, 500, 5_000, 50_000)
"""How many runs are read to find where a round began: mostly few; the last are looks of a week, ten seconds apart."""

EDGE = 10
"""Runs, the oldest that were read, that do not tell where a round began: more than may have learned nothing."""

UNSTEADY = frozenset(State) - STEADY

Told = dict[str, dict[str, Any]]


def payload(outlook: FleetView, runs: Iterable[Run], now: float) -> Told:
    """Return what each node's play is told.

    `run`, `fence`, `since` (when the node came to its state) and `opened_at`; `before`, what its checks that
    remember saw last, by check: {"at", "observed"}; `suspect_share`, as the settings have it; `disturbed`, until
    when (epoch seconds) links may have gone down for reasons that are no fault, by node; of a fabric `observers`,
    [[node, interface]], the best first, and of an Ethernet one `neighbours`, what its nodes last
    heard, as one JSON text; of a run of `firmware` that: {"start": why no flash may begin, or ""}; of a
    drain its `reason`; and of one of active tests `round`, when the first run was opened that looked at the tests
    that it is to find. `remedy`, `faults` and `ends`, while a remedy is carried out: which, against what, and
    which work it may end. `treated`, when
    faults were last treated, by their keys: what a log says of them from before is no news.
    """
    world = outlook.world
    opened = {run.node: run for run in runs}
    rows = {name: row for name in opened if (row := world.store.node(name)) is not None}
    members = {name: _members(outlook, row) for name, row in rows.items()}
    everyone = {name: row for each in members.values() for name, row in each.items()}
    deadline = now + max(STAGES[run.stage].deadline for run in opened.values())
    disturbed = world.store.left(everyone, UNSTEADY, now - LATELY)
    disturbed |= {name: deadline for name, row in everyone.items() if upset(row)}
    told: Told = {}
    for name, run in opened.items():
        told[name] = {
            "run": run.id,
            "fence": run.fence,
            "since": rows[name].since,
            "opened_at": run.opened_at,
            "before": before(world.store, name),
            "suspect_share": world.settings.cabling_suspect_share,
            "disturbed": {each: disturbed[each] for each in members[name] if each in disturbed},
        }
        attempts = world.store.attempts(name, now - outlook.rules().remembered())
        if attempts:
            told[name]["treated"] = {fault: attempt.at for attempt in attempts for fault in attempt.faults}
        if (going := escalation.going_on(attempts)) is not None:
            told[name] |= {"remedy": going.remedy.value, "faults": list(going.faults)}
            told[name]["ends"] = decision.ends(outlook.rules(), rows[name].device_type, going).value
        pending = rows[name].conditions.get(Condition.PENDING)
        if run.stage is Stage.DRAIN and pending is not None:
            told[name]["reason"] = f"{pending.detail}: {pending.reason}"
        if run.stage is Stage.FIRMWARE:
            told[name]["firmware"] = {"start": _may_start(outlook, run)}
        if run.stage is Stage.HEALTH_ACTIVE:
            told[name]["round"] = _began(world.store, run, rows[name].since)
        if name in world.fabrics:
            told[name]["observers"] = [list(port) for port in outlook.observers(name)]
            if (fabric := world.fabrics[name]).kind == ETHERNET:
                told[name]["neighbours"] = neighbours(world.store, outlook.fleet, fabric, now)
    return told


def _began(store: Store, run: Run, since: float) -> float:
    """Return when a run's round of tests began, however many looks at it there were."""
    at = run.opened_at
    for limit in LOOKS:
        found = store.runs_of(run.node, run.stage, limit)
        mine = [each for each in found if each.opened_at >= since and each.fence > 0]
        at = active.began(mine, run)
        whole = len(found) < limit or found[0].opened_at < since
        if whole or any(each.opened_at < at for each in mine[EDGE:]):
            break
    return at


def _may_start(outlook: FleetView, run: Run) -> str:
    """Say why no flash may begin on a node, one that is under way aside; "" where one may."""
    allowed = outlook.modes(run.node)
    if not allowed.acts(Kind.FIRMWARE):
        return allowed.closed or f"the mode of {run.node} is {allowed.mode(Kind.FIRMWARE)} for firmware"
    rollout = outlook.world.store.asking(run.node) if run.by == RUNNER else None
    return refusal(rollout, begun=True) if rollout is not None else ""


def _members(outlook: FleetView, row: Node) -> dict[str, Node]:
    """Return the nodes whose links a run of a node, or of a fabric, looks at."""
    fabric = outlook.world.fabrics.get(row.name)
    if fabric is None:
        return {row.name: row}
    names = sorted({port.device for port in fabric.ports} & outlook.rows().keys())
    return {name: outlook.rows()[name] for name in names}


def before(store: Store, name: str) -> dict[str, dict[str, Any]]:
    """Return what the checks that remember saw last, by check; an answer that said nothing is passed over."""
    latest = [each for each in store.latest_results(name) if _remembers(each.result.check)]
    spoke = [each for each in latest if speaks(each.result)]
    spoke += store.before(each for each in latest if not speaks(each.result))
    return {each.result.check: {"at": each.at, "observed": dict(each.result.observed)} for each in spoke}


def _remembers(check: str) -> bool:
    return check in CHECKS and CHECKS[check].remembers
