"""Images where BMCs fetch them: what lies there is held against the catalogue before a BMC is told to go."""

import hashlib
import time
from collections.abc import Callable

import requests

from fleet_runner.core.base.errors import ImageError

PIECE = 1 << 20
CONNECT_SECONDS, READ_SECONDS = 5.0, 30.0
MOST_SECONDS = 900.0

_known: dict[tuple[str, str, str], str] = {}
"""Checksums by address and by what its server says of the version of the file."""


def check(url: str, sha256: str, size: int, alive: Callable[[], None]) -> None:
    """Raise an ImageError unless the file at an address is the image, of so many bytes; `alive` may raise meanwhile.

    It is read whole, once for as long as its server says that it is the same file. What a BMC is given afterwards
    only that server knows: it must be as trusted as the folder of the images.
    """
    until = time.monotonic() + MOST_SECONDS

    def turn() -> None:
        alive()
        if time.monotonic() > until:
            raise ImageError(f"{url} takes more than {MOST_SECONDS:g} s to read; look at its server")

    try:
        with requests.Session() as session:
            session.trust_env = False  # as everything that speaks for a BMC
            with session.get(
                url, timeout=(CONNECT_SECONDS, READ_SECONDS), stream=True, headers={"Accept-Encoding": "identity"}
            ) as answer:
                found = _found(url, answer, size, turn)
    except (requests.RequestException, ValueError) as error:
        raise ImageError(
            f"{url} cannot be read ({type(error).__name__}), so nobody knows what a BMC would fetch there; serve the"
            " image where this machine can read it too, or correct firmware_url"
        ) from None
    if found != sha256:
        raise ImageError(f"{url} has the SHA-256 {found}, expected {sha256}; copy the image there again")


def _found(url: str, answer: requests.Response, size: int, turn: Callable[[], None]) -> str:
    if answer.status_code != requests.codes.ok:
        raise ImageError(f"{url} answers {answer.status_code}; serve the image there, or correct firmware_url")
    told = answer.headers.get("ETag") or answer.headers.get("Last-Modified") or ""
    key = (url, told, answer.headers.get("Content-Length", ""))
    if told and key in _known:
        return _known[key]
    read, got = hashlib.sha256(), 0
    for piece in answer.iter_content(PIECE):
        turn()
        read.update(piece)
        got += len(piece)
        if got > size:
            raise ImageError(f"{url} has more than the {size} bytes of the image; copy the image there again")
    return _known.setdefault(key, read.hexdigest()) if told else read.hexdigest()
