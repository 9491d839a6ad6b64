"""Rows of runs as values; without SQLAlchemy, which the store's reader does not load."""

from typing import Any

from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import Stage


def run(found: Any) -> Run:
    """Return a row as a run."""
    return Run(
        id=found.id,
        node=found.node,
        stage=Stage(found.stage),
        fence=found.fence,
        batch=found.batch or "",
        opened_at=found.opened_at,
        by=found.by,
        reason=found.reason,
        ended_at=found.ended_at,
        outcome=Outcome(found.outcome) if found.outcome is not None else None,
        detail=found.detail,
        done=found.done,
        total=found.total,
        task=found.task,
    )
