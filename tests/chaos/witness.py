"""What must hold at the end of a seed, by the machines' own logs and by the store."""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from sqlalchemy import create_engine, inspect, text

from tests.chaos.machine import Machine

ONCE = ("power on", "reset", "boot", "tests")
"""What is done once in a stay."""


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
    """Return what stands in a store in which nothing should: open runs, leases, parcels, doubled tickets."""
    engine = create_engine(url)
    questions = {
        "runs are open": "SELECT count(*) FROM runs WHERE outcome IS NULL",
        "flashes are open": "SELECT count(*) FROM flashes WHERE ended_at IS NULL",
        "firmware is leased": "SELECT count(*) FROM firmware_leases",
        "parcels are left": "SELECT count(*) FROM parcels WHERE ended_at IS NULL",
        "faults have several tickets": "SELECT count(*) FROM (SELECT fault FROM tickets GROUP BY fault "
        "HAVING count(*) > 1) AS doubled",
    }
    try:
        with engine.connect() as connection:
            tables = set(inspect(connection).get_table_names())
            asked = {what: query for what, query in questions.items() if query.split()[3] in tables | {"(SELECT"}}
            counts = {what: connection.execute(text(query)).scalar_one() for what, query in asked.items()}
    finally:
        engine.dispose()
    return [f"{count} {what}" for what, count in counts.items() if count]
