"""Drivers of an iDRAC that are killed at each point once: one start of the host, one image, and the truth."""

from pathlib import Path

import pytest

from tests.reconcile.firmware.driver import dell, scenes, witness
from tests.reconcile.firmware.driver.child import OWN_POINTS
from tests.reconcile.firmware.driver.stage import BMC_POINTS, Kill, Stage

NOT_HERE = {"updated", "bmc_reset"}
"""What is staged is reset while it is `sent`, and this BMC restarts for none of it."""

POINTS = [point for point in (*OWN_POINTS, *BMC_POINTS) if point not in NOT_HERE]


@pytest.mark.parametrize("point", POINTS)
def test_a_driver_that_is_killed_there_is_followed_by_one_that_goes_on(point: str, tmp_path: Path) -> None:
    tree, parts = dell.tree(), [part for part in dell.PARTS if part.name == "BIOS"]
    entries = scenes.entries(tree, parts)
    scene = scenes.scene(tmp_path / "images", parts, entries, dict.fromkeys(entries, scenes.OLD), size=100_000)
    played = Stage(scene, tmp_path / "node", tmp_path, kills=(Kill(point),)).play(tree)
    assert played.report["state"] == "done", played.report["message"]
    assert [*witness.crimes(played), *witness.untrue(played, scene.pins)] == []
    assert (played.kills, len([each for each in played.events if each.kind == "staged"])) == (1, 1)
