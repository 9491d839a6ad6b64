"""Asking nodes some checks now: the play in the foreground, its answers shown, and recorded as done by hand."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.padding import Padding
from rich.status import Status
from rich.text import Text

from fleet_runner.adapters.plays import foreground
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, console, errors, known, opened, print_json, whoami
from fleet_runner.cli.lifecycle.show import VERDICT_COLOURS
from fleet_runner.core.base.errors import FleetError, StoreError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.spool import Ended, Judged, Line, PlayEnd, Progress
from fleet_runner.core.lifecycle.states import FABRICS, Stage, State
from fleet_runner.reconcile.lifecycle.run_variables import before

LOOK_AGAIN = 0.2  # seconds


@dataclass(slots=True)
class Answers:
    """What the play has told so far."""

    nodes: Sequence[str]
    lines: list[Line] = field(default_factory=list[Line])

    def of(self, node: str) -> list[Judged]:
        """Return the answers of a node."""
        return [line for line in self.lines if isinstance(line, Judged) and line.node == node]

    def end(self, node: str) -> Ended | None:
        """Return how the play ended for a node."""
        return next((line for line in self.lines if isinstance(line, Ended) and line.node == node), None)

    def take(self, lines: Sequence[Line]) -> str:
        """Take more in, and return where it is now in words; "" where that is as it was."""
        self.lines += [line for line in lines if not isinstance(line, Progress)]
        at = [line for line in lines if isinstance(line, Progress)]
        answered = sum(bool(self.of(node)) for node in self.nodes)
        return f"{answered} of {len(self.nodes)} nodes have answered; {at[-1].node}: {at[-1].task}" if at else ""


def ask(checks: Sequence[str], nodes: Sequence[str], *, json: bool) -> Exit:
    """Ask nodes some checks, print their answers, record them, and return how the command ends.

    Raises:
        FleetError: a node is not known, or is a fabric.
        StoreError: the answers could not be recorded; they were printed.
    """
    with opened() as (settings, store):
        for name in nodes:
            _may_be_asked(store, name)
        now = time.time()
        told = {"check_names": list(checks), "fleet_runs": {name: _told(store, name, now) for name in nodes}}
        answers = Answers(nodes)
        with (
            errors.status("Ansible starts") as status,
            foreground.started(settings, Stage.CHECK, nodes, told) as play,
        ):
            said = _follow(play, answers, status)
        trouble = _recorded(store, answers)
        if json:
            print_json({name: _plain(answers, name) for name in nodes} | ({"trouble": trouble} if trouble else {}))
        else:
            for name in nodes:
                _show(answers, name, said)
        if trouble:
            raise StoreError(f"the results were not recorded: {trouble}")
    return _ending(answers)


def _may_be_asked(store: Store, name: str) -> None:
    state = known(store, name).state
    if state in FABRICS:
        raise FleetError(f"{name} is a fabric, expected a node; fleet-runner run fabric --node {name} sweeps it")
    if state is State.RETIRED:
        raise FleetError(f"{name} is retired and takes no requests; its history stays readable")


def _told(store: Store, name: str, now: float) -> dict[str, object]:
    """Return what the play is told of a node, as the runner tells it: what its checks saw before."""
    return {"opened_at": now, "before": before(store, name)}


def _follow(play: foreground.Play, answers: Answers, status: Status) -> str:
    """Take in what the play tells until it ends; return what Ansible said last where it failed."""
    code = None
    try:
        while code is None:
            code = play.ended(LOOK_AGAIN)
            where = answers.take(play.told())
            if where:
                status.update(where)
    except KeyboardInterrupt:
        errors.print("interrupted: the play is ended, and its results are not recorded", markup=False)
        raise
    return play.said() if code else ""


def _recorded(store: Store, answers: Answers) -> str:
    """Record the answers; say why they could not be, "" where they were."""
    if not any(isinstance(line, Judged) for line in answers.lines):
        return ""
    try:
        store.record_by_hand(Stage.CHECK, whoami(), answers.lines, time.time())
    except StoreError as error:
        return str(error)
    return ""


def _show(answers: Answers, name: str, said: str) -> None:
    console.print(Text(name, style="bold"))
    for line in answers.of(name):
        result = line.result
        text = Text(f"{result.verdict:<8}", style=VERDICT_COLOURS[result.verdict])
        text.append(printable(f"{result.check}: {result.message}"), style="default")
        console.print(Padding(text, (0, 0, 0, 2)))
        for digest in result.evidence if result.verdict in {Verdict.FAIL, Verdict.UNKNOWN} else ():
            console.print(Padding(Text(f"fleet-runner evidence {digest[:12]}", style="dim"), (0, 0, 0, 10)))
    why = _silent(answers, name)
    if why:
        console.print(Padding(Text(printable(why), style="yellow"), (0, 0, 0, 2)))
        if said and answers.end(name) is None:
            errors.print(printable(said), markup=False, soft_wrap=True)


def _silent(answers: Answers, name: str) -> str:
    """Say why a node gave no answer; "" where it gave one. What was not asked of it has none."""
    if answers.of(name):
        unasked = all(line.result.verdict is Verdict.SKIPPED for line in answers.of(name))
        return "SKIPPED  no check ran, so nothing is known" if unasked else ""
    end = answers.end(name)
    if end is None:
        return "UNKNOWN  Ansible did not reach it; is it in the inventory that the settings name?"
    how = {PlayEnd.UNREACHABLE: "Ansible cannot reach it", PlayEnd.OWN: "not the node"}.get(
        end.end, "the play failed"
    )
    return f"UNKNOWN  {how}: {end.message or 'no reason'}"


def _plain(answers: Answers, name: str) -> dict[str, object]:
    return {"results": [line.result.to_json() for line in answers.of(name)], "trouble": _silent(answers, name)}


def _ending(answers: Answers) -> Exit:
    verdicts = {line.result.verdict for name in answers.nodes for line in answers.of(name)}
    if Verdict.FAIL in verdicts:
        return Exit.NO
    silent = any(_silent(answers, name) for name in answers.nodes)
    return Exit.TROUBLE if silent or Verdict.UNKNOWN in verdicts else Exit.OK
