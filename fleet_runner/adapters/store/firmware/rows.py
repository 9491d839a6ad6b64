"""Rows of flashes as values; without SQLAlchemy, which the store's reader does not load."""

from typing import Any

from fleet_runner.core.firmware.catalogue import Activate
from fleet_runner.core.firmware.flash import End, Flash, Phase


def flash(row: Any) -> Flash:
    """Return a row as a flash."""
    return Flash(
        id=row.id,
        node=row.node,
        component=row.component,
        before=row.before,
        targets=row.targets,
        image=row.image,
        sha256=row.sha256,
        activate=Activate(row.activate),
        times=row.times,
        seconds=row.seconds,
        attempt=row.attempt,
        intended_at=row.intended_at,
        by=row.by,
        run=row.run,
        rolls_back=row.rolls_back,
        phase=Phase(row.phase),
        tasks_before=tuple(row.tasks_before),
        task=row.task,
        sent_at=row.sent_at,
        updated_at=row.updated_at,
        activations=row.activations,
        activated_at=row.activated_at,
        activated=row.activated,
        bmc_reset_before=row.bmc_reset_before,
        ended_at=row.ended_at,
        end=End(row.end) if row.end is not None else None,
        detail=row.detail,
    )
