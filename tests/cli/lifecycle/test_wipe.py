"""fleet-runner wipe shows what it would erase, asks, and leaves a request; afterwards it shows what proves it."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from fleet_runner import settings
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit
from fleet_runner.cli.lifecycle import wipe
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests.cli.conftest import Type

DONE = {"key": "disk-S1", "kind": "disk", "name": "/dev/nvme0n1 (X, serial S1)", "next": "done", "why": "it changed"}


@pytest.fixture
def store(tmp_path: Path, typed: Type) -> Store:
    """A store with one node in triage."""
    made = Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}")
    made.register([Device("gpu-01", "t", "gpu-server", "hall")], 1.0)
    for row in ((State.REGISTERED, Event.START), (State.PROVISION, Event.FAILED)):
        at = made.node("gpu-01")
        assert at is not None
        made.apply(at, Decision((Move(TRANSITIONS[row], "ann"),), "", 1.0), 1.0)
    return made


@pytest.fixture
def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The looks that were taken: a program stands in for Ansible, and fails where FAILS is set."""
    program, log = tmp_path / "look", tmp_path / "looks"
    program.write_text(f'#!/bin/sh\necho "$@" >> {log}\necho to be erased\nexit ${{FAILS:-0}}\n')
    program.chmod(0o755)
    real = wipe.look_command

    def stood_in(found: settings.Settings, nodes: list[str]) -> tuple[list[str], dict[str, str]]:
        argv, environment = real(found, nodes)
        return [str(program), *argv[1:]], environment

    monkeypatch.setattr(wipe, "look_command", stood_in)
    return log


def test_the_look_is_ansibles_check_mode_of_the_stages_own_playbook(typed: Type) -> None:
    found = settings.load()
    argv, environment = wipe.look_command(found, ["gpu-01", "gpu-02"])
    assert os.access(argv[0], os.X_OK)
    assert argv[-4:-1] == ["--check", "--limit", "gpu-01,gpu-02"]
    assert Path(argv[-1]) == found.project_dir / "playbooks" / "wipe.yml"
    assert Path(argv[-1]).is_file()
    assert Path(environment["ANSIBLE_CONFIG"]).is_file()


def test_a_dry_run_only_looks(typed: Type, store: Store, looks: Path) -> None:
    assert typed("wipe", "gpu-01", "--dry-run").code == 0
    assert looks.read_text().count("--check") == 1
    assert store.intents("gpu-01") == ()


def test_a_wipe_needs_a_reason(typed: Type, store: Store, looks: Path) -> None:
    said = typed("wipe", "gpu-01", "--yes", "--reason", " ")
    assert (said.code, looks.exists(), store.intents("gpu-01")) == (2, False, ())
    assert "--reason" in said.err


@pytest.mark.parametrize("agrees", [True, False])
def test_what_would_be_erased_is_shown_before_it_is_asked_for(
    typed: Type, store: Store, looks: Path, monkeypatch: pytest.MonkeyPatch, agrees: bool
) -> None:
    def asked(*_: Any, abort: bool) -> None:
        assert looks.exists()
        assert abort
        if not agrees:
            raise SystemExit(1)

    monkeypatch.setattr("typer.confirm", asked)
    assert typed("wipe", "gpu-01", "-r", "it leaves", "--wait", "0").code == (4 if agrees else 1)
    assert [intent.kind for intent in store.intents("gpu-01")] == [IntentKind.WIPE] * agrees


def test_with_yes_nobody_looks_or_asks(typed: Type, store: Store, looks: Path) -> None:
    assert typed("wipe", "gpu-01", "--yes", "-r", "it leaves", "--wait", "0").code == 4
    (intent,) = store.intents("gpu-01")
    assert (intent.kind, intent.reason, looks.exists()) == (IntentKind.WIPE, "it leaves", False)


