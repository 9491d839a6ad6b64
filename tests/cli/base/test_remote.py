"""Commands that ask a server say what they say over its store; and what they say where it cannot be asked."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.lifecycle.actions import Answer, Decision
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.services.http.admission import make
from tests.cli.conftest import Type
from tests.web.hall import NOW, Hall, made
from tests.web.served import Served, served

LOOKS = (
    "status", "status --state production", "node gpu-00001", "node gpu-00003", "node gpu-00004", "history gpu-00003",
    "history gpu-00003 --limit 2", "explain gpu-00001", "explain gpu-00003", "tickets", "tickets --all",
    "tickets --node gpu-00003", "results", "results --node gpu-00003 --verdict FAIL --since 20d", "results --limit 2",
    "ticket show 1", "ticket list", "queue", "schedules",
)  # fmt: skip
"""Commands that only look, each also with --json."""

REFUSED = (
    "node nobody", "evidence 00ff00ff", "evidence nonsense", "ticket show 4711", "history nobody", "certify nobody",
    "results --check nonsense",
)  # fmt: skip
"""What neither a store nor a server can answer."""


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """A store with 32 nodes, a moment ago."""
    path = tmp_path_factory.mktemp("hall") / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        yield made(store)


@pytest.fixture(scope="module")
def site(hall: Hall, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """That hall, served to as many as ask."""
    with served(hall.store, hall.fleet, tmp_path_factory.mktemp("state")) as found:
        found.site.steady = iter(range(10**9)).__next__  # a second passes with each request: nobody asks too often
        yield found


@pytest.fixture
def here(typed: Type, hall: Hall, site: Served, monkeypatch: pytest.MonkeyPatch) -> Type:
    """Commands over that hall's store, with the settings of its server, at one moment."""
    monkeypatch.setattr(time, "time", lambda: NOW)
    monkeypatch.setenv("FLEET_STATE_DIR", str(site.site.settings.state_dir))
    monkeypatch.setenv("FLEET_SOURCE", site.site.settings.source)
    monkeypatch.setenv("FLEET_DATABASE_URL", f"sqlite:///{hall.store._database.where}")
    return typed


