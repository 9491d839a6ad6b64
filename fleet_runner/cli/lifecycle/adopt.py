"""fleet-runner adopt: nodes that serve already are taken into production as they are."""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Annotated, NamedTuple

import typer
from rich.status import Status

from fleet_runner.adapters.plays import wake
from fleet_runner.adapters.source import Reader
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, console, errors, explained, known, opened, print_json, split, whoami
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.budgets.modes import Scope, Where
from fleet_runner.core.lifecycle import adoption
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.core.lifecycle.view import View
from fleet_runner.settings import Settings

LOOK = 0.5
"""Seconds between two looks for answers."""

SHOWN = 20
"""Nodes that are named with why they are left as they are; JSON has all."""


class Outcome(NamedTuple):
    """What became of a node, or would: whether it is adopted, None where nobody answered in time, and why."""

    node: str
    adopted: bool | None
    why: str


def adopt(
    nodes: Annotated[list[str] | None, typer.Argument(help="nodes; or name a place", metavar="[NODE]...")] = None,
    *,
    site: Annotated[list[str] | None, typer.Option("--site", help="every registered node of a site")] = None,
    rack: Annotated[list[str] | None, typer.Option("--rack", help="of a rack, with its site: hall-1/A03")] = None,
    whole: Annotated[bool, typer.Option("--all", help="every registered node")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="look, and show what would be adopted")] = False,
    batch: Annotated[int, typer.Option("--batch", min=1, help="nodes to adopt at a time")] = 100,
    reason: Annotated[str, typer.Option("--reason", "-r", help="goes into the history")] = "",
    by: Annotated[str | None, typer.Option("--by", help="who asks; default: the user who runs the command")] = None,
    wait: Annotated[
        float, typer.Option("--wait", min=0, help="seconds to wait for the answers about a batch")
    ] = 900.0,
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False,
) -> None:
    """Take nodes that are in service into production as they are: nothing is booted, drained or changed.

    Each is looked at first. Adopted is what is on, answers over ssh, is the machine that the source of truth
    describes, and is given work by its scheduler, where there is one. What does not fit is left alone, and you are
    told why.
    """
    with opened() as (settings, store):
        places = {Scope.SITE: site or [], Scope.RACK: rack or []}
        names = _named(settings, store, split(nodes or ()), places, whole=whole)
        intent = IntentKind.RUN if dry_run else IntentKind.ADOPT
        asked = AdoptionRequest(settings, store, intent, by or whoami(), reason, wait)
        fates: list[Outcome] = []
        rest = "requested nodes will still be adopted; run the same command again for the others"
        with explained(rest), console.status("") as shown:
            for part in _parts(names, batch):
                fates += asked.answers(part, shown, f"{len(fates):,} of {counted(len(names), 'node', 'nodes')} done")
    _tell(fates, json=json, dry_run=dry_run)


class AdoptionRequest(NamedTuple):
    """What is asked for about each node, and for how long the answers are waited for, in seconds."""

    settings: Settings
    store: Store
    kind: IntentKind
    by: str
    reason: str
    wait: float

    def answers(self, names: Sequence[str], shown: Status, done: str) -> Iterator[Outcome]:
        """Ask for some nodes at once, and give the answers as they come; the last are those without one."""
        left = {name: self._ask(name) for name in names}
        wake.wake(self.settings.state_dir, self.store)
        until = time.monotonic() + self.wait
        while left:
            for name, fate in [(name, self._fate(name, intent)) for name, intent in left.items()]:
                if fate is not None:
                    yield fate
                    del left[name]
            shown.update(f"{done}; {counted(len(left), 'node is', 'nodes are')} looked at")
            if left and time.monotonic() >= until:
                yield from (Outcome(name, None, "not answered yet: does fleet-runner serve run?") for name in left)
                return
            time.sleep(LOOK if left else 0)

    def _ask(self, name: str) -> int:
        detail = Stage.SURVEY.value if self.kind is IntentKind.RUN else ""
        return self.store.leave_intent(name, self.kind, self.by, reason=self.reason, detail=detail, now=time.time())

    def _fate(self, name: str, intent: int) -> Outcome | None:
        answer = self.store.answer(intent)
        if answer is None or (self.kind is IntentKind.RUN and answer[0] and self.store.open_runs([name])):
            return None
        accepted, sentence = answer
        if self.kind is IntentKind.ADOPT or not accepted:
            return Outcome(name, accepted, sentence)
        reasons = self._reasons(name)
        return Outcome(
            name, not reasons, f"Would be left as it is: {'; '.join(reasons)}." if reasons else "It serves."
        )

    def _reasons(self, name: str) -> tuple[str, ...]:
        """Return why a node would not be adopted, by the survey that just ended."""
        node, latest = known(self.store, name), self.store.latest_results(name)
        runs = self.store.runs(name, since=node.since)
        return adoption.reasons(
            View(node, "active", runs=tuple(runs), latest=latest, scheduled=self.settings.scheduler != "none")
        )


def _named(
    settings: Settings, store: Store, nodes: list[str], places: dict[Scope, list[str]], *, whole: bool
) -> list[str]:
    """Return the nodes that a command line means: those it names, and the registered ones of its places."""
    given = [known(store, name).name for name in nodes]
    wanted = {(scope, name) for scope, names in places.items() for name in split(names)}
    if not (given or wanted or whole):
        raise FleetError("no node is named; name nodes, or --rack, --site or --all")
    registered = [node.name for node in store.nodes() if node.state is State.REGISTERED]
    fleet = Reader(settings)() if wanted else None
    for scope, name in sorted(wanted):
        if fleet is not None and not any(Where.of(fleet, each).named(scope) == name for each in registered):
            raise FleetError(f"no registered node is in {scope.value} {name!r}; fleet-runner status shows all nodes")
    found = [
        name
        for name in registered
        if whole
        or (fleet is not None and any(Where.of(fleet, name).named(scope) == place for scope, place in wanted))
    ]
    return list(dict.fromkeys([*given, *found]))


def _parts(names: Sequence[str], most: int) -> Iterator[list[str]]:
    left = iter(names)
    while part := list(islice(left, most)):
        yield part


def _tell(fates: Sequence[Outcome], *, json: bool, dry_run: bool) -> None:
    adopted = [fate for fate in fates if fate.adopted]
    alone = [fate for fate in fates if fate.adopted is False]
    silent = [fate for fate in fates if fate.adopted is None]
    if json:
        print_json([fate._asdict() for fate in fates])
    else:
        for fate in (*alone[:SHOWN], *silent[:SHOWN]):
            errors.print(f"{fate.node}: {fate.why}", markup=False, soft_wrap=True)
        if len(alone) + len(silent) > 2 * SHOWN or len(alone) > SHOWN or len(silent) > SHOWN:
            errors.print("… and more; --json names all of them", markup=False)
        words = "would be adopted" if dry_run else "adopted: they stay in service, and were not changed"
        console.print(
            f"{counted(len(adopted), 'node', 'nodes')} {words}; {len(alone)} left as they are", markup=False
        )
        if adopted and not dry_run:
            console.print("what automation may do to them now: fleet-runner mode", markup=False)
    if silent:
        raise typer.Exit(Exit.WAITING)
    if alone:
        raise typer.Exit(Exit.NO)
