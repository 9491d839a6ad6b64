"""Names proposed for a design whose fabric calls its devices, adapters or ports otherwise.

Of several ways to read the names the one is proposed by which most cables that are seen are as designed. Where two
fit alike, or most cables of what a rule is about do not fit, nothing is proposed, and it is said.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.cabling.aliases import called
from fleet_runner.core.cabling.binding import Bound, bind
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.misnamed import Sort
from fleet_runner.core.cabling.name_patterns import candidates, glob, skeleton
from fleet_runner.core.cabling.name_votes import (
    Votes,
    adapter_votes,
    agreed_adapters,
    agreed_numbers,
    ends_of,
    port_votes,
)
from fleet_runner.core.cabling.names import Names, declared
from fleet_runner.core.cabling.port_numbers import BELIEVED
from fleet_runner.core.checks.parsers.discovery import FabricLink


class Row(NamedTuple):
    """A line of a names file: a device or what stands for several, and what the fabric says of it."""

    device: str
    interface: str = ""
    adapter: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """What devices of a kind are called: `links` of the `cables` that are seen there are as designed by it.

    `kind` is their type, or what their names have in common (`gpu-#`); `devices` stands for them (`gpu-*`).
    """

    sort: Sort
    kind: str
    devices: str
    rows: tuple[Row, ...]
    links: int
    cables: int


@dataclass(frozen=True, slots=True)
class Proposal:
    """The rules, what could not be told, and how many designed links are seen in place without them and with them."""

    rules: tuple[Rule, ...]
    untold: tuple[str, ...]
    before: int
    after: int
    designed: int


@dataclass(frozen=True, slots=True)
class Fabric:
    """What names are learned from: designed links, what is seen, and what is known of names, servers and kinds.

    `members` are the devices of each kind, and `called` what stands for them.
    """

    designed: frozenset[Link]
    seen: tuple[FabricLink, ...]
    known: Names
    servers: frozenset[str]
    kinds: Mapping[str, str]
    members: Mapping[str, Collection[str]]
    called: Mapping[str, str]

    def matched(self, aliases: Mapping[str, str], known: Names) -> frozenset[Link]:
        """Return the designed links that are seen in place by some names."""
        return self.designed & bind(called(self.seen, aliases), known).links.keys()


@dataclass(frozen=True, slots=True)
class _Learned:
    """Names by one reading of devices' names: adapters and numbers by kind, and all names with them."""

    aliases: Mapping[str, str]
    adapters: Mapping[str, Mapping[str, str]]
    numbers: Mapping[str, Mapping[str, str]]
    known: Names
    untold: tuple[str, ...]


def propose(
    designed: Iterable[Link],
    seen: Iterable[FabricLink],
    known: Names,
    servers: frozenset[str],
    types: Mapping[str, str],
) -> Proposal:
    """Return the names by which most cables are as designed. `types` gives devices' types, where they are known."""
    kinds = {device: types.get(device) or skeleton(device) for device in known.spoken}
    members: dict[str, list[str]] = {}
    for device, kind in kinds.items():
        members.setdefault(kind, []).append(device)
    patterns = {kind: glob(devices, known.spoken) or kind for kind, devices in members.items()}
    it = Fabric(frozenset(designed), tuple(seen), known, servers, kinds, members, patterns)
    before = len(it.matched({}, known))
    if why := _counted_otherwise(it):
        return Proposal((), (why,), before, before, len(it.designed))
    readings = [_learned(it, aliases) for aliases in _aliases(it)]
    fits = [len(it.matched(each.aliases, each.known)) for each in readings]
    best = [each for each, fit in zip(readings, fits, strict=True) if fit == max(fits)]
    untold: list[str] = []
    chosen = best[0]
    if len(best) > 1:
        same = dict(set(best[0].aliases.items()).intersection(*(each.aliases.items() for each in best[1:])))
        untold.append(_tied(best))
        chosen = _learned(it, same)
    rules = _rules(it, chosen)
    while wrong := [rule for rule in rules if rule.sort is Sort.DEVICES and not _fits(rule)]:
        untold += map(misfit, wrong)  # what was learned by these is no more than they are
        kinds_left = {kind for kind in members if kind not in {rule.kind for rule in wrong}}
        chosen = _learned(it, {name: each for name, each in chosen.aliases.items() if kinds[each] in kinds_left})
        rules = _rules(it, chosen)
    kept = tuple(rule for rule in rules if _fits(rule))
    untold += [misfit(rule) for rule in rules if rule not in kept]
    return Proposal(kept, (*untold, *chosen.untold), before, len(it.matched(*_of(it, kept))), len(it.designed))


def _fits(rule: Rule) -> bool:
    return rule.links > 0 and rule.links >= BELIEVED * rule.cables


def _here(bound: Bound) -> set[str]:
    """Return the devices that are seen, by their ports or by their names."""
    here = {port.device for joined in bound.links for port in joined}
    return here | {port.device for port in bound.adapters.values()}


def _counted_otherwise(it: Fabric) -> str:
    """Say where a device may be called by its neighbour's name, which no cable tells from cables that are wrong.

    That is so where one is seen that the design does not know, spelled as those that it does, and one of these is
    not seen.
    """
    bound = bind(it.seen, it.known)
    here = _here(bound)
    unseen = {skeleton(name): name for name in sorted(it.known.spoken.keys() - here, reverse=True)}
    spelled = {skeleton(name) for name in here & it.known.spoken.keys()} & unseen.keys()
    odd = next((name for name in sorted(bound.strangers.keys() - bound.nameless) if skeleton(name) in spelled), "")
    if not odd:
        return ""
    return (
        f"{odd!r} is seen and not designed, {unseen[skeleton(odd)]!r} is designed and not seen: is it another device,"
        " or are all of this kind counted from another number? Say it with --names: nothing is proposed before"
    )


