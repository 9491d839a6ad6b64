"""One secret of HashiCorp Vault's KV engine, version 1 or 2, with the token that a Vault Agent keeps in a file."""

import json
import stat
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import requests

from fleet_runner.adapters.redfish.exchange import is_loopback
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.settings import Settings

SECONDS = 10.0
MOST_BYTES = 1_000_000

MEANING = {
    HTTPStatus.FORBIDDEN: "the token is expired, or its policy does not let it read this; see to the Vault Agent",
    HTTPStatus.NOT_FOUND: "there is no such secret, or its newest version was deleted; correct bmc_vault"
    " (version 2 of the engine has /data/ in it: https://vault:8200/v1/secret/data/bmc)",
    HTTPStatus.TOO_MANY_REQUESTS: "it is a standby or has too much to do; try again later",
    HTTPStatus.SERVICE_UNAVAILABLE: "it is sealed or under maintenance; unseal it",
}
"""What Vault's statuses say (developer.hashicorp.com/vault/api-docs)."""


def secret(settings: Settings) -> dict[str, Any]:
    """Return what the secret at the setting bmc_vault holds.

    Raises:
        SettingsError: it cannot be read; neither the token nor the secret is quoted.
    """
    url = _checked(settings.bmc_vault)
    headers = {"X-Vault-Token": _token(settings), "X-Vault-Request": "true"}
    if settings.bmc_vault_namespace:
        headers["X-Vault-Namespace"] = settings.bmc_vault_namespace
    try:
        with requests.Session() as session:
            session.trust_env = False
            session.verify = str(settings.bmc_vault_ca) if settings.bmc_vault_ca else True
            with session.get(url, headers=headers, timeout=SECONDS, allow_redirects=False, stream=True) as answer:
                return _kept(url, answer)
    except (requests.RequestException, OSError, ValueError) as error:
        raise SettingsError(f"the Vault at {url} was not read: {_why(error)}") from None


def _kept(url: str, answer: requests.Response) -> dict[str, Any]:
    if answer.status_code != HTTPStatus.OK:
        why = MEANING.get(HTTPStatus(answer.status_code), "expected 200; look at the Vault")
        raise SettingsError(f"the Vault answered {answer.status_code} to {url}: {why}")
    found: Any = json.loads(answer.raw.read(MOST_BYTES, decode_content=True))
    data = found.get("data") if isinstance(found, dict) else None
    if isinstance(data, dict) and isinstance(data.get("data"), dict) and isinstance(data.get("metadata"), dict):
        data = data["data"]  # version 2 wraps it once more
    if not isinstance(data, dict):
        raise SettingsError(f"the Vault's answer to {url} holds no secret; expected one of a KV engine")
    return data


def _token(settings: Settings) -> str:
    path = settings.bmc_vault_token_file
    if path is None:
        raise SettingsError("bmc_vault needs bmc_vault_token_file, into which a Vault Agent writes its token")
    try:
        mode, token = path.stat().st_mode, path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise SettingsError(f"bmc_vault_token_file names {path}, which cannot be read: {why}") from None
    if stat.S_IMODE(mode) & 0o077:
        raise SettingsError(f"{path} can be read by others than its owner; run: chmod 600 {path}")
    if not token or not token.isascii() or not token.isprintable():
        raise SettingsError(f"{path} does not hold a Vault token; look at the Vault Agent")
    return token


def _checked(url: str) -> str:
    split = urlsplit(url)
    if split.scheme not in {"http", "https"} or not split.hostname or not split.path.startswith("/v1/"):
        raise SettingsError(f"bmc_vault is {url!r}; expected an address like https://vault:8200/v1/secret/data/bmc")
    if split.scheme == "http" and not is_loopback(split.hostname):
        raise SettingsError(f"bmc_vault would send the token unencrypted to {split.hostname}; use https")
    return url


def _why(error: Exception) -> str:
    match error:
        case requests.exceptions.SSLError():
            return "its certificate is not trusted; name its CA in bmc_vault_ca"
        case requests.exceptions.Timeout():
            return "no answer in time; check that it runs"
        case requests.exceptions.ConnectionError():
            return "the connection failed; check that it runs"
        case _:
            return f"its answer cannot be read ({type(error).__name__}); look at the Vault"
