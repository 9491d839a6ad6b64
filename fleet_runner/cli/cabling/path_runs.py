"""Running the tests of fleet-runner cabling paths: round after round, on nodes that are idle right before each."""

import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.plays import foreground
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, console, errors, print_json, whoami
from fleet_runner.cli.cabling.paths import Planned, why_not_now
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling.explain import some
from fleet_runner.core.cabling.fabrics import ETHERNET
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.path_rounds import rounds
from fleet_runner.core.cabling.paths import Pair, crossed, other_nodes
from fleet_runner.core.checks.catalogue import CHECKS, fabric_paths
from fleet_runner.core.checks.catalogue.ib_write_pair import APART, MARK, NAME, SPARE_SECONDS, WAIT_SECONDS
from fleet_runner.core.checks.check import run as judged
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.parsers import path_tests
from fleet_runner.core.checks.parsers.path_tests import PathsTold, PathTest
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, Line, Progress
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import Settings

LOOK_AGAIN = 0.2  # seconds

SECONDS = 10
"""How long each pair writes, as in the commands that the plan prints."""

LONGEST = WAIT_SECONDS + SPARE_SECONDS + SECONDS
"""How long a test lives, whatever becomes of who asked for it, in seconds."""

STOP_SECONDS = 60.0  # for a play that ends tests

FIRST_PORT = 18_516
"""TCP port of the first pair of a round; perftest's own is 18515. A node has one pair at a time, so any would do."""


def run(settings: Settings, store: Store, fleet: Fleet, plans: Sequence[Planned], *, json: bool) -> Exit:
    """Run what was planned of each fabric; print and record the answers."""
    found: list[Result] = []
    told: dict[str, Any] = {}
    for each in plans:
        tests = _Run(settings, store, fleet, each)
        tests.all()
        result, lines = tests.judged()
        _record(store, lines)
        found.append(result)
        told[each.fabric.name] = {**each.shown, "result": result.to_json()}
        if not json:
            _show(each.fabric.name, tests.done, result)
    if json:
        print_json(told)
    return _ending(found)


def _ending(found: Iterable[Result]) -> Exit:
    every = list(found)
    if any(each.verdict is Verdict.FAIL for each in every):
        return Exit.NO
    if any(each.verdict is not Verdict.PASS and each.observed.get("tests") for each in every):
        return Exit.TROUBLE
    return Exit.NO if any(each.observed["uncovered"] for each in every) else Exit.OK


