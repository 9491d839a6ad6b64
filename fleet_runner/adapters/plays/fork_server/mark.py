"""The mark by which a forked play is found: its own FLEET_BATCH in /proc, where a fork shows its parent's.

/proc/PID/environ is not what the process made of its environment but the memory in which it was started with one. So
a parent is started with room for a tag, and what it forks writes its tag there. Its own forks inherit it.
"""

import ctypes
import os
from pathlib import Path

from fleet_runner.adapters.plays import processes

ROOM = "-" * 255
"""What the tag's value is in a parent: no batch is called so, and as long as the longest name of a folder."""

WORDS = " " * 512
"""The last argument of a parent: room for the commands of what it forks, as listings show them."""

_SLOT = f"{processes.TAG}={ROOM}\0".encode()


def write(batch: str, title: str) -> bool:
    """Mark this process as one of the batch, and let listings show the title; False where it cannot be marked."""
    tag = f"{processes.TAG}={batch}".encode()
    if len(tag) >= len(_SLOT):
        return False
    fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    words, words_end, start, end = (int(field) for field in fields[45:49])  # proc(5): fields 48 to 51
    at = ctypes.string_at(start, end - start).find(_SLOT)
    if at < 0:
        return False
    ctypes.memmove(start + at, tag.ljust(len(_SLOT), b"\0"), len(_SLOT))
    room = words_end - words
    ctypes.memmove(words, title.encode()[: room - 1].ljust(room, b"\0"), room)
    return processes.find(os.getpid(), batch) is not None
