"""The pages, one module each: what it shows, and what it lets people ask for."""

from fastapi import APIRouter

from fleet_runner.web.pages import (
    audit,
    bring_up,
    fabric,
    fleet,
    intents,
    jobs,
    lemons,
    lifetimes,
    login,
    modes,
    node,
    oidc,
    results,
    rollouts,
    runs,
    schedules,
    search,
    tenant,
    tickets,
    trends,
    weeks,
)

PAGES: tuple[APIRouter, ...] = (
    login.router,
    oidc.router,
    fleet.router,
    tenant.router,
    node.router,
    results.router,
    intents.router,
    tickets.router,
    search.router,
    fabric.router,
    runs.router,
    jobs.router,
    schedules.router,
    rollouts.router,
    modes.router,
    trends.router,
    weeks.router,
    lemons.router,
    bring_up.router,
    lifetimes.router,
    audit.router,
)
"""Every page's routes."""
