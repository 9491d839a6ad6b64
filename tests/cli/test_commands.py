"""Each command as a person types it: what it prints, what it answers, how it ends."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import FABRIC_TYPES
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.decisions import decide
from fleet_runner.core.lifecycle.runs import Held, Outcome
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State
from fleet_runner.core.lifecycle.view import Timing, View
from tests.commands import entered

LOG = "boot\n[12.0] NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\nlater\n"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store with one node that failed its verification on an Xid, and settings that lead to it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "state").mkdir()
    made = Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}")
    _a_failed_verification(made)
    yield made
    made.close()


def _a_failed_verification(store: Store) -> None:
    now = time.time() - 100
    store.register([Device("gpu-01", "t", "gpu-server", "hall")], now)
    for state, event in (
        (State.REGISTERED, Event.START),
        (State.PROVISION, Event.PASSED),
        (State.ONBOARD, Event.CERTIFIED),
    ):
        _apply(store, Decision((Move(TRANSITIONS[state, event], "runner"),), "", now), now)
    (run,) = _apply(store, Decision((OpenRun(Stage.VERIFY, "why", batch="b"),), "", now), now)
    evidence = Evidence("gpu-01", now, "dmesg", _hash(LOG), LOG)
    message = "GPU 0000:9b:00.0: Xid 79, it has fallen off the bus [red]\x1b[31m"
    finding = Finding("xid.79", "GPU 3", message, Remedy.TRIAGE, "f", ("gpu-01",), ("Reseat it.",))
    failed = Result("xid", Verdict.FAIL, message, (finding,), {}, (_hash(LOG),))
    skipped = Judged("gpu-01", now, Result("sel", Verdict.SKIPPED, "the device type's profile has no sel"))
    lines = [evidence, Judged("gpu-01", now, failed), skipped, Ended("gpu-01", now, PlayEnd.OK)]
    store.ingest("b", 0, 10, lines)
    store.close_run(run, Outcome.FAILED, "xid: it fell off", now)
    results = tuple(stored.id for stored in store.results(run.id))
    move = Move(TRANSITIONS[State.VERIFY, Event.FAILED], "runner", "xid: it fell off", results, run.id)
    ticket = OpenTicket("f", "xid", "gpu-01: GPU 3 fell off", "1. Reseat it.", ("gpu-01",), "TRIAGE")
    _apply(store, Decision((move, ticket), "waits for ann", now + 9999), now)


def _apply(store: Store, decision: Decision, now: float) -> tuple[object, ...]:
    node = store.node("gpu-01")
    assert node is not None
    return store.apply(node, decision, now)


def _hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@pytest.fixture
def command(store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command and return its exit code and what it printed."""

    def run(*args: str) -> tuple[int, str, str]:
        return entered(monkeypatch, capsys, *args)

    return run


@pytest.mark.parametrize(
    "args",
    [
        ("status",),
        ("node", "gpu-01"),
        ("history", "gpu-01"),
        ("explain", "gpu-01"),
        ("tickets",),
        ("tickets", "--all"),
    ],
)
def test_what_is_read_fits_the_terminal_and_is_json_on_request(command: Command, args: tuple[str, ...]) -> None:
    """And nothing that a node said can colour, move or break the terminal."""
    code, out, err = command(*args)
    assert (code, err) == (0, "")
    assert "gpu-01" in out or args[0] == "history"
    assert all(len(line) <= 80 for line in out.splitlines())
    assert "\x1b" not in out
    code, out, _ = command(*args, "--json")
    assert code == 0
    assert json.loads(out)


def test_explain_shows_the_line_it_was_decided_from(command: Command, store: Store) -> None:
    """The transition, its sentence, the finding, the evidence, and where the whole of it lies."""
    _, out, _ = command("explain", "gpu-01")
    said = " ".join(out.split())
    assert "verify → onboard on 'failed', by runner" in said
    assert "a technician must fix it and certify it again" in said
    assert "NVRM: Xid (PCI:0000:9b:00): 79" in said
    assert "Next: waits for ann" in said
    digest = said.partition("fleet-runner evidence ")[2].split()[0]
    assert command("evidence", digest)[1] == LOG
    assert json.loads(command("evidence", digest, "--json")[1])["text"] == LOG
    assert command("evidence", "")[0] == 0  # there is only one that begins so


def test_what_nobody_asked_is_only_counted(command: Command) -> None:
    """A profile that says nothing of a kind is no news about a node."""
    said = command("node", "gpu-01")[1]
    assert "1 skipped: fleet-runner results --node gpu-01 --verdict skipped" in said
    assert "sel" not in said
    assert "sel" not in command("explain", "gpu-01")[1]
    assert "SKIPPED gpu-01 sel: the device type's profile has no sel" in command("results")[1]


