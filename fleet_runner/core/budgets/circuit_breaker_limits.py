"""From when on the circuit breaker opens, and for how long: what the policy file may say of it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """When the circuit breaker opens: more nodes than a share of those that serve want out `within` so many seconds.

    `share` counts all of them, `same` those with one code; `least` nodes never open it, so that a tiny fleet has
    none. Open, it waits for `pause` seconds before one node is tried; after each trial that did not help twice as
    long, up to `longest`.

    The shares are ours. NVSentinel opens at 50 % within 5 min: by then half of a fleet is gone. What may be out at
    a time is 10 %; that more is wanted within an hour, or 5 % for one reason, is no chance of hardware any more. An
    hour, as active tests come round once in it.
    """

    share: float = 0.1
    same: float = 0.05
    least: int = 5
    within: float = 3600.0
    pause: float = 1800.0
    longest: float = 86_400.0


DEFAULT = Limits()
