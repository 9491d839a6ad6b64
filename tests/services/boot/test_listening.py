"""Where the boot service listens, and the files with secrets that it reads for that."""

import socket
from itertools import combinations
from pathlib import Path

import pytest

from fleet_runner.core.base.errors import SettingsError
from fleet_runner.services.boot.listening import certificate, token, unreachable
from fleet_runner.services.http.listening import listener
from tests.services.boot.sites import certificate as made
from tests.services.boot.sites import settings


@pytest.mark.parametrize(
    "listen", ["", "8480", "127.0.0.1", "127.0.0.1:http", "192.0.2.1:8480", "[::1:8480", "x:99999", "127.0.0.1:99999"]
)
def test_an_address_that_cannot_be_listened_at_is_an_error_a_person_can_act_on(listen: str) -> None:
    with pytest.raises(SettingsError, match=r"setting 'boot_listen': .*(expected|address)"):
        listener(listen, "boot_listen")


def test_a_port_that_another_program_has_is_said_to_be_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(SettingsError, match="another program has that port; stop that one, or choose another"):
            listener(f"127.0.0.1:{port}", "boot_listen")


@pytest.mark.parametrize(
    ("listen", "url", "told"),
    [
        ("127.0.0.1:8480", "http://10.10.0.2:8480", "10.10.0.2:8480"),
        ("localhost:8480", "http://boot.example", "boot.example:80"),
        ("[::1]:8443", "https://[2001:db8::2]", "[2001:db8::2]:443"),
    ],
)
def test_a_service_that_only_its_own_machine_could_reach_is_told_of(listen: str, url: str, told: str) -> None:
    (said,) = unreachable(listen, url, "boot_listen")
    assert said == f"nodes cannot reach {listen}, although their URL is {url}; set boot_listen to {told}"


@pytest.mark.parametrize(
    ("listen", "url"),
    [
        ("10.10.0.2:8480", "http://10.10.0.2:8480"),
        ("0.0.0.0:8480", "http://10.10.0.2:8480"),
        ("127.0.0.1:8480", "http://127.0.0.5:8480"),
        ("[::1]:8480", "http://localhost:8480"),
        ("127.0.0.1:8443", ""),
        ("nowhere", "http://10.10.0.2:8480"),
    ],
)
def test_an_address_that_nodes_may_reach_is_nothing_to_warn_of(listen: str, url: str) -> None:
    assert unreachable(listen, url, "boot_listen") == []


def test_tls_needs_certificate_key_and_url_that_belong_together(tmp_path: Path) -> None:
    one, two = made(tmp_path, "one"), made(tmp_path, "two")
    key = tmp_path / "two.key"
    assert certificate(settings(state_dir=tmp_path)) is None
    both = settings(boot_certificate=one, boot_certificate_key=key, boot_secure_url="https://x")
    missing: tuple[tuple[str, object], ...] = (
        ("boot_certificate", None), ("boot_certificate_key", None), ("boot_secure_url", "")
    )  # fmt: skip
    for left_out in [*combinations(missing, 1), *combinations(missing, 2)]:
        with pytest.raises(SettingsError, match="TLS needs all of"):
            certificate(both.model_copy(update=dict(left_out)))
    key.chmod(0o644)
    with pytest.raises(SettingsError, match="others may read it"):
        certificate(both)
    key.chmod(0o600)
    with pytest.raises(SettingsError, match="expected PEM files that belong together"):
        certificate(both)
    assert certificate(both.model_copy(update={"boot_certificate": two})) is not None


def test_the_token_of_dhcp_servers_is_there_private_and_not_empty(tmp_path: Path) -> None:
    path = tmp_path / "token"
    with pytest.raises(SettingsError, match=r"boot_dhcp_token .*No such file"):
        token(path)
    path.write_text("\n", "utf-8")
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="others may read it"):
        token(path)
    path.chmod(0o600)
    with pytest.raises(SettingsError, match="it is empty"):
        token(path)
    path.write_text(" secret \n", "utf-8")
    assert token(path) == b"secret"
    assert token(None) == b""
