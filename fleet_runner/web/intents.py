"""Requests that people and programs leave through pages and the API, and having them heard at once."""

from fleet_runner.adapters.plays import wake as waking
from fleet_runner.core.access.roles import Who
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.web.site import Site


def leave(here: Site, who: Who, node: str, intent: tuple[IntentKind, str], reason: str) -> int:
    """Leave a request, with its detail, for the reconciler to answer; return its id."""
    kind, detail = intent
    number = here.store.leave_intent(node, kind, who.name, reason=reason, detail=detail, now=here.clock())
    wake(here)
    return number


def wake(here: Site) -> None:
    """Have whoever decides look now."""
    waking.wake(here.settings.state_dir, here.store)
