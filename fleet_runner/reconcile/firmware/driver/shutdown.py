"""How a driver ends when it is asked to: at once, but never in the middle of a write, and its lease is given back."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator

NUMBERS = (signal.SIGINT, signal.SIGTERM)


class _Asked(threading.local):
    """What the thread that gets signals knows: whether it was asked to end, and whether it is just writing."""

    to_end = False
    writing = False


_here = _Asked()


@contextlib.contextmanager
def ended_gently() -> Iterator[None]:
    """Let Ctrl-C and a request to end give the lease back first; then they do what they would have done.

    Ansible's workers would else die on the spot, and the node would be nobody's until the lease runs out.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = [(number, signal.getsignal(number)) for number in NUMBERS]
    caught: list[int] = []

    def end(number: int, _: object) -> None:
        for each in NUMBERS:
            signal.signal(each, signal.SIG_IGN)  # giving back takes a moment, and is not ended as well
        caught.append(number)
        _here.to_end = True
        if not _here.writing:
            raise KeyboardInterrupt

    for each in NUMBERS:
        signal.signal(each, end)
    try:
        yield
    finally:
        _here.to_end = False
        for each, handler in before:
            signal.signal(each, handler)
        for again in caught:
            os.kill(os.getpid(), again)


@contextlib.contextmanager
def whole() -> Iterator[None]:
    """Let what is done inside come to its end: a write that was broken off would keep its lock on the store."""
    _here.writing = True
    try:
        yield
    finally:
        _here.writing = False


def heed() -> None:
    """Go on only if nobody asked for the end: not all that runs when a signal comes lets its exception through.

    Raises:
        KeyboardInterrupt: somebody did.
    """
    if _here.to_end:
        raise KeyboardInterrupt
