"""What a plan needs of who carries it out, in the words of NetBox's permissions."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from fleet_runner.core.inventory.netbox.init.objects import ABOUT, Kind
from fleet_runner.core.inventory.netbox.init.plan import DUE, Act, Step, waiting

May = Mapping[Kind, frozenset[str]]
"""What a token may do with each kind: "view", "add" and "change"."""

ACTIONS = {Act.MAKE: "add", Act.CHANGE: "change"}


GRANT = ("users.add_token", "users.grant_token")
"""What is needed to make a token for somebody else; as everybody may make their own, NetBox does not tell who may."""


def within(steps: Iterable[Step], may: May) -> tuple[Step, ...]:
    """Return a plan with what a token may do of it: each other step says which permissions are missing."""
    return waiting([_within(step, may) for step in steps])


def missing(steps: Iterable[Step]) -> tuple[str, ...]:
    """Return every permission that is missing for a plan, each once; with any, those that NetBox does not tell of."""
    steps = tuple(steps)
    lacks = {each for step in steps for each in step.lacks}
    if lacks and any(step.wanted.kind is Kind.TOKEN for step in steps):
        lacks.update(GRANT)
    return tuple(sorted(lacks))


def permission(kind: Kind, action: str) -> str:
    """Return the name of a permission: "extras.add_customfield"."""
    app, _, model = ABOUT[kind].model.partition(".")
    return f"{app}.{action}_{model}"


def _within(step: Step, may: May) -> Step:
    kind = step.wanted.kind
    if step.act not in DUE:
        return step
    lacks = tuple(permission(kind, each) for each in ("view", ACTIONS[step.act]) if each not in may[kind])
    return replace(step, act=Act.LACKS, lacks=lacks) if lacks else step
