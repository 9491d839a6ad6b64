"""The health pages over real sockets, beside a loop that really runs, hangs, or cannot do its work."""

import json
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from structlog.testing import capture_logs

from fleet_runner.adapters.plays.wakeup import hearing
from fleet_runner.adapters.store import Store
from fleet_runner.core.access.store_identity import Identity
from fleet_runner.core.base.errors import SettingsError, SourceError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.schedules import health as bounds
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.services.health import app, parts
from fleet_runner.services.health.parts import Health
from fleet_runner.services.health.thread import pages
from fleet_runner.services.http.limits import Limits
from fleet_runner.settings import Settings

EMPTY = Fleet(("hall",), {}, {}, {}, (), "1")
SECRET = "gpu-03 and a password"
PATIENCE = 120.0


class Answered(NamedTuple):
    """What a page said."""

    status: int
    page: dict[str, Any]


class Served:
    """A loop in a thread, with its pages; `source` is what its source of truth does."""

    def __init__(self, folder: Path) -> None:
        self.settings = Settings(
            state_dir=folder / "state",
            source=str(folder),
            source_schedule="every 1s",
            tick_seconds=0.05,
            policy_file=folder / "policy.yml",
        )
        (folder / "policy.yml").write_text("{}\n", "utf-8")
        self.store = Store.create(self.settings.store_url)
        self.source: Callable[[], Fleet] = lambda: EMPTY
        self.world = TickContext(self.settings, self.store, self._read)
        self.stop = Event()
        self.trouble = ""
        self.health = Health(self.world, self.stop, lambda: self.trouble)
        self.at = ""

    def _read(self) -> Fleet:
        return self.source()

    def tell(self, sentence: str) -> None:
        """Take where it listens from what it says."""
        self.at = sentence.removeprefix("health: ").partition("/healthz")[0]

    def ask(self, path: str, method: str = "GET") -> Answered:
        """Ask for a page."""
        try:
            with urlopen(Request(self.at + path, method=method), timeout=PATIENCE) as answer:  # noqa: S310  our own
                return Answered(answer.status, json.load(answer))
        except HTTPError as refused:
            with refused:
                said = refused.read()
            return Answered(refused.code, json.loads(said) if said.startswith(b"{") else {"said": said.decode()})

    def until(self, path: str, status: int) -> dict[str, Any]:
        """Ask until the answer has a status."""
        end = monotonic() + PATIENCE
        while (answered := self.ask(path)).status != status:
            assert monotonic() < end, answered
            sleep(0.05)
        return answered.page


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """A loop that goes round every 50 ms, and may be silent for three seconds; looks at the store are made anew."""
    monkeypatch.setattr(bounds, "LEAST", 3.0)
    monkeypatch.setattr(parts, "FRESH", 0.05)
    made = Served(tmp_path)
    with ExitStack() as stack:
        stack.enter_context(made.store)
        bell = stack.enter_context(hearing(made.settings.state_dir))
        stack.enter_context(pages("127.0.0.1:0", made.health, made.tell))
        loop = Thread(target=control_loop.serve, args=(made.world, made.stop, bell, [].append))
        loop.start()
        stack.callback(loop.join, PATIENCE)
        stack.callback(bell.ring)
        stack.callback(made.stop.set)
        yield made


def test_a_loop_that_goes_round_is_alive_and_ready(served: Served) -> None:
    """Both pages say so, with the release, and every part has its sentence."""
    page = served.until("/readyz", 200)
    assert set(page["parts"]) == {
        "loop",
        "store",
        "ownership",
        "lease",
        "source",
        "policy",
        "listener",
        "bmc",
        "ending",
    }
    assert all(part["ok"] and part["said"] for part in page["parts"].values())
    alive = served.until("/healthz", 200)
    assert alive["ok"]
    assert alive["seconds"] <= alive["bound_seconds"]
    assert alive["release"] == page["release"] != ""


def test_a_source_of_truth_that_blocks_turns_the_loop_red_and_its_answer_green_again(served: Served) -> None:
    """The pages answer while the loop hangs; both say so."""
    served.until("/readyz", 200)
    answers = Event()

    def block() -> Fleet:
        answers.wait(PATIENCE)
        return EMPTY

    served.source = block
    try:
        said = served.until("/healthz", 503)
        assert "it hangs" in said["said"]
        assert said["seconds"] >= said["bound_seconds"]
        assert "it hangs" in served.ask("/readyz").page["parts"]["loop"]["said"]
    finally:
        answers.set()
    served.source = lambda: EMPTY
    served.until("/healthz", 200)


