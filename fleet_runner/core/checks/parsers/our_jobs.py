"""Which processes of a node are tests of ours, as the supervisor of each chain tells while it lives."""

from fleet_runner.core.checks.parsers.json_text import json_object, number

FRESH_SECONDS = 20.0
"""How old such a file may be: it is written every five seconds at least, and a node may be busy."""

MOST = 10_000


def parse(text: str, now: float) -> frozenset[int]:
    """Return the ids of our processes, from {path: text of the file}; `now` is the node's clock.

    What is older, or cannot be read, is nobody's: a supervisor that was killed tells no more which they are.
    """
    found: set[int] = set()
    for told in json_object(text, "what our jobs run").values():
        if not isinstance(told, str) or not told.startswith("{"):
            continue
        entry = json_object(told, "what a job of ours runs")
        at, pids = number(entry.get("at")), entry.get("pids")
        if at is not None and abs(now - at) <= FRESH_SECONDS and isinstance(pids, list):
            found.update(pid for pid in pids[:MOST] if isinstance(pid, int) and not isinstance(pid, bool))
    return frozenset(found)
