"""Each playbook does its stage's work on the lab's nodes, once, and says what it found."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.firmware.flash import End
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.outcomes import judge
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Judged, Line, PlayEnd
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.lab import faults, hardware
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.up import up
from tests.lab.bench import boot
from tests.playing import Ansible, spool, unclean, verdicts

READING = ("verify", "firmware", "drain", "health_passive", "cabling")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A lab of two servers; the first has booted, the second is as delivered: off."""
    made = up(tmp_path_factory.mktemp("plays") / "lab", 2, boot_seconds=0.0)
    try:
        boot(made, "gpu-01")
        yield made
    finally:
        down(made)


@pytest.fixture
def ansible(lab: Lab, tmp_path: Path) -> Ansible:
    """Ansible on that lab, with a spool."""
    return Ansible(
        tmp_path / "home", {"FLEET_CONFIG": str(lab.settings), "FLEET_SPOOL": str(tmp_path / "spool.jsonl")}
    )


def play(
    ansible: Ansible, stage: str, node: str, *words: str, since: float | None = None
) -> tuple[str, tuple[Line, ...]]:
    """Run a stage's playbook for one node as the runner does; return what Ansible says and the new spool's lines."""
    run = {} if since is None else {node: {"run": 1, "fence": 1, "since": since, "attempt": 1, "opened_at": since}}
    path = Path(ansible.variables["FLEET_SPOOL"])
    path.unlink(missing_ok=True)
    extra = json.dumps({"fleet_runs": run} if run else {})
    answer = ansible("ansible-playbook", f"playbooks/{stage}.yml", "--limit", node, "-e", extra, *words)
    assert "[DEPRECATION" not in answer.stdout + answer.stderr
    return answer.stdout + answer.stderr, spool(path)


def witness(lab: Lab, node: str, event: str) -> list[dict[str, Any]]:
    """Return what the lab itself saw happen to a node."""
    lines = [json.loads(line) for line in lab.log.read_text().splitlines()]
    return [line for line in lines if line["node"] == node and line["event"] == event]


def end(lines: tuple[Line, ...]) -> Ended:
    [ended] = [line for line in lines if isinstance(line, Ended)]
    return ended


@pytest.mark.parametrize("stage", READING)
def test_a_stage_that_only_reads_passes_on_a_healthy_node_and_changes_nothing(
    ansible: Ansible, lab: Lab, stage: str
) -> None:
    said, lines = play(ansible, stage, "gpu-01", since=time.time())
    assert "changed=0" in said
    found = verdicts(lines)
    assert found
    assert set(found.values()) == {Verdict.PASS}
    assert end(lines).end is PlayEnd.OK
    assert witness(lab, "gpu-02", "power") == []


@pytest.mark.parametrize(
    "stage", ["verify", *(pytest.param(each, marks=pytest.mark.nightly) for each in READING[1:])]
)
def test_a_stage_that_only_reads_does_the_same_in_check_mode(ansible: Ansible, stage: str) -> None:
    said, lines = play(ansible, stage, "gpu-01", "--check")
    assert "changed=0" in said
    assert set(verdicts(lines).values()) == {Verdict.PASS}


def test_a_passive_sweep_is_one_round_trip(ansible: Ansible, lab: Lab) -> None:
    """The lab's ssh is its witness: every tool of the sweep was started within one connection."""
    before = len(witness(lab, "gpu-01", "tool"))
    said, lines = play(ansible, "health_passive", "gpu-01")
    assert "ok=1 " in said
    tools = [(line["tool"], *line["args"]) for line in witness(lab, "gpu-01", "tool")[before:]]
    assert sorted(tools) == sorted(set(tools))
    assert len(verdicts(lines)) == 13


