"""Trackers that are told of tickets: one module each, and here which is which."""

from collections.abc import Callable

from fleet_runner.adapters.trackers.github import GitHub
from fleet_runner.adapters.trackers.gitlab import GitLab
from fleet_runner.adapters.trackers.jira import Jira
from fleet_runner.adapters.trackers.servicenow import ServiceNow
from fleet_runner.adapters.trackers.tracker import Issue, Tracker
from fleet_runner.adapters.trackers.webhook import Webhook
from fleet_runner.adapters.trackers.wire import Access
from fleet_runner.core.tickets.trackers.configuration import Configured, TrackerKind

__all__ = ["KINDS", "Access", "Issue", "Tracker", "opened"]

Opened = Callable[[Configured, Access], Tracker]

KINDS: dict[TrackerKind, Opened] = {
    TrackerKind.JIRA: Jira,
    TrackerKind.SERVICENOW: ServiceNow,
    TrackerKind.GITHUB: GitHub,
    TrackerKind.GITLAB: GitLab,
    TrackerKind.WEBHOOK: Webhook,
}


def opened(of: Configured, access: Access) -> Tracker:
    """Open a session with a tracker. SettingsError where the secret has not the form that it needs."""
    return KINDS[of.kind](of, access)
