"""Ethernet halls in which each device calls its ports by one rule and the design by the same or another one."""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import NamedTuple

from fleet_runner.core.cabling.links import Link, Port, link
from tests.cli.cabling.fabric_forms import Heard

Spelling = Callable[[int], str]


def half(number: int, begin: int = 1) -> tuple[int, int]:
    """Return a port's cage and its half in that, both from some number on."""
    return (number - 1) // 2 + begin, (number - 1) % 2 + begin


SPOKEN: dict[str, Spelling] = {
    "Cumulus": lambda number: f"swp{number}",
    "Cumulus, halves of a cage": lambda number: f"swp{half(number)[0]}s{half(number, 0)[1]}",
    "EOS": lambda number: f"Ethernet{number}",
    "EOS, first lanes": lambda number: f"Ethernet{number}/1",
    "EOS, halves of a cage": lambda number: f"Ethernet{half(number)[0]}/{4 * half(number, 0)[1] + 1}",
    "NX-OS": lambda number: f"Ethernet1/{number}",
    "SONiC, standard names": lambda number: f"Eth1/{number}",
    "SONiC, standard names of halves": lambda number: "Eth1/{}/{}".format(*half(number)),
    "SONiC, four lanes a port": lambda number: f"Ethernet{4 * (number - 1)}",
    "SONiC, eight lanes a port": lambda number: f"Ethernet{8 * (number - 1)}",
    "SONiC, fronts": lambda number: f"etp{number}",
    "SONiC, fronts of halves": lambda number: f"etp{half(number)[0]}{'ab'[half(number, 0)[1]]}",
    "SONiC, fronts in brackets": lambda number: f"Eth{number}(Port{number})",
    "Junos": lambda number: f"et-0/0/{number - 1}",
    "IOS XR": lambda number: f"FourHundredGigE0/0/0/{number - 1}",
    "OS10": lambda number: f"ethernet1/1/{number}",
    "OS10, halves of a cage": lambda number: "ethernet1/1/{}:{}".format(*half(number)),
    "SR Linux": lambda number: f"ethernet-1/{number}",
    "SR OS": lambda number: f"1/1/c{number}/1",
}
"""What a port that is the 7th of its switch is called by those who make it."""

WRITTEN: dict[str, Spelling] = SPOKEN | {
    "a number": str,
    "Port 7": lambda number: f"Port {number}",
    "1/7": lambda number: f"1/{number}",
    "1/4/1": lambda number: "1/{}/{}".format(*half(number)),
    "4a": lambda number: f"{half(number)[0]}{'ab'[half(number, 0)[1]]}",
    "Junos, from one": lambda number: f"et-0/0/{number}",
    "IOS XR, from one": lambda number: f"FourHundredGigE0/0/0/{number}",
    "Ethernet, from zero": lambda number: f"Ethernet{number - 1}",
    "eth-1-7": lambda number: f"eth-1-{number}",
}
"""What only people call it, too."""

ALIKE = (
    ("EOS", "SONiC, four lanes a port", "SONiC, eight lanes a port", "Ethernet, from zero"),
    ("NX-OS", "EOS, first lanes", "EOS, halves of a cage", "SONiC, standard names"),
    ("Junos", "Junos, from one"),
    ("IOS XR", "IOS XR, from one"),
)
"""Rules by which names of the same words mean different ports."""


EVEN = 0.5


class Drawn(NamedTuple):
    """A hall: cables by their ports' numbers, and the rules by which switches are written and heard.

    `faults` are the designed cables that were moved; `far` is the leaf whose every cable is one port too far, if any.
    """

    designed: tuple[Link, ...]
    plugged: tuple[Link, ...]
    written: Mapping[str, str]
    spoken: Mapping[str, str]
    faults: tuple[Link, ...]
    far: str

    @property
    def right(self) -> set[Link]:
        """Return the cables that are as designed, in the design's words."""
        return {self.in_words(each) for each in self.designed if each in self.plugged}

    def in_words(self, joined: Link) -> Link:
        """Return a link as the design writes it."""
        return link(*(Port(port.device, self._name(port, WRITTEN, self.written)) for port in joined))

    def heard(self) -> dict[str, Heard]:
        """Return what each switch hears, each in its own words."""
        return self._heard(self.spoken, self.plugged)

    def heard_in_part(self, seed: int) -> dict[str, Heard]:
        """Return what some devices hear, switches and servers, of the cables that are up."""
        chance = Random(seed)
        devices = sorted({port.device for each in self.designed for port in each})
        share, up = chance.choice((0.15, 0.3, 0.6, 0.9)), chance.choice((0.3, 0.7, 1.0))
        asked = [name for name in devices if chance.random() < share]
        found = self._heard(asked, [each for each in self.plugged if chance.random() < up])
        return {name: rows for name, rows in found.items() if rows}

    def _heard(self, devices: Iterable[str], links: Iterable[Link]) -> dict[str, Heard]:
        found: dict[str, Heard] = {name: [] for name in devices}
        for each in links:
            for near, far in (each, each[::-1]):
                if near.device in found:
                    name, there = (self._name(port, SPOKEN, self.spoken) for port in (near, far))
                    found[near.device].append((name, far.device, there, ""))
        return found

    def _name(self, port: Port, spellings: Mapping[str, Spelling], styles: Mapping[str, str]) -> str:
        style = styles.get(port.device)
        return spellings[style](int(port.interface)) if style else f"eth{port.interface}"


