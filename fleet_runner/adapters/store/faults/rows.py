"""Rows of alarms and attempts as values; without SQLAlchemy, which the store's reader does not load."""

from typing import Any

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.escalation import Attempt
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source


def alarm(row: Any) -> Alarm:
    """Return a row, as a mapping, as an alarm."""
    said = {"source": Source(row["source"]), "remedy": Remedy(row["remedy"]), "at_once": bool(row["at_once"])}
    said |= {"authenticated": bool(row["authenticated"])}
    return Alarm(**{**row, **said})


def attempt(row: Any) -> Attempt:
    """Return a row as an attempt."""
    return Attempt(
        id=row.id,
        node=row.node,
        remedy=Remedy(row.remedy),
        faults=tuple(row.faults),
        by=row.by,
        at=row.at,
        ended_at=row.ended_at,
        helped=row.helped,
        because=row.because,
    )
