"""What must hold at the end of a seed, by the machines' own logs and by the store."""

import time
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from sqlalchemy import create_engine, text

from tests.chaos.machine import Machine

ONCE = ("power on", "reset", "boot", "tests")
"""What is done once in a stay."""

ASKED = (
    ("runs are open", "SELECT count(*) FROM runs WHERE outcome IS NULL"),
    ("flashes are open", "SELECT count(*) FROM flashes WHERE ended_at IS NULL"),
    ("nodes' firmware is leased", "SELECT count(*) FROM firmware_leases WHERE until > :now"),
    ("parcels are left", "SELECT count(*) FROM parcels WHERE ended_at IS NULL"),
    ("turns are held", "SELECT count(*) FROM turns"),
    ("runners have not said that they ended", "SELECT count(*) FROM runners WHERE NOT ending"),
    ("nodes' faults have several tickets", "SELECT count(fault) - count(DISTINCT fault) FROM tickets"),
)
"""What nothing may be left of, and the question that counts it."""

ASKED_OF_THE_ENGINE = (
    (
        "batches are the engine's to give",
        "SELECT count(*) FROM procrastinate_jobs WHERE args ? 'batch' AND status < 'succeeded'",
    ),
    ("batches were given more than once", "SELECT count(*) FROM procrastinate_jobs WHERE attempts > 1"),
)
"""The same where several runners share the work."""


def troubles(machine: Machine) -> list[str]:
    """Return what a machine's log says that must not have happened."""
    events = machine.everything()
    return [f"{machine.name}: {each}" for each in (*_at_once(events), *_repeated(events), *_flashed(events))]


def _at_once(events: Iterable[dict[str, Any]]) -> Iterable[str]:
    """The lines of a run stand together, a run begins once, and fences only grow."""
    played = [each for each in events if "run" in each]
    for run, count in Counter(run for run, _ in groupby(played, lambda each: each["run"])).items():
        if count > 1:
            yield f"run {run} and another were at it at once: {[(each['run'], each['event']) for each in played]}"
    starts = [each for each in played if each["event"] == "start"]
    for run, count in Counter(each["run"] for each in starts).items():
        if count > 1:
            yield f"run {run} was played {count} times"
    fences = [each["fence"] for each in starts]
    if fences != sorted(fences):
        yield f"an older fence came after a newer one: {fences}"


def _repeated(events: Iterable[dict[str, Any]]) -> Iterable[str]:
    done = Counter((each["event"], each["since"]) for each in events if each["event"] in ONCE)
    return (f"{event} was done {count} times in one stay" for (event, _), count in done.items() if count > 1)


def _flashed(events: Iterable[dict[str, Any]]) -> Iterable[str]:
    count = sum(each["event"] == "flash" for each in events)
    if count > 1:
        yield f"flashed {count} times"


def left_over(url: str) -> list[str]:
    """Return what stands in a store in which nothing should, once its runners have ended."""
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            asked = ASKED + (ASKED_OF_THE_ENGINE if engine.dialect.name == "postgresql" else ())
            counts = {
                what: connection.execute(text(query), {"now": time.time()}).scalar_one() for what, query in asked
            }
    finally:
        engine.dispose()
    return [f"{count} {what}" for what, count in counts.items() if count]
