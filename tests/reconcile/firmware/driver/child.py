"""A driver in a process of its own, which can be killed; its imports are warm, because it is started so often."""

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from fleet_runner.adapters.redfish import Bmc, Limits, resets
from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware import catalogue
from fleet_runner.core.firmware.flash import Flash, FlashTiming, Phase
from fleet_runner.reconcile.firmware.driver import DriverContext, Target, drive

QUICK = Limits(
    connect_seconds=5, read_seconds=10, total_seconds=30, retries=2, pause_seconds=0.01, most_pause_seconds=0.05
)

OWN_POINTS = ("intended", "sent", "updated", "reset_written", "reset_sent", "ending")
"""Points at which a driver can be killed that its BMC does not see."""


@dataclass(frozen=True)
class Job:
    """What a driver is to do; `die_at` is one of OWN_POINTS and for the how manieth time."""

    url: str
    store: str
    profile: dict[str, Any]
    images: Path
    credentials: tuple[str, str]
    pace: FlashTiming
    lease_seconds: float
    holder: str
    node: str
    since: float = 0.0
    seconds: float = float("inf")
    start: str = ""
    check: bool = False
    images_url: str = ""
    die_at: tuple[str, int] | None = None


def main(job: Job, answer: Connection) -> None:
    """Drive, and send the report, or what a traceback says."""
    threading.Thread(target=_end_with, args=(answer,), daemon=True).start()
    try:
        answer.send(work(job))
    except Exception:  # noqa: BLE001  whatever it is, the test shows it
        answer.send({"state": "broken", "message": traceback.format_exc()})


def _end_with(test: Connection) -> None:
    """End with the test that started this: nobody else knows of it."""
    try:
        test.recv()
    except (EOFError, OSError):
        os._exit(0)


def work(job: Job, say: Callable[[str], None] = lambda _: None) -> dict[str, Any]:
    """Drive, and return the report."""
    resets.PAUSE = 0.01
    until = float("inf") if job.seconds == float("inf") else time.time() + job.seconds
    with Store.open(job.store, patience=60.0) as store:
        if job.die_at:
            _arm(store, *job.die_at)
        means = DriverContext(
            store=store,
            open=partial(Bmc, job.url, *job.credentials, limits=QUICK),
            catalogue=catalogue.read(job.profile),
            images=job.images,
            pace=job.pace,
            url=job.images_url,
            lease_seconds=job.lease_seconds,
            say=say,
        )
        target = Target(job.node, job.holder, since=job.since)
        return drive(target, means, until=until, start=job.start, check=job.check).to_json()


def _arm(store: Store, point: str, times: int) -> None:
    """Die right after, or right before, something is written down for the `times`-th time."""
    left = [times]

    def reached(name: str) -> None:
        left[0] -= name == point
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)

    intend, note, end = store.intend, store.note_flash, store.end_flash

    def intended(flash: Flash, holder: str, *, now: float) -> Flash:
        made = intend(flash, holder, now=now)
        reached("intended")
        return made

    def noted(flash: Flash, holder: str, *, now: float) -> Flash:
        if flash.phase is Phase.SENT:
            reached("sent")
        if flash.phase is Phase.ACTIVATING and flash.activated == flash.activations:
            reached("reset_sent")
        made = note(flash, holder, now=now)
        if flash.phase is Phase.UPDATED:
            reached("updated")
        if flash.phase is Phase.ACTIVATING and flash.activated < flash.activations:
            reached("reset_written")
        return made

    def ended(*args: Any) -> Flash:
        reached("ending")
        return end(*args)

    store.intend, store.note_flash, store.end_flash = intended, noted, ended  # type: ignore[method-assign]  so it dies
