"""Ports on this computer: which are free, and which answer."""

import random
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

HERE = "127.0.0.1"

LOWEST = 10_000
"""Below it are ports of many services."""

GIVEN_AWAY = Path("/proc/sys/net/ipv4/ip_local_port_range")
"""The first and the last port that Linux gives to whoever connects, or asks for any."""


def choose(count: int) -> list[int]:
    """Return so many free ports, each another one; OSError where Linux has none left.

    They are of those that Linux gives to nobody by itself, where there are any: who was told a port uses it a moment
    later, and another program may connect to something meanwhile.
    """
    found = list[int]()
    with ExitStack() as opened:
        for port in _candidates():
            if len(found) == count:
                break
            one = socket.socket()
            try:
                one.bind((HERE, port))
            except OSError:
                one.close()
                if not port:
                    raise
                continue
            opened.enter_context(one)
            found.append(int(one.getsockname()[1]))
    return found


def _candidates() -> Iterator[int]:
    """Yield ports to try, in no order, then 0 again and again, which lets Linux choose."""
    first = int(GIVEN_AWAY.read_text("ascii").split()[0]) if GIVEN_AWAY.exists() else 0
    yield from random.sample(range(LOWEST, first), max(0, first - LOWEST))
    while True:
        yield 0


def free(port: int) -> bool:
    """Whether nobody has this port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HERE, port))
        except OSError:
            return False
    return True


def answers(port: int) -> bool:
    """Whether somebody takes connections there."""
    try:
        socket.create_connection((HERE, port), timeout=1).close()
    except OSError:
        return False
    return True
