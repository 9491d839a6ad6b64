"""NetBox's webhook at the listener: one that is signed rings, and nothing else that comes there has any effect."""

import hmac
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha512
from pathlib import Path
from typing import Any

import httpx
import pytest

from fleet_runner.adapters.plays.wakeup import REQUESTS, Wakeup, hearing
from fleet_runner.services.signals import netbox
from tests.secret import private
from tests.services.signals.hearing import LONG, Ear, flooded, limited, listening
from tests.waiting import until

SECRET = b"7hGk2-made-up"
BODY = b'{"event": "updated", "data": {"id": 7, "custom_fields": {"fleet_wish": "hold"}}}'


def signature(body: bytes = BODY, secret: bytes = SECRET) -> str:
    """Sign as NetBox does."""
    return hmac.new(secret, body, sha512).hexdigest()


@contextmanager
def hooked(folder: Path, secret: bytes | None = SECRET, **more: Any) -> Iterator[tuple[Ear, Wakeup]]:
    """Listen for a NetBox's webhook, with the bell that it rings."""
    file = folder / "webhook.secret"
    if secret is not None:
        private(file, secret.decode() + "\n")
    given: dict[str, Any] = {"netbox_wishes": True, "netbox_webhook_secret": file} | more
    with listening(folder, **given) as ear, hearing(folder, REQUESTS) as bell:
        yield ear, bell


def hook(ear: Ear, signed: str | None, body: bytes = BODY) -> httpx.Response:
    """Post a webhook."""
    return ear.push("/netbox", body, "", headers={} if signed is None else {"X-Hook-Signature": signed})


def test_a_signed_webhook_rings_and_says_nothing_else(tmp_path: Path) -> None:
    """The same one again rings again: that is all that a replay can do."""
    with hooked(tmp_path) as (ear, bell):
        for _ in range(2):
            assert hook(ear, signature()).status_code == 200
            assert bell.wait(LONG)
        assert ear.alarms() == ()
        assert ear.store.intents("gpu-01") == ()
        until(lambda: ear.heard("netbox", "taken") == 2)


FORGED: dict[str, list[str | None]] = {
    "no signature": [None, "", "0" * 127, hmac.new(SECRET, BODY, "sha256").hexdigest()],
    "wrong signature": ["0" * 128, "\xff" * 128, signature(secret=b"other"), signature(b"{}")],
}


def test_a_forged_webhook_rings_nobody(tmp_path: Path) -> None:
    with hooked(tmp_path) as (ear, bell):
        for signed in (each for forged in FORGED.values() for each in forged):
            headers = {} if signed is None else {b"x-hook-signature": signed.encode("latin-1")}
            answer = ear.push("/netbox", BODY, "", headers=headers)
            assert (answer.status_code, SECRET in answer.content) == (401, False), signed
        assert not bell.wait(0.0)
        for what, forged in FORGED.items():
            until(lambda: ear.heard("netbox", f"refused: {what}") == len(forged))  # noqa: B023  it is over before the next


def test_a_token_of_the_listener_is_no_signature(tmp_path: Path) -> None:
    with hooked(tmp_path) as (ear, bell):
        assert ear.push("/netbox", BODY).status_code == 401
        assert not bell.wait(0.0)


def test_an_oversized_webhook_is_not_read(tmp_path: Path) -> None:
    """Signed or not; and no larger one that hides its size either."""
    large = b"x" * (netbox.MOST + 1)
    with hooked(tmp_path) as (ear, bell):
        assert hook(ear, signature(large), large).status_code == 413
        pieces = (large[at : at + 4096] for at in range(0, len(large), 4096))
        assert ear.push("/netbox", pieces, "", headers={"X-Hook-Signature": signature(large)}).status_code == 413
        assert not bell.wait(0.0)
        most = b"x" * netbox.MOST
        assert hook(ear, signature(most), most).status_code == 200


def test_a_flood_from_one_address_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limited(monkeypatch)
    with hooked(tmp_path) as (ear, _):
        assert flooded(lambda: hook(ear, "0", b"")) == {401, 429}


@pytest.mark.parametrize("secret", [None, b""])
def test_without_a_secret_nothing_is_taken(tmp_path: Path, secret: bytes | None) -> None:
    """An empty secret is nobody's signature."""
    with hooked(tmp_path, secret) as (ear, bell):
        answer = hook(ear, signature(secret=b""))
        assert answer.status_code == 503
        assert str(tmp_path) not in answer.text
        assert not bell.wait(0.0)


def test_a_secret_that_was_replaced_counts_at_once(tmp_path: Path) -> None:
    with hooked(tmp_path) as (ear, _):
        (tmp_path / "webhook.secret").write_bytes(b"new")
        assert hook(ear, signature()).status_code == 401
        assert hook(ear, signature(secret=b"new")).status_code == 200


@pytest.mark.parametrize("off", [{"netbox_wishes": False}, {"netbox_webhook_secret": None}])
def test_the_door_is_shut_where_the_settings_do_not_open_it(tmp_path: Path, off: dict[str, Any]) -> None:
    with hooked(tmp_path, **off) as (ear, _):
        answer = hook(ear, signature())
        assert (answer.status_code, "netbox_webhook_secret" in answer.text) == (404, True)


def test_the_door_is_for_posts_alone(tmp_path: Path) -> None:
    with hooked(tmp_path) as (ear, _):
        assert httpx.get(f"{ear.url}/signals/netbox", trust_env=False, timeout=LONG).status_code == 405


def test_nobody_who_hears_is_no_trouble(tmp_path: Path) -> None:
    """The pages are looked at anyway."""
    with hooked(tmp_path) as (ear, _):
        (tmp_path / REQUESTS).unlink()
        assert hook(ear, signature()).status_code == 200