@pytest.mark.parametrize(
    "args", [("node", "gpu-99"), ("explain", "gpu-99"), ("certify", "gpu-99"), ("evidence", "beef")]
)
def test_an_unknown_name_is_one_line_with_the_next_step(command: Command, args: tuple[str, ...]) -> None:
    """On the error stream, exit code 2."""
    code, out, err = command(*args)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "args",
    [
        ("certify",),
        ("run", "nothing", "--node", "gpu-01"),
        ("run", "verify", "gpu-01"),
        ("frobnicate",),
        ("history", "gpu-01", "--limit", "0"),
    ],
)
def test_a_wrong_command_line_is_exit_code_2(command: Command, args: tuple[str, ...]) -> None:
    """With what is expected."""
    code, _, err = command(*args)
    assert code == 2
    assert "Try 'fleet-runner" in err


def answer(store: Store) -> None:
    """Answer the next request as the reconciler does."""
    while not (intents := store.intents("gpu-01")):
        time.sleep(0.01)
    node = store.node("gpu-01")
    assert node is not None
    now = time.time()
    store.apply(node, decide(View(node, "active", intents=intents), Timing(), now), now)


@pytest.mark.parametrize(
    ("intent", "code", "words"),
    [
        ("certify", 0, "parts, power and cabling are verified next"),
        ("hold", 0, "Held: nothing moves it"),
        ("maintenance", 0, "In maintenance: findings are kept"),
        ("repaired", 1, "does not apply in onboard"),
        ("cancel", 1, "No remedy is pending."),
    ],
)
def test_a_request_waits_for_its_answer(command: Command, store: Store, intent: str, code: int, words: str) -> None:
    """Granted is 0, refused is 1, each with its sentence."""
    answering = threading.Thread(target=answer, args=(store,))
    answering.start()
    found, out, _ = command(intent, "gpu-01", "--by", "ann", "--reason", "because")
    answering.join()
    assert found == code
    assert words in " ".join(out.split())


def test_a_request_that_nobody_answers_stays(command: Command, store: Store) -> None:
    """Exit code 4, and how to get on."""
    code, _, err = command("hold", "gpu-01", "--wait", "0")
    assert code == 4
    assert "fleet-runner serve" in err
    assert "fleet-runner history gpu-01 shows it" in " ".join(err.split())
    assert len(store.intents("gpu-01")) == 1


def test_a_stage_is_asked_of_the_nodes_that_are_named(command: Command, store: Store) -> None:
    """Once for each or with commas; a name twice is one request, and no name is unusable input."""
    assert command("run", "verify", "--node", "gpu-01", "-n", "gpu-01,", "--wait", "0")[0] == 4
    assert [(intent.kind, intent.detail) for intent in store.intents("gpu-01")] == [("run", "verify")]
    code, out, err = command("run", "verify", "--node", ",")
    assert (code, out) == (2, "")
    assert "holds no name; expected one such as gpu-03" in err


def test_retiring_asks_first(command: Command, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be undone."""
    monkeypatch.setattr("typer.confirm", lambda *_args, **_kwargs: (_ for _ in ()).throw(SystemExit(1)))
    code, out, _ = command("retire", "gpu-01", "--wait", "0")
    assert (code, "gpu-01 leaves the fleet from" in out) == (1, True)
    assert store.intents("gpu-01") == ()
    assert command("retire", "gpu-01", "--yes", "--wait", "0")[0] == 4


@pytest.mark.parametrize("name", ["tick", "serve"])
def test_without_a_source_of_truth_nothing_starts_and_nothing_is_made(
    command: Command, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One error, exit code 3."""
    monkeypatch.setenv("FLEET_STATE_DIR", str(tmp_path / "other"))
    code, _, err = command(name)
    assert code == 3
    assert "site" in err
    assert not (tmp_path / "other").exists()


def test_conditions_show_in_status_and_explain(command: Command, store: Store) -> None:
    """With who and why."""
    held = SetCondition(Condition.HELD, Held(time.time(), "visitors", "ann"))
    _apply(store, Decision((held,), "held by ann: visitors", 0.0), time.time())
    assert "held held by ann: visitors" in " ".join(command("status")[1].split())
    assert "by ann: visitors" in command("explain", "gpu-01")[1]


def test_a_fabrics_line_names_its_open_tickets(command: Command, store: Store) -> None:
    """The first five; the rest is counted."""
    name, now = "infiniband.hall", time.time()
    store.register([Device(name, FABRIC_TYPES[0], FABRIC_TYPES[0], "hall")], now)
    for count, words in ((1, "; open ticket #2"), (7, "; open tickets #2, #3, #4, #5, #6 and 2 more")):
        opened = [OpenTicket(f"f{n}", "fabric_cabling", f"fault {n}", "", (name,), "RECABLE") for n in range(count)]
        node = store.node(name)
        assert node is not None
        store.apply(node, Decision(tuple(opened), "2 faults", now + 999), now)
        assert f"2 faults{words}" in " ".join(command("status")[1].split())


def test_a_variable_that_is_nearly_a_setting_is_a_warning(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the error stream; the command goes on."""
    monkeypatch.setenv("FLEET_CABLNG_SECONDS", "60")
    code, out, err = command("status", "--json")
    assert (code, bool(json.loads(out))) == (0, True)
    assert err.startswith("warning: FLEET_CABLNG_SECONDS is no setting")
