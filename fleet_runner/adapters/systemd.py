"""What systemd wants to know of a service (sd_notify): that it is ready, that it lives, that it ends.

Where systemd did not start the process, nothing is told.
"""

import contextlib
import os
import socket

NOTIFY, WATCHDOG, WATCHED = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"


class Systemd:
    """The way to systemd, taken out of the environment: plays, which inherit that, have nothing to tell."""

    def __init__(self) -> None:
        self._address = os.environ.pop(NOTIFY, "")
        span, whose = os.environ.pop(WATCHDOG, ""), os.environ.pop(WATCHED, "")
        own = self._address and whose in {"", str(os.getpid())}
        self.watchdog_seconds = int(span) / 1e6 if own and span.isdigit() else 0.0

    def ready(self) -> None:
        """The service does its work from now on."""
        self._tell("READY=1")

    def alive(self) -> None:
        """It still does; said more often than every `watchdog_seconds`, or systemd starts it anew."""
        self._tell("WATCHDOG=1")

    def stopping(self) -> None:
        """It ends, as it was asked to."""
        self._tell("STOPPING=1")

    def _tell(self, word: str) -> None:
        if not self._address:
            return
        address = f"\0{self._address[1:]}" if self._address.startswith("@") else self._address
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
            way.setblocking(False)  # noqa: FBT003  as it is called
            way.sendto(word.encode(), address)
