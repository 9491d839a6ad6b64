"""The process that holds a NetBox: `python -m fleet_runner.lab.netbox serve FOLDER`, or `prepare VERSION`.

With --tied it ends when its standard input does: nothing stays when whoever started it was killed.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import FrameType

from fleet_runner.lab.folder import LabError
from fleet_runner.lab.netbox.configuration import Home
from fleet_runner.lab.netbox.serving import prepare, serving


def main(words: list[str]) -> int:
    """Hold a NetBox until this process is asked to end, or something of it has ended by itself."""
    tied = "--tied" in words
    what, which = [word for word in words if word != "--tied"]
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(signal.SIGINT, _leave)
    if tied:
        threading.Thread(target=_watch, daemon=True).start()
    if what == "prepare":
        prepare(which, _say)
        return 0
    home = Home(Path(which))
    try:
        with serving(home, home.tell, keep=not tied) as children:
            try:
                while all(child.poll() is None for child in children):
                    time.sleep(0.5)
            except SystemExit:  # it was asked to end: the block ends in order, and its database is kept
                return 0
            home.tell(f"error: a process of NetBox ended by itself; read the logs in {home.root}")
    except LabError as error:
        home.tell(f"error: {error}")
    return 1


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _leave(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # being asked twice does not leave half of it running
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise SystemExit(0)


def _watch() -> None:
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
