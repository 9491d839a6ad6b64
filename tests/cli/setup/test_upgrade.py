"""The doctor after an upgrade: what an earlier release left, with what to type, and what it says is what helps."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic import command

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.maintenance.migrate import config
from fleet_runner.adapters.store.schema.core import REVISION
from fleet_runner.cli.setup.doctor import upgrade
from fleet_runner.settings import PROJECT_DIR
from tests.adapters.store.filling import Rows, empty, fill, rows
from tests.commands import entered

FIRST = "0001"
"""The schema of 0.1.0 as it was first laid out; its last one was 0014."""


class Fleet:
    """A fleet's folder, and what the doctor says of it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.root = root
        self._given = (monkeypatch, capsys)

    def command(self, *words: str) -> tuple[int, str]:
        """Run a command; return how it ended, and all that it said."""
        said = entered(*self._given, *words)
        return said.code, said.out + said.err

    def told(self, part: str) -> list[dict[str, Any]]:
        """Return what the doctor says of a part."""
        code, said = self.command("doctor", "--json")
        findings: list[dict[str, Any]] = json.loads(said)["findings"]
        assert code == any(each["grade"] == "wrong" for each in findings)
        return [each for each in findings if each["part"] == part]


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Fleet:
    """The example's folder, which is the working directory, in a home of its own, without units on the machine."""
    for name in [name for name in os.environ if name.startswith(("FLEET_", "SSH_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(upgrade, "UNITS", (tmp_path / "etc", tmp_path / "usr"))
    for folder in upgrade.UNITS:
        folder.mkdir()
    found = Fleet(tmp_path / "fleet", monkeypatch, capsys)
    assert found.command("init", str(found.root), "--example")[0] == 0
    monkeypatch.chdir(found.root)
    return found


def earlier(file: Path, schema: str) -> Rows:
    """Make a store of an earlier schema, with rows in every table; return them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    database = connect(f"sqlite:///{file}", create=True)
    with database.write() as connection:
        empty(connection)
    with database.write() as connection:
        command.upgrade(config(connection), schema)
    with database.write() as connection:
        made = fill(connection)
    database.close()
    return made


@pytest.mark.parametrize("schema", [FIRST, "0009", "0013"])
def test_the_store_of_the_release_before_is_taken_along_by_what_the_doctor_says(fleet: Fleet, schema: str) -> None:
    before = earlier(fleet.root / "state" / "fleet.db", schema)
    (told,) = fleet.told("store")
    assert told["grade"] == "wrong"
    assert f"schema is {schema}" in told["found"]
    assert "fleet-runner db backup FILE && fleet-runner db migrate" in told["todo"]
    assert fleet.command("db", "backup", "before.db")[0] == 0
    assert fleet.command("db", "migrate")[0] == 0
    assert "its schema is" not in str(fleet.told("store"))
    database = connect(f"sqlite:///{fleet.root / 'state' / 'fleet.db'}")
    with database.read() as connection:
        after = rows(connection)
    database.close()
    for table, mine in before.items():
        assert [{name: row[name] for name in mine[0]} for row in after[table]] == mine, table
    assert (fleet.root / "before.db").stat().st_size > 0


def test_a_store_of_a_later_release_is_not_to_be_migrated(fleet: Fleet) -> None:
    file = fleet.root / "state" / "fleet.db"
    earlier(file, REVISION)
    database = connect(f"sqlite:///{file}")
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    database.close()
    (told,) = fleet.told("store")
    assert told["grade"] == "wrong"
    assert told["todo"] == "install the release that served it last; an older one cannot go on with it"


def test_a_store_in_the_place_of_the_release_before_is_named_and_found_again(fleet: Fleet, tmp_path: Path) -> None:
    place = tmp_path / ".local" / "state" / "fleet-runner"
    place.mkdir(parents=True)
    Store.create(f"sqlite:///{place / 'fleet.db'}").close()
    (told,) = fleet.told("settings")
    line = f'state_dir = "{place}"'
    assert told["grade"] == "wrong"
    assert line in told["found"]
    with (fleet.root / "fleet.toml").open("a") as settings:
        settings.write(f"{line}\n")
    assert {each["grade"] for each in fleet.told("settings") + fleet.told("store")} == {"ok"}


def test_a_setting_that_was_renamed_says_its_new_name(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_ACTIVE_SECONDS", "60")
    (told, _) = fleet.told("settings")
    assert told["grade"] == "warning"
    assert 'write active_schedule = "every 1h"' in told["found"]
    file = fleet.root / "fleet.toml"
    before = file.read_text()
    file.write_text(f"passive_seconds = 600\n{before}")
    (told,) = fleet.told("settings")
    assert told["grade"] == "wrong"
    assert told["found"].endswith('earlier releases had it; write passive_schedule = "every 5min"')
    file.write_text(f'passive_schedule = "every 5min"\n{before}')
    assert {each["grade"] for each in fleet.told("settings")} == {"warning", "ok"}


def unit(folder: Path, program: str) -> Path:
    """Put a unit into a folder."""
    file = folder / "fleet-runner.service"
    file.write_text(f"[Service]\nEnvironment=A=b\nExecStart={program} serve\n")
    return file


def test_a_unit_that_starts_a_clone_is_named_with_what_replaces_it(
    fleet: Fleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fleet.told("unit") == []
    file = unit(tmp_path / "etc", "/opt/fleet-runner/.venv/bin/fleet-runner-that-is-gone")
    (told,) = fleet.told("unit")
    assert told["grade"] == "wrong"
    assert f"correct ExecStart= in {file}" in told["todo"]

    clone = tmp_path / "clone" / "fleet-runner"
    clone.parent.mkdir()
    clone.write_text("#!/bin/sh\n")
    clone.chmod(0o755)
    unit(tmp_path / "etc", str(clone))
    unit(tmp_path / "usr", "fleet-runner")
    (told,) = fleet.told("unit")
    assert told["grade"] == "warning"
    assert f"rm {file}, then systemctl daemon-reload" in told["todo"]

    file.unlink()
    own = Path(sys.executable).with_name("fleet-runner")
    assert own.exists()
    monkeypatch.setattr(upgrade, "SEARCHED", str(own.parent))
    assert {each["grade"] for each in fleet.told("unit")} == {"ok"}


def test_copies_of_what_is_installed_are_named_and_changed_ones_are_to_be_compared(fleet: Fleet) -> None:
    assert fleet.told("overrides") == []
    mine, role = fleet.root / "playbooks" / "verify.yml", fleet.root / "roles" / "proof"
    mine.parent.mkdir()
    shutil.copy(PROJECT_DIR / "playbooks" / "verify.yml", mine)
    shutil.copytree(PROJECT_DIR / "roles" / "proof", role)
    (fleet.root / "playbooks" / "ours.yml").write_text("[]\n")
    (told,) = fleet.told("overrides")
    assert told["grade"] == "warning"
    assert told["todo"].endswith(f"rm -r {mine} {role}")
    mine.write_text(mine.read_text() + "# changed\n")
    shutil.rmtree(role)
    (told,) = fleet.told("overrides")
    assert told["grade"] == "ok"
    assert f"diff -r {PROJECT_DIR / 'playbooks' / 'verify.yml'} {mine}" in told["found"]


def test_values_that_differ_from_those_of_this_release_are_named(fleet: Fleet) -> None:
    assert fleet.told("values") == []
    file = fleet.root / "inventory" / "group_vars" / "device_type_dgxh100.yml"
    text = file.read_text()
    assert "  time_sync: {offset_seconds_max: 0.1}\n" in text
    text = text.replace("  time_sync: {offset_seconds_max: 0.1}\n", "  ours: {}\n")
    file.write_text(text.replace("limit_watts: 700", "limit_watts: 650"))
    (told,) = fleet.told("values")
    assert told["grade"] == "ok"
    assert "device_type_dgxh100.yml has none of time_sync, adds ours, differs in gpu_power" in told["found"]
    file.write_text("fleet_profile: [\n")
    assert fleet.told("values") == []
