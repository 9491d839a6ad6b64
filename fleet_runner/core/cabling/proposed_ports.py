"""Names proposed for a design whose devices call their ports, or each other, otherwise over LLDP.

A cable tells what a port is called where only one designed link joins its two devices, or where its far end is known.
One way to count that most cables of a device fit is proposed, or else what several devices of a kind say alike.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.natural_order import natural
from fleet_runner.core.cabling.ethernet import Captures, Row, listen, read
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.misnamed import Sort
from fleet_runner.core.cabling.misread import FEWEST, OFF_ALIKE, readings
from fleet_runner.core.cabling.name_patterns import candidates, glob, skeleton
from fleet_runner.core.cabling.names import Names, declared, device_of
from fleet_runner.core.cabling.port_numbers import BELIEVED
from fleet_runner.core.cabling.proposed_names import Proposal, Rule, misfit
from fleet_runner.core.cabling.proposed_names import Row as NamesRow
from fleet_runner.core.cabling.ways_to_count import kind

ROUNDS = 3
"""Times to learn: servers tell of leaves, and these of spines."""

Votes = Mapping[str, Counter[str]]
"""For each told name, how many cables tell that it is each designed port."""


@dataclass(frozen=True, slots=True)
class Hall:
    """What names are learned from; `kinds` gives each device's type, or what its name has in common with others."""

    designed: tuple[Link, ...]
    captures: Captures
    known: Names
    macs: Mapping[str, Port]
    kinds: Mapping[str, str]

    def called(self, aliases: Mapping[str, str]) -> Captures:
        """Return the captures with devices in the words of the design."""
        return {
            aliases.get(name, name): [
                each._replace(system=aliases.get(each.system, each.system)) for each in neighbours
            ]
            for name, neighbours in self.captures.items()
        }

    def matched(self, captures: Captures, known: Names) -> frozenset[Link]:
        """Return the designed links that captures tell by some names."""
        return listen(captures, known, self.designed, self.macs, prove=True).links & {*self.designed}


_End = tuple[str, str, str, Port | None, str]
"""One end of what is heard: its device and told name, the far device, and that one's port and told name."""


class _Learned(NamedTuple):
    """What one reading of devices' names tells: aliases, ports of each device, and devices that stay open."""

    aliases: Mapping[str, str]
    ports: Mapping[str, Mapping[str, str]]
    untold: Collection[str]


def propose(
    designed: Iterable[Link],
    captures: Captures,
    known: Names,
    macs: Mapping[str, Port],
    types: Mapping[str, str],
) -> Proposal:
    """Return the names by which most cables are as designed. `types` gives devices' types, where they are known."""
    kinds = {device: types.get(device) or skeleton(device) for device in known.spoken}
    it = Hall(tuple(designed), captures, known, macs, kinds)
    before = len(it.matched(captures, known))
    learned = [_learned(it, aliases) for aliases in _aliases(it)]
    fits = [len(it.matched(it.called(each.aliases), declared(known, each.ports))) for each in learned]
    best = [each for each, fit in zip(learned, fits, strict=True) if fit == max(fits)]
    if len(best) > 1:
        return Proposal((), (_tied(best),), before, before, len(it.designed))
    (chosen,) = best
    untold = [f"{name}: too few of its cables tell what its ports are called" for name in sorted(chosen.untold)]
    rules = _rules(it, chosen) if max(fits) > before else []
    if wrong := [rule for rule in rules if rule.links < BELIEVED * rule.cables]:
        return Proposal((), tuple(map(misfit, wrong)), before, before, len(it.designed))
    return Proposal(tuple(rules), tuple(untold), before, max(before, *fits), len(it.designed))


def _aliases(it: Hall) -> tuple[Mapping[str, str], ...]:
    """Return each way to read the names of devices that the design does not know."""
    told = {*it.captures, *(each.system for rows in it.captures.values() for each in rows if each.system)}
    here = {device_of(name, it.known)[0] for name in told} & it.known.spoken.keys()
    others = {name for name in told if not device_of(name, it.known)[1]}
    return candidates(it.known.spoken.keys() - here, others) or ({},)