@pytest.mark.parametrize(
    "stage",
    ["verify", "firmware", *(pytest.param(each, marks=pytest.mark.nightly) for each in (*READING[2:], "burn_in"))],
)
def test_a_node_that_is_off_is_unreachable_or_only_its_bmc_is_asked(ansible: Ansible, stage: str) -> None:
    _, lines = play(ansible, stage, "gpu-02", since=time.time())
    asked_bmc = stage == "firmware"
    assert end(lines).end is (PlayEnd.OK if asked_bmc else PlayEnd.UNREACHABLE)
    # On a busy machine ssh has ended before Ansible gives it something to send.
    assert asked_bmc or any(why in end(lines).message for why in ("No route to host", "Broken pipe"))


@pytest.mark.parametrize(
    ("fault", "stage", "check"),
    [
        ("missing_gpu", "verify", "parts_gpu"),
        ("dead_psu", "cabling", "power_supplies"),
        ("wrong_firmware", "cabling", "firmware_pins"),
        ("dead_fan", "verify", "sensors"),
        ("xid", "health_passive", "xid"),
        ("hot_gpu", "health_passive", "gpu_thermals"),
    ],
)
def test_a_fault_is_found_and_ends_with_its_cause(
    ansible: Ansible, lab: Lab, fault: str, stage: str, check: str
) -> None:
    faults.inject(lab, fault, "gpu-01", {})
    try:
        _, lines = play(ansible, stage, "gpu-01")
        assert verdicts(lines)["gpu-01", check] is Verdict.FAIL
        assert end(lines).end is PlayEnd.OK
    finally:
        faults.fix(lab, fault, "gpu-01")
        if fault == "xid":
            boot(lab, "gpu-01")


FOUND = {
    "row_remap": ("gpu.remap_pending", Remedy.RESET),
    "sram_errors": ("gpu.sram_errors", Remedy.TRIAGE),
    "narrow_pcie": ("gpu.pcie_width", Remedy.TRIAGE),
    "nvlink_down": ("nvlink.down", Remedy.REBOOT),
    "dimm_errors": ("memory.uncorrected", Remedy.TRIAGE),
    "full_disk": ("fs.full", Remedy.WATCH),
    "read_only_disk": ("fs.read_only", Remedy.REBOOT),
    "clock_off": ("time.offset", Remedy.WATCH),
    "slow_port": ("cabling.degraded", Remedy.RECABLE),
}
"""Faults that a node can have side by side, and what each is to be called."""


@pytest.mark.nightly  # each of them alone is found in other tests
def test_faults_beside_each_other_are_each_found_with_their_remedy(ansible: Ansible, lab: Lab) -> None:
    """By the checks that `lab faults` names, and all are gone with their causes."""
    for fault in FOUND:
        faults.inject(lab, fault, "gpu-01", {})
    try:
        _, passive = play(ansible, "health_passive", "gpu-01")
        _, verify = play(ansible, "verify", "gpu-01")
    finally:
        for fault in FOUND:
            faults.fix(lab, fault, "gpu-01")
    answers = [line.result for line in (*passive, *verify) if isinstance(line, Judged)]
    seen = {(result.check, finding.code, finding.remedy) for result in answers for finding in result.findings}
    assert seen >= {(check, *FOUND[fault]) for fault in FOUND for check in faults.FAULTS[fault].seen_by}
    for stage in ("health_passive", "verify"):
        assert set(verdicts(play(ansible, stage, "gpu-01")[1]).values()) == {Verdict.PASS}


