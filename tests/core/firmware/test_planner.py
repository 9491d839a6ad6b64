"""What is sent to a machine, in which order, and what is never sent."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.firmware.inventory import entries
from fleet_runner.core.firmware.matching import match
from fleet_runner.core.firmware.planner import Plan, plan
from fleet_runner.core.firmware.upgrade_path import installs
from tests.core.checks.parsers.test_redfish import captured
from tests.core.firmware.machines import Machine, carried_out, catalogue, image, inventory, machines

MOST_STEPS = 200
"""More than any drawn machine needs: each entry at most one step per release."""


@given(machines())
def test_carrying_out_the_first_step_and_planning_anew_ends_at_the_targets(machine: Machine) -> None:
    """Or at a version that is accepted, or is said to be stuck; what is refused stays as it is."""
    done = [step for _, step in zip(range(MOST_STEPS), (step for _, step in carried_out(machine)), strict=False)]
    assert len(done) < MOST_STEPS
    for step in done:
        machine = machine.after(step)
    last = machine.plan()
    said = " ".join((*last.refused, *last.notes, *last.stuck))
    for name, entry in machine.entries.items():
        if name.startswith("r") and entry.version != machine.row(name).target:
            assert (f"{name} (" in said) or last.refused or last.stuck
    assert done == [] or not last.refused


@given(machines())
def test_a_plan_lists_exactly_the_steps_that_will_be_carried_out(machine: Machine) -> None:
    """Whoever looks at a dry run has seen what comes."""
    assert machine.plan().steps == tuple(step for _, step in carried_out(machine))


@given(machines())
def test_nothing_is_sent_while_anything_is_refused_or_given_up(machine: Machine) -> None:
    """What the catalogue means is not certain then."""
    found = machine.plan()
    assert not (found.refused and found.steps)
    assert all(sentence and sentence == sentence.strip() for sentence in (*found.refused, *found.notes, *found.stuck))


@given(machines())
def test_a_request_names_only_what_it_changes_and_changes_only_what_the_catalogue_means(machine: Machine) -> None:
    """Each with the image that is for it, and over a version over which it may be installed."""
    for now, step in carried_out(machine):
        assert step.before == {name: now.entries[name].version for name in step.targets}
        rows = {name: now.row(name) for name in step.targets if name not in step.along}
        for name, to in ((name, step.targets[name]) for name in rows):
            (brings,) = (each for each in rows[name].images if each.file == step.image.file)
            assert (brings.version, brings.sha256) == (to, step.image.sha256)
            assert step.before[name] == to or installs(brings, step.before[name])
            assert to not in now.failed.get(name, ()) or step.before[name] == to
            assert step.before[name] == to or now.entries[name].updateable is not False
        uris = {now.entries[name].uri for name in rows}
        named = {uri for row in rows.values() for uri in row.targets} or uris
        assert set(step.uris) == (set() if step.untargeted else named)
        assert len(step.targets) == 1 or not any(row.exclusive for row in rows.values())


@given(machines())
def test_what_another_component_brings_comes_with_the_image_of_its_target_or_is_said_to_stay(
    machine: Machine,
) -> None:
    """No request is ever for it alone. Nothing is sent once an entry was given up: what waits then is not told."""
    target = {row.name: row.target for row in machine.catalogue.components}
    for now, step in carried_out(machine):
        sent = {(now.row(name).name, to) for name, to in step.targets.items() if name not in step.along}
        for name in step.along:
            row = now.row(name)
            assert (row.brought_by, target[row.brought_by]) in sent
            assert step.targets[name] == row.target
        machine = now.after(step)
    last = machine.plan()
    rows = {name: machine.row(name) for name in machine.entries if name.startswith("r")}
    behind = {
        f"{name} ({row.name})": f"only {row.brought_by} brings it"
        for name, row in rows.items()
        if row.brought_by and machine.entries[name].version != row.target
    }
    told = (*last.notes, *last.stuck)
    given_up = any("failed as often as it may be tried" in each for each in last.stuck)
    if not last.refused and not given_up:
        assert all(any(who in each and why in each for each in told) for who, why in behind.items())
        assert sum("brings it" in each for each in told) == len(behind)


@given(machines())
def test_steps_go_in_the_order_of_their_rows(machine: Machine) -> None:
    """What comes first in the catalogue's order is done before the next begins."""
    orders = [now.row(next(iter(step.targets))).order for now, step in carried_out(machine)]
    assert orders == sorted(orders)


