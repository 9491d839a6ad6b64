"""fleet-runner cabling paths --run: who is loaded, what is judged, said and recorded."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.plays import foreground
from fleet_runner.adapters.store import Store
from fleet_runner.cli.cabling import path_runs
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.actions import OpenRun, SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.spool import Ended, Judged, Line, PlayEnd
from fleet_runner.core.lifecycle.states import Condition, Stage
from fleet_runner.settings import Settings
from tests.adapters.store.builders import decision
from tests.cli.cabling.fabric import FABRIC, NAMES, serving
from tests.cli.conftest import Type

Answer = Callable[[str, Mapping[str, Any]], Result | None]

WHY = "Failed status 12: wr_id 0 syndrom 0x81"


def wrote(gbitps: float, mark: float = 380.0) -> Result:
    verdict = Verdict.PASS if gbitps >= mark else Verdict.FAIL
    return Result("ib_write_pair", verdict, "x", observed={"gbitps": gbitps, "write_gbitps_min": mark})


class Plays:
    """Plays that are not played: what each end of a pair measured is made up."""

    def __init__(self) -> None:
        self.asked = list[dict[str, Any]]()
        self.answer: Answer = lambda _, __: wrote(391.0)
        self.before: Callable[[], object] = lambda: None
        self.code: int | None = 0

    @contextmanager
    def started(self, _: Settings, playbook: str, nodes: Sequence[str], told: dict[str, Any]) -> Iterator["Play"]:
        """Pretend to play."""
        assert playbook == "ib_write_pair"
        assert sorted(told["fleet_runs"]) == list(nodes)
        self.asked.append(told)
        lines: list[Line] = []
        for name in nodes:
            result = self.answer(name, told["fleet_runs"][name]["pair"])
            lines += [] if result is None else [Judged(name, 2.0, result), Ended(name, 2.0, PlayEnd.OK)]
        yield Play(lines, self.code)

    @property
    def nodes(self) -> list[list[str]]:
        """Return the nodes of each play."""
        return [sorted(told["fleet_runs"]) for told in self.asked]


class Play:
    """One of them; without an exit status somebody types Ctrl-C."""

    def __init__(self, lines: list[Line], code: int | None) -> None:
        self.lines, self.code = lines, code

    def told(self) -> list[Line]:
        """Return all lines, once."""
        found, self.lines = self.lines, []
        return found

    def ended(self, patience: float) -> int:
        """It has."""
        if self.code is None and patience < 1:
            raise KeyboardInterrupt
        return self.code or 0

    def said(self) -> str:
        """Return what Ansible says of its failure."""
        return "killed"


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> Plays:
    """Pretend that nodes write."""
    made = Plays()
    monkeypatch.setattr(foreground, "started", made.started)
    return made


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> Iterator[Store]:
    """Two leaves below two spines, and four idle nodes in production that are at both."""
    with serving(tmp_path, monkeypatch, "fleet_profile: {active: {ib_write_pair: {}}}\n") as made:
        yield made


def take(store: Store, name: str) -> None:
    """Have a tenant's work on a node."""
    row = store.node(name)
    assert row is not None
    store.apply(row, decision(SetCondition(Condition.IN_USE, Held(2.0, "job 7", "runner"))), time.time())


def kept(store: Store, name: str) -> dict[str, Verdict]:
    found = (each.result for each in store.latest_results(name))
    return {each.check: each.verdict for each in found if each.check != "gpu_usage"}


def test_without_run_nothing_is_run(typed: Type, plays: Plays, store: Store) -> None:
    assert typed("cabling", "paths").code == 0
    assert plays.asked == []


def test_a_pair_that_is_fast_passes_and_is_recorded_of_nodes_and_fabric(
    typed: Type, plays: Plays, store: Store
) -> None:
    said = typed("cabling", "paths", "--run")
    assert said.code == 0, said.err
    assert "4 of 4 links between switches were used by 1 pair of nodes, the slowest at 391 Gb/s" in said.words
    assert "round 1 of 1: gpu-01 eth0 and gpu-02 eth1: 391 Gb/s each way" in " ".join(said.err.split())
    assert kept(store, FABRIC) == {"fabric_paths": Verdict.PASS}
    assert kept(store, "gpu-01") == {"ib_write_pair": Verdict.PASS}
    assert kept(store, "gpu-03") == {}


