"""What launch, look, spool and discard say and leave behind, without killing anybody."""

import dataclasses
import json
import os
import stat
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import batch_folder, engine
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.core.base.errors import ConflictError, FleetError
from fleet_runner.core.lifecycle.spool import Progress, encode
from tests.adapters.plays.engine.conftest import B1, B2, Site


def test_a_batch_runs_its_playbook_once_and_tells_how_it_ended(site: Site) -> None:
    """The whole way: spec, extra variable, callback plugin under ansible-runner, spool, rc."""
    site.play('say "{{ inventory_hostname }}:{{ fleet_runs[inventory_hostname].run }}:$FLEET_BATCH"')
    batch = site.batch(B1)
    engine.launch(site.settings, batch)
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    engine.launch(site.settings, batch)
    engine.stop(site.settings, B1)
    assert site.look(B1).rc == 0
    assert site.witness() == [f"gpu-01:12:{B1}"], "the play is limited to the batch's nodes"
    lines = engine.spool(site.settings, B1, 0).lines
    assert [(line.node, line.task) for line in lines if isinstance(line, Progress)] == [("gpu-01", "Task 0")]


def test_a_failed_task_is_ansibles_exit_status(site: Site) -> None:
    site.play("exit 3")
    engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc == 2


def test_a_batch_is_readable_by_its_owner_only_and_leaves_nothing_of_ansible_runner(site: Site) -> None:
    """Its files hold what nodes said; ansible-runner's folder held the environment and is gone."""
    site.play("true")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for(B1, BatchState.ENDED)
    folder = site.file(B1, "")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {one.name for one in folder.iterdir()} == {
        "spec.json", "lock", "started", "rc", "spool.jsonl", "log", "extravars.json"
    }  # fmt: skip


