"""How a process that serves is asked to end: in order the first time, at once the second."""

import contextlib
import os
import signal
from collections.abc import Callable
from types import FrameType

STDERR = 2

ASKED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""A terminal that goes away (SIGHUP) asks as well, unless `nohup` had it ignored."""

ONCE_MORE = "ending after the writes in progress; Ctrl-C again ends at once, and loses nothing either\n"


def on_signal(end: Callable[[], None]) -> None:
    """Have `end` called, in the main thread between two of its steps, at the first signal that asks for it.

    The second one is the system's: it ends a process that hangs in whatever it does.
    """

    def asked(_signal: int, _frame: FrameType | None) -> None:
        for number in ASKED:
            if signal.getsignal(number) is asked:
                signal.signal(number, signal.SIG_DFL)
        end()
        with contextlib.suppress(OSError):
            os.write(STDERR, ONCE_MORE.encode())  # not through Python's stream, which may be in the middle of a line

    for number in ASKED:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, asked)
