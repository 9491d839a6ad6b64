"""fleet-runner allreduce: which of some nodes, or which way between two of them, makes their group fail or slow."""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import typer
from rich.text import Text

from fleet_runner.adapters.plays import foreground
from fleet_runner.adapters.source import Reader
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, console, errors, known, opened, print_json, whoami
from fleet_runner.cli.checks.idle_nodes import why_not
from fleet_runner.cli.lifecycle.intents import Nodes
from fleet_runner.core.base.errors import FleetError, StoreError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.bisection import Group, Named, Outcome, following
from fleet_runner.core.checks.catalogue.allreduce import APART, NAME
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.spool import Ended, Judged, Line, Progress
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings

LOOK_AGAIN = 0.2  # seconds
SHOWN = 4  # names of a group

PORTS = range(20_000, 32_000)
"""Where the first node of a group may listen: below the kernel's own choice of ports, another one for each group."""


def allreduce(
    nodes: Nodes,
    backend: Annotated[
        Literal["gloo", "nccl"], typer.Option(help="gloo adds up on processors, nccl on GPUs")
    ] = "nccl",
    good: Annotated[list[str] | None, typer.Option("--good", help="a known good node to test others with")] = None,
    *,
    json: Annotated[bool, typer.Option("--json", help="print JSON instead of text")] = False,
) -> None:
    """Run collectives across nodes, and name the nodes or pairs that make them fail or slow.

    The whole group first; then halves of it, each beside nodes that are known to be good, until those at fault are
    found: in far fewer tests than all pairs. It loads GPUs and network: nodes in production must be idle, and neither
    held, in maintenance, cordoned nor a customer's; others must be in onboard, triage or debug, without a run.
    Stopped with Ctrl-C, it leaves nothing running but the test of the moment, which ends.
    """
    asked, beside = sorted(set(nodes)), sorted(set(good or ()) - set(nodes))
    if len(asked) + len(beside) < 2:  # noqa: PLR2004  one has nobody to add up with
        raise FleetError("one node alone cannot be tested; name another, or a known good one (--good)")
    with opened() as (settings, store):
        for name in (*asked, *beside):
            _may_be_loaded(store, known(store, name), time.time() - 2 * settings.schedule("passive").times.pause)
        search = _Search(settings, _addresses(settings, (*asked, *beside)), backend)
        found = search.named(asked, beside)
        trouble = _recorded(store, search, found)
    if json:
        print_json({"found": found, "tests": [_plain(each) for each in search.outcomes]})
    else:
        _show(found, search)
    if trouble:
        raise StoreError(f"the results were not recorded: {trouble}")
    raise typer.Exit(_ending(found))


def _ending(found: Named) -> Exit:
    if found == Named():
        return Exit.OK
    told = found.nodes or (not found.untold and (found.pairs or found.together))
    return Exit.NO if told else Exit.TROUBLE


def _may_be_loaded(store: Store, row: Node, newest: float) -> None:
    why = why_not(store, row, newest)
    if why:
        errors.print(f"no: {row.name}: {why}", markup=False, soft_wrap=True)
        raise typer.Exit(Exit.NO)


def _addresses(settings: Settings, names: Sequence[str]) -> dict[str, str]:
    """Return where each node is reached: there the first one of a group listens, and nowhere else."""
    found = {name: device.primary_address for name, device in Reader(settings)().devices.items()}
    missing = [name for name in names if not found.get(name)]
    if missing:
        raise FleetError(f"the source of truth knows no primary address of {', '.join(missing)}; give them one")
    return {name: (found[name] or "").partition("/")[0] for name in names}


