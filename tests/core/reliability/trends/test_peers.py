"""Who is compared with whom, and what they have in common."""

import numpy as np
import pytest

from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.reliability.parts.stay import Stay
from fleet_runner.core.reliability.trends import medians
from fleet_runner.core.reliability.trends.peers import COOLING, NOBODY, Location, apart, peers, places_of

DAYS = 30


def test_places_are_the_source_of_truths() -> None:
    """Cooled by air where it does not say how, or says no word."""
    devices = {
        "a": Device("a", "h100", "gpu-server", "hall", rack="r1", context={COOLING: "liquid"}),
        "b": Device("b", "h100", "gpu-server", "hall", context={COOLING: ["liquid"]}),
        "leaf": Device("leaf", "sn5600", "ethernet-leaf", "hall"),
    }
    assert places_of(Fleet((), {}, {}, devices, (), "1")) == {
        "a": Location("h100", "hall", "r1", "liquid"), "b": Location("h100", "hall", "", "air"),
    }  # fmt: skip


def test_peers_are_as_like_as_there_are_enough() -> None:
    """In the same slot where nine nodes have it; else in any; else however cooled; and with nobody where none is."""
    homes = {f"air-{at}": Location("h100") for at in range(9)} | {
        f"wet-{at}": Location("h100", cooling="liquid") for at in range(3)
    }
    homes |= {"new": Location("b200"), "bare": Location("")}
    nodes = [*homes, "unknown"]
    stays = {at * 2 + gpu: Stay(at * 2 + gpu, "gpu", "", node, "", f"GPU {gpu}")
             for at, node in enumerate(nodes) for gpu in range(2)}  # fmt: skip
    told = peers([*stays, 999], stays, homes)
    names = [told.cohort.names[of] if of != NOBODY else None for of in told.cohort.of.tolist()]
    assert names[:2] == [("h100", "air", "GPU 0"), ("h100", "air", "GPU 1")]
    assert names[18:24] == [("h100",)] * 6
    assert names[24:] == [None] * 7
    assert told.placed.tolist() == [True] * 26 + [False] * 5


def test_racks_and_sites_of_one_node_are_none() -> None:
    """What they have in common would be the node's."""
    homes = {"one": Location("h100", "hall", "r1")} | {f"n{at}": Location("h100", "hall", "r2") for at in range(3)}
    stays = {
        at: Stay(at, "gpu", "", node, "") for at, node in enumerate([node for node in homes for _ in range(8)] * 2)
    }
    told = peers(list(stays), stays, homes)
    assert set(told.rack.of.tolist()) == {NOBODY, 1}
    assert told.site.of.tolist() == [0] * 64


def test_what_all_do_is_taken_out_and_what_one_does_is_left() -> None:
    """A week, a rack that grows warmer; and a part that did so alone."""
    homes = {f"n{at:02}": Location("h100", "hall", f"r{at // 4}") for at in range(20)}
    stays = {at: Stay(at, "gpu", "", f"n{at // 8:02}", "") for at in range(160)}
    random = np.random.default_rng(0)
    values = random.normal(size=(160, 1)) * 5 + 0.1 * random.normal(size=(160, DAYS)) + np.sin(np.arange(DAYS))
    values[32:64, 10:] += 4
    values[3, 20:] += 3
    values[5] = np.nan
    told = peers(list(stays), stays, homes)
    parted = apart(values.astype(np.float32), told)
    assert parted.alone[3, 20:] - parted.alone[3, :20].mean() == pytest.approx(np.full(10, 3), abs=0.5)
    assert np.nanmax(np.abs(np.delete(parted.alone, 3, axis=0))) < 1
    assert parted.rack[1, 10:].mean() - parted.rack[1, :10].mean() == pytest.approx(4, abs=0.3)


def test_nobody_has_no_peers() -> None:
    """A fleet without anything known."""
    told = peers([1, 2], {}, {})
    parted = apart(np.ones((2, DAYS), np.float32), told)
    assert np.isnan(parted.alone).all()
    assert (parted.rack.shape, parted.site.shape) == ((0, DAYS), (0, DAYS))


def test_medians_leave_out_what_is_not_there() -> None:
    """As numpy's own do, and without warnings where nothing is."""
    random = np.random.default_rng(1)
    values = np.where(random.random((50, 31)) < 0.3, np.nan, random.normal(size=(50, 31))).astype(np.float32)
    assert medians.across(values) == pytest.approx(np.nanmedian(values, axis=1))
    assert medians.down(values, 1) == pytest.approx(np.nanmedian(values, axis=0))
    assert np.isnan(medians.down(values, 51)).all()
    assert np.isnan(medians.across(np.full((2, 3), np.nan, np.float32))).all()
    assert medians.across(np.empty((0, 3), np.float32)).shape == (0,)
    assert np.isnan(medians.across(np.empty((2, 0), np.float32))).all()
