"""What a batch's play and its supervisor wrote, as much of its end as people read; nothing that is secret."""

import os
from dataclasses import dataclass
from pathlib import Path

from fleet_runner.adapters.plays.batch_folder import log_of
from fleet_runner.adapters.plays.engine import PLAIN
from fleet_runner.core.base.redaction import Scrubber

MOST = 200_000
"""Characters of a log's end that are shown, about."""

BEFORE = 32_000
"""Bytes that are read before them: a private key that begins there is known for one."""


@dataclass(frozen=True, slots=True)
class PlayLog:
    """The end of a log; `left_out` is how many bytes lie before it."""

    text: str
    left_out: int = 0


def tail(above: Path, batch: str, scrubber: Scrubber) -> PlayLog | None:
    """Return the end of a batch's log, whole lines; None where this machine has none."""
    if not PLAIN.fullmatch(batch):
        return None
    try:
        with log_of(above, batch).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MOST - BEFORE))
            data = file.read(MOST + BEFORE)
    except OSError:
        return None
    text = scrubber.text(data.decode(errors="replace"))
    if len(text) <= MOST and len(data) >= size:
        return PlayLog(text)
    _, _, kept = text[-MOST:].partition("\n")
    return PlayLog(kept, max(0, size - len(kept.encode())))