BIOS: dict[str, Any] = {
    "component": "BIOS",
    "inventory_id": "BIOS",
    "target": "2.1",
    "accepted": ["2.0"],
    "images": {
        "2.1": image("bios_2.1.bin", "2.0", "1.9"),
        "2.0": image("bios_2.0.bin"),
        "1.9": image("bios_1.9.bin"),
    },
    "activate": {"how": "host_reset"},
    "power": "off",
    "order": 20,
}


def bios(version: str, failed: frozenset[str] = frozenset(), **more: Any) -> Plan:
    """Plan for a machine that is a BIOS."""
    return plan(catalogue(BIOS | more), inventory(BIOS=version), failed={"BIOS": failed})


def test_a_hop_goes_by_the_shortest_way_that_stands_first() -> None:
    """1.8 may go by 2.0 or by 1.9: 2.0 stands first."""
    found = bios("1.8")
    assert [(step.before, step.targets, step.image.file) for step in found.steps] == [
        ({"BIOS": "1.8"}, {"BIOS": "2.0"}, "bios_2.0.bin"),
        ({"BIOS": "2.0"}, {"BIOS": "2.1"}, "bios_2.1.bin"),
    ]
    assert [step.why for step in found.steps] == [
        "BIOS from 1.8 to 2.0, on the way to 2.1",
        "BIOS from 2.0 to 2.1",
    ]
    first = found.steps[0]
    assert (first.component, first.activate, first.times, first.power) == ("BIOS", "host_reset", 1, "off")
    assert first.uris == ("/redfish/v1/UpdateService/FirmwareInventory/BIOS",)


def test_an_image_that_installs_over_anything_goes_over_anything() -> None:
    """Versions have no order: from 3.0 as well."""
    images = {"2.1": image("bios_2.1.bin")}
    assert [step.targets for step in bios("3.0", images=images).steps] == [{"BIOS": "2.1"}]


def test_the_target_needs_nothing() -> None:
    """Not even a note."""
    assert bios("2.1") == Plan()


def test_an_accepted_version_whose_target_failed_stays_and_is_noted() -> None:
    """The node is legal as it is."""
    (note,) = bios("2.0", frozenset({"2.1"})).notes
    assert note == "BIOS (BIOS) stays at 2.0, which is accepted: 2.1 failed as often as it may be tried"
    assert bios("2.0", frozenset({"2.1"})) == Plan(notes=(note,))


def test_another_version_whose_target_failed_is_stuck() -> None:
    """Nothing else is sent to the node, either."""
    found = plan(
        catalogue(
            BIOS, {"component": "CPLD", "inventory_id": "CPLD", "target": "2", "images": {"2": image("c.bin")}}
        ),
        inventory(BIOS="1.9", CPLD="1"),
        failed={"BIOS": frozenset({"2.1"})},
    )
    assert found == Plan(
        stuck=("BIOS (BIOS) is at 1.9, expected 2.1 or 2.0: 2.1 failed as often as it may be tried",)
    )


def test_a_hop_that_failed_is_gone_around() -> None:
    """By way of 1.9 where 2.0 failed."""
    assert [step.targets["BIOS"] for step in bios("1.8", frozenset({"2.0"})).steps] == ["1.9", "2.1"]


def test_a_component_that_is_only_compared_is_stuck_once_the_rest_is_done() -> None:
    """Its drift is certain, and nothing here can end it."""
    compared = {"component": "PSU", "inventory_id": "PSU", "target": "1.3", "accepted": ["1.2"]}
    drifted = plan(catalogue(compared, BIOS), inventory(PSU="1.1", BIOS="2.0"))
    assert drifted.stuck == ("PSU (PSU) is at 1.1, expected 1.3 or 1.2: the catalogue has no image of 1.3",)
    assert [step.component for step in drifted.steps] == ["BIOS"]
    legal = plan(catalogue(compared, BIOS), inventory(PSU="1.2", BIOS="2.1"))
    assert legal == Plan(notes=("PSU (PSU) stays at 1.2, which is accepted: the catalogue has no image of 1.3",))


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"images": {"2.1": image("b.bin", "2.0")}}, {}, "no image leads from there to 2.1"),
    ({"inventory_id": "UEFI"}, {}, "the BMC lists no BIOS (UEFI); is the host on?"),
    ({"inventory_id": "B*", "count": 2}, {}, "the BMC lists 1 of BIOS (B*), expected 2"),
    ({}, {"BIOS": ""}, "the BMC gives no version of BIOS"),
]


