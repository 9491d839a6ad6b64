"""The analyses from a store: which checks paid, and the limits that its past speaks for."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml
from sqlalchemy import insert

from fleet_runner.adapters.reliability import check_value
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.trends import episodes, panels, stays
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from fleet_runner.core.reliability.check_value.past import DAY
from fleet_runner.core.reliability.trends import packing
from fleet_runner.core.reliability.trends.panel import Panel
from fleet_runner.settings import Settings

NOW = 20_000 * DAY
NAMES = tuple(f"gpu-{at:02}" for at in range(8))
WAY = (
    (State.REGISTERED, Event.START), (State.PROVISION, Event.PASSED), (State.ONBOARD, Event.CERTIFIED),
    (State.VERIFY, Event.PASSED), (State.FIRMWARE, Event.PASSED), (State.BURN_IN, Event.PASSED),
)  # fmt: skip
CORRECTED = "memory_errors.corrected_per_day_max"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store of eight nodes in production, whose disks were looked at each day; one got hot, and went to triage."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as made:
        devices = [*(Device(name, "hgx", "gpu-server", "hall") for name in NAMES)]
        made.register([*devices, Device("odd-01", "odd", "gpu-server", "hall")], 1.0)
        for row in WAY:
            for node in (each for each in made.nodes() if each.name in NAMES):
                made.apply(node, Decision((Move(TRANSITIONS[row], "runner"),), "", 1e12), 2.0)
        for day in range(1, 21):
            lines = [Judged(name, NOW - day * DAY, answer(name, day)) for name in NAMES]
            made.record_by_hand(Stage.HEALTH_PASSIVE, "ada", lines, NOW - day * DAY)
        (bad,) = (each for each in made.nodes() if each.name == "gpu-07")
        gone = Decision((Move(TRANSITIONS[State.PRODUCTION, Event.TRIAGE_NEEDED], "runner"),), "", 1e12)
        made.apply(bad, gone, NOW - DAY / 2)
        yield made


def answer(name: str, day: int) -> Result:
    """Return how warm a node's disks were: the last one's got hot two days ago."""
    warm = 68.0 if name == "gpu-07" and day <= 2 else 45.0
    return Result("disk_health", Verdict.PASS, "x", observed={"celsius": {"a": 30.0, "b": warm}})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Where the profile of one device type of two lies."""
    (tmp_path / "group_vars").mkdir()
    profile = {"fleet_profile": {"disk_health": {"celsius_max": 70}, "memory_errors": {"corrected_per_day_max": 100}}}
    (tmp_path / "group_vars" / "device_type_hgx.yml").write_text(yaml.safe_dump(profile))
    return Settings(inventory=tmp_path / "inventory.yml")


def test_limits_are_learned_from_good_nodes_and_held_against_all(store: Store, settings: Settings) -> None:
    body = check_value.limits(store, settings, NOW).to_json()
    row = next(row for row in body["limits"] if row["key"] == "disk_health.celsius_max")
    assert (body["good"], row["nodes"], row["numbers"]) == (7, 7, 140)
    assert (row["proposed"], row["now"]) == (48.0, 70)
    assert [(hit["node"], hit["looks"], hit["bad"]) for hit in row["flagged"]] == [("gpu-07", 2, True)]
    assert (row["others_nodes"], row["others_bad"], row["today_nodes"]) == (7, 0, 0)
    assert {each["device_type"] for each in body["limits"]} == {"hgx"}


def test_a_node_with_a_fault_is_no_good_node(store: Store, settings: Settings) -> None:
    row = {
        "node": "gpu-00",
        "component": "GPU 3",
        "code": "x",
        "fault": "x",
        "check": "gemm",
        "serial": "",
        "seen": 1,
    }
    with store._database.write() as connection:
        connection.execute(insert(episodes), [{**row, "first_at": NOW - 3 * DAY, "last_at": NOW - 3 * DAY}])
    assert check_value.limits(store, settings, NOW).good == 6
    told = check_value.worth(store, NOW)
    assert [(check.check, check.first) for check in told.checks] == [("gemm", 1), ("disk_health", 0)]


def test_what_is_counted_is_learned_from_the_growth_of_days(store: Store, settings: Settings) -> None:
    place = {"kind": "dimm", "serial": "", "component": "DIMM A1", "slot": "", "first_at": 1.0, "last_at": NOW}
    ids = np.arange(1, 9, dtype=np.uint32)
    with store._database.write() as connection:
        connection.execute(insert(stays), [{**place, "id": at + 1, "node": name} for at, name in enumerate(NAMES)])
        for day in range(19_980, 19_985):
            grown = np.array([0, 0, 0, 0, 0, 0, 2, 900 if day == 19_984 else 0], np.float32)
            panel = Panel("dimm_corrected", day, ids, np.ones(8, np.uint32), grown, np.zeros(8, np.float32))
            row = {"metric": "dimm_corrected", "day": day, "rows": 8, "body": packing.encode(panel)}
            connection.execute(insert(panels), [row])
    body = check_value.limits(store, settings, NOW).to_json()
    row = next(row for row in body["limits"] if row["key"] == CORRECTED)
    assert (row["proposed"], row["now"], row["nodes"], row["numbers"]) == (10.0, 100, 7, 35)
    assert [(hit["node"], hit["worst"], hit["bad"]) for hit in row["flagged"]] == [("gpu-07", 900.0, True)]


def test_an_empty_store_says_so(tmp_path: Path, settings: Settings) -> None:
    with Store.create(f"sqlite:///{tmp_path / 'empty.db'}") as empty:
        assert check_value.limits(empty, settings, NOW).sentences == ("No limit could be learned from 0 good nodes.",)
        assert check_value.worth(empty, NOW).sentences[0] == "0 faults on 0 nodes in 30 days."