@dataclass(slots=True)
class _Run:
    """The tests of one fabric. `done` are those that ran or should have, `lines` what plays told of their nodes."""

    settings: Settings
    store: Store
    fleet: Fleet
    plan: Planned
    done: list[PathTest] = field(default_factory=list[PathTest])
    lines: list[list[Line]] = field(default_factory=list[list[Line]])

    def all(self) -> None:
        """Test every pair, and again between other nodes what was slow or found no way.

        Two leaves between which all of that is slow are each tested with a third one, which tells them apart.
        """
        pairs = {_ends(pair): pair for pair in self.plan.tests.pairs}
        self._rounds(pairs.values(), "round")
        doubted = [*fabric_paths.slow(self.done), *(each for each in self.done if each.apart)]
        again = (self._again(pairs[each.one, each.other]) for each in doubted)
        self._rounds([each for each in again if each is not None], "again, round")
        self._rounds(self._across(pairs), "across, round")

    def _across(self, pairs: Mapping[tuple[Any, Any], Pair]) -> list[Pair]:
        """Return the tests that part leaves between which two pairs of nodes are slow."""
        slow = fabric_paths.slow(self.done)
        many = Counter(frozenset(each.leaves) for each in self.done)
        bad = Counter(frozenset(each.leaves) for each in slow)
        fast = [each.leaves for each in self.done if each.gbitps is not None and not bad[frozenset(each.leaves)]]
        found: list[Pair] = []
        for pair in pairs.values():
            leaves = frozenset(pair.leaves)
            beside = next(
                (each for each in pairs.values() if each.leaves in fast and leaves.isdisjoint(each.leaves)), None
            )
            if bad[leaves] == many[leaves] > 1 and beside is not None:
                found += crossed(pair, beside, self.plan.links, self.plan.servers.keys(), self.plan.idle)
        return found

    def _again(self, pair: Pair) -> Pair | None:
        return other_nodes(pair, self.plan.links, self.plan.servers.keys(), self.plan.idle)

    def _rounds(self, pairs: Iterable[Pair], what: str) -> None:
        every = rounds(pairs)
        for at, mine in enumerate(every, start=1):
            self._round(mine, f"{self.plan.fabric.name}: {what} {at} of {len(every)}")

    def _round(self, pairs: Sequence[Pair], what: str) -> None:
        """Test the pairs whose nodes are idle now."""
        newest = time.time() - 2 * self.settings.schedule("passive").times.pause
        names = {port.device for pair in pairs for port in (pair.one, pair.other)}
        busy = {name: why for name in sorted(names) if (why := why_not_now(self.store, name, newest))}
        ready = [pair for pair in pairs if not {pair.one.device, pair.other.device} & busy.keys()]
        lines, said = self._played(ready, what) if ready else ([], "")
        for pair in pairs:
            ends = (pair.one.device, pair.other.device)
            mine: list[Line] = [line for line in lines if line.node in ends and not isinstance(line, Progress)]
            why = "; ".join(f"{name}: {busy[name]}" for name in ends if name in busy)
            test = _test(pair, mine, why, said)._replace(kind=self._kind(pair))
            self.done.append(test)
            self.lines.append(mine)
            errors.print(printable(f"{what}: {test.named}: {_came_to(test)}"), markup=False, soft_wrap=True)

    def _kind(self, pair: Pair) -> str:
        """Return what the ports of a pair are."""
        found = {
            each.kind
            for port in (pair.one, pair.other)
            for each in self.fleet.devices[port.device].interfaces
            if each.name == port.interface
        }
        return ", ".join(sorted(found))

    def _played(self, pairs: Sequence[Pair], what: str) -> tuple[list[Line], str]:
        """Have pairs write; return what was told of the nodes, and what Ansible said where it failed."""
        names = sorted({port.device for pair in pairs for port in (pair.one, pair.other)})
        told, lines = self._told(pairs), list[Line]()
        try:
            with (
                errors.status(printable(f"{what}: {len(pairs)} pairs")),
                foreground.started(self.settings, NAME, names, told) as play,
            ):
                while (code := play.ended(LOOK_AGAIN)) is None:
                    lines += play.told()
                lines += play.told()
                said = play.said() if code else ""
        except KeyboardInterrupt:
            self._stop(names, told)
            raise
        if code and set(names) - {line.node for line in lines if isinstance(line, Ended)}:
            self._stop(names, told)  # the play itself was ended
        return lines, said

    def _stop(self, names: Sequence[str], told: Mapping[str, object]) -> None:
        """End the tests of a round that nobody waits for any more; those of a node out of reach end by themselves."""
        stop = {**told, f"{NAME}_stop": "fleet-runner cabling paths, which was interrupted"}
        with (
            errors.status(f"ending the tests on {len(names)} nodes"),
            foreground.started(self.settings, NAME, names, stop) as play,
        ):
            code = play.ended(STOP_SECONDS)
        if code != 0:
            left = f"the tests on {', '.join(names)} were not all ended; each ends by itself within {LONGEST:g} s"
            errors.print(printable(left), markup=False, soft_wrap=True)

    def _told(self, pairs: Sequence[Pair]) -> dict[str, object]:
        """Return what the play is told: each node's end of its pair, and where the two meet."""
        now = time.time()
        hashed = self.plan.fabric.kind == ETHERNET
        ends: dict[str, object] = {}
        for at, pair in enumerate(pairs):
            address = (self.fleet.devices[pair.one.device].primary_address or "").partition("/")[0]
            shared = {"port": FIRST_PORT + at, "flows": pair.flows if hashed else 1, "seconds": SECONDS}
            for mine, other, server in ((pair.one, pair.other, ""), (pair.other, pair.one, address)):
                words = {"adapter": self.plan.adapter(mine) or "", "interface": mine.interface, "peer": f"{other}"}
                ends[mine.device] = {"opened_at": now, "pair": {**shared, **words, "server": server}}
        return {"fleet_runs": ends, f"{NAME}_key": f"{NAME}-{now * 1000:.0f}"}

    def judged(self) -> tuple[Result, list[Line]]:
        """Return what the tests say of the fabric, and all lines that are to be recorded."""
        now, name = time.time(), self.plan.fabric.name
        told = PathsTold(tuple(self.done), self.plan.tests.links, _uncovered(self.plan, self.done))
        reading = Reading("path_tests", ReadEnd.OK, json.dumps(path_tests.written(told)), at=now)
        result = judged(CHECKS[fabric_paths.NAME], {reading.name: reading}, Expected(name))
        # A pair that was slow or apart says nothing yet of either of its nodes.
        good = [line for lines in self.lines if _passed(lines) for line in lines]
        evidence = Evidence(name, now, reading.name, reading.hash, reading.text)
        return result, [*good, evidence, Judged(name, now, result)]


