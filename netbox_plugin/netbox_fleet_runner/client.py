"""One question to fleet-runner's API, answered within its time limit whatever happens, or a sentence why not."""

import http.client
import json
import ssl
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

from netbox_fleet_runner.brief import Brief, BriefError, plain, read, web

LARGEST = 2_000_000
"""Bytes of an answer that are read."""

LARGEST_TOKEN = 4_096
"""Bytes of a token's file that are read."""

AWAY_SECONDS = 30
"""How long fleet-runner is not asked again after it did not answer, by any worker of NetBox."""

AWAY_KEY = "netbox_fleet_runner.away"

UNAVAILABLE = (502, 503, 504)


class Memory(Protocol):
    """What workers share for a while: Django's cache."""

    def get(self, key: str) -> Any:
        """Return what is kept under a key, or None."""

    def set(self, key: str, value: Any, timeout: int) -> Any:
        """Keep something for so many seconds."""


class AwayError(Exception):
    """Why fleet-runner could not be asked, in a sentence; `lasting` where it should be left alone for a while."""

    def __init__(self, sentence: str, *, lasting: bool = True) -> None:
        super().__init__(sentence)
        self.lasting = lasting


@dataclass(frozen=True, slots=True)
class Server:
    """Where fleet-runner's API is, and how it is asked."""

    url: str
    token_file: str
    ca_file: str = ""
    seconds: float = 1.5


def server(settings: Mapping[str, Any]) -> Server | None:
    """Return the server that the plugin's settings name, None where they name none."""
    url = str(settings.get("url") or "").rstrip("/")
    if not url:
        return None
    try:
        seconds = min(max(float(settings.get("timeout_seconds") or 0), 0.1), 10.0)
    except (TypeError, ValueError):
        seconds = 1.5
    return Server(url, str(settings.get("token_file") or ""), str(settings.get("ca_file") or ""), seconds)


def page(settings: Mapping[str, Any]) -> str:
    """Return the address of fleet-runner's pages, "" where it is not known."""
    url = str(settings.get("web_url") or settings.get("url") or "").rstrip("/")
    return url if web(url) else ""


def ask(of: Server, name: str, memory: Memory) -> Brief:
    """Return what fleet-runner says of a node. AwayError says why not, at once where it did not answer lately."""
    known = memory.get(AWAY_KEY)
    if isinstance(known, str):
        raise AwayError(known)
    try:
        return read(_answer(of, name), name)
    except BriefError as error:
        raise AwayError(f"fleet-runner's answer cannot be read: {error}.", lasting=False) from error
    except AwayError as error:
        if error.lasting:
            memory.set(AWAY_KEY, str(error), AWAY_SECONDS)
        raise


def _answer(of: Server, name: str) -> object:
    """Ask in a thread of its own: looking up a name, a handshake and an answer in drops have no limit together."""
    token = _token(of.token_file)
    said: SimpleQueue[object] = SimpleQueue()
    end = time.monotonic() + of.seconds

    def fetch() -> None:
        try:
            said.put(_fetched(of, f"/api/v1/nodes/{quote(name, safe='')}/brief", token, end))
        except AwayError as error:
            said.put(error)
        except TimeoutError:
            said.put(AwayError(f"fleet-runner does not answer within {of.seconds:g} s."))
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            said.put(AwayError(f"fleet-runner does not answer ({plain(type(error).__name__)})."))

    threading.Thread(target=fetch, name="fleet-runner", daemon=True).start()
    try:
        found = said.get(timeout=of.seconds)
    except Empty:
        raise AwayError(f"fleet-runner does not answer within {of.seconds:g} s.") from None
    if isinstance(found, AwayError):
        raise found
    return found


def _fetched(of: Server, path: str, token: str, end: float) -> object:
    parts = urlsplit(of.url)
    host = parts.hostname
    if host is None or parts.scheme not in {"http", "https"}:
        raise AwayError("The plugin's url is not an address such as https://fleet.example:8492.")
    if parts.scheme == "http" and not _here(host):
        raise AwayError("The plugin's url begins with http://, expected https://: the token is not sent in clear.")
    connection: http.client.HTTPConnection
    if parts.scheme == "https":
        context = ssl.create_default_context(cafile=of.ca_file or None)
        connection = http.client.HTTPSConnection(host, parts.port, timeout=of.seconds, context=context)
    else:
        connection = http.client.HTTPConnection(host, parts.port, timeout=of.seconds)
    try:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        connection.request("GET", f"{parts.path.rstrip('/')}{path}", headers=headers)
        with connection.getresponse() as answer:
            body = _body(answer, end)
        if answer.status != http.client.OK:
            raise _refusal(answer.status, body)
        return json.loads(body)
    finally:
        connection.close()


def _here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _body(answer: http.client.HTTPResponse, end: float) -> bytes:
    found = bytearray()
    while part := answer.read1(65_536):
        found += part
        if len(found) > LARGEST or time.monotonic() > end:
            raise AwayError("fleet-runner's answer is too long or too slow.")
    return bytes(found)


def _refusal(status: int, body: bytes) -> AwayError:
    """Say what a status means; a node that is not known is no reason to ask nothing of others."""
    match status:
        case http.client.UNAUTHORIZED | http.client.FORBIDDEN:
            return AwayError(
                "fleet-runner refuses the plugin's token: make one with 'fleet-runner web token add', role viewer."
            )
        case http.client.NOT_FOUND if b'"Not Found"' in body:
            return AwayError("This fleet-runner is too old for the plugin: update it to 0.2 or newer.")
        case http.client.NOT_FOUND if b"there is no node" in body:
            return AwayError("fleet-runner does not know this device.", lasting=False)
        case status if status in UNAVAILABLE:
            return AwayError(f"fleet-runner does not answer (HTTP {status}).")
        case _:
            return AwayError(f"fleet-runner answers with HTTP {status}.")


def _token(path: str) -> str:
    if not path:
        raise AwayError("The plugin's token_file is not set.")
    try:
        with Path(path).open("rb") as file:
            token = file.read(LARGEST_TOKEN).decode("ascii").strip()
    except (OSError, ValueError):
        raise AwayError("The plugin's token_file cannot be read by NetBox.") from None
    if not token or not token.isprintable() or " " in token:
        raise AwayError("The plugin's token_file does not hold one token.")
    return token
