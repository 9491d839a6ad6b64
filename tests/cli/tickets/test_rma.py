"""Parts that go back: a case, what went out and came in, serial numbers in the source of truth, and the way back."""

import io
import json
import shutil
import time
from pathlib import Path

import pytest

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from fleet_runner.settings import load
from tests.cli.conftest import Type
from tests.playing import PROJECT

NODE = "gpu-01"
OPEN = ("rma", "open", NODE, "--vendor", "Acme", "--case", "C-7", "--reason", "GPU 1 failed", "--wait", "0")


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> Store:
    """A store with the example site's nodes, the first of them in triage."""
    shutil.copytree(PROJECT / "docs/examples/site", tmp_path / "site")
    monkeypatch.setenv("FLEET_SOURCE", str(tmp_path / "site"))
    made = Store.create(load().store_url)
    made.register(read(load()).devices.values(), time.time())
    for event in (Event.START, Event.FAILED):
        row = made.node(NODE)
        assert row is not None
        move = Move(TRANSITIONS[row.state, event], "test", "")
        made.apply(row, Decision((move,), "", time.time()), time.time())
    return made


def serials() -> dict[str, str | None]:
    """Return the serial numbers that the source of truth has."""
    return {part.slot: part.serial for part in read(load()).devices[NODE].parts}


def test_a_case_is_opened_and_the_node_asked_to_go(store: Store, typed: Type) -> None:
    """The request is the reconciler's to grant; the case is kept, with the serial that the source of truth has."""
    said = typed(*OPEN, "--part", "GPU 1")
    assert said.code == 4, said.err
    [case] = store.cases(NODE)
    assert [(part.slot, part.out) for part in case.parts] == [("GPU 1", "1650000000101")]
    assert [intent.kind for intent in store.intents(NODE)] == [IntentKind.RMA]
    assert "Case C-7 opened at Acme: GPU 1. GPU 1 failed" in [each.sentence for each in store.history(NODE)]
    assert "C-7 at Acme, GPU 1 (1650000000101 out); open" in typed("rma", "list").words
    assert json.loads(typed("rma", "show", NODE, "--json").out)["cases"][0]["number"] == "C-7"
    assert "GPU 0: NVIDIA H100 80GB HBM3, serial 1650000000100" in typed("rma", "show", NODE).words


def test_the_same_case_is_not_opened_twice(store: Store, typed: Type) -> None:
    typed(*OPEN)
    again = typed(*OPEN)
    assert (again.code, "is open already" in again.err) == (3, True)


def test_a_node_that_may_not_go_has_no_case(store: Store, typed: Type) -> None:
    """One in production goes to triage first."""
    refused = typed("rma", "open", "gpu-02", "--vendor", "Acme", "--case", "C-8")
    assert (refused.code, store.cases()) == (1, ())


def test_a_slot_that_there_is_not_is_refused_with_those_that_there_are(store: Store, typed: Type) -> None:
    said = typed(*OPEN, "--part", "GPU 9")
    assert (said.code, "expected one of GPU 0, GPU 1" in said.err) == (2, True)
    assert store.cases() == ()


def test_new_serials_are_written_where_the_old_ones_stood(store: Store, typed: Type, tmp_path: Path) -> None:
    """Nothing else of the file changes; --check shows it before, and changes nothing."""
    typed(*OPEN, "--part", "GPU 1")
    path = tmp_path / "site" / "devices.yml"
    before = path.read_text()
    words = ("rma", "parts", NODE, "--out", "GPU 1=1650000000101", "--in", "GPU 1=1650000000999")
    shown = typed(*words, "--check")
    assert (shown.code, path.read_text()) == (0, before)
    assert '+    - {name: GPU 1, role: gpu, part_id: NVIDIA H100 80GB HBM3, serial: "1650000000999"}' in shown.out
    assert typed(*words).code == 0
    assert serials()["GPU 1"] == "1650000000999"
    assert path.read_text() == before.replace("1650000000101", "1650000000999")
    [case] = store.cases(NODE)
    assert [(part.slot, part.out, part.came) for part in case.parts] == [("GPU 1", "1650000000101", "1650000000999")]
    assert typed(*words).code == 0, "twice is once"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--out", "GPU 1=42"), "is it this node, and this slot?"),
        (("--in", "GPU 1"), "expected SLOT=SERIAL"),
        (("--in", "GPU 1=1650000000100"), "the source of truth has it at gpu-01 GPU 0; is the serial number right?"),
        (("--in", "GPU 1=1650000000201", "--check"), "the source of truth has it at gpu-02 GPU 1"),
        ((), "give --out or --in"),
        (("--in", "GPU 1=7", "--case", "C-9"), "0 cases fit; expected one of its open ones (C-7)"),
    ],
)
def test_an_exchange_that_cannot_be_is_refused(store: Store, typed: Type, words: tuple[str, ...], why: str) -> None:
    typed(*OPEN, "--part", "GPU 1")
    before = serials()
    said = typed("rma", "parts", NODE, *words)
    assert said.code == 2
    assert why in " ".join(said.err.split())
    assert serials() == before


