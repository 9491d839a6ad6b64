"""What undoes a flash that left a machine on no accepted version."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.flash import Flash
from fleet_runner.core.firmware.planner import Step, rollback
from fleet_runner.core.firmware.upgrade_path import installs
from tests.core.firmware.machines import Machine, catalogue, image, inventory, machines

ROW: dict[str, Any] = {
    "component": "BIOS",
    "inventory_id": "BIOS*",
    "target": "2.1",
    "accepted": ["2.0", "1.9"],
    "images": {"2.1": image("2.1.bin"), "2.0": image("2.0.bin", force=True), "1.9": image("1.9.bin")},
    "activate": {"how": "ac_drain", "times": 2},
}


def flash(before: Mapping[str, str], targets: Mapping[str, str], **more: Any) -> Flash:
    """Return a flash that wrote some entries."""
    about: dict[str, Any] = {
        "id": 7,
        "node": "gpu-01",
        "component": "BIOS",
        "image": "2.1.bin",
        "sha256": "ab" * 32,
        "activate": "ac_drain",
        "times": 2,
        "seconds": 1800.0,
        "attempt": 1,
        "intended_at": 0.0,
        "before": before,
        "targets": targets,
    }
    return Flash(**about | more)


def undone(before: str, now: str, row: Mapping[str, Any] = ROW, **more: Any) -> Step | str:
    """Undo a flash of a BIOS to 2.1."""
    return rollback(catalogue(row), flash({"BIOS": before}, {"BIOS": "2.1"}, **more), inventory(BIOS=now))


@pytest.mark.parametrize(("before", "back"), [("2.0", "2.0"), ("1.9", "1.9"), ("1.0", "2.0")])
def test_an_entry_goes_back_to_where_it_was_or_else_to_what_is_accepted(before: str, back: str) -> None:
    """1.0 was not accepted: the first version that is, and is not the target."""
    step = undone(before, "garbled")
    assert isinstance(step, Step)
    assert (step.before, step.targets) == ({"BIOS": "garbled"}, {"BIOS": back})
    assert (step.image.version, step.image.force) == (back, back == "2.0")
    assert (step.activate, step.times) == ("ac_drain", 2)
    assert step.why == "BIOS is at garbled after its update"


@pytest.mark.parametrize(
    ("row", "before", "now", "more", "expected"),
    [
        ({}, "2.0", "2.0", {}, "all that it wrote is on an accepted version, or as it was"),
        ({}, "2.0", "2.1", {}, "all that it wrote is on an accepted version, or as it was"),
        ({}, "1.0", "1.0", {}, "all that it wrote is on an accepted version, or as it was"),
        ({}, "2.0", "garbled", {"rolls_back": 3}, "it was a rollback itself"),
        ({}, "2.0", "", {}, "the BMC gives no version of BIOS"),
        ({"inventory_id": "UEFI"}, "2.0", "garbled", {}, "the BMC gives no version of BIOS"),
        ({"rollback": False}, "2.0", "garbled", {}, "the catalogue allows no rollback of BIOS"),
        (
            {"images": {"2.1": image("2.1.bin"), "2.0": image("2.0.bin", "2.1")}},
            "2.0",
            "garbled",
            {},
            "no image of an accepted version may be installed over BIOS at garbled",
        ),
        (
            {"images": {"2.1": image("2.1.bin")}},
            "2.0",
            "garbled",
            {},
            "no image of an accepted version may be installed over BIOS at garbled",
        ),
    ],
)
def test_what_cannot_be_undone_says_why(
    row: dict[str, Any], before: str, now: str, more: dict[str, Any], expected: str
) -> None:
    """In words that go into the node's history."""
    assert undone(before, now, ROW | row, **more) == expected


def test_entries_that_came_through_are_left_alone() -> None:
    """One of two GPUs is garbled: only that one is written again."""
    found = rollback(
        catalogue(ROW),
        flash({"BIOS1": "2.0", "BIOS2": "2.0"}, {"BIOS1": "2.1", "BIOS2": "2.1"}),
        inventory(BIOS1="2.1", BIOS2="garbled"),
    )
    assert isinstance(found, Step)
    assert found.targets == {"BIOS2": "2.0"}


def test_entries_that_were_on_different_versions_would_take_several_requests() -> None:
    """Only one flash is open at a time."""
    before = {"BIOS1": "2.0", "BIOS2": "1.9"}
    told = flash(before, dict.fromkeys(before, "2.1"))
    assert rollback(catalogue(ROW), told, inventory(BIOS1="x", BIOS2="x")) == "it would take several requests"


def wide(name: str, *accepted: str) -> dict[str, Any]:
    """Return a row of a bundle that is sent to all at once."""
    return {
        "component": name,
        "inventory_id": f"{name}_*",
        "target": "b",
        "accepted": list(accepted) or ["b"],
        "images": {"b": image("b.fwpkg", "a"), "a": image("a.fwpkg")},
        "untargeted": True,
    }


def test_a_request_for_all_takes_all_back() -> None:
    """Also those that came through; they are verified with the others."""
    told = flash({"GPU_1": "a", "HMC_1": "a"}, {"GPU_1": "b", "HMC_1": "b"})
    found = rollback(catalogue(wide("GPU", "a"), wide("HMC", "a")), told, inventory(GPU_1="x", HMC_1="b"))
    assert isinstance(found, Step)
    assert (found.targets, found.uris) == ({"GPU_1": "a", "HMC_1": "a"}, ())


def test_a_request_for_all_takes_none_to_a_version_that_is_not_accepted() -> None:
    """The HMC's old version is not."""
    told = flash({"GPU_1": "a", "HMC_1": "a"}, {"GPU_1": "b", "HMC_1": "b"})
    found = rollback(catalogue(wide("GPU", "a"), wide("HMC")), told, inventory(GPU_1="x", HMC_1="b"))
    assert found == "it would take HMC_1 to no accepted version"


@given(machines(), st.data())
def test_a_rollback_only_goes_where_it_is_legal(machine: Machine, data: st.DataObject) -> None:
    """For any flash of any machine, whatever its entries say afterwards."""
    steps = machine.plan().steps
    if not steps:
        return
    step = steps[0]
    now = {
        name: data.draw(st.sampled_from([step.before[name], step.targets[name], "garbled", ""]))
        for name in step.targets
    }
    after = {name: replace(entry, version=now.get(name, entry.version)) for name, entry in machine.entries.items()}
    undo = rollback(machine.catalogue, flash(step.before, step.targets), after)
    if isinstance(undo, str):
        assert undo
        return
    legal = {name: (*machine.row(name).accepted, step.before[name]) for name in step.targets}
    lost = {name for name in step.targets if now[name] not in legal[name]}
    assert lost <= undo.targets.keys() <= step.targets.keys()
    for name, to in undo.targets.items():
        row = machine.row(name)
        assert to in row.accepted
        assert row.rollback
        assert to != step.targets[name] or name not in lost
        assert name not in lost or installs(undo.image, now[name]) or len(lost) > 1
