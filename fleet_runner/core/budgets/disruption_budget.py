"""How many nodes automation may have out of service at a time, of the fleet and of each of its parts (see `Scope`).

Only leaving service asks for budget, and taking no new work until then. Healing, uncordoning and returning never do.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

from fleet_runner.core.inventory import last_places
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import RUNNER, Node, is_of_cluster
from fleet_runner.core.lifecycle.states import REMEDIED, SERVING, STATES, Condition
from fleet_runner.core.nvlink import domains as nvlink_domains
from fleet_runner.core.nvlink.domains import OF_DOMAIN

RECENT = 4 * 3600.0
"""Seconds for which a node that left service for triage counts as out: long enough to see that it is not alone."""

FEW = 3
"""Nodes that a refusal names; the rest is counted."""


class Scope(StrEnum):
    """What has a budget of its own, from the narrowest to the widest."""

    RACK = "rack"
    NVLINK = "NVLink domain"
    DOMAIN = "failure domain"
    TENANT = "tenant"
    FLEET = "fleet"


MANY = frozenset({Scope.RACK, Scope.NVLINK})
"""Scopes of which there are so many that a list shows those alone of which something is out."""


class Location(NamedTuple):
    """Where a node belongs; "" where nobody says. Racks and domains carry their site: two sites may have an A03.

    `partition` is that of a compute tray in its NVLink domain; `drain` says which trays of the domain drain as one
    with it: those of its OF_PARTITION, or all, OF_DOMAIN; "" for none.
    """

    rack: str = ""
    domain: str = ""
    tenant: str = ""
    nvlink: str = ""
    partition: str = ""
    drain: str = ""


class Out(NamedTuple):
    """A node that is out of service: where it is, and until when it counts at the latest (epoch seconds).

    `until` is None where nobody can say.
    """

    node: str
    place: Location
    where: str
    until: float | None


@dataclass(frozen=True, slots=True)
class Limits:
    """How much may be out: `rack` nodes of one rack; shares of a failure domain's, a tenant's and the fleet's nodes.

    A share is one node at least. A fleet of up to `small` nodes may have one out, whatever its share comes to.
    `nvlink` are the compute trays of one NVLink domain, None where it has no limit of its own.
    """

    share: float = 0.1
    rack: int = 1
    domain: float = 0.2
    tenant: float = 0.2
    small: int = 20
    nvlink: int | None = None


@dataclass(frozen=True, slots=True)
class Grant:
    """Whether a node may leave service now; `sentence` says why not."""

    allowed: bool
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """How many nodes serve, by scope and its name, and which are out.

    `pending` are those of the serving ones that take no new work, since a remedy of the runner's own waits for them.
    `trays` are the serving compute trays of NVLink domains in which any drains as one with others, by domain.
    """

    serving: Mapping[tuple[Scope, str], int]
    out: tuple[Out, ...]
    pending: tuple[Out, ...] = ()
    trays: Mapping[str, tuple[Out, ...]] = field(default_factory=dict[str, tuple[Out, ...]])


class Use(NamedTuple):
    """What one budget holds: `out` of at most `most` nodes; `total` belong to it."""

    scope: Scope
    name: str
    out: tuple[Out, ...]
    most: int
    total: int


def place(fleet: Fleet, node: str) -> Location:
    """Return where a node counts: one whose record cannot be used counts where it was."""
    return _placed(fleet, node, frozenset() if node in fleet.devices else _nvlink_domains(fleet))


def _nvlink_domains(fleet: Fleet) -> frozenset[str]:
    return frozenset(map(nvlink_domains.named, fleet.devices.values()))


def _placed(fleet: Fleet, node: str, domains: frozenset[str]) -> Location:
    """A node that the source lost stays in the NVLink domain of its rack, which is called as the rack is."""
    _, rack, domain, tenant = last_places.place(fleet, node)
    device = fleet.devices.get(node)
    lost = rack if rack in domains else ""
    if device is None:
        return Location(rack, domain, tenant, lost)
    return Location(rack, domain, tenant, nvlink_domains.named(device), *nvlink_domains.drains_with(device))


def measure(nodes: Iterable[Node], triaged: Mapping[str, float], fleet: Fleet) -> Usage:
    """Count what serves and what is out.

    `triaged` says when nodes left service for triage lately. Nodes that people work on for longer are no disruption
    any more.
    """
    serving: Counter[tuple[Scope, str]] = Counter()
    out: list[Out] = []
    pending: list[Out] = []
    domains = _nvlink_domains(fleet)
    trays: defaultdict[str, list[Out]] = defaultdict(list)
    for node in nodes:
        where = _placed(fleet, node.name, domains)
        if node.state in SERVING:
            serving.update(scopes(where))
            pending += waiting(node, where)
            if where.nvlink:
                trays[where.nvlink].append(Out(node.name, where, "drains as one with it", None))
        elif node.state in REMEDIED:
            until = node.since + (STATES[node.state].deadline or 0.0)
            out.append(Out(node.name, where, node.state, until))
        elif node.name in triaged:
            out.append(Out(node.name, where, node.state, triaged[node.name] + RECENT))
    return Usage(serving, tuple(out), tuple(pending), _joint(trays, out))


def _joint(trays: Mapping[str, Sequence[Out]], out: Iterable[Out]) -> dict[str, tuple[Out, ...]]:
    """Return the trays of those domains alone in which one drains as one with others: mostly there are none."""
    joint = {each.place.nvlink for each in chain(out, *trays.values()) if each.place.drain}
    return {name: tuple(trays[name]) for name in joint if name in trays}


def waiting(node: Node, where: Location) -> list[Out]:
    """Return how a serving node counts that takes no new work for a remedy of the runner's own, or a cluster's."""
    held = node.conditions.get(Condition.PENDING)
    if held is None or not (held.by == RUNNER or is_of_cluster(held.by)):
        return []
    return [Out(node.name, where, f"cordoned, {held.detail} pending", None)]


def cordons(usage: Usage, where: Location, limits: Limits) -> Grant:
    """Say whether one more node of a place may take no new work: those that do not already count as out here."""
    granted = grant(_taken(usage, usage.pending), where, limits)
    return granted if granted.allowed else Grant(allowed=False, sentence=f"not cordoned yet, {granted.sentence}")


def grant(usage: Usage, where: Location, limits: Limits) -> Grant:
    """Say whether one more node of a place may leave service."""
    for scope, name in scopes(where):
        use = use_of(usage, scope, name, limits)
        with_it = _with_it(usage, where, use)
        if len(use.out) + with_it > use.most:
            return Grant(allowed=False, sentence=_refusal(use, where, with_it))
    return Grant(allowed=True)


def _with_it(usage: Usage, where: Location, use: Use) -> int:
    """Return how many more nodes are out in a budget when one of a place is: with it what drains as one with it."""
    if not where.drain or use.scope in MANY:
        return 1
    gone = {each.node for each in use.out}
    mine = [each for each in _joined(usage, where) if (use.scope, use.name) in scopes(each.place)]
    return sum(each.node not in gone for each in mine) if mine else 1


def _joined(usage: Usage, where: Location) -> list[Out]:
    """Return the serving trays that drain as one with a tray of a place, itself among them; of others none."""
    every = usage.trays.get(where.nvlink, ()) if where.drain else ()
    return [each for each in every if where.drain == OF_DOMAIN or each.place.partition == where.partition]


def uses(usage: Usage, limits: Limits) -> tuple[Use, ...]:
    """Return what every budget holds, the fleet's first, then by scope and name."""
    known = {*usage.serving, *(scope for out in usage.out for scope in scopes(out.place)), (Scope.FLEET, "")}
    order = [Scope.FLEET, Scope.TENANT, Scope.DOMAIN, Scope.NVLINK, Scope.RACK]
    limited = (each for each in known if each[0] is not Scope.NVLINK or limits.nvlink is not None)
    listed = sorted(limited, key=lambda each: (order.index(each[0]), each[1]))
    return tuple(use_of(usage, scope, name, limits) for scope, name in listed)


