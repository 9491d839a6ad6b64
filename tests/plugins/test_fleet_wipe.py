"""fleet_wipe erases what it is ordered to, once, and only what is what it was when that was decided."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fleet_runner.core.lifecycle.wipe import planner, reports
from fleet_runner.core.lifecycle.wipe.planner import Item, Next
from fleet_runner.core.lifecycle.wipe.reports import Report, TryStatus
from tests import tpm
from tests.core.lifecycle.wipe import looks
from tests.holding import holding

SERIAL = "S 1"
BLOCKS = 256


@pytest.fixture
def module(plugin: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, as Python; it asks its devices more often than it usually does."""
    found = plugin("modules/fleet_wipe")
    monkeypatch.setattr(found, "POLL_SECONDS", 0.05)
    return found


@pytest.fixture
def drive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that stands for a disk and holds something; lsblk says what `lsblk.json` says."""
    path = tmp_path / "drive"
    path.write_bytes(os.urandom(BLOCKS * 4096))
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "lsblk").write_text(f"#!/bin/sh\ncat {tmp_path}/lsblk.json\n")
    (tools / "lsblk").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    listed(tmp_path)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where the logs lie; whatever still works on them at the end is ended."""
    made = tmp_path / "stay"
    made.mkdir()
    yield made
    for pid in holders(made):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def listed(tmp_path: Path, serial: str = " S  1 ", more: str = "") -> None:
    """Choose what lsblk says of the disk."""
    (tmp_path / "lsblk.json").write_text(f'{{"blockdevices": [{{"type": "disk", "serial": "{serial}"{more}}}]}}')


def holders(folder: Path) -> set[int]:
    """The processes that hold a lock in a folder."""
    return holding(lambda path: path.startswith(f"{folder}/") and path.endswith(".lock"))


def ordered(drive: Path, *steps: str, **more: Any) -> dict[str, Any]:
    """Return an order whose steps are lines of shell."""
    given = {"key": "disk-S-1", "number": 1, "method": "format_erase", "poll": [], "while": "", "probe": []}
    devices = [{"path": str(drive), "serial": SERIAL}]
    steps_of_shell = [["sh", "-c", step] for step in steps]
    return {**given, **term(), "devices": devices, "steps": steps_of_shell, "samples": 8, **more}


def term(**more: Any) -> dict[str, Any]:
    """Return until when an order holds: in this boot, for as long as a test may take."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    return {"boot": boot, "until": uptime() + 3600.0, **more}


def uptime() -> float:
    """Return how long this machine is up."""
    return float(Path("/proc/uptime").read_text("ascii").split()[0])


def zeroed(drive: Path) -> str:
    """Return a line of shell that erases the disk."""
    return f"dd if=/dev/zero of={drive} bs=4096 count={BLOCKS} conv=notrunc,fsync 2>/dev/null"


def log(module: ModuleType, folder: Path, stand: TryStatus = TryStatus.ENDED) -> Report:
    """Return the one log, once it stands so; the test's own time limit ends a wait in vain."""
    while True:
        (raw,) = module.reports(folder)
        found = reports.read(raw)
        if found.stand is stand:
            return found
        time.sleep(0.05)


def test_a_device_is_erased_and_its_log_proves_it(module: ModuleType, folder: Path, drive: Path) -> None:
    assert module.start(folder, ordered(drive, zeroed(drive)))
    found = log(module, folder)
    assert not drive.read_bytes().strip(b"\0")
    assert (reports.failure(found), len(found.before), set(found.after)) == ("", 8, {"00"})
    assert reports.proof(found) == "all 8 sampled blocks that held data changed, 8 of 8 read as zero"


def test_a_try_is_begun_once_however_often_it_is_ordered(
    module: ModuleType, folder: Path, drive: Path, tmp_path: Path
) -> None:
    order = ordered(drive, f"echo begun >>{tmp_path}/witness; sleep 600")
    assert module.start(folder, order)
    while not (tmp_path / "witness").exists():
        time.sleep(0.05)
    assert not module.start(folder, order)
    log(module, folder, TryStatus.RUNNING)
    assert (tmp_path / "witness").read_text() == "begun\n"


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (("S 2", ""), "has serial S 2 now, expected S 1; it was not touched"),
        (("", ""), "has serial none now"),
        (("S 1", ', "mountpoints": ["/"]'), "is in use now; it was not touched"),
        (("S 1", ', "children": [{"type": "raid1"}]'), "is in use now"),
        (("S 1", ', "children": [{"type": "part", "children": [{"type": "lvm"}]}]'), "is in use now"),
        (("S 1", ', "children": [{"type": "part", "mountpoints": ["/x"]}]'), "is in use now"),
    ],
)
def test_a_device_that_is_not_what_it_was_is_not_touched(
    module: ModuleType, folder: Path, drive: Path, said: tuple[str, str], why: str
) -> None:
    listed(drive.parent, *said)
    held = drive.read_bytes()
    module.start(folder, ordered(drive, zeroed(drive)))
    found = log(module, folder)
    assert why in found.error
    assert (found.touched, drive.read_bytes()) == (False, held)


