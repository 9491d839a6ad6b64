"""What a plan needs of who carries it out, in the words of NetBox's permissions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fleet_runner.core.netbox_init.objects import ABOUT, Kind
from fleet_runner.core.netbox_init.plan import DUE, Act, Step, waiting

May = Mapping[Kind, frozenset[str]]
"""What a token may do with each kind: "view", "add" and "change"."""

ACTIONS = {Act.MAKE: "add", Act.CHANGE: "change"}


GRANT = "users.grant_token"
"""What is needed beside users.add_token to make a token for somebody else; NetBox does not say who has it."""


def within(steps: Iterable[Step], may: May) -> tuple[Step, ...]:
    """Return a plan with what a token may do of it: each other step says which permissions are missing."""
    return waiting([_within(step, may) for step in steps])


def missing(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return every permission that is missing for a plan, each once."""
    return tuple(sorted({each for step in steps for each in step.lacks}))


def permission(kind: Kind, action: str) -> str:
    """Return the name of a permission: "extras.add_customfield"."""
    app, _, model = ABOUT[kind].model.partition(".")
    return f"{app}.{action}_{model}"


def _within(step: Step, may: May) -> Step:
    kind = step.wanted.kind
    if step.act not in DUE:
        return step
    lacks = tuple(permission(kind, each) for each in ("view", ACTIONS[step.act]) if each not in may[kind])
    if lacks and kind is Kind.TOKEN:
        lacks = (*lacks, GRANT)
    return replace(step, act=Act.LACKS, lacks=lacks) if lacks else step
