"""fleet_collect always comes back, says what it could not read, and leaves nothing running."""

import ast
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fleet_runner.core.checks.reads import READS
from tests.waiting import PATIENCE

Tool = Callable[[str, str], str]


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The module, as Python."""
    return plugin("modules/fleet_collect")


def command(*argv: str, **limits: Any) -> dict[str, Any]:
    return {
        "name": "it",
        "kind": "command",
        "argv": list(argv),
        "path": "",
        "seconds": 20.0,
        "max_bytes": 10_000,
    } | limits


def file(path: str, **limits: Any) -> dict[str, Any]:
    return command(**limits) | {"kind": "file", "path": path}


def alive(pid: int) -> bool:
    """Whether a process still does something: a zombie that waits for its parent does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def gone(pid: int) -> bool:
    """Whether a process ends, which was killed."""
    until = time.monotonic() + PATIENCE
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.05)
    return not alive(pid)


def test_a_command_brings_its_text_its_status_and_the_clock(module: ModuleType, tool: Tool) -> None:
    before = time.time()
    [reading] = module.collect([command(tool("says", "echo hello; echo sorry >&2; exit 3"))])
    assert (reading["end"], reading["text"], reading["rc"], reading["error"]) == ("ok", "hello\n", 3, "sorry")
    assert before <= reading["at"] <= time.time()
    assert reading["seconds"] >= 0


def test_a_file_brings_its_text(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "facts").write_text("8 GPUs\n")
    [reading] = module.collect([file(str(tmp_path / "facts"))])
    assert (reading["end"], reading["text"], reading["error"]) == ("ok", "8 GPUs\n", "")


@pytest.mark.parametrize("read", [command("no-such-tool-anywhere"), file("/no/such/file")])
def test_what_is_not_there_is_missing(module: ModuleType, read: dict[str, Any]) -> None:
    [reading] = module.collect([read])
    assert reading["end"] == "missing"
    assert "no" in reading["error"].lower()


