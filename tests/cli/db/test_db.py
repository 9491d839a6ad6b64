"""fleet-runner db: what a person sees, and what is refused."""

import json
import time
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.adapters.store.maintenance.migrate import config
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.loop.single_instance import serving
from fleet_runner.settings import load
from tests.adapters.store.builders import decision, device, node, told
from tests.cli.conftest import Type

DAY = 86_400.0


@pytest.fixture
def store(typed: Type) -> Store:
    """The store of the test's own folder, with a node and an old piece of evidence."""
    del typed
    with Store.create(load().store_url) as made:
        made.register([device("gpu-01")], 1.0)
        at = time.time() - 100 * DAY
        (run,) = made.apply(node(made), decision(OpenRun(Stage.VERIFY, "It is time.", batch="b-1")), at)
        made.ingest("b-1", 0, 9, [told("long ago")])
        made.close_run(run, Outcome.UNKNOWN, "", at + 9)
    folder = load().batches_dir / "b-1"
    folder.mkdir(parents=True)
    (folder / "log").write_text("It ended.\n")
    return made


def test_stats_show_every_kind_and_what_retention_would_take(store: Store, typed: Type) -> None:
    said = typed("db", "stats")
    assert said.code == 0
    assert "schema 0019" in said.out
    for kind in ("results", "evidence", "history", "runs", "tickets", "alarms", "boots", "batch folders", "bundles"):
        assert kind in said.out
    assert "db prune: 1 pieces of evidence (" in said.words
    assert "would go" in said.words
    told = json.loads(typed("db", "stats", "--json").out)
    kinds = {row["kind"]: row for row in told["kinds"]}
    assert kinds["evidence"]["rows"] == 1
    assert kinds["evidence"]["bytes"] > 0
    assert kinds["batch folders"]["rows"] == 1
    assert told["prune"]["evidence"] == 1
    assert told["bytes"] > 100_000


def test_prune_says_what_went_and_a_dry_run_takes_nothing(store: Store, typed: Type) -> None:
    dry = typed("db", "prune", "--dry-run")
    assert dry.words.startswith("1 pieces of evidence (")
    assert typed("db", "prune", "--dry-run").out == dry.out
    assert json.loads(typed("db", "prune", "--json").out)["evidence"] == 1
    assert typed("db", "prune").words == "Nothing went."


def test_migrate_says_what_is_to_be_done_does_it_and_is_refused_while_somebody_serves(
    store: Store, typed: Type
) -> None:
    assert typed("db", "migrate", "--check").words.endswith("is at schema 0019; nothing to do")
    _older(load().store_url, "0006")
    checked = typed("db", "migrate", "--check")
    assert checked.code == 1
    assert "0008: The web service" in checked.words
    with serving(load()):
        refused = typed("db", "migrate")
    assert refused.code == 3
    assert "a process serves" in " ".join(refused.err.split())
    assert typed("db", "migrate").words.endswith("is at schema 0019 now")
    Store.open(load().store_url).close()


def test_migrate_although_somebody_serves(store: Store, typed: Type) -> None:
    _older(load().store_url, "0006")
    with serving(load()):
        assert typed("db", "migrate", "--force").code == 0


def test_a_newer_store_is_not_migrated(store: Store, typed: Type) -> None:
    database = connect(load().store_url)
    with database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    database.close()
    said = typed("db", "migrate")
    assert said.code == 3
    assert "its schema is 9999, of a newer fleet-runner" in " ".join(said.err.split())


def test_a_store_is_copied_and_used_there(
    store: Store, typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = f"sqlite:///{tmp_path / 'other.db'}"
    said = typed("db", "copy", "--to", target)
    assert said.code == 0, said.err
    assert "each table with the same count and hash" in said.words
    assert "evidence: 1 rows" in said.err
    monkeypatch.setenv("FLEET_DATABASE_URL", target)
    assert "gpu-01" in typed("status").out


def test_a_target_with_a_password_is_taken_from_the_variable_alone(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = typed("db", "copy", "--to", "postgresql://fleet:secret@127.0.0.1:1/fleet")
    assert refused.code == 2
    assert "everybody on this machine can read" in " ".join(refused.err.split())
    monkeypatch.setenv("FLEET_COPY_TO", "postgresql://fleet:secret@127.0.0.1:1/fleet")
    tried = typed("db", "copy")
    assert tried.code == 3
    assert "cannot be reached" in " ".join(tried.err.split())
    assert "secret" not in refused.err + tried.err
    assert "is no setting" not in tried.err
    monkeypatch.delenv("FLEET_COPY_TO")
    assert typed("db", "copy").code == 2


def test_nothing_is_copied_or_restored_while_somebody_serves(store: Store, typed: Type, tmp_path: Path) -> None:
    file = tmp_path / "fleet.backup"
    with serving(load()):
        assert typed("db", "copy", "--to", f"sqlite:///{tmp_path / 'other.db'}").code == 3
        assert typed("db", "backup", str(file)).code == 0
        assert typed("db", "restore", str(file)).code == 3
    assert file.is_file()


def test_a_backup_is_brought_back_and_says_what_to_look_at(store: Store, typed: Type, tmp_path: Path) -> None:
    file = tmp_path / "fleet.backup"
    assert typed("db", "backup", str(file)).words.startswith(str(file)[:20])
    with Store.open(load().store_url) as opened:
        opened.register([device("gpu-02")], 2.0)
    said = typed("db", "restore", str(file))
    assert said.code == 0, said.err
    assert "nodes held: 1; open flashes: 0" in said.words
    assert "valid tokens for signals, also those revoked since: 0" in said.words
    with Store.open(load().store_url) as opened:
        assert [each.name for each in opened.nodes()] == ["gpu-01"]
    (aside,) = load().state_dir.glob("fleet.db.before-*")
    assert f"the previous store is {aside} now" in said.words


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("there", "the file exists already"),
        ("..", "is a folder"),
        ("no/file", "there is no folder no; create it"),
    ],
)
def test_a_backup_needs_a_new_file_in_a_folder(store: Store, typed: Type, file: str, why: str) -> None:
    Path("there").write_text("It stays.")
    said = typed("db", "backup", file)
    assert (said.code, why in said.err, "Errno" in said.err) == (2, True, False)
    assert Path("there").read_text() == "It stays."


def test_a_backup_into_nothing_is_a_new_store(store: Store, typed: Type, tmp_path: Path) -> None:
    file = tmp_path / "fleet.backup"
    typed("db", "backup", str(file))
    load().state_dir.rename(tmp_path / "gone")
    assert typed("db", "restore", str(file)).code == 0
    assert "gpu-01" in typed("status").out


def _older(url: str, schema: str) -> None:
    """Make the store one of an older schema, empty."""
    from alembic import command  # noqa: PLC0415  slow to load, as in the product

    path = load().state_dir / "fleet.db"
    path.unlink()
    engine = create_engine(url)
    with engine.begin() as connection:
        command.upgrade(config(connection), schema)
    engine.dispose()
