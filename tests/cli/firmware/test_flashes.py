"""Flashes as a person reads them, and what only a person who has looked may say of one."""

import json
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit
from fleet_runner.cli.firmware.settle import MOST_SECONDS, UNITS, span
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import End, Flash, Phase
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move, OpenRun
from fleet_runner.core.lifecycle.spool import Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from tests.cli.conftest import Said, Type

DRIVER = "runner-1:4711:ab12"
TASK = "/redfish/v1/TaskService/Tasks/7"
SHOWS = (("firmware", "show"), ("firmware", "show", "gpu-01"), ("status",), ("node", "gpu-01"))
WAY = (
    (State.REGISTERED, Event.START),
    (State.PROVISION, Event.PASSED),
    (State.ONBOARD, Event.CERTIFIED),
    (State.VERIFY, Event.PASSED),
)
Settle = Callable[..., Said]


@pytest.fixture
def store(tmp_path: Path, typed: Type) -> Iterator[Store]:
    """A node in `firmware`, of which one flash was verified and another is open, sent three minutes ago."""
    (tmp_path / "state").mkdir()
    now = time.time()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as made:
        made.register([Device("gpu-01", "t", "gpu-server", "hall")], now - 900)
        for row in WAY:
            move(made, row, now - 900)
        made.lease("gpu-01", DRIVER, run=None, now=now - 800, seconds=700)
        first = made.intend(a_flash("BMC", now - 800), DRIVER, now=now - 800)
        made.end_flash(first.id, DRIVER, End.VERIFIED, "BMC is at 2.1, read 3 times in a row.", now - 500)
        second = made.intend(a_flash("BIOS", now - 190), DRIVER, now=now - 190)
        sent = replace(second, phase=Phase.SENT, task=TASK, sent_at=now - 180)
        made.note_flash(sent, DRIVER, now=now - 180)
        yield made


def a_flash(component: str, at: float) -> Flash:
    return Flash(
        0, "gpu-01", component, {component: "2.0"}, {component: "2.1"}, f"{component.lower()}.bin", "ab" * 32,
        Activate.HOST_RESET, 1, 1800.0, 1, at,
    )  # fmt: skip


def move(store: Store, row: tuple[State, Event], at: float) -> None:
    node = store.node("gpu-01")
    assert node is not None
    store.apply(node, Decision((Move(TRANSITIONS[row], "runner"),), "", at), at)


def said_by_the_play(store: Store, message: str, at: float) -> None:
    """What the newest visit reported."""
    node = store.node("gpu-01")
    assert node is not None
    store.apply(node, Decision((OpenRun(Stage.FIRMWARE, "why", batch="b"),), "", at), at)
    answer = Result("firmware_update", Verdict.UNKNOWN, message, (), {"working": True})
    store.ingest("b", 0, 10, [Judged("gpu-01", at, answer)])


def test_an_open_flash_is_shown_first_with_all_that_is_known(store: Store, typed: Type) -> None:
    """How far, since when, its task, what it waits for, who is at it; then those that ended."""
    said_by_the_play(store, "BIOS 2.0 → 2.1: the BMC is at it, 42 %\x1b[31m", time.time() - 130)
    said = typed("firmware", "show", "gpu-01")
    assert said.code == 0
    for text in (
        "#2", "BIOS 2.0 → 2.1 is open", "sent since 3 min: the BMC took the image", TASK, "the BMC is at it, 42 %",
        "(said 2 min ago)", "nobody; fleet-runner serve continues it",
        "refused until it has ended",
    ):  # fmt: skip
        assert text in said.words
    assert said.words.index("#2") < said.words.index("#1") < said.words.index("verified after 5 min")
    assert "BMC is at 2.1, read 3 times in a row." in said.words
    assert "settle" not in said.out
    assert "allow-power" not in said.out
    assert "\x1b" not in said.out


def test_what_a_visit_said_before_the_flash_is_not_taken_for_its(store: Store, typed: Type) -> None:
    said_by_the_play(store, "the BMC works on something else", time.time() - 400)
    assert "something else" not in typed("firmware", "show", "gpu-01").out


