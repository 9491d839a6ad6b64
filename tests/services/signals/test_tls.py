"""Where a certificate is set, tokens go over TLS, and plain HTTP is answered by nobody."""

import ssl
from pathlib import Path

import httpx
import pytest

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.signals.serving import secured
from tests.services.boot.sites import certificate, settings
from tests.services.signals.hearing import LONG, listening, xid


def test_tls_is_spoken_where_a_certificate_is_set(tmp_path: Path) -> None:
    """By a client that trusts it, and by no other."""
    made = certificate(tmp_path, "signals")
    trusting = ssl.create_default_context(cafile=str(made))
    key = made.with_suffix(".key")
    with listening(tmp_path, signals_certificate=made, signals_certificate_key=key) as ear:
        assert ear.url.startswith("https://127.0.0.1:")
        assert ear.push("/log", xid(), verify=trusting).json()["taken"] == 1
        with pytest.raises(httpx.ConnectError):
            ear.push("/log", xid(number=48), verify=True)
        with pytest.raises(httpx.TransportError):
            httpx.post(ear.url.replace("https", "http"), content=xid(), trust_env=False, timeout=LONG)
        assert [each.code for each in ear.alarms()] == ["xid.79"]


def test_beyond_this_machine_tls_is_needed_unless_told_otherwise(tmp_path: Path) -> None:
    """Loopback needs none."""
    for listen in ("127.0.0.1:8490", "[::1]:8490", "localhost:8490"):
        assert secured(settings(signals_listen=listen)) is None
    for listen in ("0.0.0.0:8490", "[::]:8490", "10.0.0.1:8490", "fleet.example:8490"):
        with pytest.raises(SettingsError, match="reached from other machines"):
            secured(settings(signals_listen=listen))
        assert secured(settings(signals_listen=listen, signals_plain=True)) is None
    key = certificate(tmp_path, "signals").with_suffix(".key")
    with pytest.raises(SettingsError, match="set the missing one"):
        secured(settings(signals_listen="127.0.0.1:8490", signals_certificate_key=key))
