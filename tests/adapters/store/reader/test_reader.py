"""The reader answers as the Store does, from the Store's own queries, and leaves to it whatever is unusual."""

import inspect
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine import database
from fleet_runner.adapters.store.reader import queries, reader, recording
from fleet_runner.adapters.store.schema.core import REVISION
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.filling import fill

WORDS = {
    "nodes": "management = 'full', state = CASE name WHEN (SELECT min(name) FROM nodes) THEN 'production' "
    "ELSE 'watched' END, device_type = CASE name WHEN (SELECT min(name) FROM nodes) THEN 'dgx' "
    "ELSE 'infiniband-fabric' END, wake_at = 7.0",
    "conditions": "condition = 'held'",
    "runs": "stage = 'survey', outcome = CASE id WHEN 1 THEN NULL ELSE 'passed' END, "
    "ended_at = CASE id WHEN 1 THEN NULL ELSE opened_at + 9.5 END",
    "results": """stage = 'survey', verdict = 'FAIL', observed = '{"gpus": 7}', evidence = '["a1", "b2"]', findings =
    '[{"code": "gpu.lost", "component": "gpu 1", "message": "it is gone", "remedy": "TRIAGE", "fault": "f",
    "nodes": ["gpu-01"], "steps": ["look"]}]'""",
    "latest": "result = (SELECT min(id) FROM results WHERE results.node = latest.node)",
    "boots": """expected = '{"macs": ["a"], "serial": "s", "uuid": "u", "addresses": ["b"]}', closed_at = NULL""",
    "boot_events": "kind = CASE id WHEN 1 THEN 'script' ELSE 'refused' END",
    "flashes": """activate = 'bmc_reset', phase = 'sent', "end" = NULL, ended_at = NULL, "before" = '{"BMC": "1"}'""",
    "alarms": "source = 'redfish', remedy = 'TRIAGE', cleared_at = NULL",
    "attempts": "remedy = 'RESET', ended_at = CASE id WHEN 1 THEN NULL ELSE at END",
    "breakers": "scope = CASE scope WHEN (SELECT min(scope) FROM breakers) THEN 'fleet' ELSE scope END",
    "switches": "name = CASE name WHEN (SELECT min(name) FROM switches) THEN 'queue' ELSE 'schedule passive' END",
    "modes": "scope = CASE id WHEN 1 THEN 'fleet' ELSE 'node' END, kind = '', mode = 'act'",
    "tickets": "closed_at = CASE id WHEN 1 THEN NULL ELSE opened_at END",
    "analyses": """body = '{"a": 1}',
    name = CASE name WHEN (SELECT min(name) FROM analyses) THEN 'lemons' ELSE name END""",
    "foresights": "kind = 'lemon', numbers = '{\"points\": 3.5}', ended_at = NULL",
}
"""Words that the columns of a table take only some of; the rest is as `fill` has it."""

ASKED: dict[str, Callable[[Store], object]] = {
    "nodes": lambda store: store.nodes(),
    "fabrics": lambda store: store.fabrics(),
    "node": lambda store: [store.node(each.name) for each in (*store.nodes(), *store.fabrics())],
    "no node": lambda store: store.node("nobody"),
    "open_runs": lambda store: store.open_runs(),
    "open_runs of some": lambda store: store.open_runs(["nobody"]),
    "durations": lambda store: [store.durations(Stage.SURVEY), store.durations(Stage.SURVEY, 1)],
    "waiting_since": lambda store: [store.waiting_since(0.5), store.waiting_since(1e9)],
    "queue_paused": lambda store: store.queue_paused(),
    "schedules": lambda store: store.schedules()[1:],
    "beats": lambda store: store.beats(),
    "breaker": lambda store: store.breaker(),
    "line_at": lambda store: [store.line_at(1), store.line_at(99)],
    "identity": lambda store: store.identity(),
    "modes": lambda store: store.modes(),
    "open_flashes": lambda store: store.open_flashes(),
    "open_flash": lambda store: [store.open_flash(each.node) for each in store.open_flashes()],
    "standing_alarms": lambda store: [store.standing_alarms(), store.standing_alarms(0.5)],
    "alarms": lambda store: [store.alarms(each.node) for each in store.standing_alarms()],
    "attempts": lambda store: [store.attempts(each.name, at) for each in store.nodes() for at in (0.0, 1e9)],
    "open_boots": lambda store: store.open_boots(),
    "boots": lambda store: [store.boots(each.node, 1) for each in store.open_boots()],
    "latest_results": lambda store: [store.latest_results(each.name) for each in store.nodes()],
    "tickets": lambda store: [store.tickets(), store.tickets(open_only=False)],
    "tickets of a node": lambda store: [
        store.tickets(node=each.name, open_only=only) for each in store.nodes() for only in (True, False)
    ],
    "analysis": lambda store: [store.analysis("lemons"), store.analysis("nobody's")],
    "foresights": lambda store: [store.foresights(node=each.name, limit=5) for each in store.nodes()],
    "foresights of all": lambda store: store.foresights(),
    "what only the Store knows": lambda store: [store.shared, store.refusal, store.last_line()],
}