def test_a_folder_and_a_tool_that_may_not_run_are_errors_that_say_so(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("not a program")
    folder, plain = module.collect([file(str(tmp_path)), command(str(tmp_path / "plain"))])
    assert (folder["end"], plain["end"]) == ("error", "error")
    assert "directory" in folder["error"]
    assert "Permission denied" in plain["error"]


def test_an_empty_command_is_an_error_and_not_a_crash(module: ModuleType) -> None:
    [reading] = module.collect([command()])
    assert reading["end"] == "error"


def test_a_hung_tool_is_ended_with_its_children_although_both_ignore_sigterm(
    module: ModuleType, tool: Tool, tmp_path: Path
) -> None:
    """The child is in the tool's process group and would otherwise stay on the node for ever."""
    hung = tool(
        "hung",
        f"trap '' TERM; (trap '' TERM; echo $$ >{tmp_path}/parent; while :; do sleep 1; done) & "
        f"echo $! >{tmp_path}/child; echo begun; wait",
    )
    [reading] = module.collect([command(hung, seconds=3.0)])
    assert reading["end"] == "timeout"
    assert reading["text"] == "begun\n"
    assert "3 s" in reading["error"]
    assert gone(int((tmp_path / "child").read_text()))
    assert gone(int((tmp_path / "parent").read_text()))


def test_a_child_that_keeps_the_pipe_open_does_not_keep_the_module(
    module: ModuleType, tool: Tool, tmp_path: Path
) -> None:
    """The child even leaves the process group, so no signal reaches it: it is left, its output is not waited for."""
    escaped = tool("escaped", f"setsid sh -c 'echo $$ >{tmp_path}/pid; exec sleep 600' & sleep 0.3; echo done")
    pid = 0
    try:
        [reading] = module.collect([command(escaped, seconds=60)])
        pid = int((tmp_path / "pid").read_text())
        assert (reading["end"], reading["text"]) == ("ok", "done\n")
        assert reading["seconds"] < 30
    finally:
        if pid:
            os.kill(pid, 9)


def test_a_tool_that_closes_its_output_and_hangs_is_ended(module: ModuleType, tool: Tool) -> None:
    [reading] = module.collect([command(tool("mute", "exec >&- 2>&-; exec sleep 600"), seconds=0.3)])
    assert reading["end"] == "timeout"


def test_too_much_output_is_cut_and_its_writer_ended(module: ModuleType, tool: Tool, tmp_path: Path) -> None:
    babble = tool("babble", f"echo $$ >{tmp_path}/pid; while :; do echo 0123456789; done")
    [reading] = module.collect([command(babble, max_bytes=100)])
    assert reading["end"] == "truncated"
    assert len(reading["text"]) == 100
    assert "100 bytes" in reading["error"]
    assert gone(int((tmp_path / "pid").read_text()))


def test_of_thousands_of_statistics_only_those_that_are_asked_for_come_back(
    module: ModuleType, tool: Tool, evidence: Path
) -> None:
    """What the check reads is what was kept of all that the tool printed; how it ended is as ever."""
    ethtool = tool("ethtool", f"cat {evidence}/ethtool/statistics_whole.txt; exit 3")
    [reading] = module.collect([command(ethtool, lines=READS["ethtool_statistics"].lines)])
    assert reading["text"] == (evidence / "ethtool" / "statistics.txt").read_text()
    assert (reading["end"], reading["rc"]) == ("ok", 3)


def test_a_flood_on_stderr_is_kept_to_its_end(module: ModuleType, tool: Tool) -> None:
    flood = tool("flood", "i=0; while [ $i -lt 3000 ]; do echo complaint $i >&2; i=$((i+1)); done; echo fine")
    [reading] = module.collect([command(flood)])
    assert (reading["end"], reading["text"]) == ("ok", "fine\n")
    assert reading["error"].endswith("complaint 2999")
    assert len(reading["error"]) <= module.ERROR_BYTES


def test_bytes_that_are_not_utf8_are_replaced(module: ModuleType, tool: Tool) -> None:
    [reading] = module.collect([command(tool("latin", r"printf 'caf\351 \000 \377\n'"))])
    assert reading["text"] == "caf\ufffd \0 \ufffd\n"


def test_reads_run_side_by_side_and_keep_their_order(module: ModuleType, tool: Tool, tmp_path: Path) -> None:
    """Each of two tools waits until the other has started: one after the other they would both run out of time."""
    meet = tool("meet", f"touch {tmp_path}/$1; while [ ! -e {tmp_path}/$2 ]; do sleep 0.05; done; echo $1")
    found = module.collect([command(meet, "a", "b", name="first"), command(meet, "b", "a", name="second")])
    assert [(reading["name"], reading["text"]) for reading in found] == [("first", "a\n"), ("second", "b\n")]


def test_a_read_that_no_signal_reaches_is_left_behind(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for a process in uninterruptible sleep: the thread that carries the read out never comes back."""
    monkeypatch.setattr(module, "_carry_out", lambda *_args: time.sleep(600))
    monkeypatch.setattr(module, "GRACE", 0.1)
    [reading] = module.collect([command("true", seconds=0.2)])
    assert reading["end"] == "timeout"
    assert reading["at"] > 0


@pytest.mark.parametrize("name", ["fleet_collect", "fleet_job"])
def test_modules_keep_to_the_python_and_the_library_that_nodes_have(project: Path, name: str) -> None:
    """Python 3.7 syntax; nothing but the standard library and Ansible's own module_utils."""
    tree = ast.parse((project / "plugins" / "modules" / f"{name}.py").read_text(), feature_version=(3, 7))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    foreign = {name for name in names if name.split(".")[0] not in {"ansible", "__future__"}}
    assert {name.split(".")[0] for name in foreign} <= sys.stdlib_module_names
    assert {name for name in names if name.startswith("ansible")} == {"ansible.module_utils.basic"}


def test_a_simulated_nodes_files_lie_under_its_own_root(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are called as on a real node; a pattern that begins with a variable says itself where it begins."""
    root = tmp_path / "a [root]"
    for file, text in ((root / "sys" / "count", "7"), (tmp_path / "jobs" / "one", "12")):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    monkeypatch.setenv("FLEET_ROOT", str(root))
    monkeypatch.setenv("FLEET_JOBS", str(tmp_path / "jobs"))
    [reading] = module.collect([command("/sys/cou*", "/proc/self/status", "$FLEET_JOBS/*") | {"kind": "files"}])
    assert json.loads(reading["text"]) == {"/sys/count": "7", str(tmp_path / "jobs" / "one"): "12"}


def test_files_are_read_by_their_patterns(module: ModuleType, tmp_path: Path) -> None:
    """Each once, stripped; null where it cannot be read, nothing where a pattern finds none."""
    for name, text in {"a/state": "4: ACTIVE\n", "b/state": "\xff", "b/rate": "400"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    (tmp_path / "c" / "state").mkdir(parents=True)
    patterns = [f"{tmp_path}/*/state", f"{tmp_path}/a/*", f"{tmp_path}/never/*"]
    [reading] = module.collect([command(*patterns) | {"kind": "files"}])
    assert reading["end"] == "ok"
    found = {f"{tmp_path}/a/state": "4: ACTIVE", f"{tmp_path}/b/state": "\ufffd", f"{tmp_path}/c/state": None}
    assert json.loads(reading["text"]) == found