@pytest.mark.nightly
def test_a_wrong_version_is_brought_to_its_pin_and_the_node_boots_anew_for_that(ansible: Ansible, lab: Lab) -> None:
    """By hand, as a flash is written down in the store; the run after it sends nothing and boots nothing."""
    with hardware.changing(lab, "gpu-01") as state:
        state["last_reset"] -= 5.0  # its BMC tells whole seconds: the boot that a fixture just made is not since then
    known = Store.create(f"sqlite:///{lab.root / 'state' / 'fleet.db'}")
    known.register([Device("gpu-01", "lab-hgx-h100", "gpu-server", "lab")], time.time())
    faults.inject(lab, "wrong_firmware", "gpu-01", {"component": "BIOS", "version": "1.9a"})
    said, lines = play(ansible, "firmware", "gpu-01", "--check")
    assert "1 to send: BIOS 1.9a → 2.1" in said
    assert witness(lab, "gpu-01", "firmware_accepted") == []
    said, lines = play(ansible, "firmware", "gpu-01")
    assert set(verdicts(lines).values()) == {Verdict.PASS}, said
    assert {check for _, check in verdicts(lines)} >= {"firmware_update", "firmware_pins"}
    [accepted] = witness(lab, "gpu-01", "firmware_accepted")
    assert accepted["components"] == {"BIOS": "2.1"}
    boots = len(witness(lab, "gpu-01", "power"))
    _, lines = play(ansible, "firmware", "gpu-01")
    assert set(verdicts(lines).values()) == {Verdict.PASS}
    assert len(witness(lab, "gpu-01", "firmware_accepted")) == 1
    assert len(witness(lab, "gpu-01", "power")) == boots
    [flash] = known.flashes("gpu-01")
    known.close()
    assert (flash.component, flash.end) == ("BIOS", End.VERIFIED)


def test_a_bmc_that_is_down_is_unknown_and_takes_no_power_away(ansible: Ansible, lab: Lab) -> None:
    faults.inject(lab, "bmc_down", "gpu-01", {})
    before = len(witness(lab, "gpu-01", "power"))
    try:
        _, lines = play(ansible, "firmware", "gpu-01")
        assert verdicts(lines) == {("gpu-01", "firmware_update"): Verdict.UNKNOWN}
        _, lines = play(ansible, "cabling", "gpu-01")
        answered = {check for (_, check), verdict in verdicts(lines).items() if verdict is Verdict.PASS}
        assert answered == {"cabling_ethernet", "machine_identity", "optics"}, "what the node itself answers stands"
        outcome, why = judge(tuple(line.result for line in lines if isinstance(line, Judged)), end(lines))
        assert (outcome, why.count("http://"), why.endswith("; 3 checks passed")) == (Outcome.UNKNOWN, 1, True), why
    finally:
        faults.fix(lab, "bmc_down", "gpu-01")
    assert len(witness(lab, "gpu-01", "power")) == before


@pytest.mark.nightly
def test_burn_in_starts_its_tests_once_and_judges_each_at_its_end(ansible: Ansible, lab: Lab) -> None:
    """The node runs them in order by itself; the second run finds them; another `since` starts its own."""
    loads = len([line for line in witness(lab, "gpu-01", "tool") if line["tool"] == "gpu_burn"])
    since = time.time()
    quick = ("-e", json.dumps({"fleet_profile": profile()}))
    said, lines = play(ansible, "burn_in", "gpu-01", *quick, since=since)
    assert "changed=1" in said
    first = {line.result.check: line.result for line in lines if isinstance(line, Judged)}
    assert {each.verdict for each in first.values()} == {Verdict.UNKNOWN, Verdict.PASS}
    assert first["gpu_burn"].observed["working"] is True
    assert (first["dcgm"].message, first["steady"].verdict) == ("behind gpu_burn", Verdict.PASS)
    while Verdict.UNKNOWN in verdicts(lines).values():
        said, lines = play(ansible, "burn_in", "gpu-01", *quick, since=since)
        assert "changed=0" in said
    assert verdicts(lines).keys() == {("gpu-01", name) for name in ("gpu_burn", "dcgm", "steady")}
    assert set(verdicts(lines).values()) == {Verdict.PASS}
    assert len([line for line in witness(lab, "gpu-01", "tool") if line["tool"] == "gpu_burn"]) == loads + 1
    said, _ = play(ansible, "burn_in", "gpu-01", "--check", *quick, since=since + 1)
    assert "changed=1" in said
    assert len([line for line in witness(lab, "gpu-01", "tool") if line["tool"] == "gpu_burn"]) == loads + 1
    play(ansible, "burn_in", "gpu-01", *quick, since=since + 1)
    assert len([line for line in witness(lab, "gpu-01", "tool") if line["tool"] == "gpu_burn"]) == loads + 2