@pytest.mark.parametrize("words", SHOWS)
def test_every_view_names_the_open_flash_within_80_columns(store: Store, typed: Type, words: tuple[str, ...]) -> None:
    """`status` leaves it to the sentence of the runner, as long as the node is in `firmware`."""
    move(store, (State.FIRMWARE, Event.OVERDUE), time.time())
    said = typed(*words)
    assert (said.code, said.err) == (0, "")
    assert "BIOS 2.0 → 2.1" in said.words
    assert all(len(line) <= 80 for line in said.out.splitlines())


def test_as_json_it_is_all_there_for_a_program(store: Store, typed: Type) -> None:
    now = time.time()
    store.lease("gpu-01", DRIVER, run=None, now=now, seconds=60)
    store.allow_power("gpu-01", "ann", "the board is dead", now, 600)
    found = json.loads(typed("firmware", "show", "gpu-01", "--json").out)
    assert [flash["id"] for flash in found["flashes"]] == [2, 1]
    assert (found["open"]["flash"]["phase"], found["open"]["holder"]["name"]) == ("sent", DRIVER)
    assert found["power"]["allowed"]["until"] == pytest.approx(now + 600)
    assert found["power"]["refused"] == ""
    assert [each["flash"]["id"] for each in json.loads(typed("firmware", "show", "--json").out)] == [2]
    assert json.loads(typed("node", "gpu-01", "--json").out)["flash"]["id"] == 2
    assert [flash["id"] for flash in json.loads(typed("status", "--json").out)["flashes"]] == [2]


def test_what_goes_on_with_it_depends_on_where_the_node_is(store: Store, typed: Type) -> None:
    """In `firmware_failed` nothing does before a person says so."""
    move(store, (State.FIRMWARE, Event.OVERDUE), time.time())
    said = typed("firmware", "show", "gpu-01").words
    assert "no run continues it: check the BMC, then `fleet-runner retry gpu-01`" in said


def test_what_a_person_may_do_is_said_once_it_takes_too_long(store: Store, typed: Type) -> None:
    now = time.time()
    store.lease("gpu-01", DRIVER, run=None, now=now, seconds=60)
    flash = store.open_flash("gpu-01")
    assert flash is not None
    store.note_flash(replace(flash, sent_at=now - flash.seconds - 5), DRIVER, now=now)
    said = typed("firmware", "show", "gpu-01").words
    assert "refused: flash 2 of gpu-01 (BIOS) is sent" in said
    assert "`fleet-runner firmware settle gpu-01`" in said


