"""What nodes tell for a profile, held against one another: what is alike on all, what differs, and who is odd."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fleet_runner.core.bmc.parts import line
from fleet_runner.core.firmware.inventory import Entry

Value = Any
"""A value of a profile, as JSON has it; a list is a tuple."""

Setting = int | bool | str
"""A BIOS setting in the BMC's own type."""

NOT_REPORTED = "not reported"

MOST_REASONS = 3
"""Differences by which an odd node is described; the others are counted."""


class Told(NamedTuple):
    """One value of a profile ("parts.gpu.count"), and where it comes from.

    One that is `learned` rests on numbers of several nodes together, and `why` says so in full.
    """

    key: str
    value: Value
    why: str
    learned: bool = False


@dataclass(frozen=True, slots=True)
class Node:
    """What one node says, as far as a profile has a place for it; `notes` are facts that a person must weigh."""

    name: str
    day: str
    model: str
    told: tuple[Told, ...]
    firmware: tuple[Entry, ...]
    notes: tuple[str, ...]
    settings: Mapping[str, Setting] = field(default_factory=dict[str, Setting])


class Difference(NamedTuple):
    """A key of which nodes tell several values, in words, by node."""

    key: str
    values: Mapping[str, str]

    def __str__(self) -> str:
        said = dict.fromkeys(self.values.values())
        return "; ".join(f"{value} on {', '.join(self._who(value))}" for value in said)

    def _who(self, value: str) -> list[str]:
        return [name for name, own in self.values.items() if own == value]


def alike(nodes: Sequence[Node]) -> list[Told]:
    """Return the values that all nodes tell alike."""
    found = [{each.key: each for each in node.told} for node in nodes]
    return [
        each for key, each in found[0].items() if all(key in one and one[key].value == each.value for one in found)
    ]


def settings(nodes: Sequence[Node]) -> dict[str, Setting]:
    """Return the BIOS settings that are alike on all of several nodes.

    Of one node nobody can tell its own (an asset tag) from those of its type: then none are.
    """
    if len(nodes) == 1:
        return {}
    return {
        name: value
        for name, value in nodes[0].settings.items()
        if all(name in node.settings and _is_same(node.settings[name], value) for node in nodes)
    }


def versions(nodes: Sequence[Node]) -> dict[str, str]:
    """Return the version of each entry that has the same one on all nodes, "" where it tells none."""
    by_id = [{entry.id: entry.version for entry in node.firmware} for node in nodes]
    return {each: version for each, version in by_id[0].items() if all(one.get(each) == version for one in by_id)}


def differences(nodes: Sequence[Node]) -> list[Difference]:
    """Return all in which the nodes differ: values, firmware and BIOS settings."""
    told = [{each.key: say(each.value) for each in node.told} for node in nodes]
    bios = [{f"bios.attributes.{name}": say(value) for name, value in node.settings.items()} for node in nodes]
    firmware = [{f"firmware {entry.id}": entry.version or "no version" for entry in node.firmware} for node in nodes]
    return [*_differing(nodes, told), *_differing(nodes, firmware, "not listed"), *_differing(nodes, bios)]


def odd(nodes: Sequence[Node]) -> dict[str, list[str]]:
    """Return the nodes that stand alone against most others, each with what is another on it, in words.

    Most are more than half of all nodes: they are not taken to be right, and no value is taken from them.
    """
    found: dict[str, list[str]] = {}
    for each in differences(nodes):
        [(usual, count)] = Counter(each.values.values()).most_common(1)
        if 2 * count > len(nodes):
            for name, own in each.values.items():
                if own != usual:
                    found.setdefault(name, []).append(f"{each.key} is {own}, {usual} on {count} others")
    return found


def say(value: Value) -> str:
    """Return a value as a comment names it."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    return line(str(value)) or '""'


def _differing(
    nodes: Sequence[Node], found: Sequence[Mapping[str, str]], lacking: str = NOT_REPORTED
) -> list[Difference]:
    keys = dict.fromkeys(key for one in found for key in one)
    every = [
        Difference(key, {node.name: one.get(key, lacking) for node, one in zip(nodes, found, strict=True)})
        for key in keys
    ]
    return [each for each in every if len({*each.values.values()}) > 1]


def _is_same(one: Setting, other: Setting) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)
