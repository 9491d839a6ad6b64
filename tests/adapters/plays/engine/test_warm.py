"""Plays that are forked from a parent run, and are found, as those of ansible-playbook, which is there if need be."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import batch_folder, engine, fork_server, processes
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.adapters.plays.fork_server import keeper as keeping
from fleet_runner.adapters.plays.fork_server import mark
from tests.adapters.plays.engine.conftest import B1, B2, Site
from tests.waiting import until

LONG = 600.0

WARM = pytest.mark.parametrize("site", ["warm"], indirect=True)


def parent(site: Site) -> int:
    """Return the process id of the parent that the site keeps."""
    name = str(fork_server.folder(site.settings).resolve()).encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if name in words and b"fleet_runner.adapters.plays.fork_server.parent" in words:
            return int(folder.name)
    return 0


def main_process(site: Site, batch: str) -> int:
    """Return the process that carries a play: the parent's own child, and none where Ansible was started."""
    return forked(site, batch, "ansible-playbook")


def forked(site: Site, batch: str, word: str) -> int:
    """Return the parent's own child that is of a batch, and has a word in its command."""
    above = parent(site)
    children = Path(f"/proc/{above}/task/{above}/children").read_text().split()
    found = (processes.find(int(child), batch) for child in children)
    return next((one.pid for one in found if one is not None and word in one.command), 0)


def log(site: Site, batch: str) -> str:
    """Return what was printed for a batch."""
    return site.file(batch, batch_folder.LOG).read_text()


@WARM
def test_a_play_is_forked_and_found_by_its_tag(site: Site) -> None:
    """The parent's own child carries it, shows the batch's tag in /proc, and is named after it; the parent is not."""
    site.play("say in; until_ gate", "exit 3")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    pid = main_process(site, B1)
    assert pid
    assert processes.find(pid, B1) is not None
    assert "ansible-playbook b1" in str(processes.find(pid, B1))
    assert parent(site) not in {one.pid for one in processes.tagged(B1)}
    assert os.getsid(pid) == pid
    site.open_gate("gate")
    assert site.wait_for(B1, BatchState.ENDED).rc == 2
    assert "Task 1" in log(site, B1)


@WARM
def test_a_supervisor_is_forked_and_has_nothing_of_the_parent(site: Site) -> None:
    """It shows its tag and what it is, leads a session of its own, and who had it forked is gone."""
    site.play("say in; until_ gate")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    pid = site.supervisor(B1)
    assert forked(site, B1, fork_server.SUPERVISOR) == pid
    assert str(site.file(B1, "")) in str(processes.find(pid, B1))
    assert os.getsid(pid) == pid
    assert os.getpriority(os.PRIO_PROCESS, pid) == os.getpriority(os.PRIO_PROCESS, 0)
    assert opened(pid) & opened(parent(site)) == set()
    until(lambda: engine.reap() or not engine._children)
    site.open_gate("gate")
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert "not forked" not in log(site, B1)


def opened(pid: int) -> set[str]:
    """Return the files, pipes and sockets that a process has open."""
    return {str(one.readlink()) for one in Path(f"/proc/{pid}/fd").iterdir()}


