"""What went wrong with a tracker, and when it is asked again."""

from enum import StrEnum

FIRST, LONGEST = 30.0, 3600.0
"""Seconds until a tracker is asked again after its first failure, and after many."""

MOST_ASKED = 6 * 3600.0
"""Seconds that a tracker may ask us to wait: a header is no reason to forget a ticket."""


class Kind(StrEnum):
    """Whom a failure is about."""

    DOWN = "down"  # the tracker cannot be reached, or says that it is broken: everything waits
    BUSY = "busy"  # it asks for patience: everything waits for as long as it says
    REFUSED = "refused"  # it does not take our token, or has no such project: everything waits for a person
    WRONG = "wrong"  # it does not take this ticket: the others go on


class TrackerError(Exception):
    """A tracker did not do what it was asked for. Its text is one sentence for people, without secrets.

    `after` is how many seconds it asked us to wait, None where it did not.
    """

    def __init__(self, kind: Kind, sentence: str, *, after: float | None = None) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.after = after


def pause(tries: int, after: float | None = None) -> float:
    """Return the seconds until the next try after so many that failed, twice as many each time, within limits."""
    backed_off = min(FIRST * 2 ** min(max(tries, 1) - 1, 20), LONGEST)
    return backed_off if after is None else min(max(after, FIRST), MOST_ASKED)
