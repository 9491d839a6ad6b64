"""fleet-runner check: what can be asked, and asking it now."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, cast

import pytest

from fleet_runner.adapters.plays.foreground import Play
from fleet_runner.adapters.store import ResultFilter, Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Judged, Line, Progress
from fleet_runner.core.lifecycle.states import Stage
from tests.cli.conftest import Type
from tests.playing import PROJECT, inventory

SMI = PROJECT / "tests" / "evidence" / "nvidia_smi" / "h100_two_idle.xml"
DMESG = PROJECT / "tests" / "evidence" / "dmesg" / "boot.txt"
PROFILE = {"limits": {"gpu_tlimit_margin_celsius": 5}, "parts": {"gpu": {"count": 3}}}


def test_every_check_is_listed_and_no_line_is_wider_than_the_terminal(typed: Type) -> None:
    said = typed("check", "list")
    assert said.code == 0
    assert all(f"\n{name}" in said.out for name in CHECKS)
    assert max(map(len, said.out.splitlines())) <= 80


def test_the_list_can_be_narrowed(typed: Type) -> None:
    active = {each["name"] for each in json.loads(typed("check", "list", "--active", "--json").out)}
    passive = {each["name"] for each in json.loads(typed("check", "list", "--passive", "--json").out)}
    assert (active & passive, active | passive) == (set(), set(CHECKS))
    assert {"dcgm", "gpu_burn"} <= active
    drain = json.loads(typed("check", "list", "--stage", "drain", "--json").out)
    assert [each["name"] for each in drain] == ["gpu_usage", "scheduler"]
    assert drain[0]["by_hand"] is True


@pytest.mark.parametrize("name", ["gpu_errors", "gpu_usage", "nccl_allreduce", "cabling_infiniband", "wiped"])
def test_a_check_is_told_in_full(typed: Type, name: str) -> None:
    check, said = CHECKS[name], typed("check", "show", name)
    assert said.code == 0
    assert all(code.code in said.out for code in check.codes)
    assert all(read in said.out for read in check.reads)
    assert max(map(len, said.out.splitlines())) <= 80
    told = json.loads(typed("check", "show", name, "--json").out)
    assert [each["code"] for each in told["codes"]] == [code.code for code in check.codes]
    assert told["source"] == check.source


def test_an_interrupted_play_is_ended_and_nothing_is_recorded(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C, while nodes are asked."""

    def interrupted(_play: Play, _patience: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Play, "ended", interrupted)
    said = typed("check", "run", "gpu_usage", "-n", "gpu-01")
    assert (said.code, said.out) == (130, "")
    assert "interrupted: the play is ended, and its results are not recorded" in " ".join(said.err.split())
    assert store.find_results(ResultFilter("gpu-01"), limit=9) == ()