def profile() -> dict[str, Any]:
    """A burn-in of a few seconds."""
    return {
        "parts": {"gpu": {"count": 8, "model": "NVIDIA H100 80GB HBM3"}},
        "burn_in": {"seconds": 3, "gpu_gflops_share_min": 0.95},
        "active": {"dcgm": {"level": 3}},
    }


@pytest.mark.nightly
@pytest.mark.parametrize(("stage", "how"), [("reboot", "image"), ("provision", "network")])
def test_a_boot_is_made_once_however_often_the_stage_is_run_for_the_same_state(
    ansible: Ansible, lab: Lab, stage: str, how: str
) -> None:
    """In check mode first: it says that it would, and does not. The fourth, by hand, boots the node anew."""
    with hardware.changing(lab, "gpu-01") as state:
        state["last_reset"] -= 2.0  # its BMC tells whole seconds: the boot that a fixture just made is not since then
    boots = len(witness(lab, "gpu-01", "power"))
    since = time.time()
    said, _ = play(ansible, stage, "gpu-01", "--check", since=since)
    assert "changed=1" in said
    assert len(witness(lab, "gpu-01", "power")) == boots
    said, lines = play(ansible, stage, "gpu-01", since=since)
    assert "changed=1" in said
    assert set(verdicts(lines).values()) == {Verdict.PASS}
    said, lines = play(ansible, stage, "gpu-01", since=since)
    assert "changed=0" in said
    assert set(verdicts(lines).values()) == {Verdict.PASS}
    assert len(witness(lab, "gpu-01", "power")) == boots + 1
    assert json.loads((lab.node("gpu-01") / "state.json").read_text())["boot"]["how"] == how
    said, lines = play(ansible, stage, "gpu-01")
    assert set(verdicts(lines).values()) == {Verdict.PASS}
    assert len(witness(lab, "gpu-01", "power")) == boots + 2


@pytest.mark.parametrize("over", [False, True])
def test_a_run_that_was_taken_over_sends_nothing_to_the_bmc(
    ansible: Ansible, lab: Lab, tmp_path: Path, over: bool
) -> None:
    """A play that was frozen while its run was given up as lost must not reset the node when it wakes up."""
    url = f"sqlite:///{tmp_path / 'fleet.db'}"
    time.sleep(3.0)  # a boot of before, told in whole seconds, must not count as the one that is due
    now = time.time()
    store = Store.create(url)
    store.register([Device("gpu-01", "lab-hgx-h100", "gpu-server", "lab")], now)
    node = store.node("gpu-01")
    assert node is not None
    decision = Decision((OpenRun(Stage.REBOOT, "test", batch="batch-1"),), "", now)
    [run] = store.apply(node, decision, now)
    if over:
        store.close_run(run, Outcome.LOST, "nobody saw its end", now)
    store.close()
    before = len(witness(lab, "gpu-01", "power"))
    mine = {"run": run.id, "fence": run.fence, "since": now, "attempt": 1, "opened_at": now}
    extra = json.dumps({"fleet_runs": {"gpu-01": mine}})
    words = ("ansible-playbook", "playbooks/reboot.yml", "--limit", "gpu-01", "-e", extra)
    answer = ansible(*words, FLEET_BATCH="batch-1", FLEET_DATABASE_URL=url)
    sent = len(witness(lab, "gpu-01", "power")) - before
    assert (answer.returncode, sent) == ((2, 0) if over else (0, 1)), answer.stdout + answer.stderr
    assert ("is over or was taken over" in answer.stdout) is over


def test_a_play_by_hand_on_the_whole_lab_has_no_warnings(ansible: Ansible) -> None:
    answer = ansible("ansible-playbook", "playbooks/firmware.yml")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    off = ("No route to host", "Data could not be sent to remote host")  # ssh may end before Ansible has said a word
    left = [line for line in unclean(answer) if not any(words in line for words in off)]
    assert left == [], "a node that is off is told of"
    assert "gpu-02: 2 PASS, 0 FAIL, 0 UNKNOWN" in answer.stdout
