"""What a fabric says of itself: from a file, from standard input, or from the evidence of a stored sweep."""

import sys
from dataclasses import dataclass
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks import cabling_infiniband, fabric_cabling
from fleet_runner.core.errors import EvidenceError, FleetError
from fleet_runner.core.lifecycle import Stage
from fleet_runner.core.parsers import fabric_capture
from fleet_runner.core.parsers.discovery import Discovery
from fleet_runner.core.runs import Run, Stored

STDIN = Path("-")

READERS = frozenset({fabric_cabling.NAME, cabling_infiniband.NAME})
"""Checks that read a whole fabric: its text is among their evidence."""

MANY = 1000
"""Runs of a fabric to look back through: half a year of a sweep every four hours."""


@dataclass(frozen=True, slots=True)
class Capture:
    """A fabric as it was seen. `run` is the sweep that it is evidence of; None for a file."""

    label: str
    discovery: Discovery
    run: Run | None = None


def text(path: Path) -> str:
    """Return a file's text; "-" is standard input."""
    try:
        raw = sys.stdin.buffer.read() if path == STDIN else path.read_bytes()
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror}; name a file that can be read") from error
    return raw.decode("utf-8", errors="replace")


def from_file(path: Path) -> Capture:
    """Return a whole capture, in any of its forms: what half of one lacks is no fault."""
    label = "standard input" if path == STDIN else path.name
    try:
        return Capture(label, fabric_capture.read(text(path)))
    except EvidenceError as error:
        raise EvidenceError(f"{label}: {error}") from error


def of_run(store: Store, run: Run) -> Capture | None:
    """Return what a run saw of its fabric; None where it saw nothing, or nothing whole."""
    for stored in store.results(run.id):
        if stored.result.check in READERS:
            for digest in stored.result.evidence:
                if (found := _read(store.evidence(digest))) is not None:
                    return Capture(f"run {run.id}", found, run)
    return None


def newest(store: Store, fabric: str) -> Capture:
    """Return the newest stored look at a fabric, or say how to get one."""
    for run in reversed(sweeps(store, fabric)):
        if (found := of_run(store, run)) is not None:
            return found
    raise FleetError(f"{fabric}: no sweep is stored; fleet-runner cabling check sweeps it now")


def sweeps(store: Store, fabric: str) -> tuple[Run, ...]:
    """Return the sweeps of a fabric, oldest first."""
    return tuple(run for run in store.runs(fabric, limit=MANY) if run.stage is Stage.FABRIC)


def answer(store: Store, run: Run) -> Stored | None:
    """Return what the runner concluded from a sweep; None while it has not."""
    return next((each for each in store.results(run.id) if each.result.check == fabric_cabling.NAME), None)


def _read(found: str | None) -> Discovery | None:
    """Evidence may be of another read of the same check, or cut short."""
    try:
        return None if found is None else fabric_capture.read(found)
    except EvidenceError:
        return None
