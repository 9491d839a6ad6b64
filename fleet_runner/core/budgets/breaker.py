"""The circuit breaker as it stands, and what it says; `circuit_breaker` decides when it opens and closes."""

from dataclasses import dataclass
from datetime import UTC, datetime


@dataclass(frozen=True, slots=True)
class Breaker:
    """A breaker that is open; half open from `pause` seconds on. A closed one is None.

    `trial` is the one node that is let through then, since `tried_at`; "" where none is.
    """

    opened_at: float
    because: str
    pause: float
    trial: str = ""
    tried_at: float = 0.0

    @property
    def half_open_at(self) -> float:
        """Return when one node may be tried (epoch seconds)."""
        return self.opened_at + self.pause


def refusal(breaker: Breaker) -> str:
    """Say why automation takes no node out now, and what ends that."""
    since = f"since {_stamp(breaker.opened_at)}"
    if breaker.trial:
        return f"the circuit breaker is half open {since}: {breaker.trial} is tried first"
    return (
        f"the circuit breaker is open {since}, one node is tried from {_stamp(breaker.half_open_at)} on: "
        f"{breaker.because}"
    )


def _stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"