def test_both_ends_are_told_the_same_and_only_the_client_where_the_server_is(
    typed: Type, plays: Plays, store: Store
) -> None:
    typed("cabling", "paths", "--run")
    ((server, client),) = [[told["fleet_runs"][name]["pair"] for name in NAMES[:2]] for told in plays.asked]
    assert (server["server"], client["server"]) == ("", "192.0.2.10")
    assert (server["interface"], client["interface"]) == ("eth0", "eth1")
    assert (server["peer"], client["peer"]) == ("gpu-02 eth1", "gpu-01 eth0")
    assert server["port"] == client["port"] > 18515
    assert server["flows"] == client["flows"] > 4


def test_a_slow_pair_is_tested_again_between_other_nodes_which_are_cleared_or_not(
    typed: Type, plays: Plays, store: Store
) -> None:
    plays.answer = lambda name, _: wrote(150.0 if name in {"gpu-01", "gpu-02"} else 391.0)
    said = typed("cabling", "paths", "--run")
    assert said.code == 1
    assert plays.nodes == [["gpu-01", "gpu-02"], ["gpu-03", "gpu-04"]]
    assert "suspects (in every slow pair, in no fast one): node gpu-01, gpu-02" in said.words
    assert kept(store, FABRIC) == {"fabric_paths": Verdict.FAIL}
    assert kept(store, "gpu-01") == {}, "which of both it is, nobody knows"
    assert kept(store, "gpu-03") == {"ib_write_pair": Verdict.PASS}


@pytest.mark.parametrize(
    ("slow", "named"),
    [(("leaf-1",), {"leaf-1"}), (("leaf-2",), {"leaf-2"}), (("leaf-1", "leaf-2"), {"leaf-1", "leaf-2"})],
)
def test_of_two_leaves_between_which_all_is_slow_a_third_one_tells_which_it_is(
    typed: Type,
    plays: Plays,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    slow: tuple[str, ...],
    named: set[str],
) -> None:
    """Whoever writes through a slow leaf is slow; each rail has a leaf of its own."""
    leaves = ("leaf-1", "leaf-2", "leaf-3", "leaf-4")
    rails = {f"eth{rail}": leaf for rail, leaf in enumerate(leaves)}

    def wrote_through(_: str, told: Mapping[str, Any]) -> Result:
        through = {rails[told["interface"]], rails[told["peer"].split()[1]]}
        return wrote(150.0 if through & set(slow) else 391.0)

    plays.answer = wrote_through
    profile = "fleet_profile: {active: {ib_write_pair: {}}}\n"
    with serving(tmp_path, monkeypatch, profile, leaves) as store:
        said = typed("cabling", "paths", "--run")
        assert said.code == 1
        (stored,) = [each for each in store.latest_results(FABRIC) if each.result.check == "fabric_paths"]
    suspected = {
        word.strip()
        for finding in stored.result.findings
        for part in finding.message.partition("suspects")[2].split(";")
        if part.strip().startswith("switch ")
        for word in part.strip().removeprefix("switch ").split(",")
    }
    assert suspected == named
    assert len(stored.result.observed["tests"]) == 2 + 1 + 2


def test_a_way_that_two_pairs_do_not_find_is_told_and_its_links_are_not_covered(
    typed: Type, plays: Plays, store: Store
) -> None:
    plays.answer = lambda _, __: Result("ib_write_pair", Verdict.UNKNOWN, "x", observed={"apart": WHY})
    said = typed("cabling", "paths", "--run")
    assert (said.code, "no RDMA path between gpu-01 eth0 and gpu-02 eth1, nor between" in said.words) == (1, True)
    assert "not covered: 4 links (leaf-1 Ethernet48 to spine-1 Ethernet0, " in " ".join(said.err.split())