def test_a_source_of_truth_that_cannot_be_read_is_told_without_what_it_says(served: Served) -> None:
    """The copy stays in use, so the loop lives; names and secrets stay in the log, where they are said once."""
    served.until("/readyz", 200)

    def fail() -> Fleet:
        raise SourceError(SECRET)

    with capture_logs() as logged:
        served.source = fail
        page = served.until("/readyz", 503)
        rounds = served.world.pulse.rounds
        while served.world.pulse.rounds < rounds + 5:
            sleep(0.01)
    assert [name for name, part in page["parts"].items() if not part["ok"]] == ["source"]
    assert SECRET not in json.dumps(page)
    assert [line["error"] for line in logged if "source of truth" in line["event"]] == [SECRET]
    assert served.ask("/healthz").status == 200
    served.source = lambda: EMPTY
    served.until("/readyz", 200)


def test_a_policy_that_cannot_be_used_is_told_and_found_again(served: Served) -> None:
    """The file is looked at, not what the loop made of it."""
    served.until("/readyz", 200)
    path = served.settings.policy_file
    assert path is not None
    path.write_text("rules: 7\n", "utf-8")
    page = served.until("/readyz", 503)
    assert page["parts"]["policy"] == {"ok": False, "said": "it cannot be used: fleet-runner policy check"}
    path.write_text("{}\n", "utf-8")
    served.until("/readyz", 200)


def test_a_store_that_is_another_fleets_is_told(tmp_path: Path) -> None:
    """Nothing is decided by it, so whoever is served by this runner is not."""
    made = Served(tmp_path)
    with made.store:
        made.store.own(Identity("other", "/elsewhere"), "ann", "", 1.0)
        control_loop.tick(made.world, 100.0)
        part = made.health.parts()["ownership"]
    assert (part.ok, "db accept" in part.said) == (False, True)


def test_a_store_of_another_schema_is_told(served: Served) -> None:
    """A newer release migrated it while this one served."""
    served.until("/readyz", 200)
    with sqlite3.connect(served.settings.state_dir / "fleet.db") as file:
        ((revision,),) = file.execute("SELECT version_num FROM alembic_version")
        file.execute("UPDATE alembic_version SET version_num = '9999'")
    page = served.until("/readyz", 503)
    assert "the schema of another release" in page["parts"]["store"]["said"]
    with sqlite3.connect(served.settings.state_dir / "fleet.db") as file:
        file.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    served.until("/readyz", 200)


def test_a_store_that_gives_no_answer_holds_up_one_look_and_no_page(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks meanwhile is told at once; there is one look, not one for each question."""
    served.until("/readyz", 200)
    answers, looks = Event(), []

    def hang(url: str, *, patience: float) -> Store:
        looks.append(patience)
        answers.wait(PATIENCE)
        return Store.create(url)

    monkeypatch.setattr(parts, "PATIENCE", 0.2)
    monkeypatch.setattr(parts.Store, "open", hang)
    page = served.until("/readyz", 503)
    assert "gave no answer within" in page["parts"]["store"]["said"]
    for _ in range(5):
        assert served.ask("/readyz").status == 503
    answers.set()
    monkeypatch.undo()
    assert len(looks) == 1


def test_a_listener_that_failed_and_an_end_that_was_asked_for_are_told(served: Served) -> None:
    """Neither is ready: nobody should send there."""
    served.until("/readyz", 200)
    served.world.settings = served.settings.model_copy(update={"signals_listen": "127.0.0.1:8490"})
    served.trouble = SECRET
    page = served.until("/readyz", 503)
    assert "signals are not taken now" in page["parts"]["listener"]["said"]
    assert SECRET not in json.dumps(page)
    served.trouble = ""
    assert "signals are taken" in served.until("/readyz", 200)["parts"]["listener"]["said"]
    served.stop.set()
    assert not served.ask("/readyz").page["parts"]["ending"]["ok"]


def test_whatever_else_is_asked_for_is_refused(served: Served) -> None:
    """Two pages, to be read."""
    assert served.ask("/").status == 404
    assert served.ask("/healthz/x").status == 404
    assert served.ask("/healthz", "POST").status == 405


def test_one_address_may_not_ask_without_end(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to come later; the loop does not notice. A busy computer asks too seldom for the usual limit."""
    monkeypatch.setattr(app, "Limits", partial(Limits, per_second=0.1))
    with pages("127.0.0.1:0", served.health, served.tell):
        found = takewhile(lambda status: status != 429, (served.ask("/").status for _ in range(5_000)))
        assert 200 <= sum(1 for _ in found) < 5_000


def test_a_port_that_is_taken_is_said_at_once(served: Served) -> None:
    """Before anything is served."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        at = f"127.0.0.1:{taken.getsockname()[1]}"
        wanted = pytest.raises(SettingsError, match=r"'health_listen': cannot listen.*another program")
        with wanted, pages(at, served.health, served.tell):
            pass
