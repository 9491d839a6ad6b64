"""How a lab's node talks HTTP: from an address of its own, one connection for each request."""

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

ANSWER_SECONDS = 10.0
PASSING = frozenset({429, 500, 502, 503, 504})
"""HTTP statuses that may be another one a moment later."""


class RefusedError(OSError):
    """There is an answer, but not with what was asked for."""

    def __init__(self, status: int) -> None:
        super().__init__(f"HTTP status {status}")
        self.passing = status in PASSING


@dataclass(frozen=True, slots=True)
class NodeNetwork:
    """A node's network. The methods return the body of the answer, and raise OSError where there is none."""

    address: str

    def get(self, url: str) -> bytes:
        """Ask for a URL."""
        return self._ask("GET", url, None, {})

    def post(self, url: str, form: Mapping[str, str]) -> bytes:
        """Post a form."""
        return self.send(url, urlencode(form), {"Content-Type": "application/x-www-form-urlencoded"})

    def send(self, url: str, body: str, headers: Mapping[str, str]) -> bytes:
        """Post anything."""
        return self._ask("POST", url, body, headers)

    def _ask(self, method: str, url: str, body: str | None, headers: Mapping[str, str]) -> bytes:
        parts = urlsplit(url)
        here = (self.address, 0)
        line = http.client.HTTPConnection(parts.netloc, timeout=ANSWER_SECONDS, source_address=here)
        try:
            line.request(method, parts._replace(scheme="", netloc="").geturl() or "/", body, dict(headers))
            answer = line.getresponse()
            found = answer.read()
        except (http.client.HTTPException, ValueError) as error:
            raise OSError(f"{error!r}") from error
        finally:
            line.close()
        if answer.status >= http.client.BAD_REQUEST:
            raise RefusedError(answer.status)
        return found
