"""fleet-runner cabling paths: which idle nodes to test with each other, and which links that uses."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.actions import SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition
from tests.adapters.store.builders import decision
from tests.cli.cabling.fabric import NAMES, serving
from tests.cli.checks.test_allreduce import idle
from tests.cli.conftest import Type


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> Iterator[Store]:
    """All nodes are in production, and say that they are idle."""
    with serving(tmp_path, monkeypatch) as made:
        yield made


def plan(typed: Type) -> dict[str, Any]:
    """Return the plan of the one fabric."""
    found: dict[str, Any] = json.loads(typed("cabling", "paths", "--json").out)
    assert list(found) == ["ethernet.hall"]
    return found["ethernet.hall"]


def test_one_test_between_two_leaves_uses_every_link_between_switches(typed: Type, store: Store) -> None:
    said = typed("cabling", "paths")
    assert said.code == 0, said.err
    assert "ethernet.hall: 4 of 4 links between switches are used by 1 test; the fewest possible is 1" in said.words
    assert "gpu-01 eth0 gpu-02 eth1 leaf-1, leaf-2 4" in said.words
    assert "It is likely, not certain" in " ".join(said.err.split())


def test_both_commands_of_a_test_have_its_flows_and_the_clients_names_the_server(typed: Type, store: Store) -> None:
    (test,) = plan(typed)["tests"]
    words = f"-q {test['flows']} -s 65536 -D 10 -b -F --report_gbits"
    assert test["server"] == f"ib_write_bw -d <adapter of eth0> {words}"
    assert test["client"] == f"ib_write_bw -d <adapter of eth1> {words} gpu-01"
    assert test["flows"] > 4


def test_adapters_are_named_where_the_device_type_says_them(
    typed: Type, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    group_vars = tmp_path / "inventory" / "group_vars"
    (group_vars / "device_type_hgx.yml").write_text("fleet_profile: {hca_interfaces: {mlx5_3: eth0}}\n")
    (test,) = plan(typed)["tests"]
    assert test["from"] == {"node": "gpu-01", "interface": "eth0", "adapter": "mlx5_3"}
    assert test["to"]["adapter"] is None


def test_a_busy_node_is_in_no_test_and_is_told_with_the_reason(typed: Type, store: Store) -> None:
    row = store.node("gpu-01")
    assert row is not None
    store.apply(row, decision(SetCondition(Condition.IN_USE, Held(2.0, "job 7", "runner"))), 2.0)
    found = plan(typed)
    assert {end["node"] for test in found["tests"] for end in (test["from"], test["to"])} == {"gpu-02", "gpu-03"}
    assert found["not_idle"] == {"gpu-01": "a tenant's work runs on it; wait until it is idle, or drain it"}
    assert "not loaded: gpu-01: a tenant's work runs on it" in " ".join(typed("cabling", "paths").err.split())


def test_links_that_no_test_can_use_are_told(typed: Type, store: Store) -> None:
    """One idle node has nobody to write to."""
    for name in NAMES[1:]:
        row = store.node(name)
        assert row is not None
        store.apply(row, decision(SetCondition(Condition.HELD, Held(2.0, "ada looks", "ada"))), time.time())
    said = typed("cabling", "paths")
    assert (said.code, "0 of 4 links between switches are used by 0 tests" in said.words) == (1, True)
    assert "on no shortest way between two leaves with idle nodes" in " ".join(said.err.split())


def test_leaves_without_an_idle_node_and_nodes_with_one_reason_are_told_together(typed: Type, store: Store) -> None:
    for name in NAMES:
        idle(store, name, 1.0, in_use=True)
    said = " ".join(typed("cabling", "paths").err.split())
    assert "not used: 4 links of leaves at which no node is idle: leaf-1, leaf-2" in said
    assert said.count("not loaded") == 1
    assert "not loaded: gpu-01, gpu-02, gpu-03, gpu-04: a tenant's work runs on it" in said


def test_a_fabric_that_is_not_there_is_refused_with_those_that_are(typed: Type, store: Store) -> None:
    said = typed("cabling", "paths", "--fabric", "ethernet.moon")
    assert said.code == 2
    assert "no fabric named ethernet.moon; the source of truth has ethernet.hall" in " ".join(said.err.split())
