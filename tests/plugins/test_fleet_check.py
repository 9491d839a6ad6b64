"""fleet_check judges what it could read, and calls the rest UNKNOWN; a verdict never fails the task."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml
from ansible.errors import AnsibleActionFail

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.evidence import Expected, Read, ReadEnd, Reading
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, PlayEnd
from fleet_runner.settings import Settings
from tests.adapters.redfish.replay import PASSWORD, USER, replayed, small
from tests.playing import Ansible, inventory, spool, unclean, verdicts

Tool = Callable[[str, str], str]
BOOTED = 'echo "2026-01-02 03:04:05"'


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The plugin, as Python."""
    return plugin("action/fleet_check")


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    """Ansible that writes a spool and finds the test's tools first."""
    return Ansible(tmp_path / "home", {"FLEET_SPOOL": str(tmp_path / "spool.jsonl")})


def playbook(tmp_path: Path, *tasks: dict[str, object]) -> Path:
    path = tmp_path / "play.yml"
    named = [{"name": f"Task {number}", **task} for number, task in enumerate(tasks)]
    path_of_node = f"{tmp_path}/{{{{ inventory_hostname }}}}:{tmp_path}:/usr/bin:/bin"
    play = {"hosts": "nodes", "gather_facts": False, "environment": {"PATH": path_of_node}}
    path.write_text(yaml.safe_dump([{"name": "Play", **play, "tasks": named}]))
    return path


def test_a_moment_may_be_text_as_from_the_command_line(module: ModuleType) -> None:
    """Ignored, it would let any boot count."""
    assert [module._since(each) for each in (None, 12, 12.5, "12.5")] == [None, 12.0, 12.5, 12.5]
    with pytest.raises(AnsibleActionFail, match="since is 'now', expected epoch seconds"):
        module._since("now")


def checking(*checks: str) -> dict[str, object]:
    return {"fleet_check": {"checks": list(checks)}}


def test_results_and_their_evidence_reach_the_spool_and_leave_nothing_changed(
    ansible: Ansible, tool: Tool, tmp_path: Path
) -> None:
    tool("uptime", BOOTED)
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}})
    answer = ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, checking("rebooted")))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "changed=0" in answer.stdout
    assert unclean(answer) == []
    lines = spool(tmp_path / "spool.jsonl")
    [judged] = [line for line in lines if isinstance(line, Judged)]
    [evidence] = [line for line in lines if isinstance(line, Evidence)]
    assert judged.result.verdict is Verdict.PASS
    assert judged.result.evidence == (evidence.hash,)
    assert (evidence.read, evidence.text) == ("uptime", "2026-01-02 03:04:05\n")
    assert lines.index(evidence) < lines.index(judged)


def test_a_fault_is_a_result_and_not_a_failed_task(ansible: Ansible, tool: Tool, tmp_path: Path) -> None:
    """The node booted before its reboot was requested: FAIL, and the play goes on."""
    tool("uptime", BOOTED)
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}, "gpu-02": {}})
    runs = {"gpu-01": {"run": 7, "fence": 1, "since": 4e9, "attempt": 1, "opened_at": 4e9}}
    answer = ansible(
        "ansible-playbook",
        "-i",
        nodes,
        "-e",
        json.dumps({"fleet_runs": runs}),
        playbook(tmp_path, checking("rebooted"), checking("rebooted")),
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines = spool(tmp_path / "spool.jsonl")
    assert verdicts(lines) == {("gpu-01", "rebooted"): Verdict.FAIL, ("gpu-02", "rebooted"): Verdict.PASS}
    assert {line.end for line in lines if isinstance(line, Ended)} == {PlayEnd.OK}
    assert "FAIL rebooted" in answer.stdout


def test_the_time_that_a_slow_node_takes_to_answer_is_not_held_against_it(
    ansible: Ansible, tool: Tool, tmp_path: Path
) -> None:
    """It booted at the very moment from which a boot counts."""
    since = int(time.time())
    tool("uptime", f"date -u -d @{since} '+%F %T'; sleep 2.2")
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}})
    asked: dict[str, object] = {"fleet_check": {"checks": ["rebooted"], "since": since}}
    ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, asked))
    assert verdicts(spool(tmp_path / "spool.jsonl")) == {("gpu-01", "rebooted"): Verdict.PASS}


