"""fleet_results tells the runner everything, however the play is started, and never breaks a play."""

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import ansible_runner
import pytest
import yaml

from fleet_runner.adapters.plays import lease
from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, PlayEnd, Progress
from fleet_runner.core.lifecycle.states import Stage
from tests.playing import PROJECT, Ansible, inventory, spool, unclean

Tool = Callable[[str, str], str]


@pytest.fixture
def ansible(tmp_path: Path) -> Ansible:
    """Ansible without a spool: by hand."""
    return Ansible(tmp_path / "home", {"FLEET_STATE_DIR": str(tmp_path / "state")})


@pytest.fixture
def nodes(tmp_path: Path, tool: Tool) -> Path:
    """An inventory of two nodes whose GPUs nobody uses, as far as they say."""
    tool("nvidia-smi", "echo not XML")
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    return inventory(tmp_path / "inventory.yml", {"gpu-01": {}, "gpu-02": {}}, fleet_environment=path)


def write(path: Path, *tasks: dict[str, Any]) -> Path:
    named = [{"name": f"Task {number}", **task} for number, task in enumerate(tasks)]
    path.write_text(yaml.safe_dump([{"name": "Play", "hosts": "nodes", "gather_facts": False, "tasks": named}]))
    return path


def test_by_hand_and_through_ansible_runner_the_same_lines_are_written(
    ansible: Ansible, nodes: Path, tmp_path: Path
) -> None:
    """ansible-runner replaces the path of callback plugins; ours must be on it all the same."""
    playbook = PROJECT / "playbooks" / "drain.yml"
    by_hand = ansible("ansible-playbook", "-i", nodes, playbook, FLEET_SPOOL=str(tmp_path / "hand.jsonl"))
    assert by_hand.returncode == 0, by_hand.stdout + by_hand.stderr
    assert unclean(by_hand) == []
    (tmp_path / "runner").mkdir()
    answer = ansible_runner.run(
        private_data_dir=str(tmp_path / "runner"),
        playbook=str(playbook),
        project_dir=str(PROJECT),
        inventory=str(nodes),
        quiet=True,
        envvars={
            **ansible.environment(),
            "ANSIBLE_CALLBACK_PLUGINS": str(PROJECT / "plugins" / "callback"),
            "FLEET_SPOOL": str(tmp_path / "runner.jsonl"),
        },
    )
    assert answer.rc == 0

    def shape(path: Path) -> list[tuple[Any, ...]]:
        told: list[tuple[Any, ...]] = []
        for line in spool(path):
            match line:
                case Progress(node, _, done, total, task):
                    told.append((node, done, total, task))
                case Judged(node, _, result):
                    told.append((node, result.check, result.verdict))
                case Evidence(node, _, read, digest, _):
                    told.append((node, read, digest))
                case Ended(node, _, end, message):
                    told.append((node, end, message))
        return sorted(told, key=str)

    assert shape(tmp_path / "runner.jsonl") == shape(tmp_path / "hand.jsonl")
    assert ("gpu-01", "gpu_usage", Verdict.UNKNOWN) in shape(tmp_path / "hand.jsonl")
    assert ("gpu-02", PlayEnd.OK, "") in shape(tmp_path / "hand.jsonl")


def test_progress_counts_tasks_per_node(ansible: Ansible, nodes: Path, tmp_path: Path) -> None:
    """Blocks count, what only runs after a failure does not, a skipped task is behind a node too."""
    ping = {"ansible.builtin.ping": {}}
    block = {"block": [{"name": "Inner", **ping}], "rescue": [{"name": "Rescue", **ping}]}
    skipped = {**ping, "when": False}
    playbook = write(tmp_path / "play.yml", ping, block, skipped, ping)
    ansible("ansible-playbook", "-i", nodes, playbook, FLEET_SPOOL=str(tmp_path / "spool.jsonl"))
    told = [line for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Progress) and line.node == "gpu-01"]
    assert [(line.done, line.total) for line in told] == [(0, 4), (1, 4), (2, 4), (3, 4)]
    assert told[1].task == "Inner"
    assert all(abs(line.at - time.time()) < 300 for line in told)


