"""Who may do what: roles, their rights, and which right each request needs."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage


class Role(StrEnum):
    """What somebody is here for."""

    OPERATOR = "operator"  # runs the fleet
    TECHNICIAN = "technician"  # works on it with their hands
    VIEWER = "viewer"  # looks: a wall screen, a Prometheus
    TENANT = "tenant"  # sees their own nodes, and nothing else
    INGEST = "ingest"  # pushes signals, and sees nothing


class Right(StrEnum):
    """What a page or a request needs."""

    SEE = "see"  # the whole fleet: nodes, results, tickets, runs
    MEND = "mend"  # say what hands did: certify, repaired, a ticket that is done
    STEER = "steer"  # everything else that is asked of a node, of runs and of schedules
    AUDIT = "audit"  # read who asked what
    SCRAPE = "scrape"  # the metrics
    OWN = "own"  # a tenant's own nodes, in plain words


RIGHTS: Mapping[Role, frozenset[Right]] = {
    Role.OPERATOR: frozenset({Right.SEE, Right.MEND, Right.STEER, Right.AUDIT, Right.SCRAPE}),
    Role.TECHNICIAN: frozenset({Right.SEE, Right.MEND}),
    Role.VIEWER: frozenset({Right.SEE, Right.SCRAPE}),
    Role.TENANT: frozenset({Right.OWN}),
    Role.INGEST: frozenset(),
}

MENDING = frozenset({IntentKind.CERTIFY, IntentKind.REPAIRED, IntentKind.RUN})
"""Requests of those who work with their hands; a run proves that something is done, where its stage only looks."""

LOOKS = frozenset({Stage.VERIFY, Stage.HEALTH_PASSIVE, Stage.HEALTH_ACTIVE, Stage.CABLING, Stage.FABRIC})
"""Stages that change nothing of a node; tests (health_active) run on one that is idle or at hand alone."""


def needed(intent: IntentKind, stage: str = "") -> Right:
    """Return the right that a request about a node needs; `stage` is of a run: others flash, reboot or erase anew."""
    if intent is IntentKind.RUN and stage and stage not in LOOKS:
        return Right.STEER
    return Right.MEND if intent in MENDING else Right.STEER


@dataclass(frozen=True, slots=True)
class Who:
    """Somebody who asks: by which name the history knows them, and as what. `tenant` is set for tenants alone."""

    name: str
    role: Role
    tenant: str = ""

    def may(self, right: Right) -> bool:
        """Whether they have a right."""
        return right in RIGHTS[self.role]


@dataclass(frozen=True, slots=True)
class Session:
    """Somebody who has logged in with a browser. Times in epoch seconds.

    `digest` is the SHA-256 of what the browser shows, in hex; `token` is the id of the token it was opened with, 0
    where that was none: it ends with it.
    """

    digest: str
    who: Who
    made_at: float
    until: float
    token: int = 0


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One line of the audit log: who asked what, from where, and what came of it (an HTTP status)."""

    at: float
    name: str
    role: str
    source: str
    method: str
    path: str
    status: int
    detail: str = ""
    id: int = 0
