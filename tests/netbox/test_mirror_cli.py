"""netbox sync, netbox status and rma parts as a person types them, and what serve tells beside its work."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from fleet_runner import settings as fleet_settings
from fleet_runner.cli.lifecycle import serve
from fleet_runner.core.budgets.modes import Mode, Scope, Setting, Where
from fleet_runner.core.tickets.rma_cases import Case, Replaced
from fleet_runner.reconcile.inventory import netbox
from fleet_runner.reconcile.inventory.netbox_mirror.fields import FieldsMirror
from fleet_runner.reconcile.loop.store_ownership import Outward
from tests.commands import Said, entered
from tests.netbox.mirroring import NAMES, Told, told
from tests.netbox.standin import TOKEN, Standin
from tests.secret import private
from tests.waiting import until

Type = Callable[..., Said]


@pytest.fixture
def mirror(standin: Standin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Told]:
    """A store and a NetBox that the settings name."""
    private(tmp_path / "token", TOKEN)
    given = {
        "SOURCE": standin.url, "NETBOX_TOKEN_FILE": str(tmp_path / "token"), "NETBOX_WRITE_NODES": "true",
        "STATE_DIR": str(tmp_path),
    }  # fmt: skip
    for name, value in given.items():
        monkeypatch.setenv(f"FLEET_{name}", value)
    monkeypatch.chdir(tmp_path)
    with told(standin, tmp_path) as made:
        made.store.scan_mirror(standin.url)
        yield made


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Type:
    """Run a command; return its exit code and what it printed."""

    def run(*words: str) -> Said:
        return entered(monkeypatch, capsys, *words)

    return run


def test_what_would_be_written_is_shown_and_nothing_written(mirror: Told, typed: Type) -> None:
    mirror.edit("gpu-02", fleet_state="debug")
    mirror.say("gpu-01", "fan noise")
    code, out, _ = typed("netbox", "sync", "--check")
    assert code == 1
    assert "gpu-01: fleet_state registered (is None), fleet_since 2025-11-22T08:26:40Z (is None)" in out
    assert "gpu-02: not written: fleet_state is 'debug'" in out
    assert "1 lines of history to write; nothing was written" in out
    assert mirror.standin.changes == []


def test_what_others_wrote_there_moves_no_terminal(mirror: Told, typed: Type) -> None:
    opened(mirror)
    mirror.standin.fail(times=500, status=503)
    typed("rma", "parts", "gpu-01", "--in", "GPU 1=S-9")
    mirror.standin.faults.clear()
    for row in mirror.standin.rows("dcim/modules"):
        mirror.standin.edit("dcim/modules", row["id"], serial="S\x1b[2J")
    code, out, _ = typed("netbox", "sync", "--check")
    assert (code, "serial number S-9 is not to be written: NetBox has S\ufffd[2J" in out) == (1, True)
    _, out, err = typed("netbox", "sync")
    assert "NetBox has S\ufffd[2J" in out
    assert "\x1b" not in out + err


def test_a_sync_writes_what_waits_and_a_second_one_nothing(mirror: Told, typed: Type) -> None:
    mirror.say("gpu-01", "fan noise")
    assert typed("netbox", "sync")[:2] == (0, "written: 3 states, 1 lines of history, 0 serial numbers\n")
    assert mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."]
    assert typed("netbox", "sync")[:2] == (0, "written: 0 states, 0 lines of history, 0 serial numbers\n")
    assert typed("netbox", "sync", "--check")[0] == 0
    code, out, _ = typed("netbox", "status")
    assert (code, "everything is written" in out, "journal: taken last" in out) == (0, True, True)


def test_status_shows_what_is_in_conflict_and_what_failed_and_why(mirror: Told, typed: Type) -> None:
    mirror.edit("gpu-02", fleet_state="debug")
    mirror.standin.edit("dcim/devices", mirror.standin.row("dcim/devices", name="gpu-03")["id"], name="gpu-old")
    code, out, _ = typed("netbox", "sync")
    assert (code, "2 states to write still" in out) == (1, True)
    for said in (out, typed("netbox", "status")[1]):
        assert "gpu-02: fleet_state is 'debug', which fleet-runner did not write" in said
        assert "gpu-03: NetBox has no device gpu-03 that this token may see: deleted or renamed there" in said
    mirror.standin.fail(times=50, status=403)
    assert "dcim.view_device" in typed("netbox", "sync")[1]
    found = json.loads(typed("netbox", "status", "--json")[1])
    assert [each["node"] for each in found["fields"]] == list(NAMES)
    assert found["standings"][0]["tries"] == 1
    assert TOKEN not in str(found)


def test_a_sync_looks_at_every_page_again(mirror: Told, typed: Type) -> None:
    """Serve would within the hour."""
    typed("netbox", "sync")
    mirror.edit("gpu-02", fleet_state="debug")
    code, out, _ = typed("netbox", "sync")
    assert (code, "gpu-02: fleet_state is 'debug'" in out) == (1, True)


def test_a_person_s_word_writes_over_what_another_wrote_in_the_nodes_that_it_names(mirror: Told, typed: Type) -> None:
    """What they wrote stays in NetBox's change log."""
    for name in NAMES[:2]:
        mirror.edit(name, fleet_state="debug", fleet_wish="hold")
    assert typed("netbox", "sync", "--over", "gpu-99")[0] == 2
    code, out, _ = typed("netbox", "sync", "--over", "gpu-01")
    assert (code, "gpu-02: fleet_state is 'debug'" in out) == (1, True)
    assert [mirror.page(name)["fleet_state"] for name in NAMES] == ["registered", "debug", "registered"]
    assert mirror.page("gpu-01")["fleet_wish"] == "hold"
    assert [each.node for each in mirror.store.unwritten_fields(mirror.standin.url)] == ["gpu-02"]


