"""An OpenID Connect provider on loopback that says whatever a test has it say, true or not."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

KEY, STRANGE = RSAKey.generate_key(2048, {"kid": "one"}), RSAKey.generate_key(2048, {"kid": "one"})


@dataclass(slots=True)
class Liar:
    """What it says: of itself, in the id_token (`claims`, `header`, signed by `key`), and with which status."""

    url: str = ""
    about: dict[str, Any] = field(default_factory=dict[str, Any])
    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    without: str = ""
    header: dict[str, Any] = field(default_factory=lambda: {"alg": "RS256", "kid": "one"})
    key: Any = field(default_factory=lambda: KEY)
    keys: Any = None
    token: str | None = None
    status: int = 200
    nonce: str = ""
    asked: list[tuple[str, dict[str, list[str]]]] = field(default_factory=list[tuple[str, dict[str, list[str]]]])

    def described(self) -> dict[str, Any]:
        """Return what it says of itself."""
        places = {"authorization_endpoint": "/authorize", "token_endpoint": "/token", "jwks_uri": "/keys"}
        return {"issuer": self.url, **{name: self.url + path for name, path in places.items()}, **self.about}

    def issued(self) -> dict[str, Any]:
        """Return its answer to a code."""
        now = int(time.time())
        claims = {"iss": self.url, "aud": "fleet", "sub": "7", "iat": now, "exp": now + 300, "nonce": self.nonce}
        claims |= {"preferred_username": "ann", "groups": ["fleet-ops"], **self.claims}
        claims.pop(self.without, None)
        made = self.token
        if made is None:
            made = jwt.encode(self.header, claims, self.key, algorithms=[self.header["alg"]])
        return {"access_token": "x", "token_type": "Bearer", "id_token": made}


@contextmanager
def liar() -> Iterator[Liar]:
    """Give a provider that tells the truth so far."""
    said = Liar()

    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            self._send(
                said.described() if "well-known" in path else said.keys or {"keys": [KEY.as_dict(private=False)]}
            )

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"])).decode()
            said.asked.append((self.headers.get("authorization", ""), parse_qs(body)))
            self._send(said.issued())

        def _send(self, answer: object) -> None:
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(said.status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    said.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield said
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
