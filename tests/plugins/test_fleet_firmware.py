"""The role firmware, played by Ansible against an emulated BMC: by hand, in check mode, and in visits."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage
from fleet_runner.lab.redfish import Durations
from tests.playing import PROJECT, Ansible, inventory, spool, unclean
from tests.reconcile.firmware.driver import scenes
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.bench import bench as benched
from tests.reconcile.firmware.driver.scenes import NODE, OLD
from tests.waiting import PATIENCE

PACE = {"poll": 0.5, "settle": 2, "send": 2, "outage": 2, "boot": 2}


@dataclass(frozen=True)
class Hall:
    """A node behind an emulated BMC with an old BIOS, and the play that updates it."""

    bench: Bench
    folder: Path
    ansible: Ansible

    def play(self, *words: str, run: Run | None = None, **variables: str) -> str:
        """Play, and return what Ansible says."""
        runs = {NODE: {"run": run.id, "fence": run.fence, "since": run.opened_at}} if run else {}
        extra = json.dumps({"fleet_runs": runs})
        (self.folder / "spool.jsonl").unlink(missing_ok=True)
        nodes = self.nodes()
        under = {"FLEET_BATCH": "batch-1"} if run else {}
        command = ("-i", nodes, "-e", extra, *words, self.folder / "play.yml")
        answer = self.ansible("ansible-playbook", *command, **under, **variables)
        assert unclean(answer) == []
        assert answer.returncode == 0, answer.stdout
        return answer.stdout

    def nodes(self) -> Path:
        """Write the inventory."""
        variables = {"fleet_bmc_url": self.bench.bmc.url, "fleet_profile": self.bench.scene.profile}
        return inventory(self.folder / "inventory.yml", {NODE: variables}, firmware_pace=PACE)

    def result(self) -> Result:
        """Return what was found."""
        [found] = [line.result for line in spool(self.folder / "spool.jsonl") if isinstance(line, Judged)]
        return found

    def opened(self) -> Run:
        """Return a run of the stage that the runner opened."""
        now = time.time()
        with Store.open(self.bench.store) as store:
            node = store.node(NODE)
            assert node is not None
            [run] = store.apply(node, Decision((OpenRun(Stage.FIRMWARE, "test", batch="batch-1"),), "", now), now)
        return run


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Hall]:
    user, password = scenes.CREDENTIALS
    (tmp_path / "bmc.yml").write_text(yaml.safe_dump({"username": user, "password": password}))
    (tmp_path / "bmc.yml").chmod(0o600)
    play = {
        "name": "Play",
        "hosts": "nodes",
        "gather_facts": False,
        "roles": ["firmware"],
        "post_tasks": [{"name": "It goes on", "ansible.builtin.debug": {"msg": "went on"}}],
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    with benched(tmp_path, ("BMC",), pace=replace(Durations.quick(), write=4.0)) as bench:
        variables = {
            "FLEET_SPOOL": str(tmp_path / "spool.jsonl"),
            "FLEET_STATE_DIR": str(tmp_path),
            "FLEET_FIRMWARE_IMAGES": str(bench.scene.images),
            "FLEET_BMC_CREDENTIALS": str(tmp_path / "bmc.yml"),
        }
        yield Hall(bench, tmp_path, Ansible(tmp_path / "home", variables))


@pytest.mark.nightly
def test_by_hand_it_stays_to_the_end_and_tells_how_far_it_is(hall: Hall) -> None:
    said = hall.play()
    assert f"{NODE}: BMC {OLD} → " in said
    assert "went on" in said
    assert hall.result().verdict is Verdict.PASS
    assert hall.bench.bmc.versions()["BMC"] == hall.bench.scene.pins["BMC"][0]
    assert "changed=1" in said
    assert "changed=0" in hall.play()


@pytest.mark.nightly
def test_by_hand_nothing_begins_where_tenants_may_use_a_node_unless_it_is_named(hall: Hall) -> None:
    """What is under way there is followed to its end."""
    with Store.open(hall.bench.store) as store:
        for event in (Event.START, Event.PASSED, Event.CERTIFIED, *[Event.PASSED] * 3):
            node = store.node(NODE)
            assert node is not None
            store.apply(node, Decision((Move(TRANSITIONS[node.state, event], "test"),), "", 1.0), 1.0)
    for named in ("", "gpu-99, all"):
        assert "went on" not in hall.play("-e", json.dumps({"firmware_anyway": named}))
        found = hall.result()
        assert (found.verdict, hall.bench.sent()) == (Verdict.UNKNOWN, [])
        assert f"{NODE} is in production, where tenants may use it" in found.message
        assert f"-e firmware_anyway={NODE}" in found.message
    hall.play("-e", f"firmware_anyway=gpu-99,{NODE}")
    assert hall.result().verdict is Verdict.PASS


def test_check_mode_says_every_request_and_sends_none(hall: Hall) -> None:
    said = hall.play("--check", "-v")
    assert "changed=1" in said
    assert '"method": "POST"' in said
    assert "/redfish/v1/UpdateService/upload-multipart" in said
    assert "1 to send: BMC" in said
    assert hall.bench.sent() == []
    with Store.open(hall.bench.store) as store:
        assert store.flashes(NODE) == ()


@pytest.mark.nightly
def test_the_network_adapters_of_a_customers_node_are_left_alone(hall: Hall) -> None:
    """The source of truth says whose the node is; its other firmware is brought to its pins."""
    profile = json.loads(json.dumps(hall.bench.scene.profile))
    profile["firmware"]["components"][0]["component"] = "HCA"
    variables = {"fleet_profile": profile, "fleet_device": {"management": "customer"}}
    assert "went on" in hall.play("-e", json.dumps(variables))
    assert (hall.result().verdict, hall.bench.sent()) == (Verdict.PASS, [])
    assert f"BMC (HCA) stays at {OLD}" in hall.result().message
    variables["fleet_device"] = {"management": "full"}
    hall.play("-e", json.dumps(variables))
    assert len(hall.bench.bmc.events("accepted")) == 1


def test_a_visit_under_the_runner_ends_while_the_bmc_goes_on_and_the_next_one_finishes(hall: Hall) -> None:
    run = hall.opened()
    visits: list[Result] = []
    while not visits or visits[-1].verdict is not Verdict.PASS:
        said = hall.play(run=run, FLEET_FIRMWARE_VISIT_SECONDS="0.5")
        visits.append(hall.result())
        assert ("went on" in said) is (visits[-1].verdict is Verdict.PASS)
    assert visits[0].verdict is Verdict.UNKNOWN
    assert all(visit.observed["working"] for visit in visits[:-1])
    assert len(hall.bench.bmc.events("accepted")) == 1


def test_a_pace_of_something_else_is_refused_with_what_is_expected(hall: Hall) -> None:
    nodes = inventory(hall.folder / "inventory.yml", {NODE: {"fleet_bmc_url": hall.bench.bmc.url}})
    words = ("-i", nodes, "-e", json.dumps({"firmware_pace": {"speed": 1}}), hall.folder / "play.yml")
    answer = hall.ansible("ansible-playbook", *words)
    assert "expected seconds of poll, settle, send, outage, boot" in answer.stdout
    assert hall.bench.sent() == []


def test_a_run_that_is_over_sends_nothing(hall: Hall) -> None:
    run = hall.opened()
    with Store.open(hall.bench.store) as store:
        store.close_run(run, Outcome.LOST, "nobody saw its end", time.time())
    hall.play(run=run, FLEET_FIRMWARE_VISIT_SECONDS="0.5")
    assert "is over or was taken over" in hall.result().message
    assert hall.bench.sent() == []


def test_without_a_store_nothing_is_sent_and_what_is_right_is_right(hall: Hall) -> None:
    (hall.folder / "fleet.db").unlink()
    hall.play()
    assert "no store knows this node" in hall.result().message
    assert hall.bench.sent() == []
    hall.bench.bmc.set_version("BMC", hall.bench.scene.pins["BMC"][0])
    hall.play()
    assert hall.result().verdict is Verdict.PASS


def test_a_catalogue_that_cannot_be_read_is_unknown(hall: Hall) -> None:
    profile: dict[str, Any] = dict(hall.bench.scene.profile)
    profile["firmware"]["components"][0]["target"] = 2.1
    hall.play()
    assert hall.result().verdict is Verdict.UNKNOWN
    assert "components[0].target" in hall.result().message
    assert hall.bench.sent() == []


def test_ctrl_c_says_that_the_bmc_goes_on_gives_the_node_back_and_the_same_command_finishes(hall: Hall) -> None:
    """The terminal tells the play and all its workers."""
    program = Path(sys.executable).with_name("ansible-playbook")
    play = subprocess.Popen(
        [program, "-i", hall.nodes(), hall.folder / "play.yml"], cwd=PROJECT, env=hall.ansible.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip
    deadline = time.monotonic() + PATIENCE
    while not hall.bench.bmc.events("accepted"):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(play.pid, signal.SIGINT)
    said, _ = play.communicate(timeout=PATIENCE)
    assert "Traceback" not in said
    assert f"{NODE}: Ctrl-C ends this play and cancels nothing on the BMC; the same command goes on" in said
    with Store.open(hall.bench.store) as store:
        assert store.firmware_holder(NODE, now=time.time()) is None
    hall.play()
    assert len(hall.bench.bmc.events("accepted")) == 1
    assert hall.result().verdict is Verdict.PASS
