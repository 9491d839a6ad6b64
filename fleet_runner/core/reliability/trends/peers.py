"""What peers have in common: taken out of each series, so that only what one part does alone is left.

A number is thought of as its part's own level, and what all like it did that day, and what its site and its rack did
beyond that (Tukey's median polish: Exploratory Data Analysis, 1977). Each is a median, so a minority that drifts
takes nobody with it.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.inventory.records import Fleet, nodes
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends import medians
from fleet_runner.core.reliability.trends.panel import Numbers

FEWEST_PEERS = 8
"""Others like it that a series needs: of fewer, nobody can tell the usual from the odd."""

FEWEST_NODES = 3
"""Nodes of a rack or site whose median is that of the place and not of a node in it."""

FEWEST_A_DAY = 5
"""Peers that must have told something on a day for that day to be compared."""

MOST_ASKED = 2_000
"""Of more peers, as many are asked, evenly chosen: their median is known to 3 % of a standard deviation then."""

NOBODY = -1
"""The label of a row that belongs to no group."""

COOLING = "fleet_cooling"
"""The key of a device's config context that says how it is cooled: in whatever words, compared as they are."""

AIR = "air"
"""How a node is cooled that does not say it."""

Labels = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Location:
    """Where a node stands and what it is, as the source of truth has it; "" of what is not known."""

    device_type: str
    site: str = ""
    rack: str = ""
    cooling: str = AIR


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows by group: `names` by label, and of each row its label, or NOBODY."""

    names: tuple[tuple[str, ...], ...]
    of: Labels

    def sizes(self) -> NDArray[np.int64]:
        """Return how many rows each group has."""
        return np.bincount(self.of[self.of >= 0], minlength=len(self.names))


@dataclass(frozen=True, slots=True)
class Peers:
    """Of each row of a window its stay, its node, whether its device type is known, its cohort, site and rack.

    `cohort` is NOBODY without enough peers.
    """

    stays: tuple[Stay | None, ...]
    node: Groups
    placed: NDArray[np.bool_]
    cohort: Groups
    site: Groups
    rack: Groups


@dataclass(frozen=True, slots=True)
class Apart:
    """A window taken apart: what is a series' alone, and the curves of what it shares with others.

    `alone` has the window's shape; the curves have a row a group, 0 on days without enough of its members.
    """

    alone: Numbers
    site: Numbers
    rack: Numbers


def places_of(fleet: Fleet) -> dict[str, Location]:
    """Return where the source of truth has each node."""
    found: dict[str, Location] = {}
    for device in nodes(fleet):
        cooling = device.context.get(COOLING)
        how = cooling if isinstance(cooling, str) and cooling else AIR
        found[device.name] = Location(device.device_type, device.site, device.rack or "", how)
    return found


def peers(ids: Sequence[int], stays: Mapping[int, Stay], places: Mapping[str, Location]) -> Peers:
    """Return who is to be compared with whom.

    Alike are parts of the same device type, cooled alike, in the same slot; where these are too few, in whatever
    slot, and then however cooled. A site's and a rack's parts share what the place does, if they are of enough nodes.
    """
    mine = tuple(stays.get(each) for each in ids)
    node = _groups([(stay.node,) if stay else None for stay in mine])
    slot = _groups([(stay.slot,) if stay else None for stay in mine])
    where = [places.get(name) for (name,) in node.names]  # what is asked of nodes is not asked of each part in them
    cooled = _parts(_groups([(p.device_type, p.cooling) if p and p.device_type else None for p in where]), node)
    alike = _parts(_groups([(p.device_type,) if p and p.device_type else None for p in where]), node)
    site = _of_nodes(_groups([(p.site,) if p and p.site else None for p in where]), node)
    rack = _of_nodes(_groups([(p.site, p.rack) if p and p.rack else None for p in where]), node)
    return Peers(mine, node, alike.of >= 0, _finest([_both(cooled, slot), cooled, alike]), site, rack)


def _groups(keys: Sequence[tuple[str, ...] | None]) -> Groups:
    """Label rows with the same key alike."""
    labels: dict[tuple[str, ...] | None, int] = defaultdict(count().__next__, {None: NOBODY})
    of = np.fromiter(map(labels.__getitem__, keys), np.int32, len(keys))
    return Groups(tuple(key for key in labels if key is not None), of)


def _parts(groups: Groups, node: Groups) -> Groups:
    """Return groups of nodes as those of the parts in them."""
    return Groups(groups.names, np.append(groups.of, np.int32(NOBODY))[node.of])


def _both(one: Groups, other: Groups) -> Groups:
    """Return the groups of rows that are in the same one of both."""
    known = (one.of >= 0) & (other.of >= 0)
    pairs, of = np.unique(one.of[known].astype(np.int64) * len(other.names) + other.of[known], return_inverse=True)
    labels = np.full(len(known), NOBODY, np.int32)
    labels[known] = of
    pair = (divmod(each, len(other.names)) for each in pairs.tolist())
    return Groups(tuple(one.names[first] + other.names[second] for first, second in pair), labels)


def _finest(levels: Sequence[Groups]) -> Groups:
    """Give each row the first group in which it has enough peers."""
    names: tuple[tuple[str, ...], ...] = ()
    of = np.full(len(levels[0].of), NOBODY, np.int32)
    for level in levels:
        enough = _chosen(level, level.sizes() > FEWEST_PEERS)
        of = np.where((of < 0) & (enough >= 0), enough + len(names), of).astype(np.int32)
        names += level.names
    return Groups(names, of)


def _of_nodes(groups: Groups, node: Groups) -> Groups:
    """Return groups of nodes as those of their parts, but for those with too few of these, or too few nodes."""
    parts = _parts(groups, node)
    good = (groups.sizes() >= FEWEST_NODES) & (parts.sizes() > FEWEST_PEERS)
    return Groups(groups.names, _chosen(parts, good))


def _chosen(groups: Groups, good: NDArray[np.bool_]) -> Labels:
    """Return the labels, NOBODY of groups that are not good."""
    if not groups.names:
        return groups.of
    return np.where((groups.of >= 0) & good[groups.of], groups.of, NOBODY).astype(np.int32)


def apart(values: Numbers, told: Peers) -> Apart:
    """Take out of each series its own level and what its cohort, site and rack did."""
    alone = values.copy()
    _level(alone)
    for _ in range(2):  # the second time each level is one of what peers did not do: it matters to series with gaps
        _take_out(alone, _curves(alone, told.cohort), told.cohort)
        _level(alone)
    alone[told.cohort.of < 0] = np.nan
    site = np.nan_to_num(_curves(alone, told.site))
    _take_out(alone, site, told.site)
    rack = np.nan_to_num(_curves(alone, told.rack))
    _take_out(alone, rack, told.rack)
    _level(alone)
    return Apart(alone, site, rack)


def _level(values: Numbers) -> None:
    """Take each row's own median out of it."""
    for piece in medians.pieces(values):
        values[piece] -= medians.across(values[piece])[:, None]