@pytest.mark.parametrize(("row", "versions", "expected"), REFUSED)
def test_what_is_not_certain_is_refused(row: dict[str, Any], versions: dict[str, Any], expected: str) -> None:
    """Nothing is sent to any other component, either."""
    other = {"component": "CPLD", "inventory_id": "CPLD", "target": "2", "images": {"2": image("c.bin")}}
    found = plan(catalogue(BIOS | row, other), inventory(**{"BIOS": "1.8", "CPLD": "1", **versions}))
    assert found.steps == ()
    assert any(expected in sentence for sentence in found.refused)


def test_an_accepted_version_from_which_no_image_leads_on_is_only_noted() -> None:
    """It is legal, so it is no reason to leave the rest undone."""
    images = {"2.1": image("bios_2.1.bin", "1.9")}
    assert bios("2.0", images=images) == Plan(
        notes=("BIOS (BIOS) stays at 2.0, which is accepted: no image leads from there to 2.1",)
    )


def test_what_cannot_be_updated_is_refused_where_it_has_to_change() -> None:
    """At its target it does not matter."""
    told = {"/redfish/v1/UpdateService/FirmwareInventory/BIOS": {"Version": "2.0", "Updateable": False}}
    (sentence,) = plan(catalogue(BIOS), entries(told)).refused
    assert sentence.startswith("BIOS (BIOS) is at 2.0, expected 2.1, and the BMC says that it cannot be updated; if")
    told["/redfish/v1/UpdateService/FirmwareInventory/BIOS"]["Version"] = "2.1"
    assert plan(catalogue(BIOS), entries(told)) == Plan()


@pytest.mark.parametrize(
    ("boards", "refused"), [(["X13DEG-OAD "], 0), (["A", "X13DEG-OAD"], 0), (["X12"], 1), ([], 1)]
)
def test_a_catalogue_for_another_board_is_refused(boards: list[str], refused: int) -> None:
    """Also where the BMC does not tell which it is."""
    found = plan(catalogue(BIOS, boards=["X13DEG-*"]), inventory(BIOS="1.9"), boards=boards)
    assert (len(found.refused), len(found.steps)) == (refused, 1 - refused)


def bundle(number: int, *, target: str = "b", **more: Any) -> dict[str, Any]:
    """Return a row of a bundle of two releases."""
    return {
        "component": f"part {number}",
        "inventory_id": f"P{number}_*",
        "target": target,
        "images": {"a": image("a.fwpkg"), "b": image("b.fwpkg", "a")},
        **more,
    }


def test_hops_go_first_so_that_a_bundle_is_sent_once() -> None:
    """One entry lags behind by a release."""
    found = plan(catalogue(bundle(1), bundle(2)), inventory(P1_1="a", P2_1="a", P2_2="0"))
    assert [(step.image.file, sorted(step.targets)) for step in found.steps] == [
        ("a.fwpkg", ["P2_2"]),
        ("b.fwpkg", ["P1_1", "P2_1", "P2_2"]),
    ]
    assert found.steps[1].component == "part 1, part 2"
    assert found.steps[1].why == "part 1 from a to b; 2 of part 2 from a to b"


@pytest.mark.parametrize("wide", [{"untargeted": True}, {"targets": ["/redfish/v1/Chassis/HGX"]}])
def test_a_request_that_does_not_name_its_entries_writes_them_all(wide: dict[str, Any]) -> None:
    """Those that are right already are verified with the others."""
    found = plan(catalogue(bundle(1, **wide), bundle(2, **wide)), inventory(P1_1="b", P2_1="a"))
    (step,) = found.steps
    assert (step.before, step.targets) == ({"P2_1": "a", "P1_1": "b"}, {"P2_1": "b", "P1_1": "b"})
    assert step.uris == tuple(wide.get("targets", ()))


