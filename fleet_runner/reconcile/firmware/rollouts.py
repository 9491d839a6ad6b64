"""Rollouts, once a tick: what became of the nodes that were asked, and whose turn it is now.

A tick reads, decides and writes each rollout as a whole, or finds at its next try what another one wrote; nothing is
kept between two ticks. Nodes are asked by requests: what moves them is decided where every request is.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.firmware.rollouts import News
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.cabling.fabrics import NVLINK, Fabric
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.firmware.domain_turns import due, waits
from fleet_runner.core.firmware.goals import BOOT, SETTINGS, VERSIONS, reached, settled
from fleet_runner.core.firmware.rollout import (
    Course,
    Rollout,
    RolloutStatus,
    choose,
    course,
    in_order,
    judged,
    turned,
)
from fleet_runner.core.firmware.turns import Member, MemberStatus, RolloutStep, later, unfit
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.reconcile.firmware.catalogues import Definition
from fleet_runner.reconcile.lifecycle.racks import ill
from fleet_runner.reconcile.loop.context import Report, TickContext

log = structlog.get_logger()

AT_ONCE = 200
"""Waiting nodes that are looked at together, until there are enough whose turn it may be."""

_NOTHING = News(None, (), ())


def roll(world: TickContext, fleet: Fleet, now: float, report: Report) -> None:
    """Take every rollout one step on."""
    for rollout in world.store.live_rollouts():
        try:
            report.moves += _roll(_Look(world, fleet), rollout, now)
        except ConflictError as error:
            report.conflicts += 1
            log.info("rollout is tried again at the next tick", rollout=rollout.id, why=str(error))
    _tell_trays(world)


def _tell_trays(world: TickContext) -> None:
    """Have compute trays of NVLink domains say what they wait for: those of which that changed are looked at next."""
    domains, found = _domains(world)
    told: dict[str, str] = {}
    for rollout in world.store.live_rollouts() if domains else ():
        told |= waits(rollout, world.store.rollout_members(rollout.id), domains, ill(world.store, found))
    before, world.domain_turns = world.domain_turns, told
    if changed := [name for name in {*told, *before} if told.get(name) != before.get(name)]:
        world.store.wake(changed)


def _domains(world: TickContext) -> tuple[dict[str, str], list[Fabric]]:
    """Return the NVLink domain of each compute tray, and the domains."""
    found = [each for each in world.fabrics.values() if each.kind == NVLINK]
    return {port.device: each.name for each in found for port in each.ports}, found


def _roll(look: "_Look", rollout: Rollout, now: float) -> list[str]:
    store = look.world.store
    members = store.rollout_members(rollout.id)
    asked = [each for each in members if each.turn is RolloutStep.ASKED]
    ended = {each.node: each for each in judged(rollout, asked, look.sights(asked, store.news(asked)), now)}
    members = tuple(ended.get(each.node, each) for each in members)
    said = course(rollout, members)
    chosen = _chosen(look, rollout, said, members)
    turns = [*ended.values(), *chosen]
    changed = rollout if said.standing is rollout.standing else turned(rollout, said.standing, said.detail, now)
    if not turns and changed is rollout:
        return []
    store.change_rollout(rollout, changed, turns, now=now)
    return _told(rollout, changed, turns)


def _chosen(look: "_Look", rollout: Rollout, said: Course, members: tuple[Member, ...]) -> list[Member]:
    """Return the members whose turn it is now; nobody's, while nobody can tell what firmware they should have."""
    defined = look.world.catalogues.of(look.world.settings, rollout.device_type) if said.room else None
    if defined is None:
        return []
    chosen: list[Member] = []
    waiting = _due(look, defined, members)
    for start in range(0, len(waiting), AT_ONCE):
        some = waiting[start : start + AT_ONCE]
        room = said.room - sum(each.turn is RolloutStep.ASKED for each in chosen)
        if room <= 0:
            break
        chosen += choose(replace(said, room=room), some, look.sights(some, {}, defined))
    return chosen


def _due(look: "_Look", defined: Definition, members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Return the waiting members that may be asked now, domain by domain.

    Where all that are left of a domain are in a reboot, in burn-in or under a remedy, or are in no row, the next
    domain goes on meanwhile; they are asked when they are back. So it does where a domain itself is not whole.
    """
    (domains, found), away = _domains(look.world), set[str]()
    broken = ill(look.world.store, found) if domains.keys() & {each.node for each in members} else {}
    while True:
        waiting = due(in_order(members), members, domains, away, broken)
        trays = [each for each in waiting if each.node in domains and each.node not in away]
        sights = look.sights(trays, {}, defined)
        if not trays or any(_can(each, sights.get(each.node)) for each in trays):
            return waiting
        away |= {each.node for each in trays}


def _can(member: Member, sight: MemberStatus | None) -> bool:
    """Whether a waiting member is asked, or skipped, when its turn comes now."""
    return sight is not None and (bool(unfit(member, sight)) or not later(sight))


def _told(rollout: Rollout, changed: Rollout, turns: Iterable[Member]) -> list[str]:
    """Return what happened, in sentences."""
    words = {RolloutStep.ASKED: "asked", RolloutStep.DONE: "done", RolloutStep.WAITING: "given back"}
    said = [f"{rollout.name}: {each.node} is {words[each.turn]}" for each in turns if each.turn in words]
    said += [
        f"{rollout.name}: {each.node} {each.turn}: {each.detail}"
        for each in turns
        if each.turn in {RolloutStep.FAILED, RolloutStep.SKIPPED}
    ]
    if changed is not rollout:
        ended = f"done: {changed.detail}" if changed.standing is RolloutStatus.DONE else changed.detail
        said.append(f"{rollout.name} is {ended}")
    return said


@dataclass(frozen=True, slots=True)
class _Look:
    """What a tick sees of nodes, some of them at a time."""

    world: TickContext
    fleet: Fleet

    def sights(
        self, members: Iterable[Member], news: Mapping[str, News], defined: Definition | None = None
    ) -> dict[str, MemberStatus]:
        """Return what is known of each member's node; what it has already, only against a definition."""
        store = self.world.store
        names = [each.node for each in members]
        already = right(store, names, defined) if defined is not None else frozenset[str]()
        return {
            node.name: MemberStatus(
                node,
                self._status(node),
                node.name in already,
                *news.get(node.name, _NOTHING),
            )
            for node in store.some(names)
        }

    def _status(self, node: Node) -> str | None:
        device = self.fleet.devices.get(node.name)
        return device.status if device is not None else None


def right(store: Store, names: Collection[str], defined: Definition) -> frozenset[str]:
    """Return the nodes of which the newest evidence says that they have everything already."""

    def seen(check: str) -> dict[str, Result]:
        return {name: stored.result for name, stored in store.newest(check, names).items()}

    versions, settings, boot = seen(VERSIONS), seen(SETTINGS), seen(BOOT)
    return frozenset(
        name
        for name in names
        if reached(defined.catalogue, versions.get(name))
        and settled(defined.settings, settings.get(name))
        and settled(defined.boot, boot.get(name))
    )