@pytest.fixture(scope="module")
def filled(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with something in every table, to copy."""
    path = tmp_path_factory.mktemp("filled") / "fleet.db"
    shutil.copy(sqlite_template, path)
    opened = database.connect(f"sqlite:///{path}")
    with opened.engine.begin() as connection:
        connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
        fill(connection)
        for table, words in WORDS.items():
            connection.exec_driver_sql(f"UPDATE {table} SET {words}")  # noqa: S608  of the table above
    opened.close()
    return path


@pytest.fixture
def full(filled: Path, tmp_path: Path) -> str:
    """The URL of a store of the test's own with something in every table."""
    return f"sqlite:///{shutil.copy(filled, tmp_path)}"


@pytest.fixture
def both(full: str) -> Iterator[tuple[Store, Store]]:
    """The reader and the Store of one file."""
    light = reader.opened(full)
    with Store.open(full) as store:
        yield light, store
    light.close()


@pytest.mark.parametrize("asked", ASKED)
def test_it_answers_as_the_store_does(both: tuple[Store, Store], asked: str) -> None:
    light, store = both
    found = ASKED[asked](light)
    assert isinstance(light, reader.Reader)
    assert found == ASKED[asked](store)
    assert repr(found) == repr(ASKED[asked](store))  # 1 is no True, and 1.0 no 1


def test_each_answer_of_its_own_is_asked_for_here() -> None:
    assert reader.READS.keys() <= {words.split()[0] for words in ASKED}


def test_it_is_asked_as_the_store_is() -> None:
    def parameters(function: Callable[..., object]) -> list[tuple[str, object, object]]:
        found = list(inspect.signature(function).parameters.values())[1:]
        return [(each.name, each.kind, each.default) for each in found]

    asked = {name: parameters(function) for name, function in reader.READS.items()}
    assert asked == {name: parameters(getattr(Store, name)) for name in asked}


def test_its_queries_are_the_stores_own() -> None:
    assert recording.FILE.read_text(encoding="utf-8") == recording.module(), "make docs writes them anew"
    assert queries.REVISION == REVISION


def test_its_patience_is_the_stores() -> None:
    assert reader.PATIENCE == database.PATIENCE


def test_it_cannot_write(full: str) -> None:
    light = reader.opened(full)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        light._connection.made.execute("DELETE FROM conditions")  # type: ignore[attr-defined]  it is a Reader
    light.close()


@pytest.mark.parametrize("change", ["UPDATE alembic_version SET version_num = '0001'", "DROP TABLE alembic_version"])
def test_a_store_of_another_schema_is_refused_in_the_stores_words(full: str, change: str) -> None:
    with sqlite3.connect(full.removeprefix("sqlite:///")) as connection:
        connection.execute(change)
    with pytest.raises(StoreError) as of_store:
        Store.open(full, reading=True)
    with pytest.raises(StoreError) as of_reader:
        reader.opened(full)
    assert str(of_reader.value) == str(of_store.value)


@pytest.mark.parametrize("content", [None, b"", b"no database" * 500])
def test_what_is_no_store_is_refused_in_the_stores_words(tmp_path: Path, content: bytes | None) -> None:
    file = tmp_path / "fleet.db"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(StoreError) as of_store:
        Store.open(f"sqlite:///{file}", reading=True)
    with pytest.raises(StoreError) as of_reader:
        reader.opened(f"sqlite:///{file}")
    assert str(of_reader.value) == str(of_store.value)


def test_what_breaks_on_the_way_is_told_by_the_store(full: str) -> None:
    light = reader.opened(full)
    with sqlite3.connect(full.removeprefix("sqlite:///")) as connection:
        connection.execute("DROP TABLE beats")
    with pytest.raises(StoreError, match="no such table: beats"):
        light.beats()
    light.close()


def test_what_it_needs_is_neither_sqlalchemy_nor_the_store(full: str) -> None:
    asks = [f"light.{name}" for name in ("nodes()", "open_flashes()", "tickets()", "standing_alarms()", "beats()")]
    code = (
        "import sys; from fleet_runner.adapters.store.reader import reader; "
        f"light = reader.opened({full!r}); print({', '.join(asks)}); light.close(); "
        "heavy = ('sqlalchemy', 'fleet_runner.adapters.store.facade'); "
        "sys.exit(str([name for name in heavy if name in sys.modules]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.stderr.strip() == "[]"
