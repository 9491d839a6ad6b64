"""What can be used of a source of truth that contradicts itself in places, and why the rest cannot.

Where two records contradict each other nobody knows which is wrong, so neither is used. What is left out is never
taken for gone: devices are named with the reason, and so are the ports whose cable is not known.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from fleet_runner.core.inventory.ansible import reserved
from fleet_runner.core.inventory.consistency import cables, carriers, fabrics, names, nvlink, racks
from fleet_runner.core.inventory.consistency.draft import Draft, Found, settle
from fleet_runner.core.inventory.consistency.problem import Problem, refusal, show
from fleet_runner.core.inventory.records import NODE_ROLES, Cable, Device, Termination
from fleet_runner.core.nvlink.domains import KEYS, domains

T = TypeVar("T")

Look = Callable[[Draft], Iterator[Problem]]
Bad = Mapping[str, Problem]
"""Problems by where they are."""


@dataclass(frozen=True, slots=True)
class Remainder:
    """A draft without contradictions. `unread` are devices that were left out, each with the reason.

    `uncompared` are ports of which it is not known what belongs there. `told` are sentences about everything that was
    left out or was read without what is wrong with it.
    """

    draft: Draft
    unread: Mapping[str, str]
    uncompared: frozenset[Termination]
    told: tuple[str, ...]


@dataclass(slots=True)
class _Aside:
    """What was set aside so far."""

    unread: dict[str, str] = field(default_factory=dict[str, str])
    uncompared: set[Termination] = field(default_factory=set[Termination])
    told: dict[str, None] = field(default_factory=dict[str, None])

    def tell(self, problem: Problem, then: str) -> str:
        """Keep a sentence, once; return it."""
        sentence = f"{problem}; {then}"
        self.told[sentence] = None
        return sentence

    def devices(self, found: Iterable[Found[Device]], why: str) -> None:
        """Keep devices out; the first reason stays."""
        for device, _ in found:
            self.unread.setdefault(device.name, why)


def remainder(draft: Draft, unread: Mapping[str, str], uncompared: Iterable[Termination] = ()) -> Remainder:
    """Return what can be used of a draft; `unread` and `uncompared` are what could not even be read.

    A record's place is the same for all of its fields: its page. Raises SourceError where a problem is of no record
    that could be left out.
    """
    aside = _Aside(dict(unread), set(uncompared))
    draft = _guids(_contexts(_namesakes(draft, aside), aside), aside)
    while True:
        draft = _without(draft, aside)
        for look, cut in _CUTS:
            bad = _bad(draft, look)
            if bad:
                before, draft = draft, cut(draft, bad, aside)
                if draft == before:
                    raise refusal("the source of truth", bad.values())
                break
        else:
            return Remainder(draft, aside.unread, frozenset(aside.uncompared), tuple(aside.told))


def _bad(draft: Draft, look: Look) -> Bad:
    """Return the problems of a draft by their place: looked at from both its ends, a pair names both its records."""
    turned = replace(
        draft,
        racks=draft.racks[::-1],
        device_types=draft.device_types[::-1],
        devices=draft.devices[::-1],
        cables=draft.cables[::-1],
    )
    found: dict[str, Problem] = {}
    for problem in (*look(draft), *look(turned)):
        found.setdefault(problem.where, problem)
    return found


def _split(found: Sequence[Found[T]], bad: Bad) -> tuple[list[Found[T]], list[tuple[Found[T], Problem]]]:
    kept = [each for each in found if each.where() not in bad]
    return kept, [(each, bad[each.where()]) for each in found if each.where() in bad]


def _named(draft: Draft, bad: Bad, aside: _Aside) -> Draft:
    sites, wrong_sites = _split(draft.sites, bad)
    kept_racks, wrong_racks = _split(draft.racks, bad)
    types, wrong_types = _split(draft.device_types, bad)
    devices, wrong = _split(draft.devices, bad)
    for _, problem in wrong_sites:
        aside.tell(problem, "it is taken for the same site")
    for _, problem in wrong_racks:
        aside.tell(problem, "the rack is left out")
    for _, problem in wrong_types:
        aside.tell(problem, "the device type is left out, and so are its devices")
    for each, problem in wrong:
        aside.devices([each], aside.tell(problem, "the device is left out, and nothing is done to it"))
    return replace(draft, sites=sites, racks=kept_racks, device_types=types, devices=devices)


def _placed(draft: Draft, bad: Bad, aside: _Aside) -> Draft:
    """Leave racks out, and what is wrong with the place of a device: the device itself is as it was."""
    kept, wrong = _split(draft.racks, bad)
    for _, problem in wrong:
        aside.tell(problem, "the rack is left out")
    known = {(rack.site, rack.name) for rack, _ in kept}
    devices: list[Found[Device]] = []
    for each in draft.devices:
        device, where = each
        if where() in bad:
            aside.tell(bad[where()], "its place is treated as unknown")
            here = (device.site, device.rack) in known
            device = replace(device, rack=device.rack if here else None, position=None)
        devices.append(Found(device, where))
    locations, _ = _split(draft.locations, bad)
    return replace(draft, racks=kept, devices=devices, locations=locations)


def _cabled(draft: Draft, bad: Bad, aside: _Aside) -> Draft:
    kept, wrong = _split(draft.cables, bad)
    for (cable, _), problem in wrong:
        aside.tell(problem, "the cable is left out, and its ports are not compared")
        aside.uncompared.update((cable.a, cable.b))
    return replace(draft, cables=kept)


def _carried(draft: Draft, bad: Bad, aside: _Aside) -> Draft:
    found: list[Found[Cable]] = []
    for cable, where in draft.cables:
        if where() in bad:
            aside.tell(bad[where()], "what the cable shares with others is left out")
        found.append(Found(replace(cable, carriers=()) if where() in bad else cable, where))
    return replace(draft, cables=found)


def _joined(draft: Draft, bad: Bad, aside: _Aside) -> Draft:
    """Leave out what a device's context says of its NVLink domain: the device itself is as it was."""
    for problem in bad.values():
        aside.tell(problem, "it belongs to no NVLink domain until that is right")
    return _apart(draft, {each.record.name for each in draft.devices if each.where() in bad})


