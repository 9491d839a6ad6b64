"""A network boot in words: how far it came, what it waits for, how it ended."""

from fleet_runner.core.base.durations import age
from fleet_runner.core.boot.boots import Boot
from fleet_runner.core.boot.progress import missing, timeline


def words(boot: Boot, now: float) -> str:
    """Return one line: "boot 12, armed 40 s ago: dhcp after 12 s, script after 14 s; waits for kernel"."""
    came = timeline(boot) or "nothing was seen of it yet"
    refused = f"; {boot.refused} refused" if boot.refused else ""
    return f"boot {boot.id}, armed {age(now - boot.armed_at)} ago: {came}{refused}; {_next(boot, now)}"


def _next(boot: Boot, now: float) -> str:
    following = missing(boot)
    if boot.closed_at is not None:
        return f"closed: {boot.closed_because}"
    if following is None:
        return "it is up"
    expired = boot.claimed_at is None and now >= boot.expires_at
    return f"waits for {following}{', but has expired: it gets no boot data any more' if expired else ''}"