def test_a_tool_that_cannot_be_read_makes_its_checks_unknown(ansible: Ansible, tool: Tool, tmp_path: Path) -> None:
    """One that hangs is waited for as long as its read may take: tests/playbooks/test_over_ssh.py has it."""
    bodies = {
        "garbled": "printf '\\377\\376\\000garbage'",
        "failed": "exit 3",
        "flood": "yes | head -c 9000000",
    }
    for name, body in bodies.items():
        (tmp_path / name).mkdir()
        tool(f"{name}/uptime", body)
    nodes = inventory(tmp_path / "inventory.yml", {name: {} for name in bodies})
    answer = ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, checking("rebooted")))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    lines = spool(tmp_path / "spool.jsonl")
    assert verdicts(lines) == {(name, "rebooted"): Verdict.UNKNOWN for name in bodies}
    assert answer.stdout.count("UNKNOWN rebooted: uptime") == len(bodies)


def test_a_missing_tool_makes_only_its_own_check_unknown(ansible: Ansible, tool: Tool, tmp_path: Path) -> None:
    tool("uptime", BOOTED)
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}})
    answer = ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, checking("rebooted", "parts_gpu")))
    assert verdicts(spool(tmp_path / "spool.jsonl")) == {
        ("gpu-01", "rebooted"): Verdict.PASS,
        ("gpu-01", "parts_gpu"): Verdict.UNKNOWN,
    }
    assert "nvidia-smi is not on this node" in answer.stdout


def test_a_node_without_a_usable_python_is_unknown_and_not_condemned(
    ansible: Ansible, tool: Tool, tmp_path: Path
) -> None:
    broken = {"ansible_python_interpreter": tool("python", "echo no space left on device; exit 1")}
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": broken})
    answer = ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, checking("rebooted")))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert verdicts(spool(tmp_path / "spool.jsonl")) == {("gpu-01", "rebooted"): Verdict.UNKNOWN}


def test_an_unreachable_node_is_ansibles_to_report(ansible: Ansible, tool: Tool, tmp_path: Path) -> None:
    off = {"ansible_connection": "ssh", "ansible_ssh_executable": tool("ssh", "echo no route to host >&2; exit 255")}
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": off})
    answer = ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, checking("rebooted")))
    assert answer.returncode == 4
    [ended] = [line for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Ended)]
    assert ended.end is PlayEnd.UNREACHABLE
    assert "no route to host" in ended.message


def test_a_check_that_is_none_is_an_error_that_names_those_there_are(ansible: Ansible, tmp_path: Path) -> None:
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}})
    answer = ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, checking("parts_gpus")))
    assert answer.returncode == 2
    [ended] = [line for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Ended)]
    assert ended.end is PlayEnd.FAILED
    assert "no check parts_gpus; there are: " in ended.message


def test_a_role_may_bring_readings_of_its_own(ansible: Ansible, tmp_path: Path) -> None:
    job = {"state": "running", "rc": 0, "elapsed": 5.0, "seconds": 60.0, "output": ""}
    task = {"fleet_check": {"checks": ["gpu_burn"], "readings": {"gpu_burn_job": job}}}
    profile = {"parts": {"gpu": {"count": 8}}, "burn_in": {"seconds": 60, "gpu_gflops_share_min": 0.95}}
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}}, fleet_profile=profile)
    ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, task))
    [judged] = [line for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Judged)]
    assert judged.result.verdict is Verdict.UNKNOWN
    assert judged.result.observed == {"working": True, "elapsed": 5.0, "seconds": 60.0}


