"""One POST to a receiver: bounded in time and size, not redirected, and no failure tells its address.

An address may be a secret as a whole (Slack's are), so a sentence names the channel and the host alone.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import requests

from fleet_runner.adapters.files.notifications import Secrets
from fleet_runner.adapters.trackers.wire import (
    BAD,
    BROKEN,
    BUSY,
    CHUNK,
    FORBIDDEN,
    GONE,
    MULTIPLE,
    NOT_FOUND,
    OK,
    TIMEOUT,
    UNAUTHORIZED,
    Limits,
    asked_to_wait,
)
from fleet_runner.core.tickets.trackers.backoff import Kind, TrackerError

MOST_BYTES = 65_536
"""Of an answer; nothing is read in it."""

LIMITS = Limits(10.0, 20.0, 40.0)


@dataclass(frozen=True, slots=True)
class OutgoingMessage:
    """A body, its headers, and how patient to be."""

    body: bytes
    headers: Mapping[str, str | bytes]
    limits: Limits = LIMITS


def post(name: str, secrets: Secrets, posted: OutgoingMessage) -> None:
    """Send a body to a channel's address; TrackerError unless it was taken."""
    host = f"{name}: {urlsplit(secrets.url).hostname}"
    until = time.monotonic() + posted.limits.whole
    with requests.Session() as session:
        session.auth = lambda request: request  # else a ~/.netrc adds a password
        try:
            with session.post(
                secrets.url,
                data=posted.body,
                headers={"User-Agent": "fleet-runner", **posted.headers},
                timeout=(posted.limits.connect, posted.limits.read),
                allow_redirects=False,
                stream=True,
                verify=secrets.verify,
            ) as answer:
                _read(answer, host, until)
        except requests.exceptions.SSLError:
            text = f"{host}: its certificate cannot be trusted; name its CA in ca_file"
            raise TrackerError(Kind.REFUSED, text) from None
        except requests.exceptions.ConnectTimeout:
            raise TrackerError(Kind.WRONG, f"{host} cannot be reached in time; check the network") from None
        except requests.exceptions.Timeout:
            raise TrackerError(Kind.DOWN, f"{host} does not answer in time") from None
        except requests.exceptions.RequestException as error:
            text = f"{host} cannot be reached, or hung up ({type(error).__name__}); check the address and the network"
            raise TrackerError(Kind.DOWN, text) from None
    _judge(answer, host)


def _read(answer: requests.Response, host: str, until: float) -> None:
    """Read an answer to its end, within bounds: a receiver that goes on for ever has taken what it was told."""
    size = 0
    for chunk in answer.iter_content(CHUNK):
        size += len(chunk)
        if size > MOST_BYTES:
            return
        if time.monotonic() > until:
            raise TrackerError(Kind.DOWN, f"{host} does not come to an end of its answer")


def _judge(answer: requests.Response, host: str) -> None:
    status, after = answer.status_code, asked_to_wait(answer)
    if OK <= status < MULTIPLE:
        return
    if status == BUSY:
        raise TrackerError(Kind.BUSY, f"{host} asks us to wait (HTTP {status})", after=after)
    if MULTIPLE <= status < BAD:
        text = f"{host} sends us elsewhere (HTTP {status}); expected the address of the receiver itself"
        raise TrackerError(Kind.REFUSED, text)
    if status >= BROKEN or status == TIMEOUT:
        raise TrackerError(Kind.DOWN, f"{host} has trouble (HTTP {status})", after=after)
    if status in {UNAUTHORIZED, FORBIDDEN}:
        raise TrackerError(Kind.REFUSED, f"{host} does not let us post (HTTP {status}); give it a valid secret")
    if status in {NOT_FOUND, GONE}:
        raise TrackerError(Kind.REFUSED, f"{host} has no such receiver (HTTP {status}); check the address")
    raise TrackerError(Kind.REFUSED, f"{host} does not take this message (HTTP {status})")