def test_settings_that_want_nothing_written_say_which(
    mirror: Told, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    del mirror
    monkeypatch.setenv("FLEET_NETBOX_WRITE_NODES", "false")
    for command in ("sync", "status"):
        code, _, err = typed("netbox", command)
        assert (code, "netbox_write_nodes is off" in err) == (2, True)
    monkeypatch.setenv("FLEET_SOURCE", "site")
    assert "expected a NetBox's URL" in typed("netbox", "status")[2]


def opened(mirror: Told) -> None:
    """Open a case about a GPU."""
    mirror.store.open_case(Case(0, "gpu-01", "Acme", "C-7", "ada", mirror.now, (Replaced("GPU 1", "S-1"),)))


def serial(mirror: Told) -> str:
    """Return the serial number of the GPU in NetBox."""
    number = mirror.standin.row("dcim/devices", name="gpu-01")["id"]
    [row] = [each for each in mirror.standin.rows("dcim/modules") if each["device"]["id"] == number]
    return str(row["serial"])


def test_a_part_that_came_in_is_shown_and_written_at_once(mirror: Told, typed: Type) -> None:
    opened(mirror)
    words = ("rma", "parts", "gpu-01", "--in", "GPU 1=S-9")
    code, out, _ = typed(*words, "--check")
    assert (code, "serial number S-9 is to be written: NetBox has S-1" in out) == (0, True)
    assert (serial(mirror), mirror.store.serials_due()) == ("S-1", ())
    code, out, _ = typed(*words)
    assert (code, "gpu-01 GPU 1 has serial number S-9 now" in out) == (0, True)
    assert (serial(mirror), mirror.store.serials_due()) == ("S-9", ())


def test_a_part_that_came_in_while_netbox_was_away_is_kept_and_written_later(mirror: Told, typed: Type) -> None:
    opened(mirror)
    mirror.standin.fail(times=500, status=503)
    code, out, err = typed("rma", "parts", "gpu-01", "--in", "GPU 1=S-9")
    assert (code, "compared with NetBox later" in err) == (0, True)
    assert "serial number S-9 is kept, and written by serve later: " in out
    [case] = mirror.store.cases("gpu-01")
    assert case.parts == (Replaced("GPU 1", "S-1", "S-9"),)
    mirror.standin.faults.clear()
    code, out, _ = typed("netbox", "sync", "--check")
    assert (code, "gpu-01 GPU 1: serial number S-9 is to be written: NetBox has S-1" in out) == (1, True)
    assert typed("netbox", "sync")[0] == 0
    assert serial(mirror) == "S-9"


def test_a_serial_that_is_somebody_else_s_is_said(mirror: Told, typed: Type) -> None:
    opened(mirror)
    [row, *_] = mirror.standin.rows("dcim/modules")
    mirror.standin.edit("dcim/modules", row["id"], serial="S-7")
    out = typed("rma", "parts", "gpu-01", "--in", "GPU 1=S-9")[1]
    assert "gpu-01 GPU 1 has S-7 there, so S-9 is not written" in out
    assert serial(mirror) == "S-7"
    assert "gpu-01 GPU 1: S-9 is not written: NetBox has S-7" in typed("netbox", "status")[1]


def test_serve_tells_it_in_a_thread_that_outlives_every_trouble(
    mirror: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on after an error that nobody thought of, and ends with serve."""
    monkeypatch.setattr(netbox, "PULSE", 0.02)
    errors = [RuntimeError("nobody thought of it")]
    scan = mirror.store.scan_mirror

    def failing(url: str) -> None:
        if errors:
            raise errors.pop()
        scan(url)

    monkeypatch.setattr(type(mirror.store), "scan_mirror", lambda _, url: failing(url))
    with netbox.mirroring(fleet_settings.load(), mirror.store, outward(mirror)):
        until(lambda: mirror.page("gpu-03")["fleet_state"] == "registered", "its page says nothing")
    assert errors == []


def test_an_error_that_nobody_thought_of_keeps_no_other_news_back(
    mirror: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(netbox, "PULSE", 0.02)
    monkeypatch.setattr(FieldsMirror, "waits", lambda _: 1 // 0)
    mirror.say("gpu-01", "fan noise")
    with netbox.mirroring(fleet_settings.load(), mirror.store, outward(mirror)):
        until(lambda: mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."], "its journal says nothing")


def test_what_is_only_observed_is_told_of_once_its_mode_is_raised(
    mirror: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither state nor history of a node; the others' go on."""
    monkeypatch.setattr(netbox, "PULSE", 0.02)
    mirror.store.set_mode(Setting(Scope.NODE, "gpu-01", None, Mode.OBSERVE, 1.0, "ada"))
    for name in ("gpu-01", "gpu-03"):
        mirror.say(name, "fan noise")
    with netbox.mirroring(fleet_settings.load(), mirror.store, outward(mirror)):
        until(lambda: mirror.entries("gpu-03") == ["ada asks: hold (fan noise)."], "its journal says nothing")
        assert (mirror.page("gpu-01")["fleet_state"], mirror.entries("gpu-01")) == (None, [])
        mirror.store.set_mode(Setting(Scope.NODE, "gpu-01", None, Mode.ADVISE, 2.0, "ada"))
        until(lambda: mirror.entries("gpu-01") == ["ada asks: hold (fan noise)."], "its journal says nothing")
        until(lambda: mirror.page("gpu-01")["fleet_state"] == "registered", "its page says nothing")


def test_the_status_says_that_of_observed_nodes_nothing_is_written(mirror: Told, typed: Type) -> None:
    words = "nothing is written about nodes in mode observe"
    assert words not in typed("netbox", "status")[1]
    mirror.store.set_mode(Setting(Scope.NODE, "gpu-01", None, Mode.OBSERVE, 1.0, "ada"))
    assert words in typed("netbox", "status")[1]


def test_nobody_is_told_by_a_store_that_may_be_another_fleets(mirror: Told) -> None:
    world: Any = SimpleNamespace(store=mirror.store, unaccepted="the store is new", fleet=None, where=Where)
    assert not Outward(world).anything()


def outward(mirror: Told) -> Outward:
    """Of what it may be told by a store that is the fleet's."""
    world: Any = SimpleNamespace(store=mirror.store, unaccepted="", fleet=None, where=Where)
    return Outward(world)


def test_serve_says_that_where_a_folder_is_the_source_no_netbox_is_told(
    mirror: Told, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FLEET_SOURCE", "site")
    world: Any = SimpleNamespace(settings=fleet_settings.load(), store=mirror.store)
    with serve.mirroring(world):
        pass
    said = capsys.readouterr().out
    assert said.startswith("netbox_write_nodes is on, from the variable FLEET_NETBOX_WRITE_NODES, and source is the")
    assert said.endswith("site: no NetBox gets updates\n")