def test_a_profile_may_hold_templates(ansible: Ansible, tmp_path: Path) -> None:
    """What Ansible would make of them is what the node is held against; also of the plain data around them."""
    job = {"state": "running", "rc": 0, "elapsed": 5.0, "seconds": 60.0, "output": ""}
    task = {"fleet_check": {"checks": ["gpu_burn"], "readings": {"gpu_burn_job": job}}}
    profile = {"parts": {"gpu": {"count": 8}}, "burn_in": {"seconds": "{{ burn }}", "gpu_gflops_share_min": 0.95}}
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {}}, fleet_profile=profile, burn=60)
    ansible("ansible-playbook", "-i", nodes, playbook(tmp_path, task))
    [judged] = [line for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Judged)]
    assert judged.result.observed == {"working": True, "elapsed": 5.0, "seconds": 60.0}


@pytest.fixture
def mute() -> Iterator[str]:
    """A BMC that takes connections and never answers."""
    held = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            while True:
                try:
                    held.append(server.accept()[0])
                except OSError:
                    return

        taker = threading.Thread(target=take, daemon=True)
        taker.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        taker.join()
    for connection in held:
        connection.close()


def test_a_bmc_that_never_answers_is_unreachable_and_does_not_keep_the_play(
    module: ModuleType, mute: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that asks it is given up after the read's own time limit."""
    monkeypatch.setattr(module, "BMC_GRACE", 0.1)
    read = READS["redfish_power"]
    quick = type(read)(read.name, read.kind, path=read.path, seconds=0.2)
    asking = module.ActionModule.__new__(module.ActionModule)
    asking._templar = type("Plain", (), {"template": lambda _, value: value})()
    found = asking._from_bmc([quick], {"fleet_bmc_url": mute})
    assert found["redfish_power"].end is ReadEnd.UNREACHABLE


@pytest.mark.parametrize("url", ["", "https://127.0.0.1:1", "nonsense"])
def test_a_bmc_that_cannot_be_asked_says_so_in_each_reading(ansible: Ansible, tmp_path: Path, url: str) -> None:
    (tmp_path / "bmc.yml").write_text("{username: fleet, password: x}")
    (tmp_path / "bmc.yml").chmod(0o600)
    nodes = inventory(tmp_path / "inventory.yml", {"gpu-01": {"fleet_bmc_url": url}})
    play = playbook(tmp_path, checking("power_supplies", "firmware_pins"))
    answer = ansible("ansible-playbook", "-i", nodes, play, FLEET_BMC_CREDENTIALS=str(tmp_path / "bmc.yml"))
    assert answer.returncode == 0, answer.stdout + answer.stderr
    found = verdicts(spool(tmp_path / "spool.jsonl"))
    assert set(found.values()) == {Verdict.UNKNOWN}
    assert len(found) == 2


@pytest.fixture
def asked(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Reading]]:
    """Return what is read of a BMC that has these credentials, in the name of its device."""

    def ask(url: str, folder: Path, **devices: dict[str, str]) -> dict[str, Reading]:
        (folder / "bmc.yml").write_text(yaml.safe_dump({"devices": devices}))
        (folder / "bmc.yml").chmod(0o600)
        given = {"bmc_credentials": folder / "bmc.yml", "state_dir": folder}
        monkeypatch.setattr(module.settings, "load", lambda: Settings(**given))
        paths = {"members": "/redfish/v1/Systems/*", "absent": "/redfish/v1/Absent", "one": "/redfish/v1/Systems/1"}
        kind = READS["redfish_power"].kind
        reads = [Read(name, kind, path=path, seconds=20.0) for name, path in paths.items()]
        reads.append(Read("many", kind, ("/redfish/v1/Systems/*", "/redfish/v1/Absent"), seconds=20.0))
        asking = module.ActionModule.__new__(module.ActionModule)
        asking._templar = type("Plain", (), {"template": lambda _, value: value})()
        return asking._from_bmc(reads, {"fleet_bmc_url": url, "inventory_hostname": "gpu-01"})

    return ask


