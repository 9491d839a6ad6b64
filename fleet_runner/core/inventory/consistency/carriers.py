"""Carriers: what cables share is one thing, so a name stands for one, and a cable passes it once."""

from collections.abc import Iterator, Mapping

from fleet_runner.core.inventory.consistency.draft import Draft, Found, Where
from fleet_runner.core.inventory.consistency.problem import Problem, show
from fleet_runner.core.inventory.records import Cable


def problems(draft: Draft) -> Iterator[Problem]:
    """Find carriers that a cable names twice, and names that stand for another thing in another site."""
    carried = [found for found in draft.cables if found.record.carriers]
    for cable, where in carried:
        twice = next((each for each in cable.carriers if cable.carriers.count(each) > 1), None)
        if twice is not None:
            text = f"the cable names {show(twice)} twice; name each trunk, panel and cage on its way once"
            yield Problem(where(_key(twice)), text)
    yield from _apart(draft, carried)


def _apart(draft: Draft, carried: list[Found[Cable]]) -> Iterator[Problem]:
    site = {found.record.name: found.record.site for found in draft.devices}
    known: dict[str, tuple[set[str], Where]] = {}
    placed = [(_sites(found.record, site), found) for found in carried]
    for here, (cable, where) in sorted(placed, key=lambda each: -len(each[0])):  # those between sites join them first
        for carrier in dict.fromkeys(cable.carriers):
            there, first = known.setdefault(carrier, (set(here), where))
            if here and there and there.isdisjoint(here):
                text = f"{show(carrier)} is in site {show(min(here))} here and in {show(min(there))} at {first()}"
                yield Problem(where(_key(carrier)), f"{text}; these are two things, so give one another name")
            else:
                there |= here


def _sites(cable: Cable, site: Mapping[str, str]) -> frozenset[str]:
    return frozenset(site[end.device] for end in (cable.a, cable.b) if end.device in site)


def _key(carrier: str) -> str:
    return carrier.partition(" ")[0]