def _aliases(it: Fabric) -> list[Mapping[str, str]]:
    """Return each way to read the names of devices that the design does not know."""
    bound = bind(it.seen, it.known)
    here = _here(bound)
    each_kind: list[tuple[Mapping[str, str], ...]] = []
    for switch in (False, True):
        unseen = {name for name in it.known.spoken if name not in here and (name not in it.servers) == switch}
        others = {
            name
            for name, end in bound.strangers.items()
            if name not in bound.nameless and (end.kind == "SW") == switch
        }
        each_kind.append(candidates(unseen, others) or ({},))
    return [{**servers, **switches} for servers, switches in product(*each_kind)]


def _learned(it: Fabric, aliases: Mapping[str, str]) -> _Learned:
    """Learn adapters and numbers, each once more with what the other told."""
    links = tuple(called(it.seen, aliases))
    far = ends_of(it.designed)
    adapters: dict[str, Mapping[str, str]] = {}
    numbers: dict[str, Mapping[str, str]] = {}
    known, untold = it.known, list[str]()
    for _ in range(2):
        told = adapter_votes(links, known, far, it.kinds)
        for kind, votes in told.items():
            adapters[kind] = {**adapters.get(kind, {}), **agreed_adapters(votes)}
        known = _declared(it, adapters, numbers)
        counted = port_votes(links, known, far, it.kinds)
        for kind, votes in counted.items():
            mine = {port.interface for port in far if it.kinds[port.device] == kind}
            numbers[kind] = {**numbers.get(kind, {}), **agreed_numbers(votes, mine)}
        known = _declared(it, adapters, numbers)
        untold = [*_open(it, told, adapters, "adapter"), *_open(it, counted, numbers, "port")]
    return _Learned(aliases, adapters, numbers, known, tuple(untold))


def _declared(it: Fabric, *told: Mapping[str, Mapping[str, str]]) -> Names:
    """Return the names with what is told of each kind."""
    return declared(
        it.known,
        {
            device: {key: name for each in told for key, name in each.get(kind, {}).items()}
            for device, kind in it.kinds.items()
        },
    )


def _open(it: Fabric, votes: Mapping[str, Votes], agreed: Mapping[str, Mapping[str, str]], word: str) -> list[str]:
    """Say of what the cables do not tell one name."""
    found: list[str] = []
    for kind, each in votes.items():
        left = sorted({spoken for spoken, _ in each.counts} - agreed[kind].keys(), key=natural)
        if left or not agreed[kind]:
            names = f": {', '.join(left[:8])}" if left else ""
            found.append(f"{it.called[kind]}: the cables do not tell one designed port for each {word}{names}")
    return found


def _tied(best: Sequence[_Learned]) -> str:
    one, other = best[0].aliases, best[1].aliases
    name = min(key for key in {*one, *other} if one.get(key) != other.get(key))
    means = " or ".join(repr(device) for device in sorted({one.get(name, "none"), other.get(name, "none")}))
    return f"{name!r} may be {means}: both fit the cables alike"


def misfit(rule: Rule) -> str:
    """Say of a rule by which too few cables are as designed."""
    what = f"{rule.devices}: the {rule.sort} would be {rule.rows[0].name or rule.rows[0].adapter!r} and so on"
    return f"{what}, and {rule.links} of {rule.cables} cables would be as designed"


def _rules(it: Fabric, chosen: _Learned) -> list[Rule]:
    """Return a rule for each kind of devices, with the cables that it is about."""
    bound = bind(called(it.seen, chosen.aliases), chosen.known).links
    ports = {port: joined in it.designed for joined in bound for port in joined}
    found: list[Rule] = []
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for name, device in sorted(chosen.aliases.items(), key=lambda each: natural(each[1])):
        by_kind.setdefault(it.kinds[device], []).append((name, device))
    for kind, pairs in by_kind.items():
        mine = {device for _, device in pairs}
        fits = [fit for port, fit in ports.items() if port.device in mine]
        rows = tuple(Row(device, name=name) for name, device in pairs)
        found.append(Rule(Sort.DEVICES, kind, it.called[kind], rows, sum(fits), len(fits)))
    for sort, told in ((Sort.ADAPTERS, chosen.adapters), (Sort.PORTS, chosen.numbers)):
        for kind, names in told.items():
            mine = {*it.members[kind]}
            fits = [fit for port, fit in ports.items() if port.device in mine and port.interface in names.values()]
            if names:
                found.append(Rule(sort, kind, it.called[kind], _rows(it, mine, names), sum(fits), len(fits)))
    return found


def _rows(it: Fabric, devices: Collection[str], names: Mapping[str, str]) -> tuple[Row, ...]:
    several = glob(devices, it.known.spoken)
    each = [several] if several else sorted(devices, key=natural)
    told = sorted(names.items(), key=lambda pair: natural(pair[0]))
    return tuple(Row(device, interface, adapter) for device in each for adapter, interface in told)


def _of(it: Fabric, rules: Iterable[Rule]) -> tuple[dict[str, str], Names]:
    """Return the aliases and the names that rules give."""
    rows = [row for rule in rules for row in rule.rows]
    adapters: dict[str, dict[str, str]] = {}
    for rule in rules:
        for device in () if rule.sort is Sort.DEVICES else it.members[rule.kind]:
            adapters.setdefault(device, {}).update({row.adapter: row.interface for row in rule.rows})
    return {row.name: row.device for row in rows if row.name}, declared(it.known, adapters)
