"""Bootstrap tokens of a Kubernetes cluster: one is made for each boot of a node, and taken back if nobody got it.

Spoken to is the API server alone, over TLS with the cluster's own CA, as a service account that may create and delete
secrets in kube-system. Form of a token: kubernetes.io, "Authenticating with Bootstrap Tokens".
"""

import json
import secrets as chance
import string
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError, NewConnectionError, SSLError
from urllib3.exceptions import TimeoutError as UrllibTimeoutError

from fleet_runner.adapters.files import secret as secret_file
from fleet_runner.core.base.errors import JoinError
from fleet_runner.core.inventory.consistency import show

SECRETS = "/api/v1/namespaces/kube-system/secrets"
LETTERS = string.ascii_lowercase + string.digits
ID_LETTERS, SECRET_LETTERS = 6, 16
TRIES = 3  # with another id each: two of 2,000 million are hardly ever the same
BODY_BYTES = 262_144
CHUNK_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Cluster:
    """An API server ("https://10.0.0.5:6443"), its CA, who mints there, and what a node's token is good for."""

    server: str
    ca: Path
    token_file: Path
    groups: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds to connect, and for one call in all; calls at a time."""

    connect_seconds: float = 3.0
    total_seconds: float = 10.0
    calls: int = 8


@dataclass(frozen=True, slots=True)
class Token:
    """A bootstrap token; `text` is what the node joins with."""

    id: str
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """Return the token as kubeadm takes it."""
        return f"{self.id}.{self.secret}"


def bearer(path: Path) -> str:
    """Return the token of the service account that mints, or raise a FleetError without it."""
    found = secret_file.read(path, "a service account's token").decode("ascii", "replace").strip()
    if not found.isascii() or not found.isprintable() or " " in found:
        raise JoinError(f"{path} holds no token; write a service account's token into it")
    return found


class TokenIssuer:
    """Makes and takes back tokens; may be used from several threads at once."""

    def __init__(self, cluster: Cluster, patience: Timeouts | None = None) -> None:
        self._cluster = cluster
        self._patience = patience or Timeouts()
        self._pool = urllib3.PoolManager(
            cert_reqs="CERT_REQUIRED", ca_certs=str(cluster.ca), maxsize=self._patience.calls, block=True,
            retries=False, timeout=self._wait(self._patience.total_seconds),
        )  # fmt: skip

    def mint(self, reason: str, now: float, *, dry: bool = False) -> Token:
        """Return a token that ends by itself, or raise JoinError; `reason` says for whom, a `dry` one is never kept.

        Where no answer came, a secret may have been kept in the cluster whose text nobody has; it ends by itself too.
        """
        for _ in range(TRIES):
            token = Token(_random(ID_LETTERS), _random(SECRET_LETTERS))
            status, body = self._ask(
                "POST", f"{SECRETS}{'?dryRun=All' if dry else ''}", self._secret(token, reason, now)
            )
            if status == HTTPStatus.CREATED:
                return token
            if status != HTTPStatus.CONFLICT:
                raise self._refused("a bootstrap token", status, body)
        raise JoinError(f"{self._cluster.server} knows {TRIES} new token ids already; look at its bootstrap tokens")

    def revoke(self, token: Token) -> None:
        """Take a token back; one that is gone already is fine. Raises JoinError."""
        status, body = self._ask("DELETE", f"{SECRETS}/bootstrap-token-{token.id}", None)
        if status not in {HTTPStatus.OK, HTTPStatus.ACCEPTED, HTTPStatus.NOT_FOUND}:
            raise self._refused(f"the end of bootstrap token {token.id}", status, body)

    def close(self) -> None:
        """End the connections."""
        self._pool.clear()

    def _secret(self, token: Token, reason: str, now: float) -> dict[str, Any]:
        ends = datetime.fromtimestamp(now + self._cluster.seconds, UTC)
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": f"bootstrap-token-{token.id}", "namespace": "kube-system"},
            "type": "bootstrap.kubernetes.io/token",
            "stringData": {
                "token-id": token.id,
                "token-secret": token.secret,
                "description": f"fleet-runner: {reason}",
                "expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
                "usage-bootstrap-authentication": "true",
                "auth-extra-groups": ",".join(self._cluster.groups),
            },
        }

    def _ask(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        headers = {
            "Authorization": f"Bearer {bearer(self._cluster.token_file)}",
            "Accept": "application/json",
            "Content-Type": "application/json",
        }
        until = time.monotonic() + self._patience.total_seconds
        try:
            answer = self._pool.request(
                method, self._cluster.server + path, body=json.dumps(body) if body else None, headers=headers,
                preload_content=False, redirect=False,
            )  # fmt: skip
            return answer.status, self._body(answer, until)
        except (HTTPError, OSError, ValueError) as error:
            raise JoinError(f"{self._cluster.server}: {_why(error)}") from None

    def _body(self, answer: urllib3.BaseHTTPResponse, until: float) -> bytes:
        found = bytearray()
        for chunk in answer.stream(CHUNK_BYTES):
            found += chunk
            if len(found) > BODY_BYTES or time.monotonic() > until:
                answer.close()
                raise JoinError(f"{self._cluster.server} answers without end; check that it is an API server")
        return bytes(found)

    def _refused(self, what: str, status: int, body: bytes) -> JoinError:
        where = f"{self._cluster.server} refused {what} (HTTP {status}: {_words(body)})"
        if status == HTTPStatus.UNAUTHORIZED:
            return JoinError(f"{where}; write a valid service account's token into {self._cluster.token_file}")
        if status == HTTPStatus.FORBIDDEN:
            return JoinError(f"{where}; let the service account create and delete secrets in kube-system")
        return JoinError(f"{where}; look into the API server's log, the node asks again by itself")

    def _wait(self, seconds: float) -> urllib3.Timeout:
        return urllib3.Timeout(connect=self._patience.connect_seconds, read=seconds)


def _random(letters: int) -> str:
    return "".join(chance.choice(LETTERS) for _ in range(letters))


def _words(body: bytes) -> str:
    """Return the API server's own sentence, cut and printable."""
    try:
        message = json.loads(body).get("message")
    except (ValueError, AttributeError, RecursionError):
        message = None
    return show(message) if isinstance(message, str) else "no reason given"


def _why(error: Exception) -> str:
    match error:
        case SSLError():
            return "its certificate is not of the CA that boot_join names; correct ca or server there"
        case UrllibTimeoutError() if not isinstance(error, NewConnectionError):
            return "no answer in time; check that the API server is up, the node asks again by itself"
        case _:
            return f"the connection failed ({type(error).__name__}); check server in boot_join and the network"