def draw(seed: int, *, one_rule: bool = False, far: bool = False) -> Drawn:
    """Draw a hall; with `one_rule` each switch is designed as it speaks, with `far` a leaf is one port too far."""
    chance = Random(seed)
    cables, first = chance.choice((1, 2, 4, 8)), chance.choice((1, 2, 5))
    leaves = [f"leaf-{number}" for number in range(1, chance.randint(2, 4) + 1)]
    spines = [f"spine-{number}" for number in range(1, chance.randint(1, 3) + 1)]
    hosts = chance.randint(0, 6) if cables > 1 or len(spines) > 1 else chance.randint(3, 6)
    designed: list[Link] = []
    for rail, leaf in enumerate(leaves):
        designed += [link(Port(f"gpu-{at}", str(rail)), Port(leaf, str(first + at))) for at in range(hosts)]
        for at, spine in enumerate(spines):
            for each in range(cables):
                up, down = first + hosts + at * cables + each, first + rail * cables + each
                designed.append(link(Port(leaf, str(up)), Port(spine, str(down))))
    switches = [*leaves, *spines]
    styles = sorted(SPOKEN) if chance.random() < EVEN else [style for group in ALIKE for style in group]
    spoken = {name: chance.choice([style for style in styles if style in SPOKEN]) for name in switches}
    written = {name: style if one_rule else _rule(style, chance) for name, style in spoken.items()}
    plugged, moved = _mishaps(designed, chance, chance.randint(0, 3))
    leaf = chance.choice(leaves) if far else ""
    if far:  # two that are off by one cancel out, and nobody sees it
        written = {name: spoken[name] if "from" in style else style for name, style in written.items()}
        written |= {leaf: spoken[leaf]}
    if far:
        plugged = [link(*(_further(port, leaf) for port in each)) for each in plugged]
    return Drawn(tuple(designed), tuple(plugged), written, spoken, tuple(moved), leaf)


def _rule(style: str, chance: Random) -> str:
    """Return how a design writes a switch that speaks in some style: likewise, in the same words, or in any way."""
    alike = next((group for group in ALIKE if style in group), (style,))
    return chance.choice((style, chance.choice(alike), chance.choice(sorted(WRITTEN))))


def _further(port: Port, leaf: str) -> Port:
    return Port(leaf, str(int(port.interface) + 1)) if port.device == leaf else port


def _mishaps(designed: list[Link], chance: Random, count: int) -> tuple[list[Link], list[Link]]:
    """Exchange or move the ends of some cables, at most one of five at a device."""
    plugged, moved = [*designed], list[Link]()
    for number in range(count):
        one, other = chance.choice(designed), chance.choice(designed)
        touched = [*moved, one, other]
        ends = {end.device for each in (one, other) for end in each}
        load = (sum(device in (each.a.device, each.b.device) for each in touched) for device in ends)
        size = (sum(device in (each.a.device, each.b.device) for each in designed) for device in ends)
        if one in moved or other in moved or any(5 * a > b for a, b in zip(load, size, strict=True)):
            continue
        if one == other or (one.b.device == other.b.device and one.a.device == other.a.device):
            plugged.remove(one)
            plugged.append(link(one.a, Port(one.b.device, str(90 + number))))
            moved.append(one)
        else:
            plugged = [each for each in plugged if each not in {one, other}]
            plugged += [link(one.a, other.b), link(other.a, one.b)]
            moved += [one, other]
    return plugged, moved