def test_the_play_sees_the_settings_of_the_runner_and_no_more_of_ansible_runner_than_it_needs(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Settings given in code reach the inventory plugin; ansible.cfg decides about ssh host keys."""
    monkeypatch.delenv("ANSIBLE_HOST_KEY_CHECKING", raising=False)
    site.play(
        'say "$FLEET_STATE_DIR"; say "$FLEET_PROJECT_DIR"; say "keys:$ANSIBLE_HOST_KEY_CHECKING"',
    )
    engine.launch(site.settings, site.batch(B1))
    site.wait_for(B1, BatchState.ENDED)
    assert site.witness() == [str(site.settings.state_dir), str(site.project), "keys:"]


def test_a_missing_playbook_is_an_end_with_its_reason_in_the_log(site: Site) -> None:
    engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc not in {0, None}
    assert "verify.yml" in site.file(B1, batch_folder.LOG).read_text()


def test_unusable_settings_are_an_end_with_its_reason(site: Site) -> None:
    """The supervisor's own error must not look like a batch that was lost."""
    odd = site.settings.model_copy(update={"project_dir": site.folder / "nowhere"})
    engine.launch(odd, site.batch(B1))
    ended = site.wait_for(B1, BatchState.ENDED)
    assert ended.rc == 125
    assert "nowhere" in ended.detail


def test_nothing_is_new_and_has_no_spool(site: Site) -> None:
    assert site.look(B1).state is BatchState.NEW
    assert engine.spool(site.settings, B1, 0).used == 0
    engine.stop(site.settings, B1)
    engine.discard(site.settings, B1)
    assert site.look(B1).state is BatchState.NEW


def test_a_batch_whose_launcher_died_before_the_supervisor_came_up_is_launched_again(site: Site) -> None:
    """The folder and the spec are there, nothing was started: NEW, and the next launch starts it."""
    site.play("say ran")
    site.file(B1, "").mkdir(parents=True)
    site.file(B1, batch_folder.LOCK).touch()
    engine._specify(site.file(B1, ""), site.batch(B1))
    assert site.look(B1).state is BatchState.NEW
    engine.launch(site.settings, site.batch(B1))
    site.wait_for(B1, BatchState.ENDED)
    assert site.witness() == ["ran"]


def test_a_batch_that_waits_with_other_runs_is_a_conflict(site: Site) -> None:
    site.file(B1, "").mkdir(parents=True)
    engine._specify(site.file(B1, ""), site.batch(B1))
    other = dataclasses.replace(site.batch(B1), runs={"gpu-01": {"run": 99}})
    with pytest.raises(ConflictError, match="other runs"):
        engine.launch(site.settings, other)


@pytest.mark.parametrize("text", ["", "\n", "garbage", "1.5", "\x00" * 40])
def test_an_unreadable_rc_is_no_rc(site: Site, text: str) -> None:
    """A machine that lost power can leave an empty file; what nobody can read, nobody saw."""
    site.file(B1, "").mkdir(parents=True)
    site.file(B1, batch_folder.STARTED).write_text("")
    site.file(B1, batch_folder.RC).write_text(text)
    assert site.look(B1).state is BatchState.LOST


@pytest.mark.parametrize("name", ["all", "a:b", "*", "gpu-01,gpu-02", "@file", "~.*", "", "-i", "!gpu-01", "a\nb"])
def test_a_node_whose_name_is_a_pattern_is_refused(site: Site, name: str) -> None:
    """Ansible would take `*` for every node; nothing is started and no folder is made."""
    batch = dataclasses.replace(site.batch(B1), runs={name: {}})
    with pytest.raises(FleetError, match="expected names"):
        engine.launch(site.settings, batch)
    assert not site.settings.batches_dir.exists()


def test_a_batch_without_nodes_is_refused(site: Site) -> None:
    """Without a limit Ansible would take every node."""
    with pytest.raises(FleetError, match="no node"):
        engine.launch(site.settings, dataclasses.replace(site.batch(B1), runs={}))


@pytest.mark.parametrize("name", ["..", "a/b", "", ".hidden", "/etc"])
def test_a_batch_id_that_is_a_path_is_refused(site: Site, name: str) -> None:
    with pytest.raises(FleetError, match="expected letters"):
        site.look(name)


def test_a_folder_that_cannot_be_made_says_so_and_what_to_do(site: Site) -> None:
    site.settings.state_dir.write_text("in the way")
    with pytest.raises(FleetError, match=r"Not a directory.*correct state_dir"):
        engine.launch(site.settings, site.batch(B1))


def test_a_spool_is_read_in_stretches_and_a_torn_line_is_left(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [Progress(f"gpu-{number:02}", 1.0, number, 9, "Task") for number in range(9)]
    text = "".join(map(encode, lines)).encode()
    site.file(B1, "").mkdir(parents=True)
    site.file(B1, batch_folder.SPOOL).write_bytes(text + b'{"kind": "prog')
    monkeypatch.setattr(engine, "SPOOL_BYTES", 200)
    found, offset = [], 0
    while (decoded := engine.spool(site.settings, B1, offset)).used:
        assert not decoded.bad
        found += decoded.lines
        offset += decoded.used
    assert found == lines
    assert offset == len(text)


def test_a_long_line_is_read_whole(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a large fabric prints is one line of the spool."""
    monkeypatch.setattr(engine, "SPOOL_BYTES", 200)
    long = Progress("gpu-02", 1.0, 1, 2, "x" * 1000)
    site.file(B1, "").mkdir(parents=True)
    site.file(B1, batch_folder.SPOOL).write_text(encode(long) + encode(long))
    decoded = engine.spool(site.settings, B1, 0)
    assert decoded.lines == (long,)
    assert engine.spool(site.settings, B1, decoded.used).lines == (long,)


def test_a_line_longer_than_any_is_passed_over(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """One node that floods must not keep the others' results from being read."""
    monkeypatch.setattr(engine, "SPOOL_BYTES", 200)
    monkeypatch.setattr(engine, "LINE_BYTES", 400)
    good = Progress("gpu-01", 1.0, 1, 2, "Task")
    flood = Progress("gpu-02", 1.0, 1, 2, "x" * 1000)
    site.file(B1, "").mkdir(parents=True)
    site.file(B1, batch_folder.SPOOL).write_text(encode(flood) + encode(good))
    found, bad, offset = [], 0, 0
    while (decoded := engine.spool(site.settings, B1, offset)).used:
        found += decoded.lines
        bad += decoded.bad
        offset += decoded.used
    assert found == [good]
    assert bad > 0


def test_only_a_batch_that_is_over_is_discarded(site: Site) -> None:
    site.play("say in; until_ gate")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    engine.discard(site.settings, B1)
    assert site.look(B1).state is BatchState.RUNNING
    site.open_gate("gate")
    site.wait_for(B1, BatchState.ENDED)
    engine.discard(site.settings, B1)
    assert list(site.settings.batches_dir.iterdir()) == []


def test_finished_supervisors_leave_no_zombies(site: Site) -> None:
    """A runner that is up for months launches many; whoever looks next waits for those that ended."""
    site.play("true")
    for name in (B1, B2):
        engine.launch(site.settings, site.batch(name))
    children = set(engine._children)
    assert len(children) == 2
    for name in (B1, B2):
        site.wait_for(name, BatchState.ENDED)
    while engine._children:
        site.look(B1)
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def test_a_supervisor_that_somebody_else_waited_for_is_forgotten(site: Site) -> None:
    """A program that waits for any child of it takes ours along."""
    site.play("true")
    engine.launch(site.settings, site.batch(B1))
    (child,) = engine._children
    os.waitpid(child, 0)
    site.look(B1)
    assert not engine._children


def test_no_secret_of_the_environment_is_in_an_argument(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arguments are readable by everybody on the machine; the environment by the owner."""
    monkeypatch.setenv("FLEET_TEST_SECRET", "swordfish")
    site.play(
        "for one in /proc/[0-9]*; do tr '\\0' ' ' < $one/cmdline; echo; done > {{ playbook_dir }}/commands; true"
    )
    engine.launch(site.settings, site.batch(B1))
    site.wait_for(B1, BatchState.ENDED)
    commands = (site.project / "playbooks" / "commands").read_text()
    ours = [line for line in commands.splitlines() if str(site.folder) in line]  # other tests' may run meanwhile
    assert "ansible-playbook" in commands
    assert "swordfish" not in commands
    assert ours
    assert json.dumps({"run": 12})[1:-1] not in " ".join(ours), "the runs are in a file too"
