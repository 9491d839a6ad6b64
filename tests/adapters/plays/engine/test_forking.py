"""What keeps a fork from being what was to be started, or does not."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet_runner.adapters.plays import batch_folder, engine, fork_server
from fleet_runner.adapters.plays.engine import BatchState
from fleet_runner.adapters.plays.fork_server import parent
from tests.adapters.plays.engine.conftest import B1, Site
from tests.waiting import until

FORBID = """
import ctypes, os, struct
words = [(0x20, 0, 0, 0), (0x15, 1, 0, FORBIDDEN), (6, 0, 0, 0x7FFF0000), (6, 0, 0, 0x00050001)]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *word) for word in words))
class Filter(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("program", ctypes.c_void_p)]
given = Filter(len(words), ctypes.addressof(program))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, ctypes.byref(given), 0, 0) == 0
"""
"""Has the kernel answer EPERM to a system call, as the service's SystemCallFilter= does."""

SETPRIORITY = {"x86_64": 141, "aarch64": 140}.get(os.uname().machine)

KEEP = """
import sys, time
from fleet_runner.adapters.plays import engine
from fleet_runner.adapters.plays.fork_server import keeper
from fleet_runner.settings import Settings
settings = Settings.model_validate_json(sys.argv[1])
with keeper.kept(settings, engine.environment(settings, "none")): time.sleep(600)
"""


BELOW = ("fleet_runner.adapters", "fleet_runner.core", "fleet_runner.settings")
"""What the parent may import, which is an adapter."""


def log(site: Site) -> str:
    return site.file(B1, batch_folder.LOG).read_text()


@pytest.mark.skipif(SETPRIORITY is None, reason="the number of the system call is not known for this processor")
def test_a_play_is_forked_where_the_service_may_not_be_nicer(site: Site) -> None:
    """The parent is under the service's filter, which forbids setpriority; a play that is started goes on, too."""
    site.play("say one")
    words = [sys.executable, "-c", f"FORBIDDEN = {SETPRIORITY}{FORBID}{KEEP}", site.settings.model_dump_json()]
    with subprocess.Popen(words, env=engine.environment(site.settings, "none")) as keeper:
        try:
            until(lambda: fork_server.answers(fork_server.folder(site.settings)))
            engine.launch(site.settings, site.batch(B1))
            assert site.wait_for(B1, BatchState.ENDED).rc == 0
        finally:
            keeper.kill()
    assert "not forked" not in log(site)
    assert "Traceback" not in log(site)
    assert site.witness() == ["one"]


@pytest.mark.parametrize("site", ["warm"], indirect=True)
def test_a_supervisor_for_another_python_is_not_forked(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installation beside the one that serves has code of its own."""
    other = tmp_path / "python"
    other.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    other.chmod(0o700)
    site.play("say one")
    with monkeypatch.context() as beside:
        beside.setattr(sys, "executable", str(other))
        engine.launch(site.settings, site.batch(B1))
    assert site.wait_for(B1, BatchState.ENDED).rc == 0
    assert "not forked from a warm parent: " in log(site)
    assert site.witness() == ["one"]


def test_what_ansible_logs_to_is_no_file_of_a_supervisor(tmp_path: Path) -> None:
    """Ansible opens its log while it is imported; all is closed for a supervisor, and its number given again."""
    code = (
        "import logging, os, sys; from fleet_runner.adapters.plays.fork_server import forked\n"
        "assert logging.root.handlers\n"
        "forked.forget_logs(); os.closerange(3, 1000)\n"
        "for number in range(16): os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)\n"
        "logging.getLogger('psycopg').error('away')"
    )
    file = tmp_path / "file"
    environment = os.environ | {"ANSIBLE_LOG_PATH": str(tmp_path / "log")}
    said = subprocess.run(
        [sys.executable, "-c", code, file], env=environment, capture_output=True, text=True, check=True
    )
    assert file.read_text() == ""
    assert "away" in said.stderr


def test_a_fork_imports_nothing_that_the_parent_could_have_imported(project: Path) -> None:
    """Our plugins import some modules only when they act: each task of each play would import them anew."""
    nested = [
        node
        for kind in parent.PLUGINS
        for file in sorted((project / "plugins" / kind).glob("*.py"))
        for function in ast.walk(ast.parse(file.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith(BELOW)
    ]
    assert any(node.module == "fleet_runner.adapters.store" for node in nested)
    code = (
        "import sys; from pathlib import Path; from fleet_runner.adapters.plays.fork_server import parent\n"
        "parent.warm(Path.cwd(), ()); before = set(sys.modules)\n"
        f"{chr(10).join(ast.unparse(node) for node in nested)}\n"
        "import sqlalchemy; sqlalchemy.create_engine('sqlite://')\n"
        "print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=project, capture_output=True, text=True, check=False)
    assert done.stdout == "[]\n", done.stderr