def test_the_last_case_that_ends_brings_the_node_back(store: Store, typed: Type) -> None:
    typed(*OPEN)
    row = store.node(NODE)
    assert row is not None
    store.apply(row, Decision((Move(TRANSITIONS[State.TRIAGE, Event.RMA], "t", ""),), "", 1.0), time.time())
    other = typed("rma", "open", NODE, "--vendor", "Acme", "--case", "C-8")
    assert other.code == 0, other.err
    stays = typed("rma", "close", NODE, "--case", "C-8", "--reason", "came back")
    assert "it stays in rma: C-7 open still" in stays.words
    assert IntentKind.REPAIRED not in {intent.kind for intent in store.intents(NODE)}
    assert typed("rma", "close", NODE, "--wait", "0").code == 4
    assert IntentKind.REPAIRED in {intent.kind for intent in store.intents(NODE)}
    assert typed("rma", "list").words == "no case is open"
    assert "ended" in typed("rma", "list", "--all").words


def test_a_netbox_is_not_written_to_and_it_is_said_what_to_write_there(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed(*OPEN, "--part", "GPU 1")
    fleet = read(load())
    monkeypatch.setattr("fleet_runner.adapters.source.read", lambda _: fleet)
    monkeypatch.setenv("FLEET_SOURCE", "https://netbox.example")
    said = typed("rma", "parts", NODE, "--in", "GPU 1=1650000000999")
    assert said.code == 0
    assert "is not written to: give the parts of gpu-01 there their new serials: GPU 1 1650000000999" in said.err


def _change_serial(tmp_path: Path) -> str:
    """Have the source of truth say another serial of the node; return it."""
    before = read(load()).devices[NODE].serial
    assert before
    for path in (tmp_path / "site").rglob("*.yml"):
        path.write_text(path.read_text().replace(before, "S-NEW"))
    assert read(load()).devices[NODE].serial == "S-NEW"
    return before


def test_a_replaced_chassis_is_asked_about_once_and_left_as_a_request(
    store: Store, typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = _change_serial(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    said = typed("rma", "replaced", NODE, "--wait", "0")
    assert said.code == 1
    assert f"serial {before} before, S-NEW now. Is it another machine" in said.words
    assert store.intents(NODE) == ()
    assert typed("rma", "replaced", NODE, "--yes", "--wait", "0").code == 4
    assert typed("rma", "replaced", NODE, "--record", "--yes", "--wait", "0").code == 4
    assert [(each.kind, each.detail) for each in store.intents(NODE)] == [
        (IntentKind.REPLACED, ""),
        (IntentKind.REPLACED, "record"),
    ]


def test_nothing_is_replaced_while_the_source_has_the_serial_that_it_had(
    store: Store, typed: Type, tmp_path: Path
) -> None:
    said = typed("rma", "replaced", NODE, "--yes")
    assert (said.code, "correct it there first" in said.err) == (1, True)
    assert store.intents(NODE) == ()
    store.register([], time.time())
    for path in (tmp_path / "site").rglob("*.yml"):
        path.write_text(path.read_text().replace(NODE, "gpu-77"))
    said = typed("rma", "replaced", NODE, "--yes")
    assert (said.code, "has no serial number for it" in said.err) == (1, True)