def test_a_play_begins_nothing_more_once_its_lease_is_not_renewed(
    ansible: Ansible, nodes: Path, tmp_path: Path
) -> None:
    """Its supervisor is frozen, and so is its warden: the play itself looks before each task."""
    lease.mark(tmp_path, lease.ticks(), 3600.0)
    alive = tmp_path / "alive"
    frozen = f"{lease.ticks() - 16.0} 30.0"
    playbook = write(
        tmp_path / "play.yml",
        {"ansible.builtin.shell": f"echo one >> {tmp_path}/witness; echo {frozen} > {alive}"},
        {"ansible.builtin.shell": f"echo two >> {tmp_path}/witness"},
    )
    variables = {"FLEET_SPOOL": str(tmp_path / "spool.jsonl"), "FLEET_ALIVE": str(alive)}
    answer = ansible("ansible-playbook", "-i", nodes, playbook, "--limit", "gpu-01", **variables)
    assert answer.returncode != 0
    assert (tmp_path / "witness").read_text().split() == ["one"]


def test_a_failed_task_ends_the_play_for_its_node_with_its_words(
    ansible: Ansible, nodes: Path, tmp_path: Path
) -> None:
    """An error that the play ignores or rescues is none."""
    fails = {"ansible.builtin.fail": {"msg": "two\nlines " + "x" * 2000}, "when": "inventory_hostname == 'gpu-01'"}
    rescued = {
        "block": [{"name": "Inner", **fails, "when": True}],
        "rescue": [{"name": "R", "ansible.builtin.ping": {}}],
    }
    playbook = write(tmp_path / "play.yml", rescued, fails)
    answer = ansible("ansible-playbook", "-i", nodes, playbook, FLEET_SPOOL=str(tmp_path / "spool.jsonl"))
    assert answer.returncode == 2
    ended = {line.node: line for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Ended)}
    assert (ended["gpu-01"].end, ended["gpu-02"].end) == (PlayEnd.FAILED, PlayEnd.OK)
    assert ended["gpu-01"].message.startswith("Task 1: two lines xxx")
    assert len(ended["gpu-01"].message) <= 500
    assert ended["gpu-02"].message == ""


@pytest.mark.parametrize("more", [(), ({"ansible.builtin.ping": {}},)], ids=["told at once", "told at the end"])
def test_a_task_that_failed_for_what_is_ours_says_so(
    ansible: Ansible, nodes: Path, tmp_path: Path, more: tuple[dict[str, object], ...]
) -> None:
    """The source of truth gives the node no BMC: neither it nor the node had a part in that."""
    playbook = write(tmp_path / "play.yml", {"redfish_power": {"action": "off"}}, *more)
    ansible("ansible-playbook", "-i", nodes, playbook, "--limit", "gpu-01", FLEET_SPOOL=str(tmp_path / "spool.jsonl"))
    [ended] = [line for line in spool(tmp_path / "spool.jsonl") if isinstance(line, Ended)]
    assert (ended.end, ended.message.partition(": ")[2]) == (
        PlayEnd.OWN,
        "redfish_power: fleet_bmc_url is not set; give the device an out-of-band address",
    )


def test_by_hand_results_are_recorded_for_nodes_of_the_fleet(ansible: Ansible, nodes: Path, tmp_path: Path) -> None:
    store = Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}")
    store.register([Device("gpu-01", "lab", "gpu-server", "hall")], time.time())
    answer = ansible("ansible-playbook", "-i", nodes, PROJECT / "playbooks" / "drain.yml")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "Recorded as drain by hand. Not nodes of this fleet, so not recorded: gpu-02." in answer.stdout
    [run] = store.runs("gpu-01")
    assert run.stage is Stage.DRAIN
    assert run.outcome is Outcome.UNKNOWN
    [result] = store.results(run.id)
    assert result.result.check == "gpu_usage"
    assert "not XML\n" in [store.evidence(digest) for digest in result.result.evidence]
    store.close()


def test_by_hand_without_a_store_the_play_is_shown_and_says_that_nothing_is_recorded(
    ansible: Ansible, nodes: Path
) -> None:
    answer = ansible("ansible-playbook", "-i", nodes, PROJECT / "playbooks" / "drain.yml")
    assert answer.returncode == 0
    assert "gpu-01: 0 PASS, 0 FAIL, 1 UNKNOWN" in answer.stdout
    assert "UNKNOWN gpu_usage: " in answer.stdout
    assert "nothing was recorded" in answer.stdout + answer.stderr


def test_check_mode_records_nothing(ansible: Ansible, nodes: Path, tmp_path: Path) -> None:
    store = Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}")
    store.register([Device("gpu-01", "lab", "gpu-server", "hall")], time.time())
    answer = ansible("ansible-playbook", "-i", nodes, "--check", PROJECT / "playbooks" / "drain.yml")
    assert answer.returncode == 0
    assert "Check mode: nothing is recorded." in answer.stdout
    assert store.runs("gpu-01") == ()
    store.close()