def test_a_pair_of_which_neither_end_answers_is_unknown(typed: Type, plays: Plays, store: Store) -> None:
    plays.answer = lambda name, _: (
        None if name == "gpu-01" else Result("ib_write_pair", Verdict.UNKNOWN, "no server at 192.0.2.11")
    )
    said = typed("cabling", "paths", "--run")
    assert said.code == 3
    assert "gpu-02: no server at 192.0.2.11; gpu-01: Ansible did not reach it" in said.words
    assert kept(store, FABRIC) == {"fabric_paths": Verdict.UNKNOWN}


def test_one_ends_word_is_enough(typed: Type, plays: Plays, store: Store) -> None:
    plays.answer = lambda name, _: wrote(391.0) if name == "gpu-01" else None
    assert typed("cabling", "paths", "--run").code == 0
    assert kept(store, "gpu-01") == {}


def test_a_node_that_became_busy_is_not_loaded_and_neither_is_its_peer(
    typed: Type, plays: Plays, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between plan and round."""
    rounds = path_runs.rounds

    def late(pairs: Any) -> Any:
        take(store, "gpu-01")
        return rounds(pairs)

    monkeypatch.setattr(path_runs, "rounds", late)
    said = typed("cabling", "paths", "--run")
    assert (said.code, plays.asked) == (3, [])
    assert "gpu-01: a tenant's work runs on it" in said.words
    assert "not covered: 4 links" in said.err


def test_a_node_on_which_a_run_is_under_way_is_in_no_pair(typed: Type, plays: Plays, store: Store) -> None:
    row = store.node("gpu-01")
    assert row is not None
    store.apply(row, decision(OpenRun(Stage.HEALTH_PASSIVE, "sweep", batch="b")), time.time())
    said = typed("cabling", "paths", "--run")
    assert said.code == 0
    assert plays.nodes == [["gpu-02", "gpu-03"]]
    assert "not loaded: gpu-01: a run is under way there" in " ".join(said.err.split())


def test_nodes_whose_profile_does_not_ask_for_it_are_not_loaded(
    typed: Type, plays: Plays, store: Store, tmp_path: Path
) -> None:
    (tmp_path / "inventory" / "group_vars" / "device_type_hgx.yml").write_text("fleet_profile: {}\n")
    said = typed("cabling", "paths", "--run")
    assert (said.code, plays.asked) == (1, [])
    assert "its device type's profile has no active.ib_write_pair" in " ".join(said.err.split())
    assert "no pair was tested" in said.words
    assert typed("cabling", "paths").code == 0


def test_ctrl_c_ends_the_tests_on_the_nodes(typed: Type, plays: Plays, store: Store) -> None:
    plays.code = None
    assert typed("cabling", "paths", "--run").code == 130
    begun, ended = plays.asked
    assert "ib_write_pair_stop" not in begun
    assert ended == {**begun, "ib_write_pair_stop": "fleet-runner cabling paths, which was interrupted"}


def test_a_play_that_was_killed_is_followed_by_one_that_ends_its_tests(
    typed: Type, plays: Plays, store: Store
) -> None:
    plays.code, plays.answer = -9, lambda _, __: None
    said = typed("cabling", "paths", "--run")
    assert (said.code, len(plays.asked)) == (3, 2)
    assert "gpu-02: killed; gpu-01: killed" in said.words
    assert "each ends by itself within 190 s" in " ".join(said.err.split())


def test_json_has_plan_and_answer(typed: Type, plays: Plays, store: Store) -> None:
    said = typed("cabling", "paths", "--run", "--json")
    told = json.loads(said.out)[FABRIC]
    assert (said.code, told["covered"], told["result"]["verdict"]) == (0, 4, "PASS")
    assert told["result"]["observed"]["tests"][0]["gbitps"] == 391.0


def test_nodes_that_meet_by_ipv6_alone_are_not_loaded(
    typed: Type, plays: Plays, store: Store, tmp_path: Path
) -> None:
    site = tmp_path / "site" / "devices.yml"
    site.write_text(site.read_text().replace("192.0.2.1", "2001:db8::1"))
    said = typed("cabling", "paths", "--run")
    assert (said.code, plays.asked) == (1, [])
    assert "its primary address is IPv6, and perftest meets by IPv4" in " ".join(said.err.split())
