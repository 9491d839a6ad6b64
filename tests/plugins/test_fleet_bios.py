"""The role bios, played by Ansible against an emulated BMC: by hand, in check mode, and under the runner."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.lab.redfish import Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.playing import PROJECT, Ansible, inventory, spool, unclean, verdicts
from tests.reconcile.firmware.driver.bench import bench
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, NODE, store_in

WANTED = {"SRIOVEnable": "Enabled", "MaxPayload": 512, "QuietBoot": True}
LONG = 120.0


@dataclass(frozen=True)
class Hall:
    """A node behind an emulated BMC, and a play that has its settings set, resets it, and asks what came of it."""

    bmc: Emulator
    store: str
    folder: Path
    ansible: Ansible

    def play(self, *words: str, wanted: Any = WANTED, run: Run | None = None, boot: Any = None, **extra: Any) -> str:
        """Play, wait for the boot, and return what Ansible says."""
        runs = {NODE: {"run": run.id, "fence": run.fence, "since": run.opened_at}} if run else {}
        (self.folder / "spool.jsonl").unlink(missing_ok=True)
        profile = {} if wanted is None else {"bios": {"attributes": wanted}}
        profile |= {} if boot is None else {"boot_settings": boot}
        nodes = inventory(
            self.folder / "inventory.yml",
            {NODE: {"fleet_bmc_url": self.bmc.url, "fleet_profile": profile}},
            bios_boot_seconds=0,
        )
        shared = ("-i", nodes, "-e", json.dumps({"fleet_runs": runs, **extra}))
        under = {"FLEET_BATCH": "batch-1"} if run else {}
        answer = self.ansible("ansible-playbook", *shared, *words, self.folder / "play.yml", **under)
        assert unclean(answer) == []
        assert answer.returncode == 0, answer.stdout
        deadline = time.monotonic() + LONG
        while len(self.bmc.events("host_reset")) < len(self.bmc.events("power")) or self.bmc.power != "On":
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return answer.stdout

    def results(self) -> list[Result]:
        """Return what was found."""
        if not (self.folder / "spool.jsonl").exists():
            return []
        return [line.result for line in spool(self.folder / "spool.jsonl") if isinstance(line, Judged)]

    def counts(self) -> tuple[int, int]:
        """Return how often settings were sent, and how often the host was reset."""
        return len(self.bmc.events("bios_set")), len(self.bmc.events("power"))


@pytest.fixture
def hall(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Hall]:
    user, password = CREDENTIALS
    (tmp_path / "bmc.yml").write_text(yaml.safe_dump({"username": user, "password": password}))
    (tmp_path / "bmc.yml").chmod(0o600)
    power = {"action": "restart", "unless_reset_since": "{{ bios_update.since }}"}
    play = {
        "name": "Play",
        "hosts": "nodes",
        "gather_facts": False,
        "roles": ["bios"],
        "post_tasks": [
            {
                "name": "The node is reset",
                "redfish_power": power,
                "when": "bios_update.waiting and not without_reset",
            },
            {"name": "It went on", "ansible.builtin.debug": {"msg": "went on"}},
        ],
        "vars": {"without_reset": False},
    }
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    url = store_in(tmp_path, tmp_path)
    variables = {
        "FLEET_SPOOL": str(tmp_path / "spool.jsonl"),
        "FLEET_STATE_DIR": str(tmp_path),
        "FLEET_FIRMWARE_VISIT_SECONDS": "1",
        "FLEET_BMC_CREDENTIALS": str(tmp_path / "bmc.yml"),
    }
    rules = getattr(request, "param", ())
    with Emulator(load(OUR_OWN), credentials=CREDENTIALS, pace=Durations.quick(), rules=rules) as bmc:
        yield Hall(bmc, url, tmp_path, Ansible(tmp_path / "home", variables))


def test_by_hand_settings_are_set_once_and_a_second_run_changes_nothing(hall: Hall) -> None:
    said = hall.play()
    assert "changed=2" in said  # the settings, and the reset
    assert hall.bmc.attributes().items() >= WANTED.items()
    assert "changed=0" in hall.play()
    assert hall.counts() == (1, 1)


def test_check_mode_says_what_would_be_sent_and_where(hall: Hall) -> None:
    said = hall.play("--check", "-v")
    assert '"method": "PATCH"' in said
    assert '"uri": "/redfish/v1/Systems/1/Bios/Settings"' in said
    assert "MaxPayload 512, SRIOVEnable 'Enabled'" in said
    assert hall.counts() == (0, 0)


def test_a_profile_without_settings_needs_neither_bmc_nor_reset(hall: Hall) -> None:
    assert "changed=0" in hall.play(wanted=None)
    assert hall.bmc.events("request") == []


@pytest.mark.parametrize("wanted", [{"SRIOVEnable": "Perhaps"}, {"SRIOV": "Enabled"}, ["SRIOVEnable"]])
def test_settings_that_cannot_be_are_refused_and_the_play_ends_for_the_node(hall: Hall, wanted: Any) -> None:
    said = hall.play(wanted=wanted)
    assert "went on" not in said
    [result] = [each for each in hall.results() if each.verdict is not Verdict.SKIPPED]
    assert (result.check, result.verdict) == ("bios_settings", Verdict.UNKNOWN)
    assert "SRIOV" in result.message
    assert hall.counts() == (0, 0)


@pytest.mark.nightly
@pytest.mark.parametrize("hall", [[{"what": {"ignore_bios": {"attribute": "SRIOV*"}}}]], indirect=True)
def test_a_setting_that_does_not_stick_fails_the_node_once_it_was_reset(hall: Hall) -> None:
    """In a stay of the runner; its next visit neither sends it again nor resets the node again."""
    with Store.open(hall.store) as store:
        now = time.time()
        node = store.node(NODE)
        assert node is not None
        [run] = store.apply(node, Decision((OpenRun(Stage.FIRMWARE, "test", batch="batch-1"),), "", now), now)
    assert "went on" in hall.play(run=run)
    assert "went on" not in hall.play(run=run)
    [result] = [each for each in hall.results() if each.verdict is not Verdict.SKIPPED]
    assert (result.verdict, result.message) == (Verdict.FAIL, "SRIOVEnable is 'Disabled', expected 'Enabled'")
    assert hall.counts() == (1, 1)
    with Store.open(hall.store) as store:
        store.close_run(run, Outcome.FAILED, "", time.time())
    assert "went on" not in hall.play(run=run)
    [result] = [each for each in hall.results() if each.verdict is not Verdict.SKIPPED]
    assert (result.verdict, result.observed) == (Verdict.UNKNOWN, {"working": True})
    assert "is over" in result.message


@pytest.mark.nightly
def test_a_play_that_ended_before_the_reset_is_gone_on_with(hall: Hall) -> None:
    hall.play(without_reset=True)
    assert hall.counts() == (1, 0)
    hall.play()
    assert hall.counts() == (1, 1)
    assert hall.bmc.attributes().items() >= WANTED.items()


@pytest.mark.nightly
def test_the_whole_stage_flashes_then_sets_then_boots_once_and_reads_anew(tmp_path: Path) -> None:
    """On this machine, which is not booted by that: its own check says so."""
    user, password = CREDENTIALS
    (tmp_path / "bmc.yml").write_text(yaml.safe_dump({"username": user, "password": password}))
    (tmp_path / "bmc.yml").chmod(0o600)
    variables = {
        "FLEET_SPOOL": str(tmp_path / "spool.jsonl"),
        "FLEET_STATE_DIR": str(tmp_path),
        "FLEET_BMC_CREDENTIALS": str(tmp_path / "bmc.yml"),
    }
    with bench(tmp_path, ("BIOS",)) as made:
        profile = {**made.scene.profile, "bios": {"attributes": WANTED}}
        quick = {"firmware_pace": {"poll": 0.2, "settle": 2, "send": 2, "outage": 2, "boot": 2}, "reboot_delay": 1}
        node = {"fleet_bmc_url": made.bmc.url, "fleet_profile": profile}
        nodes = inventory(tmp_path / "inventory.yml", {NODE: node}, **quick)
        ansible = Ansible(tmp_path / "home", variables | {"FLEET_FIRMWARE_IMAGES": str(made.scene.images)})
        answer = ansible("ansible-playbook", "-i", nodes, PROJECT / "playbooks" / "firmware.yml")
        assert (answer.returncode, unclean(answer)) == (0, [])
        assert verdicts(spool(tmp_path / "spool.jsonl")) == {
            (NODE, "firmware_update"): Verdict.PASS,
            (NODE, "rebooted"): Verdict.FAIL,
            (NODE, "firmware_pins"): Verdict.PASS,
            (NODE, "bios_settings"): Verdict.PASS,
        }
        happened = [event.kind for event in made.bmc.events("update_done", "host_reset", "bios_set", "bios_applied")]
        assert happened == ["update_done", "host_reset", "bios_set", "host_reset", "bios_applied"]
        again = ansible("ansible-playbook", "-i", nodes, PROJECT / "playbooks" / "firmware.yml")
        assert "changed=0" in again.stdout


def test_secure_boot_that_the_bmc_does_not_show_is_refused_and_told_of_its_own_check(hall: Hall) -> None:
    said = hall.play(wanted=None, boot={"secure_boot": True})
    assert "went on" not in said
    [result] = [each for each in hall.results() if each.verdict is not Verdict.SKIPPED]
    assert (result.check, result.verdict) == ("boot_settings", Verdict.UNKNOWN)
    assert result.message.startswith("boot_settings.secure_boot: the BMC does not show whether Secure Boot is on")
    assert hall.counts() == (0, 0)
