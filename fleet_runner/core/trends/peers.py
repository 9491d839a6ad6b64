"""What peers have in common: taken out of each series, so that only what one part does alone is left.

A number is thought of as its part's own level, and what all like it did that day, and what its site and its rack did
beyond that (Tukey's median polish: Exploratory Data Analysis, 1977). Each is a median, so a minority that drifts
takes nobody with it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet_runner.core.parts.stay import Stay
from fleet_runner.core.records import Fleet, nodes
from fleet_runner.core.trends import medians
from fleet_runner.core.trends.panel import Numbers

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
class Place:
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
    """Of each row of a window its stay, whether its device type is known, its cohort, site and rack.

    `cohort` is NOBODY without enough peers.
    """

    stays: tuple[Stay | None, ...]
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


def places_of(fleet: Fleet) -> dict[str, Place]:
    """Return where the source of truth has each node."""
    found: dict[str, Place] = {}
    for device in nodes(fleet):
        cooling = device.context.get(COOLING)
        how = cooling if isinstance(cooling, str) and cooling else AIR
        found[device.name] = Place(device.device_type, device.site, device.rack or "", how)
    return found


def peers(ids: Sequence[int], stays: Mapping[int, Stay], places: Mapping[str, Place]) -> Peers:
    """Return who is to be compared with whom.

    Alike are parts of the same device type, cooled alike, in the same slot; where these are too few, in whatever
    slot, and then however cooled. A site's and a rack's parts share what the place does, if they are of enough nodes.
    """
    mine = tuple(stays.get(each) for each in ids)
    where = [places.get(stay.node) if stay else None for stay in mine]
    known = [(stay, place) for stay, place in zip(mine, where, strict=True)]
    slot = _groups([(p.device_type, p.cooling, s.slot) if p and s and p.device_type else None for s, p in known])
    cooled = _groups([(p.device_type, p.cooling) if p and p.device_type else None for p in where])
    alike = _groups([(p.device_type,) if p and p.device_type else None for p in where])
    nodes = np.unique([stay.node if stay else "" for stay in mine], return_inverse=True)[1]
    site = _groups([(p.site,) if p and p.site else None for p in where])
    rack = _groups([(p.site, p.rack) if p and p.rack else None for p in where])
    return Peers(mine, alike.of >= 0, _finest([slot, cooled, alike]), _of_nodes(site, nodes), _of_nodes(rack, nodes))


def _groups(keys: Sequence[tuple[str, ...] | None]) -> Groups:
    """Label rows with the same key alike."""
    labels: dict[tuple[str, ...], int] = {}
    of = [NOBODY if key is None else labels.setdefault(key, len(labels)) for key in keys]
    return Groups(tuple(labels), np.asarray(of, np.int32))


def _finest(levels: Sequence[Groups]) -> Groups:
    """Give each row the first group in which it has enough peers."""
    names: tuple[tuple[str, ...], ...] = ()
    of = np.full(len(levels[0].of), NOBODY, np.int32)
    for level in levels:
        enough = _chosen(level, level.sizes() > FEWEST_PEERS)
        of = np.where((of < 0) & (enough >= 0), enough + len(names), of).astype(np.int32)
        names += level.names
    return Groups(names, of)


def _of_nodes(groups: Groups, nodes: NDArray[np.intp]) -> Groups:
    """Leave out groups with too few rows, or rows of too few nodes."""
    pairs = np.unique(np.stack([groups.of.astype(np.int64), nodes.astype(np.int64)]), axis=1)[0]
    held = np.bincount(pairs[pairs >= 0], minlength=len(groups.names))
    return Groups(groups.names, _chosen(groups, (held >= FEWEST_NODES) & (groups.sizes() > FEWEST_PEERS)))


def _chosen(groups: Groups, good: NDArray[np.bool_]) -> Labels:
    """Return the labels, NOBODY of groups that are not good."""
    if not groups.names:
        return groups.of
    return np.where((groups.of >= 0) & good[groups.of], groups.of, NOBODY).astype(np.int32)


def apart(values: Numbers, told: Peers) -> Apart:
    """Take out of each series its own level and what its cohort, site and rack did."""
    alone = _level(values)
    for _ in range(2):  # the second time each level is one of what peers did not do: it matters to series with gaps
        common = _curves(alone, told.cohort)
        alone = _level(_without(alone, common, told.cohort))
    alone[told.cohort.of < 0] = np.nan
    site = np.nan_to_num(_curves(alone, told.site))
    alone = _without(alone, site, told.site)
    rack = np.nan_to_num(_curves(alone, told.rack))
    return Apart(_level(_without(alone, rack, told.rack)), site, rack)


def _level(values: Numbers) -> Numbers:
    """Take each row's own median out of it."""
    return values - medians.across(values)[:, None]


def _without(values: Numbers, curves: Numbers, groups: Groups) -> Numbers:
    """Take out of each row the curve of its group."""
    if not len(curves):
        return values
    return values - np.where(groups.of[:, None] >= 0, curves[groups.of], np.float32(0))


def _curves(values: Numbers, groups: Groups) -> Numbers:
    """Return the median of each group on each day."""
    curves = np.full((len(groups.names), values.shape[1]), np.nan, np.float32)
    for label, rows in members(groups):
        some = rows[:: 1 + (len(rows) - 1) // MOST_ASKED]
        curves[label] = medians.down(values[some], FEWEST_A_DAY)
    return curves


def members(groups: Groups) -> list[tuple[int, NDArray[np.intp]]]:
    """Return the rows of each group that has some."""
    order = np.argsort(groups.of, kind="stable")
    labels, begins = np.unique(groups.of[order], return_index=True)
    pieces = zip(labels.tolist(), np.split(order, begins[1:]), strict=True)
    return [(label, rows) for label, rows in pieces if label >= 0]