def test_a_read_that_fails_leaves_the_others_of_the_bmc_readable(
    asked: Callable[..., dict[str, Reading]], tmp_path: Path
) -> None:
    """With the credentials of the device's own name, and none for anybody else."""
    with replayed(small()) as server:
        found = asked(server.url, tmp_path, **{"gpu-01": {"username": USER, "password": PASSWORD}})
    ends = {name: reading.end for name, reading in found.items()}
    assert ends == {"members": ReadEnd.OK, "absent": ReadEnd.UNREACHABLE, "one": ReadEnd.OK, "many": ReadEnd.OK}
    assert found["many"].text == found["members"].text


def test_a_password_that_a_bmc_refuses_is_tried_once(
    asked: Callable[..., dict[str, Reading]], tmp_path: Path
) -> None:
    with replayed(small()) as server:
        found = asked(server.url, tmp_path, **{"gpu-01": {"username": USER, "password": "wrong"}})
        assert len([1 for verb, uri, *_ in server.asked if verb == "POST"]) == 1
    assert {reading.end for reading in found.values()} == {ReadEnd.UNREACHABLE}


def test_what_a_node_sends_is_not_trusted(module: ModuleType) -> None:
    """Other readings than those asked for, no list at all, wrong types, half a surrogate pair, too long a text."""
    reads = [READS["uptime"], READS["dmesg"]]
    strange = [
        {"name": "dmesg", "end": "ok", "text": "\ud800" + "x" * 20_000_000},
        {"name": "shadow", "end": "ok"},
        7,
    ]
    found = module._readings(reads, {"readings": strange})
    assert set(found) == {"uptime", "dmesg"}
    assert found["uptime"].end is ReadEnd.ERROR
    assert len(found["dmesg"].text) <= READS["dmesg"].max_bytes
    assert found["dmesg"].hash
    for answer in ({}, {"readings": None}, {"failed": True, "msg": "MODULE FAILURE"}):
        assert {reading.end for reading in module._readings(reads, answer).values()} == {ReadEnd.ERROR}
    odd = module._readings(
        reads, {"readings": [{"name": "uptime", "end": "maybe"}, {"name": "dmesg", "end": "ok", "rc": []}]}
    )
    assert {reading.end for reading in odd.values()} == {ReadEnd.ERROR}


def test_an_error_in_a_judge_is_unknown(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Result:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(module, "run", broken)
    result = module._judge(CHECKS["rebooted"], {}, Expected("gpu-01"), "")
    assert result.verdict is Verdict.UNKNOWN
    assert "error in the check: ZeroDivisionError: oops" in result.message


def test_without_the_designed_links_a_check_that_needs_them_is_unknown(module: ModuleType, tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "no such file")):
        links, why = module._fabric(path)
        assert links == {}
        assert "designed links" in why
    (tmp_path / "list.json").write_text("[]")
    assert module._fabric(str(tmp_path / "list.json"))[1]
    (tmp_path / "fabric.json").write_text('{"links": []}')
    assert module._fabric(str(tmp_path / "fabric.json")) == ({"links": []}, "")
    needs = type(CHECKS["rebooted"])("x", "?", (), CHECKS["rebooted"].judge, needs_fabric=True)
    assert module._judge(needs, {}, Expected("gpu-01"), "no links").verdict is Verdict.UNKNOWN


def test_each_text_is_kept_once_and_only_if_a_result_points_to_it(module: ModuleType) -> None:
    same = [Reading(name, ReadEnd.OK, "text") for name in ("one", "two")]
    other = Reading("three", ReadEnd.OK, "unused")
    results = [Result("check", Verdict.PASS, "", evidence=(same[0].hash,))]
    assert [entry["text"] for entry in module._evidence(results, [*same, other])] == ["text"]


def test_the_summary_tells_faults_before_unknowns(module: ModuleType) -> None:
    results = [
        Result("xid", Verdict.UNKNOWN, "dmesg: no end"),
        Result("parts_gpu", Verdict.FAIL, "expected 8 GPUs, observed 7"),
        Result("parts_hca", Verdict.PASS, ""),
    ]
    assert module._summary(results) == (
        "3 checks: 1 PASS, 1 FAIL, 1 UNKNOWN (parts_gpu: expected 8 GPUs, observed 7; xid: dmesg: no end)"
    )