@pytest.fixture
def afar(here: Type, site: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Type:
    """The same commands, typed on a machine that knows nothing but where the server is."""
    shown(tmp_path, monkeypatch, site.token(Role.OPERATOR))

    def run(*words: str) -> object:
        with monkeypatch.context() as patch:
            patch.setenv("FLEET_DATABASE_URL", "sqlite:////nowhere/fleet.db")
            patch.setenv("FLEET_STATE_DIR", str(tmp_path / "other"))
            patch.setenv("FLEET_SERVER", site.url)
            return here(*words)

    return run


def shown(folder: Path, patch: pytest.MonkeyPatch, token: str) -> None:
    """Write a token into a file that settings name."""
    file = folder / "token"
    file.write_text(f"{token}\n")
    file.chmod(0o600)
    patch.setenv("FLEET_SERVER_TOKEN_FILE", str(file))


@pytest.mark.parametrize("line", [*LOOKS, *(f"{each} --json" for each in LOOKS), *REFUSED])
def test_what_is_seen_of_a_server_is_what_its_store_holds(line: str, here: Type, afar: Type) -> None:
    local, distant = here(*line.split()), afar(*line.split())
    assert distant == local
    assert local.out or local.err


def test_evidence_is_the_same_text(hall: Hall, here: Type, afar: Type) -> None:
    digest = next(each for each in hall.store.latest_results("gpu-00003") if each.result.evidence).result.evidence[0]
    for words in (("evidence", digest), ("evidence", digest[:12], "--json")):
        assert afar(*words) == here(*words)
        assert here(*words).out


def answered(hall: Hall, sentence: str, *, accepted: bool) -> None:
    """Answer the oldest request about the first node, as the reconciler would."""
    node, (intent, *_) = hall.store.node("gpu-00001"), hall.store.intents("gpu-00001")
    assert node is not None
    hall.store.apply(node, Decision((Answer(intent.id, accepted=accepted, sentence=sentence),), "", NOW), NOW)


def meanwhile(hall: Hall) -> None:
    """Answer what waits, if anything does."""
    if hall.store.intents("gpu-00001"):
        answered(hall, "It is held now.", accepted=True)


@pytest.mark.parametrize(
    "intent", ["certify", "hold", "maintenance", "release", "cancel", "reboot", "triage", "debug"]
)
def test_what_is_asked_of_a_server_is_left_in_the_name_of_the_token(intent: str, hall: Hall, afar: Type) -> None:
    said = afar(intent, "gpu-00001", "--reason", "power work", "--wait", "0")
    assert (said.code, "not answered yet" in said.err) == (4, True)
    (left,) = hall.store.intents("gpu-00001")
    assert (left.kind, left.by, left.reason) == (IntentKind(intent), "operator", "power work")
    answered(hall, "No.", accepted=False)


def test_an_answer_comes_back(hall: Hall, afar: Type, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the reconciler does meanwhile is done between two looks at the answer."""
    monkeypatch.setattr(time, "sleep", lambda _: meanwhile(hall))
    said = afar("hold", "gpu-00001", "--reason", "power work")
    assert (said.code, said.out) == (0, "gpu-00001: It is held now.\n")


def test_what_cannot_be_undone_is_confirmed_at_the_server_once_the_person_was_asked(
    hall: Hall, afar: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text))
    said = afar("retire", "gpu-00001", "--wait", "0")
    assert (said.code, asked) == (4, ["Retire gpu-00001 for good?"])
    assert "gpu-00001 leaves the fleet from" in said.words
    assert [each.kind for each in hall.store.intents("gpu-00001")] == [IntentKind.RETIRE]
    answered(hall, "No.", accepted=False)


def test_a_run_names_its_stage_and_a_retired_node_is_asked_nothing(hall: Hall, here: Type, afar: Type) -> None:
    assert afar("run", "verify", "-n", "gpu-00001", "--wait", "0").code == 4
    assert hall.store.intents("gpu-00001")[0].detail == "verify"
    answered(hall, "No.", accepted=False)
    (retired, *_) = [node.name for node in hall.store.nodes() if node.state == "retired"]
    assert afar("retire", "-y", retired) == here("retire", "-y", retired)
    assert "is retired" in " ".join(afar("retire", "-y", retired).err.split())


def test_a_server_writes_down_whom_the_token_names(afar: Type) -> None:
    said = afar("hold", "gpu-00001", "--by", "mallory")
    assert said.code == 2
    assert "the token's name" in " ".join(said.err.split())


def test_tickets_and_schedules_are_steered_from_afar(hall: Hall, afar: Type) -> None:
    assert afar("ticket", "note", "2", "seen by two").code == 0
    assert afar("ticket", "close", "2", "-r", "swapped back").code == 0
    assert afar("ticket", "close", "2", "-r", "swapped back").code == 1
    closed = hall.store.ticket(2)
    assert closed is not None
    assert closed.closed_because == "by hand, by operator: swapped back"
    assert hall.store.ticket_changes(2)[-2].sentence == "seen by two"
    assert afar("schedules", "pause", "cabling", "-r", "power work").code == 0
    assert hall.store.schedules()[2]["cabling"].by == "operator"
    assert "paused by operator" in " ".join(afar("schedules").out.split())
    assert afar("schedules", "resume", "cabling").code == 0
    assert afar("schedules", "resume", "cabling").code == 1


@pytest.mark.parametrize(
    "line", ["rma list", "budget", "queue pause -r x", "schedules run passive", "web token list", "runners"]
)
def test_what_needs_the_servers_machine_says_so(line: str, afar: Type) -> None:
    said = afar(*line.split())
    assert said.code == 2
    assert "run it there" in " ".join(said.err.split())
    assert not said.out


def test_the_line_names_a_server_before_the_command(
    here: Type, site: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = here("tickets", "--json")
    shown(tmp_path, monkeypatch, site.token(Role.VIEWER))
    monkeypatch.setenv("FLEET_DATABASE_URL", "sqlite:////nowhere/fleet.db")
    assert here("--server", site.url, "tickets", "--json") == local
    assert here(f"--server={site.url}", "tickets", "--json") == local
    said = here("--server", site.url, "db", "weight")
    assert (said.code, "run it there" in " ".join(said.err.split())) == (2, True)


def test_who_may_not_is_told_so(here: Type, site: Served, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_SERVER", site.url)
    shown(tmp_path, monkeypatch, site.token(Role.TECHNICIAN))
    said = here("reboot", "gpu-00001", "--wait", "0")
    assert (said.code, "a technician may not do this" in " ".join(said.err.split())) == (2, True)
    shown(tmp_path, monkeypatch, site.token(Role.TENANT, "Acme"))
    said = here("status")
    assert (said.code, "a tenant may not do this" in " ".join(said.err.split())) == (2, True)
    shown(tmp_path, monkeypatch, "frs_nonsense")
    said = here("status")
    assert (said.code, "does not take the token (wrong token)" in " ".join(said.err.split())) == (2, True)
    assert "frs_nonsense" not in said.err
    ended, digest = make()
    site.store.add_token(Token("ended", digest, NOW - 60, "tests", scope="viewer", until=NOW - 1))
    site.site.admission._read_at = float("-inf")
    shown(tmp_path, monkeypatch, ended)
    said = here("status")
    assert (said.code, "expired token" in " ".join(said.err.split())) == (2, True)


def test_json_is_json(afar: Type) -> None:
    assert json.loads(afar("status", "--json").out)["nodes"][0]["name"] == "gpu-00001"