def test_a_slip_is_answered_with_the_nearest_names(typed: Type) -> None:
    said = typed("check", "show", "gpu_eror")
    assert said.code == 2
    assert "no check 'gpu_eror'; did you mean gpu_errors" in said.err
    assert "check list names all" in typed("check", "show", "%%%").err


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with nodes, an inventory with two of them, and a tool that says they have two idle GPUs each."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, script in (("nvidia-smi", f"cat {SMI}"), ("dmesg", f"cat {DMESG}")):
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    environment = {"PATH": f"{tools}:/usr/bin:/bin"}
    gone = {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
    nodes = {"gpu-01": {}, "gpu-02": {}, "gpu-03": gone}
    file = inventory(tmp_path / "inventory.yml", nodes, fleet_environment=environment, fleet_profile=PROFILE)
    monkeypatch.setenv("FLEET_INVENTORY", str(file))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        devices = [Device(f"gpu-0{number}", "hgx", "gpu-server", "hall") for number in (1, 2, 3, 4)]
        made.register([*devices, Device("ib-a", FABRIC_TYPES[0], "fabric", "hall")], 1.0)
        yield made


def test_nodes_are_asked_in_one_play_and_the_answers_are_recorded_as_done_by_hand(store: Store, typed: Type) -> None:
    """One node is not reached, and one is in no inventory; both say so, and the others have their answers."""
    nodes = [word for number in (1, 2, 3, 4) for word in ("--node", f"gpu-0{number}")]
    said = typed("check", "run", "parts_gpu", "gpu_errors", *nodes)
    assert said.code == 1, said.out + said.err
    assert said.out.count("PASS    gpu_errors: 2 GPUs") == 2
    assert said.words.count("FAIL parts_gpu: 2 of 3 GPUs are present; missing") == 2
    assert "Ansible cannot reach it" in said.words
    assert "is it in the inventory" in said.words
    (run,) = store.runs("gpu-01")
    assert (run.stage, run.fence, run.outcome) == (Stage.CHECK, 0, Outcome.FAILED)
    results = store.results(run.id)
    assert [each.result.check for each in results] == ["parts_gpu", "gpu_errors"]
    assert "nvidia_smi_log" in (store.evidence(results[1].result.evidence[0]) or "")
    assert not store.runs("gpu-04")


def test_a_play_that_cannot_start_is_told_with_ansibles_words(store: Store, typed: Type) -> None:
    said = typed("check", "run", "gpu_usage", "-n", "gpu-04")
    assert said.code == 3
    assert "Ansible did not reach it" in said.words
    assert "no hosts to target" in said.err


def test_what_cannot_be_asked_of_a_node_is_refused_before_anything_is(store: Store, typed: Type) -> None:
    said = typed("check", "run", "gpu_usage", "dcgm", "fabric_cabling", "-n", "gpu-01")
    assert said.code == 1
    assert "no: dcgm is active" in said.err
    assert "no: fabric_cabling is about a fabric" in said.err
    assert not store.runs("gpu-01")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("gpu_usage", "-n", "gpu-09"), "no node 'gpu-09' in the store"),
        (("gpu_usage", "-n", "ib-a"), "ib-a is a fabric, expected a node; fleet-runner run fabric --node ib-a"),
        (("gpu_use", "-n", "gpu-01"), "no check 'gpu_use'; did you mean gpu_usage"),
    ],
)
def test_names_that_nobody_knows_are_unusable_input(
    store: Store, typed: Type, words: tuple[str, ...], why: str
) -> None:
    said = typed("check", "run", *words)
    assert (said.code, why in said.err) == (2, True), said.err


def answered(verdict: Verdict) -> Callable[..., AbstractContextManager[Play]]:
    """Return what stands in for a play that gives one answer."""

    class Answering(Play):
        def told(self) -> tuple[Line, ...]:
            result = Result("gpu_usage", verdict, "It was said.", evidence=("a" * 64,))
            return (Progress("gpu-01", 1.0, 0, 1, "The task"), Judged("gpu-01", 2.0, result))

        def ended(self, patience: float) -> int:
            return 0

    return lambda *_: nullcontext(Answering(cast("Any", None), Path()))


@pytest.mark.parametrize(
    ("verdict", "code"), [(Verdict.PASS, 0), (Verdict.FAIL, 1), (Verdict.UNKNOWN, 3), (Verdict.SKIPPED, 3)]
)
def test_the_exit_code_is_the_answer(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch, verdict: Verdict, code: int
) -> None:
    monkeypatch.setattr("fleet_runner.adapters.plays.foreground.started", answered(verdict))
    said = typed("check", "run", "gpu_usage", "-n", "gpu-01")
    assert said.code == code
    assert f"{verdict:<8}gpu_usage: It was said." in said.out
    assert ("fleet-runner evidence aaaaaaaaaaaa" in said.out) == (verdict in {Verdict.FAIL, Verdict.UNKNOWN})
    why = "SKIPPED  no check ran, so nothing is known" if verdict is Verdict.SKIPPED else ""
    assert why in said.out
    told = json.loads(typed("check", "run", "gpu_usage", "-n", "gpu-01", "--json").out)
    assert (told["gpu-01"]["results"][0]["verdict"], told["gpu-01"]["trouble"]) == (verdict.value, why)


def test_answers_that_cannot_be_recorded_are_shown_all_the_same(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk takes no answer from whoever asked."""

    def full(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("fleet_runner.adapters.plays.foreground.started", answered(Verdict.PASS))
    monkeypatch.setattr(Store, "record_by_hand", full)
    said = typed("check", "run", "gpu_usage", "-n", "gpu-01")
    assert said.code == 3
    assert "PASS    gpu_usage" in said.out
    assert "the results were not recorded: the disk is full" in said.err
