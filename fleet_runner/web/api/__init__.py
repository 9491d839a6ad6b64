"""The API for programs: what pages show and let people ask for, below /api/v1."""

from fastapi import APIRouter

from fleet_runner.web.api import (
    audit,
    description,
    earlier,
    fabrics,
    intents,
    inventory,
    nodes,
    overview,
    results,
    rollouts,
    runs,
    schedules,
    tenant,
    tickets,
    trends,
)

API: tuple[APIRouter, ...] = (
    overview.router,
    nodes.router,
    nodes.one,
    fabrics.router,
    intents.router,
    results.router,
    tickets.router,
    runs.router,
    schedules.router,
    trends.router,
    rollouts.router,
    inventory.router,
    audit.router,
    tenant.router,
    description.router,
    earlier.router,
)
"""Every route of the API."""