@pytest.mark.parametrize("wide", [{"untargeted": True}, {"targets": ["/redfish/v1/Chassis/HGX"]}])
def test_a_request_for_all_is_refused_where_it_would_take_one_astray(wide: dict[str, Any]) -> None:
    """A hop for one would be a downgrade of another."""
    found = plan(catalogue(bundle(1, **wide), bundle(2, **wide)), inventory(P1_1="b", P2_1="0"))
    assert found.steps == ()
    (sentence,) = found.refused
    assert sentence == (
        "a.fwpkg is not sent for single entries and would bring P1_1 (part 1) from b to a, which is not on its way;"
        " update it by hand"
    )


def test_exclusive_entries_go_one_after_the_other() -> None:
    """In the order of their numbers."""
    row = {"component": "PSU", "inventory_id": "PSU*", "target": "2", "exclusive": "psu", "images": {"2": image("p")}}
    found = plan(catalogue(row), inventory(PSU10="1", PSU2="1", PSU1="1"))
    assert [list(step.targets) for step in found.steps] == [["PSU1"], ["PSU2"], ["PSU10"]]


def test_rows_of_one_order_go_as_they_stand() -> None:
    """And orders before that."""
    rows = [
        {
            "component": name,
            "inventory_id": name,
            "target": "2",
            "order": order,
            "images": {"2": image(f"{name}.bin")},
        }
        for name, order in [("C", 30), ("B", 20), ("A", 20)]
    ]
    found = plan(catalogue(*rows), inventory(A="1", B="1", C="1"))
    assert [step.component for step in found.steps] == ["B", "A", "C"]


TREES = {"sys_821ge_tnhr": "supermicro_hgx_h100.json.gz", "dgxh100": "dgx_h100.json.gz"}


@pytest.fixture(scope="module", params=sorted(TREES))
def captured_machine(request: pytest.FixtureRequest, samples: Path, project: Path) -> Machine:
    """A real machine on its pins, and the catalogue shipped for it, once what its BMC can update has images."""
    file = project / "inventory" / "group_vars" / f"device_type_{request.param}.yml"
    rows = yaml.safe_load(file.read_text(encoding="utf-8"))["fleet_profile"]["firmware"]["components"]
    for row in rows:
        hgx = row["inventory_id"].startswith("HGX")
        file_name = "hgx.fwpkg" if hgx else f"{row['component'].replace(' ', '_')}.bin"
        if row["component"] != "HCA":
            row["images"] = {row["target"]: image(file_name)}
    inventory = json.loads(captured(samples, TREES[request.param], "/FirmwareInventory/"))
    return Machine(catalogue(*rows), entries(inventory), {})


@given(data=st.data())
def test_a_captured_machine_comes_from_mixed_versions_to_its_pins(
    captured_machine: Machine, data: st.DataObject
) -> None:
    """In order, the whole bundle of the baseboard in one request, and nothing else touched."""
    pinned = captured_machine.entries
    meant = [entry.id for row, mine in match(captured_machine.catalogue, pinned).rows for entry in mine if row.images]
    old = data.draw(st.sets(st.sampled_from(meant)))
    mixed = {name: replace(entry, version="old") if name in old else entry for name, entry in pinned.items()}
    machine = replace(captured_machine, entries=mixed)
    files = []
    for now, step in carried_out(machine):
        machine = now.after(step)
        files.append(step.image.file)
    assert machine.entries == pinned
    assert machine.plan() == Plan()
    assert len(files) == len(set(files)) + max(0, files.count("PSU.bin") - 1)


def test_a_captured_machine_from_scratch_takes_one_request_for_each_file(captured_machine: Machine) -> None:
    """And its power supplies one each."""
    mixed = {name: replace(entry, version="old") for name, entry in captured_machine.entries.items()}
    images = [row.images[0].file for row in captured_machine.catalogue.components if row.images]
    rows = [row for row in captured_machine.catalogue.components if row.images]
    found = plan(replace(captured_machine.catalogue, components=tuple(rows)), mixed)
    assert [step.image.file for step in found.steps if step.component != "PSU"] == [
        file for file in dict.fromkeys(images) if file != "PSU.bin"
    ]
    assert len([step for step in found.steps if step.component == "PSU"]) in {0, 6}