@dataclass(slots=True)
class _Search:
    """Tests groups, one after the other.

    `last` is what the play told of a node in its last group that passed, and in its last one that failed; `why` what
    the first node said of a group that failed.
    """

    settings: Settings
    addresses: dict[str, str]
    backend: str
    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    last: dict[tuple[str, bool], list[Line]] = field(default_factory=dict[tuple[str, bool], list[Line]])
    why: dict[Group, str] = field(default_factory=dict[Group, str])

    def named(self, asked: Sequence[str], beside: Sequence[str]) -> Named:
        """Test what has to be tested, until nothing has."""
        while True:
            group = following(asked, self.outcomes, beside)
            if isinstance(group, Named):
                return group
            passed = self._test(group)
            self.outcomes.append(Outcome(group, passed))
            told = f"test {len(self.outcomes)}: {_shown(sorted(group))}: {'passed' if passed else 'FAILED'}"
            errors.print(printable(told + self.why.get(group, "")), markup=False, soft_wrap=True)

    def _test(self, group: Group) -> bool:
        """Have a group add up; say whether all of it passed.

        Raises:
            FleetError: a node gave no answer about the group, for a reason of its own.
        """
        names, lines = sorted(group), list[Line]()
        with (
            errors.status(f"test {len(self.outcomes) + 1}: {_shown(names)}"),
            foreground.started(self.settings, NAME, names, self._told(names)) as play,
        ):
            while (code := play.ended(LOOK_AGAIN)) is None:
                lines += play.told()
            lines += play.told()
            said = play.said() if code else ""
        answers = {name: _answer(name, lines, said) for name in names}
        bad = [name for name in names if answers[name].result.verdict is not Verdict.PASS]
        if bad:
            self.why[group] = f" ({answers[bad[0]].result.message})"
        for name in names:
            mine: list[Line] = [line for line in lines if line.node == name and not isinstance(line, Progress)]
            self.last[name, not bad] = mine
        return not bad

    def _told(self, names: Sequence[str]) -> dict[str, object]:
        """Return what the play is told: each node's place in the group, and where they find each other."""
        now = time.time()
        meeting = {"nodes": len(names), "backend": self.backend, "port": random.choice(PORTS)}
        meeting["address"] = self.addresses[names[0]]
        runs = {name: {"opened_at": now, "group": {**meeting, "node": place}} for place, name in enumerate(names)}
        return {"fleet_runs": runs, "allreduce_key": f"{NAME}-{now * 1000:.0f}"}


def _answer(name: str, lines: Sequence[Line], said: str) -> Judged:
    """Return what a node answered about its group: that it passed, failed, or did not come together."""
    answer = next((line for line in reversed(lines) if isinstance(line, Judged) and line.node == name), None)
    if answer is not None:
        result = answer.result
        if result.verdict in {Verdict.PASS, Verdict.FAIL} or APART in result.observed:
            return answer
        raise FleetError(printable(f"{name} reports nothing about its group: {result.verdict}, {result.message}"))
    end = next((line for line in lines if isinstance(line, Ended) and line.node == name), None)
    why = end.message if end is not None and end.message else said or "Ansible did not reach it"
    raise FleetError(printable(f"{name} gave no answer: {why}"))


def _recorded(store: Store, search: _Search, found: Named) -> str:
    """Record of each node the test that says what was found of it; return why it could not be, "" where it was.

    Most groups that a node was in say nothing about it: they failed because of others.
    """
    faulty = {*found.nodes, *(name for pair in found.pairs for name in pair)}
    lines = [line for name in sorted(search.addresses) for line in search.last.get((name, name not in faulty), ())]
    try:
        if lines:
            store.record_by_hand(Stage.CHECK, whoami(), lines, time.time())
    except StoreError as error:
        return str(error)
    return ""


def _show(found: Named, search: _Search) -> None:
    tests = f"{len(search.outcomes)} test{'s' if len(search.outcomes) != 1 else ''}"
    if found == Named():
        console.print(f"PASS  all nodes add up together ({tests})")
        return
    for name in found.nodes:
        _say("FAIL", f"{name}: every group with it fails")
    for one, other in found.pairs:
        _say(
            "FAIL",
            f"{one} and {other}: each passes with others, and they fail together; check the path between them",
        )
    for group in found.flaky:
        _say("UNKNOWN", f"{_shown(group)}: failed and passed; test again, with more good nodes (--good)")
    for group in found.together:
        _say("FAIL", f"{_shown(group)}: fails as a whole, and its parts pass; check what they share")
    if found.untold:
        _say(
            "UNKNOWN", f"{_shown(found.untold)}: no group of them passes; name good nodes to test them with (--good)"
        )
    console.print(Text(f"{tests}", style="dim"))


def _say(verdict: str, words: str) -> None:
    colour = "red" if verdict == "FAIL" else "yellow"
    console.print(Text(f"{verdict:<8}", style=colour).append(printable(words), style="default"))


def _shown(names: Sequence[str]) -> str:
    """Return up to four names, and how many more there are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _plain(outcome: Outcome) -> dict[str, object]:
    return {"nodes": sorted(outcome.group), "passed": outcome.passed}
