"""The copy that NVIDIA's roots of trust make in the background, read from an emulated BMC, and waited for."""

from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.lab.redfish import Durations, Emulator, load
from fleet_runner.lab.redfish.trees import OUR_OWN, Tree
from tests.lab.redfish.talking import Client, emulator, wait
from tests.reconcile.firmware.driver import scenes, witness
from tests.reconcile.firmware.driver.stage import Stage

CHASSIS = "/redfish/v1/Chassis"
ROOT_OF_TRUST = f"{CHASSIS}/HGX_ERoT_BMC_0"
USER = ("admin", "correct horse")


def tree(status: str = "Completed", *, automatic: bool = True) -> Tree:
    """Return our own tree with a root of trust."""
    own = load(OUR_OWN)
    members = [*own.get(CHASSIS)["Members"], {"@odata.id": ROOT_OF_TRUST}]
    nvidia = {"AutomaticBackgroundCopyEnabled": automatic, "BackgroundCopyStatus": status}
    body = {"@odata.type": "#Chassis.v1_25_0.Chassis", "Id": "HGX_ERoT_BMC_0", "Oem": {"Nvidia": nvidia}}
    return own.changed({CHASSIS: {"Members": members}, ROOT_OF_TRUST: body})


def unready(served: Tree, *rules: Any) -> str:
    """Say what keeps a BMC from taking an image."""
    with (
        Emulator(served, credentials=USER, pace=Durations.quick(), rules=rules) as bmc,
        Bmc(bmc.url, *USER) as client,
    ):
        return Updates(client).unready()


def test_a_copy_that_is_made_now_is_waited_for() -> None:
    assert unready(tree("InProgress")) == "HGX_ERoT_BMC_0 copies its firmware to its other slot, and is asked again"


@pytest.mark.parametrize("status", ["Completed", "Pending", "Odd"])
def test_no_other_status_is_waited_for(status: str) -> None:
    assert unready(tree(status)) == ""


def test_one_that_does_not_copy_by_itself_is_not_waited_for() -> None:
    """A GB200 switch tray's CPU says Pending for ever."""
    assert unready(tree("InProgress", automatic=False)) == ""
    assert unready(load(OUR_OWN)) == ""


@pytest.mark.parametrize("uri", [CHASSIS, ROOT_OF_TRUST])
def test_what_cannot_be_read_is_not_waited_for(uri: str) -> None:
    assert unready(tree("InProgress"), {"when": {"uri": uri}, "what": {"answer": {"status": 503}}}) == ""


def test_an_emulated_root_of_trust_copies_after_a_reset_and_takes_nothing_meanwhile(tmp_path: Path) -> None:
    rule = {"when": {"event": "bmc_reset"}, "what": {"background_copy": {"seconds": 600}}}
    with emulator(tree(), rules=[rule]) as bmc:
        bmc.restart()
        with Client(bmc) as client:
            assert client.get(ROOT_OF_TRUST)["Oem"]["Nvidia"]["BackgroundCopyStatus"] == "InProgress"
            assert client.update(tmp_path, {"BIOS": "2.1"}).status_code == 503
    with emulator(rules=[rule]) as bmc:
        bmc.restart()
        with Client(bmc) as client:
            assert client.update(tmp_path, {"BIOS": "2.1"}).ok, "one without roots of trust copies nothing"
            wait(lambda: bmc.updates()[-1].outcome in {"done", "staged"})


def test_a_machine_comes_to_its_pins_and_no_image_is_sent_while_it_copies(tmp_path: Path) -> None:
    parts = scenes.SMALL[:2]
    entries = scenes.entries(tree(), parts)
    scene = scenes.scene(tmp_path / "images", parts, entries, dict.fromkeys(entries, "0.1"))
    rule = {"when": {"event": "bmc_reset"}, "what": {"background_copy": {"seconds": 1.0}}}
    played = Stage(scene, tmp_path / "node", tmp_path, [rule]).play(tree())
    assert played.report["state"] == "done", played.report["message"]
    assert [*witness.crimes(played), *witness.untrue(played, scene.pins)] == []
    [reset] = [event.at for event in played.events if event.kind == "bmc_reset"]
    begun = [event.at for event in played.events if event.kind == "upload_begun"]
    assert len(begun) == 2, "each image was sent once"
    assert begun[1] - reset >= 1.0
