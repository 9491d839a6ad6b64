"""Which designed links are not looked for: of devices that are not in service, and cables that are still to come."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Self

from fleet_runner.core.cabling.links import Link


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Designed links that are not looked for: nothing is plugged at either of their ends.

    `away`, because devices are not in service, each with those; `planned`, because the cable is still to come.
    """

    away: Mapping[Link, frozenset[str]]
    planned: frozenset[Link]

    def at(self, devices: Collection[str]) -> Self:
        """Return those that end at one of the devices."""
        away = {joined: gone for joined, gone in self.away.items() if _at(joined, devices)}
        return replace(self, away=away, planned=frozenset(each for each in self.planned if _at(each, devices)))

    def __contains__(self, joined: Link) -> bool:
        """Whether a link is not looked for."""
        return joined in self.away or joined in self.planned

    def rest(self, links: Iterable[Link]) -> tuple[Link, ...]:
        """Return the links that are looked for."""
        if not self.away and not self.planned:
            return tuple(links)
        return tuple(each for each in links if each not in self)

    def words(self) -> str:
        """Return how many there are, as the end of a sentence; "" if there are none."""
        away = f"; {len(self.away)} of devices that are not in service were not checked" if self.away else ""
        later = f"; {len(self.planned)} planned cables are not in place yet" if self.planned else ""
        return away + later


def left_out(links: Iterable[Link], seen: Collection[Link], later: Collection[Link], gone: frozenset[str]) -> LeftOut:
    """Return what need not be there: links of devices that are `gone`, and `later` ones, if both ports are empty."""
    if not gone and not later:
        return LeftOut({}, frozenset())
    taken = {port for each in seen for port in each}
    free = [each for each in links if taken.isdisjoint(each)]
    away = {each: gone & {each.a.device, each.b.device} for each in free if _at(each, gone)}
    return LeftOut(away, frozenset(each for each in free if each in later and each not in away))


def _at(joined: Link, devices: Collection[str]) -> bool:
    return joined.a.device in devices or joined.b.device in devices