def _passed(lines: Iterable[Line]) -> bool:
    """Whether both ends of a pair found nothing to complain of."""
    verdicts = [line.result.verdict for line in lines if isinstance(line, Judged)]
    return len(verdicts) == len(("server", "client")) and set(verdicts) == {Verdict.PASS}


def _ends(pair: Pair) -> tuple[Any, Any]:
    return pair.one, pair.other


def _test(pair: Pair, lines: Sequence[Line], busy: str, said: str) -> PathTest:
    """Return what a pair came to, by both its ends; the server's word counts where the client gave none."""
    answers = {line.node: line.result for line in lines if isinstance(line, Judged) and line.result.check == NAME}
    seen = [answers[port.device].observed for port in (pair.other, pair.one) if port.device in answers]
    rates = [each["gbitps"] for each in seen if "gbitps" in each]
    marks = [each[MARK] for each in seen if MARK in each]
    apart = next((str(each[APART]) for each in seen if APART in each), "") if not rates else ""
    untold = "" if rates or apart else busy or _untold(pair, lines, answers, said)
    return PathTest(
        pair.one,
        pair.other,
        pair.leaves,
        pair.flows,
        pair.ways,
        rates[0] if rates else None,
        min(marks, default=None),
        apart,
        printable(untold),
    )


def _untold(pair: Pair, lines: Sequence[Line], answers: Mapping[str, Result], said: str) -> str:
    """Say why neither end of a pair measured anything."""
    found: list[str] = []
    for name in (pair.other.device, pair.one.device):
        end = next((line.message for line in lines if isinstance(line, Ended) and line.node == name), "")
        result = answers.get(name)
        found.append(f"{name}: {result.message if result else end or said or 'Ansible did not reach it'}")
    return "; ".join(found)


def _uncovered(plan: Planned, done: Iterable[PathTest]) -> dict[str, str]:
    """Return the links that no test used, each with why."""
    used: set[Link] = {each for test in done if test.gbitps is not None for each in test.ways}
    why = {_ends(pair): "" for pair in plan.tests.pairs}
    why |= {(test.one, test.other): test.apart or test.untold for test in done}
    found = {each: why[_ends(pair)] for pair in plan.tests.pairs for each in pair.links}
    found |= {
        each: f"no node at {leaf} is idle" for leaf, links in plan.tests.deserted.items() for each in links
    } | dict.fromkeys(plan.tests.unreached, "on no shortest way between two leaves with idle nodes")
    return {f"{each.a} to {each.b}": reason for each, reason in found.items() if each not in used}


def _record(store: Store, lines: Sequence[Line]) -> None:
    try:
        store.record_by_hand(Stage.CHECK, whoami(), lines, time.time())
    except StoreError as error:
        errors.print(printable(f"the results were not recorded: {error}"), markup=False, soft_wrap=True)
        raise


def _came_to(test: PathTest) -> str:
    return f"{test.gbitps:.4g} Gb/s each way" if test.gbitps is not None else test.apart or test.untold


def _show(name: str, done: Sequence[PathTest], result: Result) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("FROM", "TO", "Gb/s EACH WAY"):
        table.add_column(title, overflow="fold", justify="right" if title.startswith("Gb") else "left")
    for each in done:
        rate = f"{each.gbitps:.4g}" if each.gbitps is not None else "-"
        table.add_row(*(Text(printable(cell)) for cell in (f"{each.one}", f"{each.other}", rate)))
    if done:
        console.print(table)
    colour = {Verdict.PASS: "green", Verdict.FAIL: "red"}.get(result.verdict, "yellow")
    verdict = Text(f"{result.verdict.value:<8}", style=colour)
    console.print(verdict.append(printable(f"{name}: {result.message}"), style="default"), soft_wrap=True)
    because: dict[str, list[str]] = defaultdict(list)
    for link, why in result.observed.get("uncovered", {}).items():
        because[why].append(link)
    for why, links in because.items():
        count = f"{len(links)} link{'s' * (len(links) != 1)}"
        errors.print(printable(f"not covered: {count} ({some(links)}): {why}"), markup=False, soft_wrap=True)