def _tied(best: Iterable[_Learned]) -> str:
    one, other = [each.aliases for each in best][:2]
    name = min(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
    means = " or ".join(sorted({repr(each.get(name, "none")) for each in (one, other)}))
    return f"{name!r} may be {means}: both fit the cables alike"


def _learned(it: Hall, aliases: Mapping[str, str]) -> _Learned:
    """Learn what ports are called, once more with what the first round told of the far ends."""
    captures = it.called(aliases)
    ports: dict[str, Mapping[str, str]] = {}
    odd = set[str]()
    for _ in range(ROUNDS):
        known = declared(it.known, ports)
        rows = read(captures, known, it.designed, it.macs)[1]
        heard = listen(captures, known, it.designed, it.macs, prove=True)
        odd = _odd(rows, known) | heard.unclear
        proven = {port.device for each in heard.links & {*it.designed} for port in each} - odd
        told = {device: votes for device, votes in _votes(rows, it.designed, known, proven).items() if device in odd}
        alike = _alike(it, told)
        for device, votes in told.items():
            names = _agreed(it, device, votes) or alike.get(it.kinds[device], {})
            if names.keys() >= votes.keys():  # what is left would be taken for ports of the same names
                ports[device] = names
        odd -= ports.keys()
    return _Learned(aliases, ports, odd)


def _odd(rows: Iterable[Row], known: Names) -> set[str]:
    """Return the devices of the design with a port that is told by a name which the design does not know."""
    ports = {device: {port.interface for port in spoken.values()} for device, spoken in known.spoken.items()}
    odd: set[str] = set()
    for here, near, far, heard, _ in rows:
        there = far.device if far else device_of(heard.system, known)[0]
        odd |= {
            device
            for device, port in ((here, near), (there, far))
            if port is None or port.interface not in ports.get(device, ())
        }
    return odd & known.spoken.keys()


def _votes(
    rows: Iterable[Row], designed: Iterable[Link], known: Names, proven: Collection[str]
) -> dict[str, dict[str, Counter[str]]]:
    """Return each device's told names, and how many cables tell that it is which port.

    The name of a far port counts on `proven` devices.
    """
    far = {port: other for each in designed for port, other in (each, each[::-1])}
    between: dict[tuple[str, str], list[str]] = defaultdict(list)
    for mine, its in far.items():
        between[mine.device, its.device].append(mine.interface)
    told: dict[str, dict[str, set[tuple[str, str]]]] = defaultdict(lambda: defaultdict(set))
    for here, near, end, heard, _ in rows:
        there = end.device if end else device_of(heard.system, known)[0]
        name = heard.port or heard.description
        both: tuple[_End, _End] = (
            (here, heard.interface, there, end, name),
            (there, name, here, near, heard.interface),
        )
        for device, spoken, other, port, plug in both:
            goals = between.get((device, other), [])
            votes = told[device][spoken] if goals else set[tuple[str, str]]()
            goal = far.get(port) if port and other in proven else None
            if len(goals) == 1:
                votes.add((goals[0], plug))
            elif goal and goal.device == device:
                votes.add((goal.interface, plug))
    return {
        device: {spoken: Counter(goal for goal, _ in each) for spoken, each in names.items()}
        for device, names in told.items()
    }


def _agreed(it: Hall, device: str, votes: Votes) -> dict[str, str]:
    """Return the one way to count a device's ports that most of its cables fit; nothing where two do alike."""
    sorts: dict[str, set[str]] = defaultdict(set)
    for port in it.known.spoken[device].values():
        sorts[kind(port.interface)].add(port.interface)
    found: dict[str, str] = {}
    for sort in {kind(spoken) for spoken in votes}:
        mine = {spoken: each for spoken, each in votes.items() if kind(spoken) == sort}
        every = sum(map(Counter.total, mine.values()))
        fits = {
            tuple(sorted(reading.items())): sum(each[reading.get(spoken, "")] for spoken, each in mine.items())
            for designed in sorts.values()
            for reading, _, _ in readings(dict.fromkeys(mine, ""), designed)
        }
        most = max(fits.values(), default=0)
        best = [reading for reading, fit in fits.items() if fit == most]
        if len(best) == 1 and most >= max(FEWEST, OFF_ALIKE * every):
            found |= best[0]
    return found


def _alike(it: Hall, votes: Mapping[str, Votes]) -> dict[str, Mapping[str, str]]:
    """Return by kind the ports that two devices, at least, give the same name, and none another one."""
    told: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
    for device, mine in votes.items():
        for spoken, goals in mine.items():
            for goal in goals:
                told[it.kinds[device]][spoken, goal].add(device)
    found: dict[str, Mapping[str, str]] = {}
    for sort, pairs in told.items():
        names, ports = (Counter(pair[at] for pair in pairs) for at in (0, 1))
        found[sort] = {
            spoken: goal
            for (spoken, goal), devices in pairs.items()
            if len(devices) >= FEWEST and names[spoken] == ports[goal] == 1
        }
    return found


def _rules(it: Hall, chosen: _Learned) -> list[Rule]:
    """Return a rule for devices of a kind that call their ports alike, with the cables that it is about."""
    captures = it.called(chosen.aliases)
    heard = listen(captures, declared(it.known, chosen.ports), it.designed, it.macs).links
    there = heard & {*it.designed}
    rules: list[Rule] = []

    def add(sort: Sort, devices: Collection[str], rows: Iterable[NamesRow]) -> None:
        name = glob(devices, it.known.spoken) or ", ".join(sorted(devices, key=natural))
        links, cables = (sum(bool({*devices} & {a.device, b.device}) for a, b in each) for each in (there, heard))
        rules.append(Rule(sort, it.kinds[min(devices)], name, tuple(rows), links, cables))

    by_kind: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for name, device in sorted(chosen.aliases.items(), key=lambda pair: natural(pair[1])):
        by_kind[it.kinds[device]].append((name, device))
    for pairs in by_kind.values():
        add(Sort.DEVICES, [device for _, device in pairs], [NamesRow(device, name=name) for name, device in pairs])
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[str]] = defaultdict(list)
    for device, names in chosen.ports.items():
        groups[it.kinds[device], tuple(sorted(names.items(), key=lambda pair: natural(pair[0])))].append(device)
    for (_, told), devices in groups.items():
        stands = glob(devices, it.known.spoken)
        each = [stands] if stands else sorted(devices, key=natural)
        add(Sort.PORTS, devices, [NamesRow(device, port, spoken) for device in each for spoken, port in told])
    return rules