def test_after_a_look_that_failed_nothing_is_asked_for(
    typed: Type, store: Store, looks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAILS", "2")
    assert typed("wipe", "gpu-01", "-r", "it leaves").code == 3
    assert store.intents("gpu-01") == ()


def test_a_node_that_cannot_be_wiped_now_is_refused_before_anybody_looks(
    typed: Type, store: Store, looks: Path
) -> None:
    at = store.node("gpu-01")
    assert at is not None
    store.apply(at, Decision((Move(TRANSITIONS[State.TRIAGE, Event.RETRY], "ann"),), "", 1.0), 1.0)
    said = typed("wipe", "gpu-01", "--yes", "-r", "it leaves")
    assert (said.code, looks.exists()) == (1, False)
    assert "'wipe' does not apply in provision" in " ".join(said.err.split())


def test_a_dry_run_of_a_node_that_cannot_be_wiped_now_shows_it_and_says_no(
    typed: Type, store: Store, looks: Path
) -> None:
    at = store.node("gpu-01")
    assert at is not None
    store.apply(at, Decision((Move(TRANSITIONS[State.TRIAGE, Event.RETRY], "ann"),), "", 1.0), 1.0)
    said = typed("wipe", "gpu-01", "--dry-run")
    assert (said.code, looks.exists(), store.intents("gpu-01")) == (Exit.NO, True, ())
    assert "no: gpu-01: " in said.err


STAYS = "the request stays; to stop it: fleet-runner triage gpu-01"


@pytest.mark.parametrize(("place", "words"), [("_look", ("--dry-run",)), ("ask", ("--yes", "-r", "it leaves"))])
def test_ctrl_c_says_what_goes_on(
    typed: Type, store: Store, monkeypatch: pytest.MonkeyPatch, place: str, words: tuple[str, ...]
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(wipe, place, interrupted)
    said = typed("wipe", "gpu-01", *words)
    assert (said.code, len(store.intents("gpu-01"))) == (Exit.INTERRUPTED, 0)
    sentence = STAYS if place == "ask" else "nothing was erased or requested"
    assert said.err.strip() == f"interrupted: {sentence}"


def wiped(store: Store) -> None:
    """Record a wipe that went well."""
    result = Result("wiped", Verdict.PASS, "1 device is erased", (), {"devices": [DONE]})
    store.record_by_hand(Stage.WIPE, "ann", [Judged("gpu-01", time.time(), result)], time.time())


def test_the_report_says_what_was_done_to_each_device(typed: Type, store: Store) -> None:
    wiped(store)
    said = typed("wipe", "gpu-01", "--report")
    assert said.code == 0
    assert "Everything on it is erased." in said.out
    assert "/dev/nvme0n1 (X, serial S1): erased" in said.out
    (found,) = json.loads(typed("wipe", "gpu-01", "--report", "--json").out)
    assert found["result"]["result"]["observed"]["devices"] == [DONE]


def test_there_is_no_report_of_a_node_that_was_never_wiped(typed: Type, store: Store) -> None:
    """The answer is no; of several nodes those that were are told of."""
    said = typed("wipe", "gpu-01", "--report")
    assert (said.code, said.out) == (Exit.NO, "")
    assert said.err.startswith("no: gpu-01 was never wiped, as far as this store knows; fleet-runner history gpu-01")
    store.register([Device("gpu-02", "t", "gpu-server", "hall")], 2.0)
    wiped(store)
    said = typed("wipe", "gpu-01", "gpu-02", "--report", "--json")
    assert (said.code, len(json.loads(said.out))) == (Exit.NO, 1)
    assert "gpu-02 was never wiped" in said.err


def test_explain_tells_a_wipe_that_passed_in_full(typed: Type, store: Store) -> None:
    """Other passes are only counted; what was erased is worth a line."""
    for row in ((State.TRIAGE, Event.WIPE), (State.WIPE, Event.PASSED)):
        if row[0] is State.WIPE:
            wiped(store)
        at = store.node("gpu-01")
        assert at is not None
        known = tuple(each.id for each in store.latest_results("gpu-01"))
        store.apply(at, Decision((Move(TRANSITIONS[row], "ann", results=known),), "", 1.0), 2.0)
    assert "1 device is erased" in typed("explain", "gpu-01").words
