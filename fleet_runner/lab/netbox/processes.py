"""Child processes that end when their parent does, however that ends."""

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

ENDING_SECONDS = 5.0

STILL_THERE = ("/bin/sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"')
"""Runs what follows the parent's id, unless the parent died before the child could ask for the signal."""

Child = subprocess.Popen[bytes]


def start(words: list[str], log: Path, env: dict[str, str], user: str = "", word: str = "TERM") -> Child:
    """Start a child that gets a signal when this process dies; as root, as another user if one is named."""
    with log.open("ab") as file:
        return subprocess.Popen(
            ["/usr/bin/setpriv", *_as(user), "--pdeathsig", word, "--", *STILL_THERE, str(os.getpid()), *words],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            env=env,
            start_new_session=True,  # Ctrl-C is for whoever started it: that ends its children in their order
        )


def run(words: list[str], log: Path, env: dict[str, str], user: str = "") -> int:
    """Run a child to its end and return its exit status; it ends when this process dies, too."""
    child = start(words, log, env, user)
    try:
        return child.wait()
    finally:
        end(child)


def end(*children: Child) -> None:
    """Ask children to end, all at once, and kill those that do not."""
    for child in children:
        child.terminate()
    until = time.monotonic() + ENDING_SECONDS
    for child in children:
        with suppress(subprocess.TimeoutExpired):
            child.wait(max(0.0, until - time.monotonic()))
        if child.poll() is None:
            child.kill()
            child.wait()


def _as(user: str) -> list[str]:
    return ["--reuid", user, "--regid", user, "--init-groups"] if user and os.geteuid() == 0 else []