def _take_out(values: Numbers, curves: Numbers, groups: Groups) -> None:
    """Take out of each row the curve of its group."""
    every = np.append(curves, np.zeros((1, values.shape[1]), np.float32), axis=0)  # the last one is nobody's
    for piece in medians.pieces(values):
        values[piece] -= every[groups.of[piece]]


def _curves(values: Numbers, groups: Groups) -> Numbers:
    """Return the median of each group on each day; of groups of one size, many at once."""
    asked: dict[int, list[tuple[int, NDArray[np.intp]]]] = defaultdict(list)
    for label, rows in members(groups):
        few = rows[:: 1 + (len(rows) - 1) // MOST_ASKED]
        asked[len(few)].append((label, few))
    curves = np.full((len(groups.names), values.shape[1]), np.nan, np.float32)
    for size, mine in asked.items():
        many = max(medians.ROWS // size, 1)
        for at in range(0, len(mine), many):
            some = mine[at : at + many]
            rows = np.stack([rows for _, rows in some])
            curves[[label for label, _ in some]] = medians.down(values[rows], FEWEST_A_DAY)
    return curves


def members(groups: Groups) -> list[tuple[int, NDArray[np.intp]]]:
    """Return the rows of each group that has some."""
    order = np.argsort(groups.of, kind="stable")
    labels, begins = np.unique(groups.of[order], return_index=True)
    pieces = zip(labels.tolist(), np.split(order, begins[1:]), strict=True)
    return [(label, rows) for label, rows in pieces if label >= 0]
