"""NVLink domains in a rollout: one at a time, and one that was begun is finished before the next one begins."""

from collections.abc import Collection, Iterable, Mapping, Sequence

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
    rows = list(members)
    out = {domains[each.node] for each in rows if each.turn is RolloutStep.ASKED and each.node in domains}
    begun = {domains[each.node] for each in rows if each.turn in BEGUN and each.node in domains}
    ahead = [domains[each.node] for each in waiting if each.node in domains and each.node not in away]
    now = out or set([name for name in ahead if name in begun][:1]) or set(ahead[:1])
    return tuple(each for each in waiting if domains.get(each.node) is None or domains[each.node] in now)
