"""Commands about tickets, here and elsewhere."""

import json
import time
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.lifecycle.actions import Decision, OpenTicket
from tests.adapters.store.builders import device, node
from tests.adapters.trackers.bench import FLEET
from tests.adapters.trackers.code_hosts import GitHubRemote
from tests.adapters.trackers.remote import TOKEN, serving
from tests.cli.conftest import Type


@pytest.fixture
def ticketed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store with a ticket about gpu-01, and an inventory beside which trackers may be named."""
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "fleet.yml"))
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        store.register([device("gpu-01")], 100.0)
        seen = OpenTicket("gpu-01/disk", "disks", "gpu-01: worn out", "1. Replace it.", ("gpu-01",), "TRIAGE")
        store.apply(node(store), Decision((seen,), "", 0.0), time.time())
    return tmp_path


def named(folder: Path, url: str) -> None:
    """Name a tracker."""
    (folder / "trackers.yml").write_text(
        "trackers:\n  - name: halls\n    kind: github\n    repository: acme/halls\n"
        f"    url: {url}\n    token_file: token\n"
    )
    (folder / "token").write_text(TOKEN)
    (folder / "token").chmod(0o600)


def test_a_ticket_is_listed_and_shown_with_what_happened_to_it(typed: Type, ticketed: Path) -> None:
    """`tickets` is short for `ticket list`."""
    assert ticketed
    assert typed("ticket", "list").out == typed("tickets").out
    shown = typed("ticket", "show", "1")
    assert "#1 TRIAGE gpu-01: worn out" in shown.words
    assert "opened: gpu-01: worn out (runner)" in shown.words
    assert json.loads(typed("ticket", "show", "1", "--json").out)["changes"][0]["act"] == "opened"


def test_a_person_notes_and_closes_a_ticket_and_is_told_what_keeps_it_closed(typed: Type, ticketed: Path) -> None:
    """Only a fix does."""
    assert ticketed
    assert typed("ticket", "note", "1", "The part  is\non its way.").words == "noted on ticket 1"
    closed = typed("ticket", "close", "1", "--reason", "A known one.")
    assert closed.words == "ticket 1 is closed; if disks sees gpu-01/disk again, it is reopened"
    again = typed("ticket", "close", "1", "--reason", "A known one.")
    assert (again.code, "is closed already: by hand, by" in again.words) == (1, True)
    assert "noted: The part is on its way." in typed("ticket", "show", "1").words
    assert "Ticket 1 closed by hand: A known one." in typed("history", "gpu-01").words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("show", "7"), "there is no ticket 7"),
        (("note", "7", "x"), "there is no ticket 7"),
        (("close", "7", "-r", "x"), "there is no ticket 7"),
        (("note", "1", "  "), "found 0 characters of text"),
        (("note", "1", "x" * 2001), "found 2001 characters of text, expected 1 to 2000"),
    ],
)
def test_what_cannot_be_meant_is_said(typed: Type, ticketed: Path, words: tuple[str, ...], said: str) -> None:
    """With what is wrong."""
    assert ticketed
    found = typed("ticket", *words)
    assert (found.code, said in " ".join(found.err.split())) == (2, True)


def test_without_trackers_tickets_are_here_alone(typed: Type, ticketed: Path) -> None:
    """And the next step is named."""
    assert ticketed
    assert (
        "no trackers: tickets are only here; to configure one, see docs/trackers.md"
        in typed("ticket", "trackers").words
    )
    assert typed("ticket", "trackers", "--json").out.strip() == "[]"
    assert "error: no tracker is configured; see docs/trackers.md" in " ".join(typed("ticket", "sync").err.split())


def test_a_sync_tells_now_and_says_why_something_waits(
    typed: Type, ticketed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tracker that is down is no loss: what waits is shown with the reason."""
    monkeypatch.setattr("fleet_runner.cli.tickets.ticket.Reader", lambda _settings: lambda: FLEET)
    with serving(GitHubRemote()) as remote:
        named(ticketed, remote.url)
        assert "halls: no issue yet; changes pending" in typed("ticket", "show", "1").words
        assert "no update yet, 1 ticket waits" in typed("ticket", "trackers").words
        remote.faults = ["503"]
        failed = typed("ticket", "sync")
        assert (failed.code, "it has trouble (HTTP 503)" in failed.words) == (3, True)
        done = typed("ticket", "sync")
        assert (done.code, "no tickets wait" in done.words) == (0, True)
        assert "halls: https://github.example/acme/halls/issues/1" in typed("ticket", "show", "1").words
        assert typed("ticket", "sync", "1", "--anew", "--tracker", "halls").code == 0
        assert len(remote.seen()) == 2
        assert json.loads(typed("ticket", "trackers", "--json").out)[0]["waiting"] == []
        assert "--anew opens new issues" in typed("ticket", "sync", "--anew").err
        unknown = typed("ticket", "sync", "--tracker", "hall")
        assert "no tracker 'hall' is configured; found halls" in " ".join(unknown.err.split())


def test_a_slip_in_the_list_of_trackers_is_told_by_its_line(typed: Type, ticketed: Path) -> None:
    """And nothing is sent."""
    (ticketed / "trackers.yml").write_text("trackers:\n  - kind: trello\n    name: x\n")
    found = typed("ticket", "trackers")
    assert (found.code, "trackers.yml:2: trackers[0].kind: found 'trello'" in "".join(found.err.split("\n"))) == (
        2,
        True,
    )
