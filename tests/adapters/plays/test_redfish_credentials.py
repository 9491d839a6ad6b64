"""Where BMC credentials come from."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.plays.credentials import HANDED, PASSWORD, USERNAME
from fleet_runner.adapters.redfish import credentials
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import Settings
from tests.adapters.vault_server import TOKEN, Vault, vaulted

URL = "https://10.0.7.21"


@pytest.fixture
def vault() -> Iterator[Vault]:
    """A Vault with one secret."""
    with vaulted() as server:
        yield server


@pytest.fixture
def token(tmp_path: Path) -> Path:
    """The file that a Vault Agent keeps."""
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    file.chmod(0o600)
    return file


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No credentials in the environment but the test's."""
    for name in (USERNAME, PASSWORD, HANDED):
        monkeypatch.delenv(name, raising=False)


def file(folder: Path, **held: Any) -> Path:
    """Write a file of credentials."""
    path = folder / "bmc.yml"
    path.write_text(json.dumps(held))
    path.chmod(0o600)
    return path


def test_a_device_of_its_own_has_credentials_of_its_own(tmp_path: Path) -> None:
    """By its name, its address, or a pattern of either; the first that fits; else those of all."""
    mine = {
        "gpu-01": {"username": "one", "password": "a"},
        "10.0.7.*": {"username": "seven", "password": "b"},
        "https://10.0.8.?": {"username": "eight", "password": "c"},
        "gpu-*": {"username": "gpu", "password": "d"},
    }
    held = Settings(bmc_credentials=file(tmp_path, username="all", password="z", devices=mine))
    assert credentials(held, URL, "gpu-01") == ("one", "a")
    assert credentials(held, URL, "gpu-02") == ("seven", "b")
    assert credentials(held, f"{URL}:8443") == ("seven", "b")
    assert credentials(held, "https://10.0.8.1/") == ("eight", "c")
    assert credentials(held, "https://10.0.9.1", "gpu-02") == ("gpu", "d")
    assert credentials(held, "https://10.0.9.1", "cpu-02") == ("all", "z")
    assert credentials(held) == ("all", "z")


@pytest.mark.parametrize(
    ("held", "says"),
    [
        ({"devices": {"gpu-*": {"username": "a", "password": "topsecret"}}}, r"has no credentials for https://10\.0\.7\.21"),
        ({"devices": ["topsecret"]}, "must hold credentials by the devices' names"),
        ({"devices": {"10.*": {"username": "a", "password": 12345678}}}, "must hold username and"),
        ({"devices": {"10.*": "topsecret"}}, "must hold username and password as text"),
        ({"username": "topsecret"}, "must hold username and password as text"),
    ],
)  # fmt: skip
def test_a_file_that_says_nothing_usable_is_named_and_not_quoted(tmp_path: Path, held: Any, says: str) -> None:
    with pytest.raises(SettingsError, match=says) as caught:
        credentials(Settings(bmc_credentials=file(tmp_path, **held)), URL)
    assert "topsecret" not in str(caught.value)
    assert "12345678" not in str(caught.value)


def test_variables_win_over_vault_and_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Settings(bmc_credentials=file(tmp_path, username="all", password="z"), bmc_vault="https://vault/v1/kv/bmc")
    monkeypatch.setenv(HANDED, str(file(tmp_path, username="handed", password="over")))
    assert credentials(held, URL) == ("handed", "over")
    monkeypatch.setenv(USERNAME, "operator")
    with pytest.raises(SettingsError, match=f"the variable {PASSWORD} is not set, and its companion is"):
        credentials(held, URL)
    monkeypatch.setenv(PASSWORD, "of the day")
    assert credentials(held, URL) == ("operator", "of the day")
    monkeypatch.delenv(USERNAME)
    with pytest.raises(SettingsError, match=f"the variable {USERNAME} is not set"):
        credentials(held, URL)


