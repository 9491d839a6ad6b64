"""The module that resets GPUs: what it stopped runs again whatever happens, and nobody's GPU is touched."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.playing import PROJECT
from tests.waiting import PATIENCE, until

SYSTEMCTL = """\
echo "$@" >>"$0".asked
case "$1" in
    show) [ "$3" = --property=LoadState ] && echo LoadState=loaded || echo ActiveState=$(cat "$0".state) ;;
    stop) echo inactive >"$0".state ;;
    start | restart) echo active >"$0".state ;;
esac
"""


@pytest.fixture
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    return plugin("modules/fleet_reset")


@pytest.fixture
def node(tmp_path: Path, tool: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """A node with one service that runs, and GPUs that can be reset."""
    tool("systemctl", SYSTEMCTL)
    (tmp_path / "systemctl.state").write_text("active")
    tool("nvidia-smi", 'echo "$@" >>"$0".asked; cat "$0".says 2>/dev/null; exit $(cat "$0".rc 2>/dev/null || echo 0)')
    (tmp_path / "dev").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("FLEET_ROOT", str(tmp_path))
    return tmp_path


def call(node: Path, **changed: Any) -> dict[str, Any]:
    """Call the module as Ansible does, and return its answer."""
    asked = {"stay": "7", "stop": ["x.service"], "dir": str(node / "resets"), "seconds": 20, **changed}
    checking = asked.pop("check", False)
    arguments = json.dumps({"ANSIBLE_MODULE_ARGS": asked | {"_ansible_check_mode": checking}})
    done = subprocess.run(
        [sys.executable, str(PROJECT / "plugins/modules/fleet_reset.py")],
        input=arguments,
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def asked(node: Path, name: str) -> list[str]:
    """Return the calls of a tool that change anything."""
    log = node / f"{name}.asked"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line for line in lines if not line.startswith("show")]


def test_what_is_stopped_is_started_again_and_a_second_call_does_nothing(node: Path) -> None:
    first, second = call(node, gpus=["0000:1b:00.0"]), call(node, gpus=["0000:1b:00.0"])
    assert (first["changed"], second["changed"], second["report"]["again"]) == (True, False, True)
    assert asked(node, "nvidia-smi") == ["--gpu-reset --id=0000:1b:00.0"]
    assert asked(node, "systemctl") == ["stop x.service", "start x.service"]
    assert (node / "dev/kmsg").read_text() == "fleet-runner: reset of 0000:1b:00.0\n"


def test_a_reset_that_fails_leaves_the_services_running_and_is_tried_again(node: Path) -> None:
    (node / "nvidia-smi.rc").write_text("255")
    first = call(node)["report"]
    assert (first["commands"][-1]["rc"], first["done"], first["units"]) == (255, None, {"x.service": "active"})
    assert not (node / "dev/kmsg").exists()
    (node / "nvidia-smi.rc").write_text("0")
    assert call(node)["report"]["done"]
    assert (node / "dev/kmsg").read_text() == "fleet-runner: reset of all GPUs\n"


def test_a_service_that_did_not_run_is_not_started(node: Path) -> None:
    (node / "systemctl.state").write_text("inactive")
    call(node)
    assert asked(node, "systemctl") == []


def test_a_gpu_that_somebody_has_open_is_not_reset(
    node: Path, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process goes on; what was stopped runs again."""
    held = node / "dev" / "held"
    held.touch()
    monkeypatch.setattr(module, "GPU", re.compile(re.escape(str(held))))
    log = module.Log(node / "resets", "7")
    with held.open():
        module.reset(log, [], ["x.service"], 20)
        assert any(f"({os.getpid()})" in each for each in log.report["holders"])
    assert asked(node, "nvidia-smi") == []
    assert asked(node, "systemctl") == ["stop x.service", "start x.service"]
    assert log.report["done"] is None


def test_fabric_manager_is_nobody_who_holds_a_gpu(
    node: Path, module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = node / "dev" / "held"
    held.touch()
    monkeypatch.setattr(module, "GPU", re.compile(re.escape(str(held))))
    monkeypatch.setattr(module, "OURS", {Path("/proc/self/comm").read_text().strip()})
    with held.open():
        assert module.holders() == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_call_that_is_killed_leaves_no_service_stopped_for_long(node: Path, number: signal.Signals) -> None:
    """Asked to end, it starts them first; killed, the next call does."""
    (node / "nvidia-smi").write_text('#!/bin/sh\necho $PPID >"$0".parent\nexec sleep 3\n')
    arguments = {"stay": "7", "stop": ["x.service"], "dir": str(node / "resets")}
    program = [sys.executable, str(PROJECT / "plugins/modules/fleet_reset.py")]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as running:
        assert running.stdin is not None
        running.stdin.write(json.dumps({"ANSIBLE_MODULE_ARGS": arguments}))
        running.stdin.close()
        until((node / "nvidia-smi.parent").exists)
        running.send_signal(number)
        running.wait(PATIENCE)
    if number is signal.SIGKILL:
        assert (node / "systemctl.state").read_text().strip() == "inactive"
        call(node)
    assert (node / "systemctl.state").read_text().strip() == "active"


def test_what_was_done_before_the_nodes_boot_counts_no_more(node: Path) -> None:
    call(node)
    path = node / "resets" / "7.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"boot": "another"}))
    assert call(node)["changed"]
    assert len(asked(node, "nvidia-smi")) == 2


def test_a_service_that_there_is_not_is_said(node: Path) -> None:
    (node / "systemctl").write_text("#!/bin/sh\necho LoadState=not-found\n")
    report = call(node, restart=["y.service"])["report"]
    assert "y.service is not on this node" in report["error"]


def test_check_mode_changes_nothing(node: Path) -> None:
    assert call(node, check=True)["changed"] is False
    assert asked(node, "systemctl") == asked(node, "nvidia-smi") == []
