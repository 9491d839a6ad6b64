"""Help: one line a command at 80 columns, at once; and a command is imported when it is the one that was typed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.cli import COMMANDS
from tests.adapters.store.builders import device
from tests.cli.conftest import Type

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"

OF_A_FLEET = ("sqlalchemy", "fleet_runner.settings", "structlog", "yaml", "fleet_runner.adapters.store")
"""What takes most of a command's time; to read a command line takes pydantic alone."""

HEAVY = ("sqlalchemy", "pydantic", "structlog", "ansible", "fleet_runner.adapters", "fleet_runner.reconcile")


def test_help_lists_each_command_on_a_line_of_its_own(typed: Type) -> None:
    lines = [line.strip("│ ").split(maxsplit=1) for line in typed("--help").out.splitlines() if line.startswith("│")]
    listed = {line[0]: line[1] for line in lines if len(line) == 2}
    assert {name: listed.get(name) for name in COMMANDS} == {name: named.help for name, named in COMMANDS.items()}


def _imported(*words: str, cwd: Path | None = None) -> set[str]:
    """Return the modules that a command imports: -X importtime names them all."""
    asked = [sys.executable, "-X", "importtime", "-m", "fleet_runner", *words]
    done = subprocess.run(asked, cwd=cwd, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode in {0, 1}
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


def test_help_imports_no_command() -> None:
    """Neither a store nor settings."""
    imported = _imported("--help")
    assert "typer" in imported
    assert [name for name in imported if name.startswith(HEAVY)] == []


@pytest.mark.parametrize(
    "words",
    [
        ("cabling", "--help"),
        ("cabling", "check", "--expected", f"{EXAMPLES / 'ethernet.csv'}", "--observed", f"{EXAMPLES / 'lldp'}"),
        ("check", "list"),
    ],
)
def test_what_works_without_a_fleet_imports_neither_store_nor_settings(words: tuple[str, ...]) -> None:
    imported = _imported(*words)
    assert "rich.console" in imported
    assert [name for name in imported if name.startswith(OF_A_FLEET)] == []


@pytest.mark.parametrize("words", [("status",), ("node", "gpu-01"), ("tickets",)])
def test_what_people_wait_for_loads_neither_sqlalchemy_nor_the_store(tmp_path: Path, words: tuple[str, ...]) -> None:
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        store.register([device("gpu-01")], 1.0)
    imported = _imported(*words, cwd=tmp_path)
    assert "fleet_runner.adapters.store.reader.reader" in imported
    slow = ("sqlalchemy", "structlog", "yaml", "httpx", "fleet_runner.adapters.store.facade")
    assert [name for name in imported if name.startswith(slow)] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_of_its_own(typed: Type, name: str) -> None:
    said = typed(name, "--help")
    assert (said.code, f"fleet-runner {name}" in said.words) == (0, True)


def test_what_is_no_command_is_refused_and_the_next_one_named(typed: Type) -> None:
    said = typed("stats")
    assert (said.code, "'status'" in said.err) == (2, True)


def test_names_and_options_are_completed(tmp_path: Path) -> None:
    def completed(line: str) -> list[str]:
        asked = {"_FLEET_RUNNER_COMPLETE": "complete_bash", "_TYPER_COMPLETE_ARGS": line}
        words = line.split()
        asked |= {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
        command = [
            sys.executable,
            "-c",
            "import sys; sys.argv = ['fleet-runner']; from fleet_runner.cli import main; main()",
        ]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, **asked}, capture_output=True, text=True, check=True, timeout=60
        )
        return done.stdout.split()

    assert completed("fleet-runner sta") == ["status"]
    assert completed("fleet-runner trends lem") == ["lemons"]
    assert completed("fleet-runner status --wat") == ["--watch"]
