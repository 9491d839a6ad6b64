"""How long the bytes of an answer are waited for, all of them together: a BMC may send them one by one."""

import socket
from collections.abc import Callable
from functools import partial
from http.client import HTTPResponse
from io import BufferedReader, RawIOBase
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool

from fleet_runner.adapters.redfish.connect import Reaching

Wait = Callable[[bool], float]
"""Returns how many seconds to wait for the next bytes, given whether they were waited for already; asked again when
they are over, until it raises TimeoutError, or whatever else is to end the answer."""


class PatientResponse(HTTPResponse):
    """An answer, each of whose reads is as patient as `wait` says."""

    def __init__(self, sock: socket.socket, *args: Any, wait: Wait, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = BufferedReader(_Patient(self.fp.detach(), sock, wait))


class PatientAdapter(HTTPAdapter):
    """The connections of a session whose answers are as patient as `wait` says.

    With a fingerprint (SHA-256 in hex) only the certificate of that fingerprint is accepted, whoever signed it.
    """

    def __init__(self, wait: Wait, fingerprint: str = "") -> None:
        super().__init__()
        if fingerprint:
            self.poolmanager.connection_pool_kw["assert_fingerprint"] = fingerprint
        heard = partial(PatientResponse, wait=wait)
        self.poolmanager.pool_classes_by_scheme = {
            "http": _pool(HTTPConnectionPool, HTTPConnection, heard),
            "https": _pool(HTTPSConnectionPool, HTTPSConnection, heard),
        }


def _pool(pool: type, connection: type, heard: Callable[..., HTTPResponse]) -> type:
    # Behind staticmethod, as what is called is no method of the connection.
    patient = type(connection.__name__, (Reaching, connection), {"response_class": staticmethod(heard)})
    return type(pool.__name__, (pool,), {"ConnectionCls": patient})


class _Patient(RawIOBase):
    """The bytes of a socket; `raw` is what keeps it open behind them."""

    def __init__(self, raw: Any, sock: socket.socket, wait: Wait) -> None:
        self._raw = raw
        self._sock = sock
        self._wait = wait

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        again = False
        while True:
            self._sock.settimeout(self._wait(again))
            try:
                return self._sock.recv_into(into)
            except TimeoutError:
                again = True

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
        super().close()