def test_a_play_by_hand_is_shown_as_it_is_typed(
    store: Store, project: Path, typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On one line, with the inventory of the settings, from wherever it is typed."""
    move(store, (State.FIRMWARE, Event.PASSED), time.time())
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "some where.yml"))
    said = typed("firmware", "show", "gpu-01").out
    (line,) = (line for line in said.splitlines() if "ansible-playbook" in line)
    assert line.startswith(f"cd {project} && ")
    assert line.endswith(f"/ansible-playbook -i '{tmp_path}/some where.yml' playbooks/firmware.yml --limit gpu-01")


def test_a_reset_is_counted_while_it_is_waited_for(store: Store, typed: Type) -> None:
    now = time.time()
    store.lease("gpu-01", DRIVER, run=None, now=now, seconds=60)
    flash = store.open_flash("gpu-01")
    assert flash is not None
    noted = replace(flash, phase=Phase.ACTIVATING, updated_at=now, activations=1, activated_at=now)
    store.note_flash(noted, DRIVER, now=now)
    said = typed("firmware", "show", "gpu-01").words
    assert re.search(r"activating since \d+ s: a reset of the host was asked for, number 1 of 1", said)


def test_a_fleet_without_an_open_flash_says_so(store: Store, typed: Type) -> None:
    typed("firmware", "settle", "gpu-01", "--reason", "idle", "--yes")
    assert typed("firmware", "show").words == "no flash is open"
    assert json.loads(typed("firmware", "show", "--json").out) == []
    assert "settled after 3 min" in typed("firmware", "show", "gpu-01").words
    assert typed("firmware", "show", "gpu-9").code == Exit.USAGE


def test_settling_ends_it_with_the_reason_and_says_what_comes_next(store: Store, typed: Type) -> None:
    said = typed("firmware", "settle", "gpu-01", "--reason", "its page says idle", "--by", "ann", "--yes")
    assert (said.code, said.words) == (
        0,
        "gpu-01: flash 2 is settled; fleet-runner serve reads the versions and continues",
    )
    ended = store.flash(2)
    assert ended is not None
    assert (ended.end, ended.detail) == (End.SETTLED, "ann looked: its page says idle")
    assert any("ann looked: its page says idle" in entry.sentence for entry in store.history("gpu-01"))
    again = typed("firmware", "settle", "gpu-01", "--reason", "again", "--yes")
    assert (again.code, again.out) == (Exit.NO, "")
    assert "gpu-01 has no open flash" in again.err


def test_settling_asks_first_and_says_what_that_means(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever answers no has settled nothing."""
    asked: list[str] = []

    def no(question: str, **_: object) -> None:
        asked.append(question)
        raise typer.Abort

    monkeypatch.setattr("typer.confirm", no)
    said = typed("firmware", "settle", "gpu-01", "--reason", "its page says idle")
    assert said.code != 0
    assert asked == ["Settle flash 2 of gpu-01?"]
    assert "what follows can ruin the node" in said.words
    assert store.open_flash("gpu-01") is not None


def test_who_comes_while_the_question_is_read_keeps_it_from_being_settled(
    store: Store, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    def meanwhile(_: str, **__: object) -> None:
        store.lease("gpu-01", DRIVER, run=None, now=time.time(), seconds=60)

    monkeypatch.setattr("typer.confirm", meanwhile)
    said = typed("firmware", "settle", "gpu-01", "--reason", "idle")
    assert said.code == Exit.NO
    assert f"{DRIVER} is at its firmware" in said.err
    assert store.open_flash("gpu-01") is not None


def test_nothing_is_settled_while_somebody_is_at_it(store: Store, typed: Type) -> None:
    store.lease("gpu-01", DRIVER, run=None, now=time.time(), seconds=60)
    said = typed("firmware", "settle", "gpu-01", "--reason", "idle", "--yes")
    assert said.code == Exit.NO
    assert f"{DRIVER} works on the firmware of gpu-01" in said.err
    assert store.open_flash("gpu-01") is not None


@pytest.mark.parametrize("command", ["settle", "allow-power"])
def test_nothing_is_said_without_a_reason(store: Store, typed: Type, command: str) -> None:
    assert typed("firmware", command, "gpu-01").code == Exit.USAGE
    assert typed("firmware", command, "gpu-01", "--reason", " ").code == Exit.USAGE
    assert store.open_flash("gpu-01") is not None
    assert store.power_leave("gpu-01", time.time()) is None


def test_power_is_allowed_for_a_while_with_a_reason_that_stays(store: Store, typed: Type) -> None:
    """And with a warning where a flash is open."""
    said = typed("firmware", "allow-power", "gpu-01", "--reason", "board is dead", "--by", "ann", "--for", "30m")
    assert said.code == 0
    assert "gpu-01: power actions are allowed until" in said.words
    assert "warning: flash 2, BIOS 2.0 → 2.1, is sent since 3 min" in said.err
    leave = store.power_leave("gpu-01", time.time())
    assert leave is not None
    assert (leave.by, leave.reason, leave.seconds) == ("ann", "board is dead", 1800.0)
    assert store.power_leave("gpu-01", time.time() + 1801) is None
    assert "allowed by ann until" in typed("firmware", "show", "gpu-01").words


@given(st.integers(1, 999_999), st.sampled_from(sorted(UNITS)), st.sampled_from(["", " "]))
def test_a_span_is_what_it_says_or_refused_when_it_is_too_long(number: int, unit: str, space: str) -> None:
    text = f"{number}{space}{unit}"
    if number * UNITS[unit] <= MOST_SECONDS:
        assert span(text) == number * UNITS[unit]
    else:
        with pytest.raises(FleetError, match="at most 24h"):
            span(text)


@given(
    st.text(max_size=8).filter(lambda text: not text.strip()[:1].isdigit())
    | st.sampled_from(["0s", "1", "1d", "-1h", "1h1"])
)
def test_anything_else_is_no_span(text: str) -> None:
    with pytest.raises(FleetError, match="expected a span such as 90s, 30m or 1h"):
        span(text)
