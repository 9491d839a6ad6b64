"""Requests in a NetBox's pages beside serve: looked at every so often, and at once when its webhook rings."""

import hmac
import time
from hashlib import sha512
from pathlib import Path

import httpx
import pytest

from fleet_runner.adapters.plays.wakeup import REQUESTS, ring
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.reconcile.inventory import page_intents
from fleet_runner.services.signals.thread import beside
from fleet_runner.settings import Settings
from tests.netbox.asking import FLEET, Desk
from tests.secret import private
from tests.waiting import PATIENCE, until


def settings(desk: Desk, folder: Path, **more: object) -> Settings:
    """Settings under which requests are taken from a NetBox."""
    token = folder / "token"
    private(token, desk.token)
    given = {"source": desk.netbox.url, "netbox_token_file": token, "netbox_wishes": True, "netbox_write_nodes": True}
    return Settings.model_validate(given | {"state_dir": folder} | more)


def test_a_request_is_taken_at_once_when_netbox_tells_of_it(desk: Desk, tmp_path: Path) -> None:
    """Long before the next look; what the webhook says of a node is not believed."""
    secret, said = tmp_path / "secret", list[str]()
    private(secret, "made-up")
    given = settings(desk, tmp_path, netbox_webhook_secret=secret, signals_listen="127.0.0.1:0")
    with page_intents.taking(given, desk.store), beside(given, desk.store, lambda: FLEET, said.append):
        until(lambda: bool(desk.netbox.requests) and bool(said))
        time.sleep(page_intents.REST)
        began = time.monotonic()
        desk.ask("gpu-1", "hold", "the fan is loud")
        body = b'{"data": {"name": "gpu-2", "custom_fields": {"fleet_wish": "reboot"}}}'
        signed = {"X-Hook-Signature": hmac.new(b"made-up", body, sha512).hexdigest()}
        url = said[0].removeprefix("signals: ")
        answer = httpx.post(f"{url}/signals/netbox", content=body, headers=signed, trust_env=False, timeout=PATIENCE)
        assert answer.status_code == 200
        until(lambda: desk.stands("gpu-1") == ("", ""))
        assert time.monotonic() - began < page_intents.EVERY / 2
    assert desk.asked() == [("alice in NetBox", "hold", "the fan is loud")]
    assert desk.asked("gpu-2") == []
    assert desk.store.take_tracker(page_intents.NAME, "the next one", desk.store.clock(), 1.0) is not None


def test_however_often_it_rings_netbox_is_asked_no_more_than_once_a_second(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rest = 0.3
    monkeypatch.setattr(page_intents, "REST", rest)
    began = time.monotonic()
    with page_intents.taking(settings(desk, tmp_path), desk.store):
        while len(desk.netbox.requests) < 2 or time.monotonic() < began + 1.0:
            ring(tmp_path, REQUESTS)
            time.sleep(0.001)
    assert len(desk.netbox.requests) <= (time.monotonic() - began) / rest + 1


def test_a_netbox_that_is_away_is_looked_at_again_and_its_end_is_awaited_by_nobody(
    desk: Desk, tmp_path: Path
) -> None:
    """Whatever goes wrong in the thread, it goes on, and ends when it is asked to."""
    (tmp_path / "token").unlink(missing_ok=True)
    given = settings(desk, tmp_path)
    (tmp_path / "token").unlink()
    with page_intents.taking(given, desk.store):
        until(lambda: "a NetBox token" in desk.store.tracker(page_intents.NAME).detail)
        private(tmp_path / "token", desk.token)
        desk.ask("gpu-1", "hold")
        time.sleep(page_intents.REST)
        ring(tmp_path, REQUESTS)
        until(lambda: bool(desk.asked()))


def test_settings_that_answer_nobody_are_refused(desk: Desk, tmp_path: Path) -> None:
    for more, said in (
        ({"source": str(tmp_path)}, "expected a NetBox's URL, or netbox_wishes = false"),
        ({"netbox_write_nodes": False}, "set netbox_write_nodes, too"),
    ):
        with pytest.raises(SettingsError, match=said):
            page_intents.taker(settings(desk, tmp_path, **more), desk.store)
