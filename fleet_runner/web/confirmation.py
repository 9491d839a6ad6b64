"""The second word for what cannot be undone: a token of the first answer, good for one node, request and user."""

import hmac
from hashlib import sha256

from fleet_runner.core.access.roles import Who
from fleet_runner.core.lifecycle.runs import IntentKind, Node
from fleet_runner.web.site import Site

SECONDS = 300.0
"""How long it is good: long enough to read what would be lost."""


def given(here: Site, who: Who, node: Node, intent: IntentKind) -> str:
    """Return a token that confirms a request about a node as it is now."""
    until = f"{here.clock() + SECONDS:.0f}"
    return f"{until}.{_signed(here, who, node, intent, until)}"


def holds(here: Site, who: Who, node: Node, intent: IntentKind, token: str) -> bool:
    """Whether a token confirms a request: it was given for it, to the same user, and the node's state is the same."""
    until, _, signature = token.partition(".")
    if not (until.isascii() and until.isdigit()) or len(until) > len(f"{here.clock():.0f}"):
        return False
    good = hmac.compare_digest(signature.encode(), _signed(here, who, node, intent, until).encode())
    return good and here.clock() <= float(until)


def _signed(here: Site, who: Who, node: Node, intent: IntentKind, until: str) -> str:
    said = f"{node.name}\n{node.state}\n{intent}\n{who.name}\n{who.role}\n{until}"
    return hmac.new(here.confirmation_key, said.encode(), sha256).hexdigest()