def use_of(usage: Usage, scope: Scope, name: str, limits: Limits) -> Use:
    """Return what one budget holds."""
    out = tuple(each for each in usage.out if (scope, name) in scopes(each.place))
    total = usage.serving.get((scope, name), 0) + len(out)
    beside = () if scope in MANY else _carried(usage, (scope, name))
    return Use(scope, name, (*out, *beside), _most(scope, total, limits), total)


def _carried(usage: Usage, scope: tuple[Scope, str]) -> tuple[Out, ...]:
    """Return the serving trays that count as out, as they drain as one with a tray that is."""
    gone = {each.node for each in usage.out}
    found = {each.node: each for out in usage.out for each in _joined(usage, out.place)}
    return tuple(each for each in found.values() if each.node not in gone and scope in scopes(each.place))


def beside(usage: Usage, more: Iterable[Out]) -> Usage:
    """Return the usage with nodes that are out besides, and were not counted."""
    return replace(usage, out=(*usage.out, *more))


def take(usage: Usage, out: Out) -> Usage:
    """Return the usage after one more node left service."""
    return _taken(usage, (out,))


def _taken(usage: Usage, outs: Sequence[Out]) -> Usage:
    """Return the usage after more nodes left service: all of them are counted at once, as there may be many."""
    serving, gone = dict(usage.serving), {each.node for each in outs}
    for scope, times in Counter(scope for each in outs for scope in scopes(each.place)).items():
        left = serving.pop(scope, 0) - times
        if left > 0:
            serving[scope] = left
    pending = tuple(each for each in usage.pending if each.node not in gone)
    return replace(usage, serving=serving, out=(*usage.out, *outs), pending=pending)


