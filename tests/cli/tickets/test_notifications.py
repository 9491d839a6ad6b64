"""fleet-runner notifications, as people type it."""

import json
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from tests.adapters.notifications.receiver import receiving
from tests.cli.conftest import Type


def listed(folder: Path, *rows: str) -> None:
    """A list of channels where the command looks for it."""
    (folder / "inventory").mkdir(exist_ok=True)
    (folder / "notifications.yml").write_text("channels:\n" + "".join(f"  - {row}\n" for row in rows))


def test_check_names_every_slip_and_every_secret_that_is_missing(typed: Type, tmp_path: Path) -> None:
    """With its line, and ends with 1."""
    listed(tmp_path, "{name: ops, kind: slack, url_file: ops.url}", "{name: hook, kind: pigeon}")
    said = typed("notifications", "check", "notifications.yml")
    assert said.code == 1
    assert "notifications.yml:3: channels[1].kind: found 'pigeon'" in said.out
    listed(tmp_path, "{name: ops, kind: slack, url_file: ops.url}")
    said = typed("notifications", "check", "notifications.yml")
    assert said.code == 1
    assert "channel ops: " in said.out
    listed(tmp_path, "{name: hook, kind: webhook, url: 'https://hooks.example/'}")
    said = typed("notifications", "check", "notifications.yml")
    assert (said.code, said.out.strip()) == (0, "notifications.yml: nothing is wrong; 1 channel")


def test_test_sends_one_message_that_says_what_it_is(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A receiver that does not take it is a no."""
    monkeypatch.setenv("FLEET_NOTIFICATIONS_FILE", str(tmp_path / "notifications.yml"))
    with receiving() as remote:
        listed(tmp_path, f"{{name: hook, kind: webhook, url: '{remote.url}'}}")
        assert typed("notifications", "test", "hook").out.strip() == "hook: the message was accepted"
        assert remote.bodies()[0]["title"] == "a test of notifications"
        remote.faults = ["404"]
        said = typed("notifications", "test", "hook")
        assert (said.code, "no such receiver" in said.out) == (1, True)
        said = typed("notifications", "test", "other")
        assert (said.code, "there is hook" in said.err) == (2, True)


def test_status_says_of_each_channel_when_it_was_told(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what keeps it from being told."""
    monkeypatch.setenv("FLEET_NOTIFICATIONS_FILE", str(tmp_path / "notifications.yml"))
    listed(tmp_path, "{name: hook, kind: webhook, url: 'https://hooks.example/'}")
    (tmp_path / "state").mkdir()
    with Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}") as store:
        assert typed("notifications", "status").out.startswith("hook (webhook): not begun")
        store.begin_channel("hook")
        assert typed("notifications", "status").out.strip() == "hook (webhook): nothing was sent yet"
    (row,) = json.loads(typed("notifications", "status", "--json").out)
    assert (row["name"], row["begun"], row["told"]) == ("hook", True, 0)


def test_without_a_list_each_says_that_nobody_is_notified(typed: Type, tmp_path: Path) -> None:
    """And where the list would be."""
    assert "no notifications" in typed("notifications", "check").err
    assert "no notifications" in typed("notifications", "test", "ops").err
    (tmp_path / "state").mkdir()
    Store.create(f"sqlite:///{tmp_path / 'state' / 'fleet.db'}").close()
    assert "no notifications" in typed("notifications", "status").out
