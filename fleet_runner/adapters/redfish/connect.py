"""Connects to a BMC by its name or address, within a time limit for the name as well: a resolver has none."""

import socket
import threading
from typing import Any

from urllib3.connection import HTTPConnection
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util.connection import create_connection

MOST_ADDRESSES = 4
"""How many of a name's addresses are tried."""


def addresses(host: str, port: int, seconds: float) -> list[str]:
    """Return the first addresses of a name.

    Raises:
        socket.gaierror: it has none, or none was found in time; who looks for it is left to end by itself.
    """
    found: list[str] = []
    failed: list[OSError] = []

    def look() -> None:
        try:
            told = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:  # a name that no resolver can be asked for
            failed.append(error if isinstance(error, OSError) else socket.gaierror(socket.EAI_NONAME, str(error)))
        else:
            found.extend(dict.fromkeys(str(address[0]) for *_, address in told))

    looking = threading.Thread(target=look, name=f"lookup of {host}", daemon=True)
    looking.start()
    looking.join(seconds)
    if failed:
        raise failed[0]
    if not found:
        raise socket.gaierror(socket.EAI_AGAIN, f"no answer from the resolver in {seconds:g} s")
    return found[:MOST_ADDRESSES]


def connected(address: tuple[str, int], seconds: float, *_: Any, options: Any = None) -> socket.socket:
    """Return a connection to the first address of a name that answers, as `socket.create_connection` does."""
    last: OSError = socket.gaierror(socket.EAI_NONAME, "no address")
    for found in addresses(*address, seconds):
        try:
            return create_connection((found, address[1]), seconds, socket_options=options)
        except OSError as error:
            last = error
    raise last


class Reaching(HTTPConnection):
    """A connection of `requests` whose name is looked up within its time limit to connect."""

    def _new_conn(self) -> socket.socket:
        seconds = float(self.timeout or 0.0)  # which the session sets for each request
        try:
            return connected((self.host, self.port), seconds, options=self.socket_options)
        except socket.gaierror as error:
            raise NameResolutionError(self.host, self, error) from error
        except TimeoutError as error:
            raise ConnectTimeoutError(self, f"no connection to {self.host} in {seconds:g} s") from error
        except OSError as error:
            raise NewConnectionError(self, f"no connection to {self.host}: {error}") from error
