"""fleet-runner allreduce: who is refused, what is tested, what is said and recorded."""

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.plays import foreground
from fleet_runner.adapters.store import Store
from fleet_runner.cli.checks import allreduce
from fleet_runner.cli.checks.idle_nodes import why_not
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device, Fleet, Management
from fleet_runner.core.lifecycle.actions import Decision, Move, SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.spool import Ended, Judged, Line, PlayEnd
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from fleet_runner.settings import Settings
from tests.active.interpreter import python
from tests.adapters.store.builders import decision
from tests.cli.conftest import Type
from tests.playing import inventory

NAMES = [f"gpu-{number:02}" for number in range(1, 9)]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store and a source of truth with eight nodes, each with an address."""
    devices = {
        name: Device(name, "hgx", "gpu-server", "hall", primary_address=f"192.0.2.{place}/24")
        for place, name in enumerate(NAMES, start=1)
    }
    monkeypatch.setattr(allreduce, "Reader", lambda _: lambda: Fleet((), {}, {}, devices, ()))
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register([*devices.values()], 1.0)
        for name in NAMES:
            come(made, name, *WAY[:2])
        yield made


WAY = (
    (State.REGISTERED, Event.START),
    (State.PROVISION, Event.PASSED),
    (State.ONBOARD, Event.CERTIFIED),
    (State.VERIFY, Event.PASSED),
    (State.FIRMWARE, Event.PASSED),
    (State.BURN_IN, Event.PASSED),
)


def come(store: Store, name: str, *rows: tuple[State, Event]) -> None:
    """Move a node on its way."""
    for row in rows:
        node = store.node(name)
        assert node is not None
        store.apply(node, Decision((Move(TRANSITIONS[row], "runner"),), "", 1e12), 2.0)


def idle(
    store: Store, name: str, seconds: float = 60.0, *, verdict: Verdict = Verdict.PASS, in_use: object = False
) -> None:
    """Have it answered some seconds ago who uses a node."""
    at = time.time() - seconds
    result = Result("gpu_usage", verdict, "x", observed={"in_use": in_use})
    store.record_by_hand(Stage.CHECK, "ada", [Judged(name, at, result)], at)


class Plays:
    """Plays that are not played: a group fails if a bad node or a bad pair is in it."""

    def __init__(self, bad: Sequence[str] = (), pairs: Sequence[tuple[str, str]] = ()) -> None:
        self.bad, self.pairs, self.asked = set(bad), pairs, list[dict[str, Any]]()
        self.answers: Mapping[str, Result] = {}
        self.silent = ""

    @contextmanager
    def started(self, _: Settings, playbook: str, nodes: Sequence[str], told: dict[str, Any]) -> Iterator[Any]:
        """Pretend to play."""
        assert playbook == "allreduce"
        self.asked.append(told)
        fails = self.bad & set(nodes) or any(set(pair) <= set(nodes) for pair in self.pairs)
        result = Result("allreduce", Verdict.FAIL if fails else Verdict.PASS, "slow" if fails else "fast")
        lines: list[Line] = [
            Judged(name, 2.0, self.answers.get(name, result)) for name in nodes if name != self.silent
        ]
        lines += [Ended(name, 2.0, PlayEnd.UNREACHABLE if name == self.silent else PlayEnd.OK) for name in nodes]
        yield Played(lines)


class Played:
    """One of them."""

    def __init__(self, lines: list[Line]) -> None:
        self.lines = lines

    def told(self) -> list[Line]:
        """Return all lines, once."""
        found, self.lines = self.lines, []
        return found

    def ended(self, _: float) -> int:
        """It has."""
        return 0

    def said(self) -> str:
        """Nothing."""
        return ""


@pytest.fixture
def plays(store: Store, monkeypatch: pytest.MonkeyPatch) -> Plays:
    """Pretend that nodes add up."""
    made = Plays()
    monkeypatch.setattr(foreground, "started", made.started)
    return made


def test_a_group_that_adds_up_is_one_test(typed: Type, plays: Plays, store: Store) -> None:
    """Each node is told its place, and where they meet; the answer is recorded."""
    said = typed("allreduce", *NAMES)
    assert said.code == 0, said.err
    assert "PASS all nodes add up together (1 test)" in said.words
    (told,) = plays.asked
    assert [told["fleet_runs"][name]["group"]["node"] for name in NAMES] == list(range(8))
    assert {told["fleet_runs"][name]["group"]["address"] for name in NAMES} == {"192.0.2.1"}
    assert told["allreduce_key"].startswith("allreduce-")
    assert [each.result.verdict for each in store.latest_results("gpu-03")] == [Verdict.PASS]


def test_a_bad_node_is_named_and_only_it_is_recorded_as_such(typed: Type, plays: Plays, store: Store) -> None:
    """The others passed in some group, and that is what is kept of them."""
    plays.bad = {"gpu-06"}
    said = typed("allreduce", *NAMES)
    assert said.code == 1
    assert "FAIL gpu-06: every group with it fails" in said.words
    assert "test 1: gpu-01, gpu-02, gpu-03, gpu-04 and 4 more: FAILED (slow)" in " ".join(said.err.split())
    kept = {name: [each.result.verdict for each in store.latest_results(name)] for name in NAMES}
    assert kept["gpu-06"] == [Verdict.FAIL]
    assert kept["gpu-01"] == [Verdict.PASS]
    assert all(verdicts in ([Verdict.PASS], []) for name, verdicts in kept.items() if name != "gpu-06")


def test_a_bad_way_between_two_is_named(typed: Type, plays: Plays) -> None:
    """In JSON, with every test."""
    plays.pairs = [("gpu-02", "gpu-07")]
    said = typed("allreduce", *NAMES, "--json")
    told = json.loads(said.out)
    assert said.code == 1
    assert told["found"]["pairs"] == [["gpu-02", "gpu-07"]]
    assert told["tests"][0] == {"nodes": NAMES, "passed": False}
    said = typed("allreduce", *NAMES)
    assert "gpu-02 and gpu-07: each passes with others, and they fail together" in said.words


def test_two_that_fail_need_a_third(typed: Type, plays: Plays) -> None:
    """One that is known to be good."""
    plays.bad = {"gpu-02"}
    said = typed("allreduce", "gpu-01", "gpu-02")
    assert said.code == 3
    assert "UNKNOWN gpu-01, gpu-02: no group of them passes" in said.words
    said = typed("allreduce", "gpu-01", "gpu-02", "--good", "gpu-03", "--good", "gpu-04")
    assert (said.code, "FAIL gpu-02: every group" in said.words) == (1, True)


def test_what_contradicts_itself_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    """And so is what only fails as a whole."""
    found = allreduce.Named(flaky=(("a", "b"),), together=(("a", "c"),))
    allreduce._show(found, allreduce._Search(Settings(), {}, "gloo"))
    said = " ".join(capsys.readouterr().out.split())
    assert "a, b: failed and passed; test again" in said
    assert "a, c: fails as a whole" in said


def test_nodes_in_use_are_refused(typed: Type, plays: Plays, store: Store) -> None:
    """Before anything is started."""
    row = store.node("gpu-02")
    assert row is not None
    store.apply(row, decision(SetCondition(Condition.IN_USE, Held(2.0, "job 7", "runner"))), 2.0)
    said = typed("allreduce", "gpu-01", "gpu-02")
    assert said.code == 1
    assert "no: gpu-02: a tenant's work runs on it" in said.err
    assert plays.asked == []


@pytest.mark.parametrize("steps", range(6))
def test_nodes_on_which_plays_of_ours_work_are_refused(typed: Type, plays: Plays, store: Store, steps: int) -> None:
    """Also between two visits: a flash has no open run then."""
    store.register([Device("gpu-09", "hgx", "gpu-server", "hall", primary_address="192.0.2.9/24")], 1.0)
    come(store, "gpu-09", *WAY[:steps])
    row = store.node("gpu-09")
    assert row is not None
    why = why_not(store, row, 0.0)
    assert why == ("" if row.state is State.ONBOARD else f"it is in {row.state}; expected {EXPECTED}")


EXPECTED = "one in production or in debug, onboard, triage"


def test_a_node_that_serves_must_be_idle_by_a_fresh_answer(typed: Type, plays: Plays, store: Store) -> None:
    """What is not known is no leave to load it."""
    come(store, "gpu-02", *WAY[2:])
    asking = "it is unknown whether work runs on it; ask it: fleet-runner check run gpu_usage --node gpu-02"

    def refused() -> str:
        said = typed("allreduce", "gpu-01", "gpu-02")
        assert said.code in {0, 1}
        return said.err if said.code else ""

    assert asking in refused()
    idle(store, "gpu-02", 3600.0)
    assert asking in refused()
    idle(store, "gpu-02", 50.0, verdict=Verdict.UNKNOWN)
    assert asking in refused()
    idle(store, "gpu-02", 40.0, in_use=True)
    assert "a tenant's work runs on it" in refused()
    assert plays.asked == []
    idle(store, "gpu-02", 30.0)
    assert refused() == ""


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        (Condition.HELD, "it is held: ada looks"),
        (Condition.MAINTENANCE, "it is in maintenance: ada looks"),
        (Condition.CORDONED, "it is cordoned: ada looks"),
    ],
)
def test_a_node_that_serves_and_that_people_took_is_refused(
    typed: Type, plays: Plays, store: Store, condition: Condition, why: str
) -> None:
    """In triage they may well be the ones who test it."""
    row = store.node("gpu-03")
    assert row is not None
    taken = decision(SetCondition(condition, Held(2.0, "ada looks", "ada")))
    store.apply(row, taken, 2.0)
    assert typed("allreduce", "gpu-01", "gpu-03").code == 0
    come(store, "gpu-02", *WAY[2:])
    idle(store, "gpu-02")
    row = store.node("gpu-02")
    assert row is not None
    store.apply(row, taken, 2.0)
    said = typed("allreduce", "gpu-01", "gpu-02")
    assert (said.code, f"no: gpu-02: {why}" in said.err) == (1, True), said.err


def test_a_customers_node_that_serves_is_refused(typed: Type, plays: Plays, store: Store) -> None:
    """Idle or not."""
    come(store, "gpu-02", *WAY[2:])
    idle(store, "gpu-02")
    row = store.node("gpu-02")
    assert row is not None
    why = why_not(store, replace(row, management=Management.CUSTOMER), 0.0)
    assert why == "its management is customer: only its customer decides about it"


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (allreduce.Named(), 0), (allreduce.Named(nodes=("a",), untold=("b",)), 1),
        (allreduce.Named(pairs=(("a", "b"),)), 1),
        (allreduce.Named(together=(("a", "b"),)), 1), (allreduce.Named(flaky=(("a", "b"),)), 3),
        (allreduce.Named(untold=("a", "b")), 3),
    ],
)  # fmt: skip
def test_the_exit_code_says_no_only_of_a_fault_that_was_found(found: allreduce.Named, code: int) -> None:
    """A group that failed and passed is no answer."""
    assert allreduce._ending(found) == code


def test_one_node_has_nobody_to_add_up_with(typed: Type, plays: Plays) -> None:
    """Nor is an unknown one asked."""
    assert typed("allreduce", "gpu-01").code == 2
    assert typed("allreduce", "gpu-01", "gpu-99").code == 2


def test_a_node_without_an_answer_of_its_group_ends_the_search(typed: Type, plays: Plays) -> None:
    """Nothing is concluded from silence; from ranks that did not come together, it is."""
    plays.answers = {"gpu-02": Result("allreduce", Verdict.UNKNOWN, "python3 has no PyTorch")}
    said = typed("allreduce", "gpu-01", "gpu-02")
    assert (said.code, "gpu-02 reports nothing about its group: UNKNOWN, python3 has no PyTorch" in said.err) == (
        2,
        True,
    )
    plays.answers, plays.silent = {}, "gpu-01"
    said = typed("allreduce", "gpu-01", "gpu-02")
    assert (said.code, "gpu-01 gave no answer" in said.err) == (2, True)
    plays.silent = ""
    plays.answers = {"gpu-02": Result("allreduce", Verdict.UNKNOWN, "no store", observed={"apart": ["no store"]})}
    assert typed("allreduce", "gpu-01", "gpu-02").code == 3


PROFILE: dict[str, Any] = {"active": {"allreduce": {"bytes": 4096, "limit_seconds": 30, "interface": "lo"}}}


def really(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: Sequence[str], **bad: object) -> None:
    """Have nodes that are this machine, each with a folder for its jobs; give one of them another section."""
    devices = {name: Device(name, "hgx", "gpu-server", "hall", primary_address="127.0.0.1/8") for name in names}
    monkeypatch.setattr(allreduce, "Reader", lambda _: lambda: Fleet((), {}, {}, devices, ()))
    section = PROFILE["active"]["allreduce"] | {"python": python()}
    nodes = {
        name: {
            "allreduce_job_dir": str(tmp_path / name),
            "allreduce_pause": 0.5,
            "fleet_profile": {"active": {"allreduce": section | (bad.get(name.replace("-", "_")) or {})}},
        }
        for name in names
    }
    monkeypatch.setenv("FLEET_INVENTORY", str(inventory(tmp_path / "inventory.yml", nodes)))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin:/usr/sbin:/sbin")


@pytest.mark.nightly
def test_nodes_really_add_up(tmp_path: Path, typed: Type, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of them, by gloo, started by Ansible."""
    really(tmp_path, monkeypatch, NAMES[:2])
    said = typed("allreduce", *NAMES[:2], "--backend", "gloo")
    assert said.code == 0, said.err
    (kept,) = store.latest_results("gpu-02")
    assert (kept.result.verdict, kept.result.observed["ranks"]) == (Verdict.PASS, 2)


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_a_node_with_a_broken_network_is_really_found(
    tmp_path: Path, typed: Type, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its interface is not there: whoever is in a group with it waits in vain."""
    really(tmp_path, monkeypatch, NAMES[:5], gpu_04={"interface": "nowhere0"})
    said = typed("allreduce", *NAMES[:5], "--backend", "gloo")
    assert said.code == 1, said.err
    assert "FAIL gpu-04: every group with it fails" in said.words