@pytest.mark.parametrize("site", ["cold", "warm"], indirect=True)
def test_a_task_sees_the_same_of_where_it_runs(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folder, umask, standard input and environment, of which the settings may have changed since."""
    before = os.umask(0o027)
    try:
        monkeypatch.setenv("FLEET_LATER", "given after the parent began")
        site.play('say "$(umask):$(cat | wc -c):$FLEET_LATER:$FLEET_BATCH:$LC_ALL:$PWD"')
        engine.launch(site.settings, site.batch(B1))
        assert site.wait_for(B1, BatchState.ENDED).rc == 0
    finally:
        os.umask(before)
    where = site.project / "playbooks"
    assert " ".join(site.witness()) == f"0027:0:given after the parent began:{B1}:C.UTF-8:{where}"


@WARM
def test_an_orphaned_fork_is_found_and_ended(site: Site) -> None:
    """Supervisor and stand-in are killed while its main process is stopped, so that it cannot end by itself."""
    site.play("say in; until_ never")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    supervisor, pid = site.supervisor(B1), main_process(site, B1)
    os.kill(pid, signal.SIGSTOP)
    os.kill(supervisor, signal.SIGKILL)
    found = site.wait_for(B1, BatchState.ORPHANED)
    assert "processes are still running" in found.detail
    engine.stop(site.settings, B1)
    assert site.look(B1).state is BatchState.LOST
    assert processes.tagged(B1) == ()
    until(lambda: not main_process(site, B1))


@WARM
def test_a_play_outlives_its_parent_and_says_how_it_ended(site: Site) -> None:
    """Killed while a play runs: the play ends as it would have, and the next ones have a new parent."""
    site.play("say in; until_ gate", "say out; exit 3")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    first = parent(site)
    os.kill(first, signal.SIGKILL)
    until(lambda: parent(site) not in {0, first} and fork_server.answers(fork_server.folder(site.settings)))
    site.open_gate("gate")
    assert site.wait_for(B1, BatchState.ENDED).rc == 2
    assert site.witness() == ["in", "out"]


@WARM
def test_a_hung_parent_costs_seconds_and_no_batch(site: Site) -> None:
    """Stopped, it does not answer: one waits for it, not the play as well, and another parent follows at once."""
    site.play("say {{ inventory_hostname }}")
    above = parent(site)
    os.kill(above, signal.SIGSTOP)
    engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert log(site, B1).count("not forked") == 1
    until(lambda: parent(site) not in {0, above} and fork_server.answers(fork_server.folder(site.settings)))
    engine.launch(site.settings, site.batch(B2))
    assert site.wait_for(B2, BatchState.ENDED).rc == 0
    assert site.witness() == ["gpu-01"] * 2


@WARM
def test_a_parent_that_was_silent_for_a_while_is_asked_again(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it was asked meanwhile never runs, though it goes on afterwards; and it is kept, for it answers again."""
    site.play("say {{ inventory_hostname }}")
    monkeypatch.setattr(keeping, "answers", lambda place: fork_server.answers(place, LONG))
    above, silent = parent(site), fork_server.folder(site.settings) / fork_server.SILENT
    os.kill(above, signal.SIGSTOP)
    try:
        engine.launch(site.settings, site.batch(B1))
        until(silent.exists)
        assert fork_server.instead(site.settings, ["command"]) == ["command"]
        assert site.wait_for(B1, BatchState.ENDED).rc == 0
    finally:
        os.kill(above, signal.SIGCONT)
    until(lambda: not silent.exists())
    until(lambda: not processes.tagged(B1))  # a fork that finds its caller gone ends
    assert parent(site) == above
    assert site.witness() == ["gpu-01"]


@WARM
def test_a_parent_that_imported_what_has_changed_forks_nothing(site: Site) -> None:
    """Its plugin was edited: this play starts Ansible itself, and another parent follows."""
    site.play("say one")
    first = parent(site)
    plugin = site.project / "plugins" / "callback" / "tell.py"
    plugin.write_text(plugin.read_text() + "# edited\n")
    engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    until(lambda: parent(site) not in {0, first})
    assert site.witness() == ["one"]


@WARM
def test_a_play_with_another_environment_is_not_forked(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ansible reads its configuration while it is imported, which was with other variables."""
    site.play("say {{ inventory_hostname }}")
    monkeypatch.setenv("ANSIBLE_TIMEOUT", "77")
    why, plays = "", 0
    while "another ANSIBLE_TIMEOUT" not in why:  # a busy machine's parent may be too slow to say more than nothing
        plays += 1
        batch = f"{B1}-{plays}"
        engine.launch(site.settings, site.batch(batch))
        assert site.wait_for(batch, BatchState.ENDED).rc == 0
        why = log(site, batch)
        assert "not forked from a warm parent: " in why
        assert plays < 10, why
    assert site.witness() == ["gpu-01"] * plays


@WARM
def test_nothing_of_one_batch_is_there_for_the_next(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in its environment nor in the memory of the parent, which never reads what a caller sends."""
    secret = "a-secret-of-batch-one"
    monkeypatch.setenv("FLEET_ODD", secret)
    site.play('say "${FLEET_ODD:-none}"; echo {{ lookup("env", "FLEET_ODD") }}')
    engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    monkeypatch.delenv("FLEET_ODD")
    engine.launch(site.settings, site.batch(B2))
    assert site.wait_for(B2, BatchState.ENDED).rc == 0
    assert site.witness() == [secret, "none"]
    assert secret.encode() not in memory(parent(site))


def memory(pid: int) -> bytes:
    """Return all that a process has in memory and may be written."""
    found = bytearray()
    with Path(f"/proc/{pid}/mem").open("rb") as file:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            where, rights = line.split()[:2]
            if rights.startswith("rw"):
                start, end = (int(each, 16) for each in where.split("-"))
                file.seek(start)
                found += file.read(end - start)
    return bytes(found)


@WARM
def test_forks_have_temporary_folders_of_their_own(site: Site) -> None:
    """Ansible removes its own at its end: one that is shared would be taken from plays that still run."""
    site.play("say in-{{ inventory_hostname }}; until_ gate", "true")
    for name, node in ((B1, "gpu-01"), (B2, "gpu-02")):
        engine.launch(site.settings, site.batch(name, (node,)))
        site.wait_for_witness(f"in-{node}")
    mine = [set(temporaries(site, name)) for name in (B1, B2)]
    assert [len(each) for each in mine] == [1, 1]
    site.open_gate("gate")
    for name in (B1, B2):
        assert site.wait_for(name, BatchState.ENDED).rc == 0
    assert not any(each.exists() for found in mine for each in found)


def temporaries(site: Site, batch: str) -> list[Path]:
    """Return the temporary folders of Ansible in a batch's folder."""
    return list(site.file(batch, "").rglob("ansible-local-*"))


@WARM
def test_a_killed_supervisor_and_a_killed_play_leave_no_temporary_folder(site: Site) -> None:
    """A supervisor never has one, and the play's goes once nothing of it lives."""
    everywhere = Path("~/.ansible/tmp").expanduser()
    site.play("say in; until_ never")
    engine.launch(site.settings, site.batch(B1))
    site.wait_for_witness("in")
    supervisor, pid = site.supervisor(B1), main_process(site, B1)
    assert [each.name.startswith(f"ansible-local-{pid}") for each in temporaries(site, B1)] == [True]
    assert forked(site, B1, fork_server.SUPERVISOR) == supervisor
    for each in (supervisor, pid):
        os.kill(each, signal.SIGKILL)
    until(lambda: site.look(B1).state in {BatchState.ORPHANED, BatchState.LOST})
    engine.stop(site.settings, B1)
    assert site.wait_for(B1, BatchState.LOST)
    assert temporaries(site, B1) == []
    now = site.file(B1, batch_folder.STARTED).stat().st_mtime
    numbers = tuple(f"ansible-local-{each}" for each in (supervisor, pid))
    assert [each for each in everywhere.glob("*") if each.name[:-8] in numbers and each.stat().st_mtime >= now] == []


@pytest.mark.parametrize("frozen", [False, True], ids=["well", "frozen"])
def test_a_parent_ends_with_who_keeps_it(site: Site, *, frozen: bool) -> None:
    """Killed, so that it cannot see to it: the kernel does, also of a parent that cannot end by itself.

    Its lock goes with it: the next one that serves has a parent.
    """
    keep = (
        "import sys, time; from fleet_runner.adapters.plays import engine\n"
        "from fleet_runner.adapters.plays.fork_server import keeper\n"
        "from fleet_runner.settings import Settings\n"
        "settings = Settings.model_validate_json(sys.argv[1])\n"
        "with keeper.kept(settings, engine.environment(settings, 'none')): time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", keep, site.settings.model_dump_json()]) as keeper:
        try:
            until(lambda: fork_server.answers(fork_server.folder(site.settings)))
            above = parent(site)
            assert above
            if frozen:
                os.kill(above, signal.SIGSTOP)
        finally:
            keeper.kill()
    until(lambda: not Path(f"/proc/{above}").exists())
    assert not fork_server.answers(fork_server.folder(site.settings))
    with keeping.kept(site.settings, engine.environment(site.settings, "none")):
        until(lambda: fork_server.answers(fork_server.folder(site.settings)))


@WARM
def test_a_second_keeper_of_the_same_state_starts_no_other_parent(site: Site) -> None:
    first = parent(site)
    with keeping.kept(site.settings, engine.environment(site.settings, "none")):
        time.sleep(keeping.PAUSE * 2)
        assert parent(site) == first
    assert fork_server.answers(fork_server.folder(site.settings))


@WARM
def test_a_caller_that_says_nothing_or_rubbish_starts_nothing(site: Site) -> None:
    """And others are served meanwhile."""
    place = fork_server.folder(site.settings)
    with fork_server.connected(place, 10.0) as silent, fork_server.connected(place, 10.0) as loud:
        assert silent.recv(1) == b"+"
        loud.sendall(b"\xff" * 100)
        site.play("say one")
        engine.launch(site.settings, site.batch(B1))
        assert site.wait_for(B1, BatchState.ENDED).rc == 0
        assert "not forked" not in log(site, B1)
    assert site.witness() == ["one"]
    above = parent(site)
    until(lambda: not Path(f"/proc/{above}/task/{above}/children").read_text().split())


def test_only_a_process_with_room_for_it_is_marked() -> None:
    """This one was not started as a parent: it stays as it is, and is refused."""
    assert not mark.write(B1, "title")
    assert not mark.write("b" * 300, "title")
    assert processes.find(os.getpid(), B1) is None