def test_a_partition_that_nobody_uses_does_not_stand_in_the_way(
    module: ModuleType, folder: Path, drive: Path, tmp_path: Path
) -> None:
    listed(tmp_path, more=', "children": [{"type": "part", "mountpoints": [null]}]')
    module.start(folder, ordered(drive, zeroed(drive)))
    assert log(module, folder).error == ""


@pytest.fixture
def loop(drive: Path) -> Iterator[Path]:
    """A real block device over the disk."""
    if os.geteuid() or shutil.which("losetup") is None:
        pytest.skip("a loop device needs root and losetup; run the tests as root")
    made = subprocess.run(["losetup", "-f", "--show", drive], capture_output=True, text=True, check=False)
    if made.returncode:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    path = Path(made.stdout.strip())
    try:
        yield path
    finally:
        subprocess.run(["losetup", "-d", path], check=True)


def test_a_block_device_that_the_kernel_knows_to_be_held_is_not_touched(
    module: ModuleType, folder: Path, loop: Path, drive: Path
) -> None:
    """Whatever lsblk says: a mounted file system, a volume, an array hold it as this test does."""
    handle = os.open(loop, os.O_RDONLY | os.O_EXCL)
    try:
        module.start(folder, ordered(loop, zeroed(loop)))
        found = log(module, folder)
    finally:
        os.close(handle)
    assert "busy" in found.error
    assert not found.touched


def test_a_block_device_is_sampled_past_the_kernels_cache(
    module: ModuleType, folder: Path, loop: Path, drive: Path
) -> None:
    """What the kernel remembers of an erased disk is not what is on it."""
    loop.read_bytes()
    module.start(folder, ordered(loop, zeroed(drive)))
    found = log(module, folder)
    assert (reports.failure(found), set(found.after)) == ("", {"00"})


def test_data_that_is_still_there_is_noticed(module: ModuleType, folder: Path, drive: Path) -> None:
    module.start(folder, ordered(drive, "true"))
    assert "8 of 8 sampled blocks are unchanged" in reports.failure(log(module, folder))


def test_after_a_step_that_failed_nothing_more_is_done(module: ModuleType, folder: Path, drive: Path) -> None:
    module.start(folder, ordered(drive, "echo no >&2; exit 3", zeroed(drive)))
    found = log(module, folder)
    assert len(found.commands) == 1
    assert reports.failure(found).endswith("exited with 3: no")
    assert drive.read_bytes().strip(b"\0")


def test_a_tool_that_is_not_there_is_a_step_that_failed(module: ModuleType, folder: Path, drive: Path) -> None:
    module.start(folder, ordered(drive) | {"steps": [["no-such-tool"]]})
    assert "no-such-tool exited with 127" in reports.failure(log(module, folder))


def test_work_that_goes_on_in_the_device_is_waited_for_and_its_last_word_kept(
    module: ModuleType, folder: Path, drive: Path, tmp_path: Path
) -> None:
    """As a sanitize: its command is over at once."""
    running, done = looks.EVIDENCE / "nvme/sanitize_in_progress.json", looks.EVIDENCE / "nvme/sanitize_done.json"
    tool = tmp_path / "ask"
    counted = f"echo >>{tmp_path}/asked; [ $(wc -l <{tmp_path}/asked) -lt 3 ]"
    tool.write_text(f"#!/bin/sh\n{counted} && exec cat {running}\n{zeroed(drive)}\nexec cat {done}\n")
    tool.chmod(0o755)
    order = ordered(drive, "true", method="sanitize_block")
    module.start(folder, order | {"poll": [str(tool)], "while": '"(2) '})
    found = log(module, folder)
    assert reports.failure(found) == ""
    assert [command.argv[0] for command in found.commands] == ["sh", str(tool)]
    assert (tmp_path / "asked").read_text().count("\n") == 3


def test_who_is_killed_while_his_command_works_is_not_lost_until_that_ends(
    module: ModuleType, folder: Path, drive: Path, tmp_path: Path
) -> None:
    """A second erase beside the first would otherwise be begun."""
    module.start(folder, ordered(drive, f"echo $$ >{tmp_path}/pid; sleep 600"))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text().strip():
        time.sleep(0.05)
    command = int((tmp_path / "pid").read_text())
    for pid in holders(folder) - {command}:
        if os.getpgid(pid) == pid:  # the one that erases leads its own session; the shell's sleep does not
            os.kill(pid, signal.SIGKILL)
    assert log(module, folder, TryStatus.RUNNING).commands[0].rc == -1
    for pid in holders(folder):
        os.kill(pid, signal.SIGKILL)
    log(module, folder, TryStatus.LOST)