def test_a_secret_of_either_version_is_read_with_the_agents_token(vault: Vault, token: Path) -> None:
    vault.secrets["/v1/kv/bmc"] = {"devices": {"gpu-*": {"username": "one", "password": "of version 1"}}}
    two = Settings(bmc_vault=f"{vault.url}/v1/secret/data/bmc", bmc_vault_token_file=token, bmc_vault_namespace="ops")
    one = Settings(bmc_vault=f"{vault.url}/v1/kv/bmc", bmc_vault_token_file=token)
    assert credentials(two, URL) == ("fleet", "from the vault")
    assert credentials(one, URL, "gpu-01") == ("one", "of version 1")
    assert [asked.get("X-Vault-Namespace") for asked in vault.asked] == ["ops", None]


def test_a_version_1_secret_that_has_a_field_called_data_is_not_taken_for_version_2(
    vault: Vault, token: Path
) -> None:
    vault.secrets["/v1/kv/bmc"] = {"username": "one", "password": "a", "data": {"username": "no"}}
    assert credentials(Settings(bmc_vault=f"{vault.url}/v1/kv/bmc", bmc_vault_token_file=token)) == ("one", "a")


def test_what_a_vault_refuses_is_said_with_what_to_do_and_without_the_token(vault: Vault, token: Path) -> None:
    asked = Settings(bmc_vault=f"{vault.url}/v1/secret/data/bmc", bmc_vault_token_file=token)

    def refused(settings: Settings = asked) -> str:
        with pytest.raises(SettingsError) as caught:
            credentials(settings, URL)
        assert TOKEN not in str(caught.value)
        assert caught.value.__cause__ is None
        return str(caught.value)

    assert "answered 404" in refused(asked.model_copy(update={"bmc_vault": f"{vault.url}/v1/secret/bmc"}))
    assert "/data/" in refused(asked.model_copy(update={"bmc_vault": f"{vault.url}/v1/secret/bmc"}))
    vault.raw = b"<html>"
    assert "its answer cannot be read" in refused()
    vault.raw = b"[]"
    assert "holds no secret" in refused()
    vault.raw = b"{" + b" " * 2_000_000 + b"}"
    assert "its answer cannot be read" in refused()
    vault.raw = None
    vault.elsewhere = "http://127.0.0.2/v1/secret/data/bmc"
    assert "answered 307" in refused()
    vault.elsewhere = ""
    vault.sealed = True
    assert "answered 503" in refused()
    assert "unseal it" in refused()
    vault.sealed = False
    token.write_text("hvs.expired")
    assert "answered 403" in refused()
    assert "Vault Agent" in refused()
    count = len(vault.asked)
    token.write_text("two\nlines")
    assert "does not hold a Vault token" in refused()
    token.chmod(0o640)
    assert f"chmod 600 {token}" in refused()
    token.unlink()
    assert "cannot be read: No such file" in refused()
    assert "needs bmc_vault_token_file" in refused(asked.model_copy(update={"bmc_vault_token_file": None}))
    assert len(vault.asked) == count, "nothing is sent without a token"


@pytest.mark.parametrize("url", ["vault:8200/v1/x", "ftp://vault/v1/x", "https:///v1/x", "https://vault/kv/bmc"])
def test_an_address_that_is_no_secrets_is_refused(token: Path, url: str) -> None:
    with pytest.raises(SettingsError, match="expected an address like"):
        credentials(Settings(bmc_vault=url, bmc_vault_token_file=token))


def test_a_token_is_not_sent_unencrypted(token: Path) -> None:
    with pytest.raises(SettingsError, match="unencrypted to 192"):
        credentials(Settings(bmc_vault="http://192.0.2.7/v1/kv/bmc", bmc_vault_token_file=token))


def test_a_vault_that_is_not_there_is_said(vault: Vault, token: Path) -> None:
    url = vault.url
    vault.shutdown()
    vault.server_close()
    with pytest.raises(SettingsError, match="was not read: the connection failed"):
        credentials(Settings(bmc_vault=f"{url}/v1/kv/bmc", bmc_vault_token_file=token))
