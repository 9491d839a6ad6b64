"""One thing that somebody said is wrong, or right again, with a component of a node."""

from dataclasses import dataclass
from enum import StrEnum

from fleet_runner.core.checks.verdicts import Remedy


class Source(StrEnum):
    """Who said it."""

    KERNEL = "kernel"  # lines of a node's kernel log, pushed by its log shipper
    ALERT = "alert"  # Alertmanager
    REDFISH = "redfish"  # a BMC's event
    FABRIC = "fabric"  # UFM's or opensm's log
    OPERATOR = "operator"  # a person
    CLUSTER = "cluster"  # what others say of a Kubernetes node, by its conditions
    FORESIGHT = "foresight"  # our own nightly look at what is stored


WENT_ON = 3600.0
"""Seconds for which what began before its node came to its state has to go on there until it is news."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What was said, in the words that checks use: `code` and `component` are those of a finding.

    `at` is when it happened (epoch seconds), by its sender's clock where that is believable, else when it was heard.
    `remedy` is what its kind asks for unless the rules say otherwise. One that `ended` takes back what its sender
    said before. `key` is the sender's own name of this very signal, "" where it gives none: equal keys are one
    signal told twice. `began` is when it began, where its sender says again and again what goes on. One that is
    `authenticated` came from who proved to be its sender (a token, a person at the store); others never act alone.
    """

    node: str
    code: str
    component: str
    at: float
    source: Source
    message: str
    remedy: Remedy = Remedy.WATCH
    ended: bool = False
    key: str = ""
    began: float | None = None
    authenticated: bool = False

    def is_news(self, since: float) -> bool:
        """Whether it is of its node's stay in a state since then: what was before that has been dealt with.

        What began before may only not have noticed yet that it is over: an alert looks back over a time of its own.
        """
        older = self.began is not None and self.began < since
        return self.ended or self.at >= since + (WENT_ON if older else 0.0)
