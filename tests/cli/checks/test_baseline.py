"""fleet-runner baseline: what it proposes, to whom, and that it changes nothing."""

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests.cli.conftest import Type

GOOD = ("gpu-01", "gpu-02", "gpu-03")
WAY = (
    (State.REGISTERED, Event.START),
    (State.PROVISION, Event.PASSED),
    (State.ONBOARD, Event.CERTIFIED),
    (State.VERIFY, Event.PASSED),
    (State.FIRMWARE, Event.PASSED),
    (State.BURN_IN, Event.PASSED),
)
TEXT = """\
# Ours.
fleet_profile:
  active:
    nccl_allreduce: {bus_gbps_min: 400}  # a guess
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The device type's file."""
    (tmp_path / "group_vars").mkdir()
    path = tmp_path / "group_vars" / "device_type_hgx.yml"
    path.write_text(TEXT)
    return path


@pytest.fixture
def store(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with two answers of each of three nodes, and one of another device type."""
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory.yml"))
    (tmp_path / "state").mkdir()
    now = time.time()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register([Device(name, "hgx", "gpu-server", "hall") for name in GOOD], 1.0)
        made.register([Device("dgx-01", "dgx", "gpu-server", "hall")], 1.0)
        for at, node in enumerate(GOOD):
            observed = {"bus_gbps": 475.0 + at}
            result = Result("nccl_allreduce", Verdict.PASS, "x", observed=observed)
            made.record_by_hand(Stage.BURN_IN, "ada", [Judged(node, now - 60, result)] * 2, now)
        yield made


def test_a_mark_is_proposed_as_a_difference_that_patch_takes(store: Store, typed: Type, file: Path) -> None:
    """Nothing is changed by the command itself, and every comment stays."""
    said = typed("baseline", "hgx", "--node", "gpu-01,gpu-02, gpu-03")
    assert said.code == 0, said.err
    assert file.read_text() == TEXT
    assert "-    nccl_allreduce: {bus_gbps_min: 400}  # a guess" in said.out
    subprocess.run(["patch", "-p1"], input=said.out, text=True, cwd=file.parents[1], check=True, capture_output=True)
    assert "bus_gbps_min: 461}  # a guess" in file.read_text()
    assert yaml.safe_load(file.read_text())["fleet_profile"]["active"]["nccl_allreduce"] == {"bus_gbps_min": 461}
    assert "6 of 3 nodes" in " ".join(said.err.split())
    again = typed("baseline", "hgx", "--node", ",".join(GOOD))
    assert (again.out, "these equal the present marks" in again.err) == ("", True)


def test_it_is_all_there_as_json(store: Store, typed: Type, file: Path) -> None:
    """With what it was drawn from."""
    words = ("--node", ",".join(GOOD), "--check", "nccl_allreduce", "--share", "0.1", "--json")
    told = json.loads(typed("baseline", "hgx", *words).out)
    [mark] = told["marks"]
    assert (mark["key"], mark["now"], mark["mark"]) == ("active.nccl_allreduce.bus_gbps_min", 400, 428)
    assert (mark["median"], mark["numbers"], mark["nodes"], told["file"]) == (476, 6, 3, str(file))
    assert told["difference"].startswith("--- a/group_vars/device_type_hgx.yml")


def test_too_few_nodes_are_refused_with_their_number(store: Store, typed: Type) -> None:
    """And the exit code says no."""
    said = typed("baseline", "hgx", "--node", "gpu-01,gpu-02", "--check", "nccl_allreduce")
    assert (said.code, said.out) == (1, "")
    assert "4 numbers of 2 nodes, expected at least 5 of 3" in " ".join(said.err.split())
    none = typed("baseline", "hgx", "--node", "gpu-01", "--check", "ib_write")
    assert (none.code, "no number of 1 node:" in none.err) == (1, True)


def test_good_nodes_are_those_in_production_that_failed_nothing(store: Store, typed: Type) -> None:
    """Any check's failure takes a node out."""
    none = typed("baseline", "hgx", "--good")
    assert (none.code, "no number of 0 nodes:" in none.err) == (1, True)
    for row in WAY:
        for node in (each for each in store.nodes() if each.name in GOOD):
            store.apply(node, Decision((Move(TRANSITIONS[row], "runner"),), "", 1e12), 2.0)
    words = ("--good", "--check", "nccl_allreduce", "--json")
    assert json.loads(typed("baseline", "hgx", *words).out)["nodes"] == list(GOOD)
    hot = Result("gpu_thermals", Verdict.FAIL, "x")
    store.record_by_hand(Stage.HEALTH_PASSIVE, "ada", [Judged("gpu-02", time.time(), hot)], time.time())
    said = typed("baseline", "hgx", *words)
    assert (said.code, json.loads(said.out)["nodes"]) == (1, ["gpu-01", "gpu-03"])


def test_a_node_that_would_fail_is_named(store: Store, typed: Type) -> None:
    """It may not be as good as it is thought to be."""
    store.register([Device("gpu-04", "hgx", "gpu-server", "hall")], 1.0)
    slow = Result("nccl_allreduce", Verdict.FAIL, "x", observed={"bus_gbps": 300.0})
    store.record_by_hand(Stage.BURN_IN, "ada", [Judged("gpu-04", time.time(), slow)], time.time())
    said = typed("baseline", "hgx", "--node", "gpu-01,gpu-02,gpu-03,gpu-04")
    assert "gpu-04 would fail; are they really good" in " ".join(said.err.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("hgx",), "give either --node A,B,C or --good"),
        (("hgx", "--good", "--node", "gpu-01"), "give either --node A,B,C or --good"),
        (("hgx", "--node", "gpu-01,dgx-01"), "dgx-01: no node of device type hgx in the store"),
        (("dgx", "--node", "dgx-01"), "found no fleet_profile"),
        (("hgx", "--good", "--check", "nccl_alreduce"), "did you mean nccl_allreduce"),
        (("hgx", "--good", "--since", "soon"), "is not a span of time"),
    ],
)
def test_what_cannot_be_asked_is_said(store: Store, typed: Type, words: tuple[str, ...], why: str) -> None:
    """In one sentence."""
    said = typed("baseline", *words)
    assert (said.code, why in " ".join(said.err.split())) == (2, True), said.err


def test_a_file_that_cannot_take_a_mark_is_named(store: Store, typed: Type, file: Path) -> None:
    """A mark that is a mapping is a slip."""
    file.write_text("fleet_profile:\n  active: {nccl_allreduce: {bus_gbps_min: {a: 1}}}\n")
    said = typed("baseline", "hgx", "--node", ",".join(GOOD))
    assert (said.code, "holds more than a number" in " ".join(said.err.split())) == (2, True), said.err
