"""HPE's way: no task tells of an update, the UpdateService does; iLO restarts itself, the ROM needs a start."""

from pathlib import Path

import pytest

from tests.reconcile.firmware.driver import hpe, scenes, witness
from tests.reconcile.firmware.driver.hpe import HAS
from tests.reconcile.firmware.driver.stage import Kill, Stage


def test_both_parts_come_to_their_pins_and_only_the_rom_has_the_host_started(tmp_path: Path) -> None:
    with hpe.bench(tmp_path, ("iLO", "ROM")) as made:
        report = made.drive()
        assert report["state"] == "done", report["message"]
        assert {entry: made.bmc.versions()[entry] for entry in ("1", "2")} == {"1": HAS["1"][1], "2": HAS["2"][1]}
        assert (len(made.bmc.events("accepted")), len(made.bmc.events("power"))) == (2, 1)
        assert [event["why"] for event in made.bmc.events("bmc_reset")] == ["own"]
        assert list(witness.powered(made.bmc.log)) == []


def test_an_update_that_failed_says_why_though_it_had_no_task(tmp_path: Path) -> None:
    """As HewlettPackard/python-ilorest-library#57 asks: what an iLO tells is in its UpdateService alone."""
    fails = {"when": {"event": "update"}, "what": {"fail": {"at": 40, "message": "InvalidSignature"}}}
    with hpe.bench(tmp_path, ("ROM",), [fails]) as made:
        report = made.drive()
        assert report["state"] == "failed"
        assert "the BMC says of its last update: iLO.2.14.InvalidSignature" in report["message"]
        assert made.bmc.versions()["2"] == scenes.OLD


@pytest.mark.parametrize("point", ["intended", "sent", "reset_written", "reset_sent", "accepted", "update_begun"])
def test_a_driver_that_is_killed_there_is_followed_by_one_that_goes_on(point: str, tmp_path: Path) -> None:
    has, parts = hpe.tree(), [part for part in hpe.PARTS if part.name == "ROM"]
    entries = scenes.entries(has, parts)
    scene = scenes.scene(tmp_path / "images", parts, entries, dict.fromkeys(entries, scenes.OLD), size=100_000)
    played = Stage(scene, tmp_path / "node", tmp_path, kills=(Kill(point),)).play(has)
    assert played.report["state"] == "done", played.report["message"]
    assert [*witness.crimes(played), *witness.untrue(played, scene.pins)] == []
    assert played.kills == 1
