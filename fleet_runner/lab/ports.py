"""Ports on this computer: which are free, and which answer."""

import socket

HERE = "127.0.0.1"


def choose(count: int) -> list[int]:
    """Return so many free ports, each another one."""
    opened = [socket.socket() for _ in range(count)]
    try:
        for one in opened:
            one.bind((HERE, 0))
        return [int(one.getsockname()[1]) for one in opened]
    finally:
        for one in opened:
            one.close()


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