def scopes(where: Location) -> list[tuple[Scope, str]]:
    """Return the budgets that a node of a place counts in, the narrowest first."""
    named = [
        (Scope.RACK, where.rack),
        (Scope.NVLINK, where.nvlink),
        (Scope.DOMAIN, where.domain),
        (Scope.TENANT, where.tenant),
    ]
    return [*((scope, name) for scope, name in named if name), (Scope.FLEET, "")]


def _most(scope: Scope, total: int, limits: Limits) -> int:
    match scope:
        case Scope.RACK:
            return limits.rack
        case Scope.NVLINK:
            return total + 1 if limits.nvlink is None else limits.nvlink
        case Scope.DOMAIN:
            return max(1, int(limits.domain * total))
        case Scope.TENANT:
            return max(1, int(limits.tenant * total))
        case _:
            return 1 if total <= limits.small else max(1, int(limits.share * total))


def _refusal(use: Use, where: Location, with_it: int) -> str:
    whose = "the fleet's budget" if use.scope is Scope.FLEET else f"the budget of {use.scope} {use.name}"
    some = ", ".join(map(_told, sorted(use.out, key=lambda out: (out.until or math.inf, out.node))[:FEW]))
    more = f" and {len(use.out) - FEW} more" if len(use.out) > FEW else ""
    nodes = "node" if use.most == 1 else "nodes"
    if len(use.out) < use.most:
        joint = f"NVLink domain {where.nvlink}" + (f", partition {where.partition}" * (where.drain != OF_DOMAIN))
        beside = f", {len(use.out)} out ({some}{more})" if use.out else ""
        return f"{whose} does not cover {joint}, which drains as one: {with_it} of at most {use.most} {nodes}{beside}"
    return f"{whose} is spent: {len(use.out)} of at most {use.most} {nodes} out ({some}{more})"


def _told(out: Out) -> str:
    if out.until is None:
        return f"{out.node}: {out.where}"
    until = datetime.fromtimestamp(out.until, UTC)
    return f"{out.node}: {out.where}, until {until:%Y-%m-%d %H:%M} UTC at the latest"
