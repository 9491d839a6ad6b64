"""Which nodes of a rollout belong to which wave, as planned: spread over racks, so that none is hit as a whole."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import chain, zip_longest

from fleet_runner.core.firmware.turns import Member, RolloutStep

NO_WAVE = -1
"""The wave of a node that is skipped from the beginning."""


def plan(racks: Mapping[str, str], skipped: Mapping[str, str], canary: int, wave: int) -> tuple[Member, ...]:
    """Return the members of a rollout, in order: first those to ask, wave by wave, then those that are skipped.

    `racks` says where each node to ask stands ("" where unknown), `skipped` why each of the others is not asked.
    """
    order = spread(racks)
    asked = [Member(node, 0 if at < canary else 1 + (at - canary) // wave) for at, node in enumerate(order)]
    return (*asked, *(Member(node, NO_WAVE, RolloutStep.SKIPPED, why) for node, why in sorted(skipped.items())))


def spread(racks: Mapping[str, str]) -> tuple[str, ...]:
    """Return the nodes so that neighbours stand in different racks where possible: one of each rack, then again."""
    rows: dict[str, list[str]] = defaultdict(list)
    for node, rack in sorted(racks.items()):
        rows[rack].append(node)
    return tuple(_there(chain.from_iterable(zip_longest(*(rows[rack] for rack in sorted(rows))))))


def _there(nodes: Iterable[str | None]) -> Iterable[str]:
    return (node for node in nodes if node is not None)