def test_a_playbook_that_is_no_stage_is_not_recorded(ansible: Ansible, nodes: Path, tmp_path: Path) -> None:
    playbook = write(tmp_path / "other.yml", {"fleet_check": {"checks": ["gpu_usage"]}})
    answer = ansible("ansible-playbook", "-i", nodes, playbook)
    assert "other is no stage's playbook: nothing is recorded." in answer.stdout


def test_a_spool_that_cannot_be_written_does_not_break_the_play(
    ansible: Ansible, nodes: Path, tmp_path: Path
) -> None:
    spool_file = str(tmp_path / "no such folder" / "spool.jsonl")
    answer = ansible("ansible-playbook", "-i", nodes, PROJECT / "playbooks" / "drain.yml", FLEET_SPOOL=spool_file)
    assert answer.returncode == 0
    assert (answer.stdout + answer.stderr).count("results are lost") == 1


def test_a_line_that_a_full_disk_cut_short_costs_only_itself(
    plugin: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk takes 60 bytes of a line, then has room again."""
    monkeypatch.setenv("FLEET_SPOOL", str(tmp_path / "spool.jsonl"))
    callback = plugin("callback/fleet_results").CallbackModule()
    callback._tell(Ended("gpu-01", 1.0, PlayEnd.OK))
    whole = (tmp_path / "spool.jsonl").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole + 60, hard))
    try:
        callback._tell(Ended("gpu-02", 2.0, PlayEnd.OK, "cut short"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    callback._tell(Ended("gpu-03", 3.0, PlayEnd.OK))
    lines = (tmp_path / "spool.jsonl").read_text().splitlines()
    assert [json.loads(line)["node"] for line in (lines[0], lines[2])] == ["gpu-01", "gpu-03"]
    assert len(lines[1]) == 60


def test_each_line_is_one_write(
    plugin: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader sees whole lines, and a second writer cannot come between."""
    writes: list[int] = []
    write_really = os.write
    monkeypatch.setenv("FLEET_SPOOL", str(tmp_path / "spool.jsonl"))
    callback = plugin("callback/fleet_results").CallbackModule()
    monkeypatch.setattr(os, "write", lambda fd, data: (writes.append(len(data)), write_really(fd, data))[1])
    callback._tell(Evidence("gpu-01", 1.0, "dmesg", "0" * 64, "x" * 3_000_000))
    assert writes == [(tmp_path / "spool.jsonl").stat().st_size]


def test_what_a_module_on_a_node_calls_results_is_none(ansible: Ansible, nodes: Path, tmp_path: Path) -> None:
    """Only the controller's own judge gives results: a node cannot pass its own checks."""
    forged = {
        "check": "firmware_pins",
        "verdict": "PASS",
        "message": "",
        "findings": [],
        "observed": {},
        "evidence": [],
    }
    modules = tmp_path / "modules"
    modules.mkdir()
    module = "from ansible.module_utils.basic import AnsibleModule\n"
    (modules / "liar.py").write_text(f"{module}AnsibleModule({{}}).exit_json(fleet_results=[{forged!r}])\n", "utf-8")
    playbook = write(tmp_path / "verify.yml", {"liar": {}})
    told = tmp_path / "told.jsonl"
    play = ansible("ansible-playbook", "-i", nodes, playbook, FLEET_SPOOL=str(told), ANSIBLE_LIBRARY=str(modules))
    assert play.returncode == 0, play.stdout + play.stderr
    assert not [line for line in spool(told) if isinstance(line, Judged)]


@pytest.mark.parametrize("last", ["ok", "skipped", "ignored", "failed", "unreachable"])
def test_a_node_that_is_through_says_so_while_others_go_on(
    ansible: Ansible, nodes: Path, tmp_path: Path, tool: Tool, last: str
) -> None:
    """gpu-02 goes on until gpu-01 has told its end; at the end of all nobody says anything twice."""
    tool("ssh", "exit 255")
    mine = {"when": "inventory_hostname == 'gpu-01'"}
    fails = {"ansible.builtin.fail": {"msg": "odd"}, **mine}
    first = {
        "failed": fails,
        "unreachable": {
            "ansible.builtin.raw": "true",
            "vars": {"ansible_connection": "ssh", "ansible_ssh_executable": f"{tmp_path}/ssh"},
            **mine,
        },
    }.get(last, {"ansible.builtin.ping": {}})
    told = tmp_path / "spool.jsonl"
    ended = """'"kind":"end","node":"gpu-01"'"""
    wait = f"for _ in $(seq 600); do grep -q {ended} {told} && exit 0; sleep 0.1; done; exit 1"
    waits = {"ansible.builtin.shell": wait, "when": "inventory_hostname == 'gpu-02'"}
    end = {
        "skipped": {"ansible.builtin.ping": {}, "when": False},
        "ignored": {**fails, "ignore_errors": True},
    }.get(last, {"ansible.builtin.ping": {}})
    answer = ansible(
        "ansible-playbook", "-i", nodes, write(tmp_path / "play.yml", first, waits, end), FLEET_SPOOL=str(told)
    )
    ends = [(line.node, line.end) for line in spool(told) if isinstance(line, Ended)]
    how = {"failed": PlayEnd.FAILED, "unreachable": PlayEnd.UNREACHABLE}.get(last, PlayEnd.OK)
    assert ends == [("gpu-01", how), ("gpu-02", PlayEnd.OK)], answer.stdout + answer.stderr


@pytest.mark.parametrize(
    ("said", "end"),
    [
        ("root@10.0.0.9: Permission denied (publickey).", PlayEnd.OWN),
        (f"{'@' * 600} Host key verification failed.", PlayEnd.OWN),
        ("ssh: Could not resolve hostname gpu-01: Name or service not known", PlayEnd.OWN),
        ("ssh: connect to host 10.0.0.9 port 22: Network is unreachable", PlayEnd.OWN),
        ("ssh: connect to host 10.0.0.9 port 22: No route to host", PlayEnd.UNREACHABLE),
        ("ssh: connect to host 10.0.0.9 port 22: Connection timed out", PlayEnd.UNREACHABLE),
        ("mkdir: cannot create directory: Permission denied", PlayEnd.UNREACHABLE),
    ],
)
def test_what_keeps_our_own_ssh_from_a_node_is_told_as_ours(
    ansible: Ansible, nodes: Path, tmp_path: Path, tool: Tool, *, said: str, end: PlayEnd
) -> None:
    tool("ssh", f"echo '{said}' >&2; exit 255")
    over_ssh = {"ansible_connection": "ssh", "ansible_ssh_executable": f"{tmp_path}/ssh"}
    asks = {"ansible.builtin.raw": "true", "vars": over_ssh}
    told = tmp_path / "spool.jsonl"
    playbook = write(tmp_path / "play.yml", asks, {"ansible.builtin.ping": {}})
    ansible("ansible-playbook", "-i", nodes, "-l", "gpu-01", playbook, FLEET_SPOOL=str(told))
    (line,) = [line for line in spool(told) if isinstance(line, Ended)]
    assert (line.end, said[:300] in line.message) == (end, True)
    advice = line.message.rpartition("; ")[2]
    assert advice.startswith(("check ", "compare ", "that says")) == (end is PlayEnd.OWN)


def test_what_may_still_follow_on_a_node_is_waited_for(ansible: Ansible, nodes: Path, tmp_path: Path) -> None:
    """A failure that is rescued later ends well: its end is told at the end, once."""
    fails = {"name": "Inner", "ansible.builtin.fail": {"msg": "odd"}}
    caught = {"block": [{"block": [fails], "name": "Outer"}], "rescue": [{"name": "R", "ansible.builtin.ping": {}}]}
    told = tmp_path / "spool.jsonl"
    playbook = write(tmp_path / "play.yml", caught, {"ansible.builtin.ping": {}})
    ansible("ansible-playbook", "-i", nodes, playbook, FLEET_SPOOL=str(told))
    ends = [(line.node, line.end) for line in spool(told) if isinstance(line, Ended)]
    assert sorted(ends) == [("gpu-01", PlayEnd.OK), ("gpu-02", PlayEnd.OK)]


def test_handlers_that_are_to_come_are_waited_for(ansible: Ansible, nodes: Path, tmp_path: Path) -> None:
    """They run after the last task, and may fail."""
    play = {
        "name": "Play",
        "hosts": "nodes",
        "gather_facts": False,
        "tasks": [{"name": "Last", "ansible.builtin.command": "true", "notify": "later"}],
        "handlers": [{"name": "later", "ansible.builtin.fail": {"msg": "odd"}}],
    }
    told = tmp_path / "spool.jsonl"
    (tmp_path / "play.yml").write_text(yaml.safe_dump([play]))
    ansible("ansible-playbook", "-i", nodes, tmp_path / "play.yml", FLEET_SPOOL=str(told))
    ends = [(line.node, line.end) for line in spool(told) if isinstance(line, Ended)]
    assert sorted(ends) == [("gpu-01", PlayEnd.FAILED), ("gpu-02", PlayEnd.FAILED)]