def test_a_tpm_is_cleared_and_its_key_is_another(
    module: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With swtpm, and the very order that the planner gives."""
    if why := tpm.why_not():
        pytest.skip(why)
    item = Item(looks.tpm(), Next.ERASE, "", planner.Method.TPM_CLEAR)
    with tpm.tpm(tmp_path / "tpm") as tcti:
        monkeypatch.setenv("TPM2TOOLS_TCTI", tcti)
        tpm.run(tcti, "tpm2_changeauth", "-c", "o", "secret")
        assert "ownerAuthSet:              1" in tpm.run(tcti, "tpm2_getcap", "properties-variable")
        tpm.run(tcti, "tpm2_changeauth", "-c", "o", "-p", "secret")
        module.start(folder, planner.order(item) | term())
        found = log(module, folder)
        assert reports.failure(found) == ""
        assert reports.proof(found) == "its storage seed makes another key than before"


def test_a_tpm_whose_lockout_password_nobody_knows_is_not_cleared(
    module: ModuleType, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why := tpm.why_not():
        pytest.skip(why)
    item = Item(looks.tpm(), Next.ERASE, "", planner.Method.TPM_CLEAR)
    with tpm.tpm(tmp_path / "tpm") as tcti:
        monkeypatch.setenv("TPM2TOOLS_TCTI", tcti)
        tpm.run(tcti, "tpm2_changeauth", "-c", "l", "secret")
        module.start(folder, planner.order(item) | term())
        assert "tpm2_clear exited with" in reports.failure(log(module, folder))


TOO_LATE = [
    ({"boot": "0c7b5d6e-2f5a-4b6e-9d3c-1a2b3c4d5e6f"}, "disk-S-1: the node has booted anew since it was looked at"),
    ({"until": 0.0}, "s too late; it was not touched"),
]


@pytest.mark.parametrize("late", TOO_LATE)
def test_an_order_of_another_boot_or_that_comes_late_is_refused_and_not_begun(
    module: ModuleType, folder: Path, drive: Path, monkeypatch: pytest.MonkeyPatch, late: tuple[dict[str, Any], str]
) -> None:
    """A play that was frozen wakes up, and the node was installed anew meanwhile; a good order beside it is begun."""
    change, why = late
    held = drive.read_bytes()
    orders = [ordered(drive, zeroed(drive), **change), ordered(drive, "exit 3", key="disk-S-2")]
    answer = answered(module, folder, monkeypatch, orders)
    assert [why in said for said in answer["refused"]] == [True]
    assert (log(module, folder).key, drive.read_bytes()) == ("disk-S-2", held)
    assert answer["changed"]


@pytest.mark.parametrize(("change", "why"), TOO_LATE)
def test_work_that_was_frozen_before_it_had_its_device_does_not_touch_it(
    module: ModuleType, folder: Path, drive: Path, change: dict[str, Any], why: str
) -> None:
    held = drive.read_bytes()
    module.start(folder, ordered(drive, zeroed(drive), **change))
    found = log(module, folder)
    assert why in found.error
    assert (found.touched, drive.read_bytes()) == (False, held)


def test_an_order_that_does_not_say_how_long_it_holds_is_an_error(
    module: ModuleType, folder: Path, drive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = ordered(drive, zeroed(drive))
    del order["boot"]
    assert "'boot'" in answered(module, folder, monkeypatch, [order])["msg"]
    assert module.reports(folder) == []


class Said(Exception):  # noqa: N818  it is an answer
    """What the module answered."""


def answered(
    module: ModuleType, folder: Path, monkeypatch: pytest.MonkeyPatch, orders: list[dict[str, Any]]
) -> dict[str, Any]:
    """Run the module as Ansible does, and return what it says."""

    class TryStatus:
        params = {"stay": folder.name, "orders": orders, "dir": str(folder.parent)}  # noqa: RUF012  never changed
        check_mode = False

        def exit_json(self, **answer: Any) -> None:
            raise Said(answer)

        fail_json = exit_json

    monkeypatch.setattr(module, "AnsibleModule", lambda **_: TryStatus())
    with pytest.raises(Said) as said:
        module.main()
    return said.value.args[0]


def test_there_are_no_logs_where_nothing_was_begun(module: ModuleType, tmp_path: Path) -> None:
    assert module.reports(tmp_path / "nothing") == []
