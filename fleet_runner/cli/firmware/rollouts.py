"""fleet-runner firmware rollout: start one, look at it, pause, resume and stop it."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated

import typer

from fleet_runner.adapters.source import Reader
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, console, errors, opened, print_json, split, whoami
from fleet_runner.cli.firmware.nodes import NodeFilter, select
from fleet_runner.cli.firmware.rollout_text import listed, planned, shown
from fleet_runner.core.base.errors import FleetError, SettingsError, SourceError
from fleet_runner.core.cabling.fabrics import NVLINK, watched
from fleet_runner.core.firmware.rollout import Rollout, RolloutStatus, turned, unturnable
from fleet_runner.core.firmware.rollout_text import other
from fleet_runner.core.firmware.turns import Member, RolloutStep
from fleet_runner.reconcile.lifecycle.racks import ill
from fleet_runner.settings import Settings

app = typer.Typer(no_args_is_help=True)

Number = Annotated[int, typer.Argument(help="the rollout's number", metavar="NUMBER", min=1)]
Because = Annotated[str, typer.Option("--reason", "-r", help="goes into the rollout and into nodes' histories")]
By = Annotated[str | None, typer.Option("--by", help="who asks; default: the user who runs the command")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Names = Annotated[
    list[str] | None,
    typer.Option("--node", "-n", help="only these nodes; needed for customer-managed ones", metavar="NODE"),
]
Racks = Annotated[list[str] | None, typer.Option("--rack", help="only nodes of this rack (NAME or SITE/NAME)")]
Sites = Annotated[list[str] | None, typer.Option("--site", help="only nodes of this site")]

MANY = 2**63
"""More rollouts than the databases can number."""


@app.command()
def start(
    *,
    reason: Because,
    device_type: Annotated[str | None, typer.Option(help="needed if the nodes have several")] = None,
    nodes: Names = None,
    rack: Racks = None,
    site: Sites = None,
    canary: Annotated[int, typer.Option(min=1, help="number of nodes in the canary; none of them may fail")] = 1,
    wave: Annotated[int, typer.Option(min=1, help="nodes of each wave after that")] = 10,
    failed_share: Annotated[
        float, typer.Option(min=0, max=1, help="share of the ended nodes that may have failed")
    ] = 0.1,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="only show which nodes would be updated, and which not")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
    by: By = None,
    json: Json = False,
) -> None:
    """Update all nodes of a device type in service: a canary, then wave after wave.

    Each node drains, is updated, burned in, and must be back in production before the next wave. Too many failures
    stop the rollout. The disruption budget and the limits of updates at a time hold besides.
    """
    wanted = NodeFilter(device_type, *(frozenset(split(each or ())) for each in (nodes, rack, site)))
    with opened() as (settings, store):
        found = select(settings, store, wanted)
        now = time.time()
        who = by or whoami()
        rollout = Rollout(0, found.device_type, who, now, reason, canary, wave, failed_share, changed_at=now)
        members = found.members(canary, wave)
        if not json:
            console.print(planned(rollout, members, settings))
        refused = _startable(store, rollout, members)
        if refused:
            _no(refused)
        if not dry_run:
            if not yes:
                typer.confirm(f"Start it on {len(found.racks)} nodes?", abort=True, err=True)
            rollout = store.start_rollout(rollout, members)
        if json:
            print_json({"rollout": rollout if not dry_run else None, "nodes": members})
        elif not dry_run:
            console.print(f"{rollout.name} is started; follow it: fleet-runner firmware rollout show {rollout.id}")


@app.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, help="the newest so many")] = 20,
    json: Json = False,
) -> None:
    """List rollouts, newest last: state, and how many nodes are at which step."""
    with opened() as (_, store):
        found = [(each, store.rollout_members(each.id)) for each in store.rollouts(limit)]
        if json:
            print_json([{"rollout": rollout, "nodes": _counted(members)} for rollout, members in found])
        elif not found:
            console.print("no rollout yet; start one: fleet-runner firmware rollout start")
        for rollout, members in [] if json else found:
            console.print(listed(rollout, members))


@app.command()
def show(
    number: Annotated[int | None, typer.Argument(help="without one, list them", metavar="[NUMBER]", min=1)] = None,
    json: Json = False,
) -> None:
    """Show a rollout: progress of each wave, nodes out of service, failures and skipped nodes with reasons."""
    if number is None:
        list_(json=json)
        return
    with opened() as (settings, store):
        rollout = _known(store, number)
        members = store.rollout_members(number)
        rows = {node.name: node for node in store.some(each.node for each in members)}
        if json:
            nodes = [{"member": each, "state": rows[each.node].state} for each in members]
            print_json({"rollout": rollout, "nodes": nodes})
        else:
            console.print(shown(rollout, members, rows, time.time(), _held(settings, store, members)))


@app.command()
def pause(number: Number, reason: Because, by: By = None, json: Json = False) -> None:
    """Pause a rollout: no new drain, no new flash. Flashes under way finish, drained nodes wait."""
    _turn(number, RolloutStatus.PAUSED, f"paused by {by or whoami()}: {reason}", json=json)


@app.command()
def resume(number: Number, reason: Because, by: By = None, json: Json = False) -> None:
    """Resume a rollout that is paused or stopped; failures before the stop no longer count."""
    _turn(number, RolloutStatus.RUNNING, f"resumed by {by or whoami()}: {reason}", json=json)


@app.command()
def stop(number: Number, reason: Because, by: By = None, json: Json = False) -> None:
    """Stop a rollout: nodes not yet begun keep serving, nodes that have begun are finished."""
    _turn(number, RolloutStatus.STOPPED, f"stopped by {by or whoami()}: {reason}", json=json)


def _turn(number: int, to: RolloutStatus, words: str, *, json: bool) -> None:
    with opened() as (_, store):
        rollout = _known(store, number)
        refused = unturnable(rollout, to)
        if not refused and to is RolloutStatus.RUNNING:
            refused = other(rollout, store.live_rollouts())
        if refused:
            _no(refused)
        now = time.time()
        rollout = store.change_rollout(rollout, turned(rollout, to, words, now), (), now=now)
        if json:
            print_json(rollout)
        else:
            console.print(f"{rollout.name} is {rollout.detail}", markup=False)


def _held(settings: Settings, store: Store, members: Iterable[Member]) -> Mapping[str, str]:
    """Return why NVLink domains of waiting members are not begun; nothing where the source cannot be read."""
    waiting = {each.node for each in members if each.turn is RolloutStep.WAITING}
    try:
        every = watched(Reader(settings)()) if waiting else ()
    except (SourceError, SettingsError):
        return {}
    mine = [each for each in every if each.kind == NVLINK and waiting & {port.device for port in each.ports}]
    return ill(store, mine) if mine else {}


def _known(store: Store, number: int) -> Rollout:
    found = store.rollout(number) if number < MANY else None
    if found is None:
        raise FleetError(f"there is no rollout {number}; see fleet-runner firmware rollout list")
    return found


def _startable(store: Store, rollout: Rollout, members: Iterable[Member]) -> str:
    if all(each.turn is not RolloutStep.WAITING for each in members):
        return "there is no node to update; nothing was started"
    return other(rollout, store.live_rollouts())


def _counted(members: Iterable[Member]) -> dict[str, int]:
    counted = Counter(each.turn for each in members)
    return {turn.value: counted[turn] for turn in RolloutStep}


def _no(why: str) -> None:
    errors.print(f"no: {why}", markup=False, soft_wrap=True)
    raise typer.Exit(Exit.NO)
