"""NVLink domains in a rollout: one at a time, and one that was begun is finished before the next one begins."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from fleet_runner.core.firmware.rollout import GOING_ON, Rollout, RolloutStatus, in_order
from fleet_runner.core.firmware.rollout_text import counts
from fleet_runner.core.firmware.turns import Member, RolloutStep

BEGUN = frozenset({RolloutStep.ASKED, RolloutStep.DONE, RolloutStep.FAILED})
"""How far a member is whose domain was begun."""


def due(
    waiting: Sequence[Member],
    members: Iterable[Member],
    domains: Mapping[str, str],
    away: Collection[str] = (),
    ill: Collection[str] = (),
) -> tuple[Member, ...]:
    """Return which of the waiting members may be asked now, in their order: those of one domain, and of none.

    `domains` gives compute trays their domain. It is that of trays that are out, else one that was begun, else that
    of the first that waits: a domain whose trays have two versions is one that nobody tested. `away` are waiting
    nodes whose turn cannot come now: a domain of which only these are left holds no other one. No tray of a domain
    that is `ill` is asked: new firmware belongs on a machine that is whole.
    """
    waiting = [each for each in waiting if domains.get(each.node) not in ill]
    now = _first([each for each in waiting if each.node not in away], members, domains)
    return tuple(each for each in waiting if domains.get(each.node) is None or domains[each.node] in now)


def waits(
    rollout: Rollout, members: Iterable[Member], domains: Mapping[str, str], ill: Mapping[str, str]
) -> dict[str, str]:
    """Say of each waiting compute tray of a domain what it waits for; of nothing where the rollout asks no more."""
    rows = list(members)
    mine = [each for each in in_order(rows) if each.node in domains]
    if rollout.standing not in GOING_ON:
        return {}
    if rollout.standing is RolloutStatus.PAUSED:
        return dict.fromkeys((each.node for each in mine), f"{rollout.name} is {rollout.detail}")
    now = _first([each for each in mine if domains[each.node] not in ill], rows, domains)
    told = {name: _ahead(rollout, name, why, rows, domains) for name, why in now.items()}
    first = "; ".join(told[name] for name in sorted(told))
    return {each.node: _wait(rollout, domains[each.node], first, now, ill) for each in mine}


def _first(waiting: Iterable[Member], members: Iterable[Member], domains: Mapping[str, str]) -> dict[str, str]:
    """Return the domains whose turn it is, one but where more are out already, each with why it is."""
    rows = list(members)
    if out := {domains[each.node] for each in rows if each.turn is RolloutStep.ASKED and each.node in domains}:
        return dict.fromkeys(out, "a tray of it is out")
    begun = {domains[each.node] for each in rows if each.turn in BEGUN and each.node in domains}
    ahead = [domains[each.node] for each in waiting if each.node in domains]
    if going := [name for name in ahead if name in begun]:
        return {going[0]: "it was begun"}
    return dict.fromkeys(ahead[:1], "it is first in the order")


def _ahead(rollout: Rollout, name: str, why: str, rows: Iterable[Member], domains: Mapping[str, str]) -> str:
    """Say which domain goes first, why, and how far it is."""
    how_far = counts(each for each in rows if domains.get(each.node) == name)
    return f"{rollout.name} updates one NVLink domain at a time, now {name}: {why} ({how_far})"


def _wait(rollout: Rollout, name: str, first: str, now: Collection[str], ill: Mapping[str, str]) -> str:
    if name in ill and name not in now:
        return f"{rollout.name} begins its NVLink domain once that is whole: {ill[name]}"
    if name in ill:
        return f"{rollout.name} asks no further tray of its NVLink domain until that is whole: {ill[name]}"
    return f"{first}; this tray follows" if name in now else first
