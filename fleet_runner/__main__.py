"""The way in: it loads next to nothing, so that Ctrl-C is heard from the beginning."""

import gc
import os
import signal
import sys
from typing import Any

INTERRUPTED = 130
AGAIN_SECONDS = 0.05


def main() -> None:
    """Load the command line and run it; Ctrl-C while it loads is an end without words."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    gc.disable()  # of a thousand modules nothing is garbage, and to look through them takes a tenth of a second
    from fleet_runner.cli import main as run  # noqa: PLC0415  this takes as long as a short command

    sys.unraisablehook = _heard
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:  # while it said how it ended
        sys.exit(INTERRUPTED)


def _heard(lost: Any) -> None:
    """Send a Ctrl-C again that came where Python ignores exceptions: in a destructor, or while a module loads."""
    if lost.exc_type is not KeyboardInterrupt:
        sys.__unraisablehook__(lost)
        return
    from threading import Timer  # noqa: PLC0415  as above

    again = Timer(AGAIN_SECONDS, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()


if __name__ == "__main__":
    main()
