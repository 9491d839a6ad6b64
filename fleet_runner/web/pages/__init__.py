"""The pages, one module each: what it shows, and what it lets people ask for."""

from fastapi import APIRouter

from fleet_runner.web.pages import (
    audit,
    fabric,
    finding,
    fleet,
    lemons,
    lifetimes,
    login,
    mine,
    modes,
    node,
    oidc,
    results,
    rollouts,
    runs,
    schedules,
    tickets,
    trends,
    wishes,
)

PAGES: tuple[APIRouter, ...] = (
    login.router,
    oidc.router,
    fleet.router,
    mine.router,
    node.router,
    results.router,
    wishes.router,
    tickets.router,
    finding.router,
    fabric.router,
    runs.router,
    schedules.router,
    rollouts.router,
    modes.router,
    trends.router,
    lemons.router,
    lifetimes.router,
    audit.router,
)
"""Every page's routes."""
