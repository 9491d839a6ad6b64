"""fleet-runner kubernetes: what the nodes of a cluster are to say of their machines, and an end of it."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from fleet_runner.adapters import source
from fleet_runner.cli.base.session import Exit, console, errors, opened, print_json
from fleet_runner.core.base.errors import ConflictError, SchedulerError, SettingsError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.clusters import strangers
from fleet_runner.core.lifecycle.node_conditions import Wanted
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.store_ownership import Outward

if TYPE_CHECKING:
    from fleet_runner.reconcile.lifecycle.node_conditions import ConditionsTeller

app = typer.Typer(no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


@app.callback()
def kubernetes() -> None:
    """Labels and conditions that nodes of a Kubernetes cluster carry of their machines."""


@app.command()
def show(*, json: Json = False) -> None:
    """Show which nodes say something else than they should; serve corrects them. Nothing is written.

    Exit code 1: at least one does. 3: a cluster did not answer, or a node names none that is known.
    """
    with opened() as (settings, store):
        world = TickContext(settings, store, source.Reader(settings), unaccepted="")
        world.fleet = source.read(settings)
        may = Outward(world)
        told = may if may.anything() else lambda _: False
        due: list[tuple[str, str, str, Wanted]] = []

        def looked(cluster: str, teller: "ConditionsTeller") -> None:
            teller.look()
            due.extend((cluster, *each) for each in teller.due())

        trouble = _with_each(world, looked, told)
        trouble += [
            f"{name} is no cluster's: {why}" for name, why in strangers(world.fleet, settings.kubeconfigs).items()
        ]
    if json:
        print_json([
            {
                **({"cluster": cluster} if cluster else {}),
                "node": name,
                "scheduler_node": there,
                "labels": dict(want.labels),
                "conditions": [each._asdict() for each in (*want.conditions, *want.lifecycle)],
            }
            for cluster, name, there, want in due
        ])  # fmt: skip
    else:
        for cluster, name, _, want in due:
            at = f" (cluster {cluster})" if cluster else ""
            _line(f"{name}{at}: {', '.join(f'{key}={value}' for key, value in want.labels.items())}")
            for each in (*want.conditions, *want.lifecycle):
                _line(f"  {each.type} {each.status} {each.reason}: {each.message}")
        _line(f"{counted(len(due), 'node')} to be corrected; nothing was written")
    _said(trouble)
    if due:
        raise typer.Exit(Exit.NO)


@app.command()
def clear(
    *,
    check: Annotated[bool, typer.Option("--check", help="change nothing; count the nodes")] = False,
) -> None:
    """Take every label and condition of fleet-runner off the cluster's nodes; what others set stays."""
    with opened() as (settings, store):
        if settings.kubernetes_conditions and not check:
            raise ConflictError("kubernetes_conditions is on: serve would write them again; set it to false first")
        world = TickContext(settings, store, source.Reader(settings), unaccepted="")
        counts: list[int] = []
        trouble = _with_each(world, lambda _, teller: counts.append(teller.clear(dry=check)))
    _line(f"{counted(sum(counts), 'node')} {'would be cleared' if check else 'cleared'}")
    _said(trouble)


def _with_each(
    world: TickContext, act: Callable[[str, "ConditionsTeller"], None], may: Callable[[str], bool] = lambda _: True
) -> list[str]:
    """Do something with each cluster; return why not, of those with which it could not be done."""
    from fleet_runner.adapters.schedulers import kubernetes  # noqa: PLC0415  the client is slow to load
    from fleet_runner.reconcile.lifecycle import cluster_loops, node_conditions  # noqa: PLC0415  as above

    files, trouble = cluster_loops.kubeconfigs(world.settings), list[str]()
    for cluster, file in files.items():
        try:
            names = partial(cluster_loops.theirs, world, cluster)
            act(cluster, node_conditions.ConditionsTeller(world.store, kubernetes.opened(file), names, may))
        except (SchedulerError, SettingsError) as error:
            if len(files) == 1:
                raise
            trouble.append(f"cluster {cluster or 'of the setting kubeconfig'}: {error}")
    return trouble


def _said(trouble: Iterable[str]) -> None:
    """Say what could not be asked, after all that could; Exit where there is any."""
    said = list(trouble)
    for each in said:
        errors.print(printable(each), markup=False, soft_wrap=True)
    if said:
        raise typer.Exit(Exit.TROUBLE)


def _line(text: str) -> None:
    console.print(printable(text), markup=False, soft_wrap=True)