def _parted(draft: Draft, bad: Bad, aside: _Aside) -> Draft:
    """Leave out what all trays of a domain say of it, where another domain is called alike."""
    for problem in bad.values():
        aside.tell(problem, "the trays of the latter belong to no NVLink domain until that is right")
    wrong = {each.record.name for each in draft.devices if each.where() in bad}
    trays = [{*domain.trays, *domain.switches} for domain in domains(settle(draft, ""))]
    return _apart(draft, set[str]().union(*(each for each in trays if each & wrong)))


def _apart(draft: Draft, names: Collection[str]) -> Draft:
    found: list[Found[Device]] = []
    for device, where in draft.devices:
        context = {key: value for key, value in device.context.items() if key not in KEYS}
        found.append(Found(replace(device, context=context) if device.name in names else device, where))
    return replace(draft, devices=found)


_CUTS: tuple[tuple[Look, Callable[[Draft, Bad, _Aside], Draft]], ...] = (
    (names.problems, _named),
    (racks.problems, _placed),
    (cables.problems, _cabled),
    (carriers.problems, _carried),
    (nvlink.problems, _joined),
    (fabrics.problems, _named),
    (fabrics.alike, _parted),
)
"""What is looked for, one after the other, and what is left out where it is found."""


def _without(draft: Draft, aside: _Aside) -> Draft:
    """Leave out the cables of devices that are left out; what belongs at their other ends is not known."""
    kept: list[Found[Cable]] = []
    for each in draft.cables:
        ends = (each.record.a, each.record.b)
        if any(end.device in aside.unread for end in ends):
            aside.uncompared.update(end for end in ends if end.device not in aside.unread)
        else:
            kept.append(each)
    return replace(
        draft, cables=kept, devices=[each for each in draft.devices if each.record.name not in aside.unread]
    )


def _namesakes(draft: Draft, aside: _Aside) -> Draft:
    """Keep of devices with one name the one that matters, if only one does: a node, or one that has cables."""
    found: dict[str, list[Found[Device]]] = defaultdict(list)
    for each in draft.devices:
        found[each.record.name].append(each)
    cabled = Counter(end.device for cable, _ in draft.cables for end in {cable.a, cable.b})
    kept: list[Found[Device]] = []
    for name, several in found.items():
        matter = [each for each in several if _matters(each.record, cabled)]
        if len(several) == 1:
            kept += several
        elif len(matter) <= 1:
            first = (matter or several)[0]
            kept.append(first)
            for each in several:
                if each is not first:
                    text = f"device {show(name)} has the name of the one at {first.where()}"
                    aside.tell(Problem(each.where("name"), text), "it has no cables and is no node, and is left out")
        else:
            places = ", ".join(each.where() for each in several)
            text = f"{len(several)} devices are called {show(name)} ({places}), and nothing distinguishes them"
            why = aside.tell(Problem(several[0].where("name"), text), "none of them is used; rename all but one")
            aside.devices(several, why)
    return replace(draft, devices=kept)


def _matters(device: Device, cabled: Collection[str]) -> bool:
    return device.role in NODE_ROLES or (device.name in cabled and bool(device.interfaces))


def _contexts(draft: Draft, aside: _Aside) -> Draft:
    """Take keys out of config contexts that the fleet's own computed ones would be hidden by."""
    found: list[Found[Device]] = []
    for device, where in draft.devices:
        taken = sorted(filter(reserved, device.context))
        if taken:
            text = f"device {show(device.name)} sets {', '.join(map(show, taken))}, which fleet-runner computes"
            aside.tell(Problem(where("context"), text), "what it sets is ignored; remove it")
        context = {key: value for key, value in device.context.items() if key not in taken}
        found.append(Found(replace(device, context=context) if taken else device, where))
    return replace(draft, devices=found)


def _guids(draft: Draft, aside: _Aside) -> Draft:
    """Take GUIDs away that several interfaces have: each would answer for the other."""
    owners = Counter(port.guid for device, _ in draft.devices for port in device.interfaces if port.guid)
    twice = {guid for guid, count in owners.items() if count > 1}
    if not twice:
        return draft
    found: list[Found[Device]] = []
    for device, where in draft.devices:
        mine = sorted({port.guid for port in device.interfaces if port.guid in twice})
        for guid in mine:
            text = f"GUID {guid} of {show(device.name)} is that of {owners[guid]} interfaces"
            aside.tell(Problem(where("interfaces"), text), "it identifies none of them; correct all but one")
        ports = tuple(replace(port, guid=None) if port.guid in twice else port for port in device.interfaces)
        found.append(Found(replace(device, interfaces=ports) if mine else device, where))
    return replace(draft, devices=found)
