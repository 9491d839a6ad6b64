"""Captured machines in full: every component that can be updated, from mixed versions to its pin, in order."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.firmware.flash import End
from fleet_runner.core.firmware.inventory import lasting
from fleet_runner.lab.redfish import Tree, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.reconcile.firmware.driver import scenes, witness
from tests.reconcile.firmware.driver.scenes import Part, Scene
from tests.reconcile.firmware.driver.stage import Kill, Played, Stage

MACHINES = {
    "dgx_h100": scenes.DGX,
    "nvidia_gb200": scenes.GB200,
    "supermicro_hgx_h100": scenes.SUPERMICRO,
    "dell_r750": scenes.R750,
    "hpe_dl385": scenes.DL385,
}

STRICT = {
    "nvidia_gb200": [{"what": {"known_parameters": {"names": "Targets @Redfish.OperationApplyTime"}}}],
    "supermicro_hgx_h100": [
        {"what": rule} for rule in ("resource_targets", "wants_oem", "known_oem", "wants_apply_time")
    ],
}
"""What the maker's BMC wants of every image."""

KILLS = {
    "undisturbed": (),
    "killed": (Kill("accepted", 2), Kill("reset_written", 3), Kill("upload_begun", 5), Kill("update_begun", 6)),
}

COMPARED = {"retimer", "PCIe switch 1", "switch board CPLD"}
"""Rows that begin on their pins, so that versions are mixed."""


def machine(name: str, samples: Path) -> tuple[Tree, tuple[Part, ...]]:
    return load(samples / "redfish" / f"{name}.json.gz"), MACHINES[name]


def mixed(tree: Tree, parts: tuple[Part, ...]) -> dict[str, str]:
    """Return what entries begin with: some as they should be, of each exclusive group every second one."""
    old: dict[str, str] = {}
    for part in parts:
        mine = scenes.entries(tree, [part])
        some = list(mine)[::2] if part.alone else [] if part.name in COMPARED else list(mine)
        old |= {entry: f"0.{number}" for number, entry in enumerate(some, 1)}
    return old


def play(
    tree: Tree, parts: tuple[Part, ...], folder: Path, kills: tuple[Kill, ...], rules: Sequence[Any] = ()
) -> tuple[Scene, Played]:
    scene = scenes.scene(folder / "images", parts, scenes.entries(tree, parts), mixed(tree, parts), size=300_000)
    return scene, Stage(scene, folder / "node", folder, rules, kills).play(tree)


@pytest.mark.parametrize("kills", ["undisturbed", pytest.param("killed", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", MACHINES)
def test_a_captured_machine_comes_to_its_pins_in_order(name: str, kills: str, samples: Path, tmp_path: Path) -> None:
    tree, parts = machine(name, samples)
    scene, played = play(tree, parts, tmp_path, KILLS[kills], STRICT.get(name, ()))
    assert played.report["state"] == "done", played.report["message"]
    assert [*witness.crimes(played), *witness.untrue(played, scene.pins)] == []
    assert {entry: played.versions[entry] for entry in scene.pins} == {
        entry: target for entry, (target,) in scene.pins.items()
    }
    order = {part.name: part.order for part in parts}
    orders = [min(order[name] for name in flash.component.split(", ")) for flash in played.flashes]
    assert orders == sorted(orders)
    changed = [entry for flash in played.flashes if flash.end is End.VERIFIED for entry in flash.targets]
    assert set(map(lasting, scene.old)) <= set(changed) | _by_hand(played)
    assert (played.kills > 0) is bool(KILLS[kills])


def _by_hand(played: Played) -> set[str]:
    """Return what a technician made run, by taking all power away."""
    return {entry for flash in played.flashes if "power cord" in flash.detail for entry in flash.targets}


def test_what_runs_already_is_not_sent(tmp_path: Path) -> None:
    tree = load(OUR_OWN)
    scene = scenes.scene(tmp_path / "images", scenes.SMALL, scenes.entries(tree, scenes.SMALL), {})
    played = Stage(scene, tmp_path / "node", tmp_path).play(tree)
    assert played.report["state"] == "done"
    assert [event for event in played.events if event.kind == "upload_begun"] == []
    assert not played.report["changed"]


@pytest.mark.nightly
def test_the_shipped_machine_comes_to_its_pins_over_the_versions_between(tmp_path: Path) -> None:
    tree = load(OUR_OWN)
    entries = scenes.entries(tree, scenes.SMALL)
    scene = scenes.scene(tmp_path / "images", scenes.SMALL, entries, dict.fromkeys(entries, "0.9"), hop="1.0")
    played = Stage(scene, tmp_path / "node", tmp_path).play(tree)
    assert played.report["state"] == "done", played.report["message"]
    assert [*witness.crimes(played), *witness.untrue(played, scene.pins)] == []
    bios = [flash for flash in played.flashes if flash.component == "BIOS"]
    assert [flash.targets["BIOS"] for flash in bios] == ["1.0", entries["BIOS"]]
