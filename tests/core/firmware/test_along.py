"""Components that come with another one's image: verified with it, and never sent anything themselves."""

from typing import Any

import pytest

from fleet_runner.core.firmware.catalogue import CatalogueError
from fleet_runner.core.firmware.planner import plan
from tests.core.firmware.machines import BASE, catalogue, image, inventory

BASEBOARD: dict[str, Any] = {
    "component": "HMC",
    "inventory_id": "HGX_FW_BMC_0",
    "target": "25.06",
    "images": {"25.06": image("hgx.fwpkg", "25.01"), "25.01": image("hgx_25.01.fwpkg")},
    "activate": {"how": "ac_drain"},
}
INFOROM: dict[str, Any] = {
    "component": "InfoROM",
    "inventory_id": "HGX_InfoROM_*",
    "target": "G548",
    "accepted": ["G520"],
    "brought_by": "HMC",
}


def test_what_a_bundle_brings_is_verified_with_it_and_named_in_no_request() -> None:
    """Of a way over another version only the last image brings it."""
    found = plan(
        catalogue(BASEBOARD, INFOROM), inventory(HGX_FW_BMC_0="24.10", HGX_InfoROM_0="0", HGX_InfoROM_1="G548")
    )
    hop, last = found.steps
    assert (hop.targets, hop.along) == ({"HGX_FW_BMC_0": "25.01"}, ())
    assert last.targets == {"HGX_FW_BMC_0": "25.06", "HGX_InfoROM_0": "G548", "HGX_InfoROM_1": "G548"}
    assert (last.along, last.component) == (("HGX_InfoROM_0", "HGX_InfoROM_1"), "HMC, InfoROM")
    assert last.uris == hop.uris == (f"{BASE}/HGX_FW_BMC_0",)
    assert (found.refused, found.notes, found.stuck) == ((), (), ())


@pytest.mark.parametrize(("version", "field"), [("0", "stuck"), ("G520", "notes"), ("G548", "")])
def test_what_a_bundle_did_not_bring_is_never_flashed_by_itself(version: str, field: str) -> None:
    """A person decides, unless it is accepted."""
    found = plan(catalogue(BASEBOARD, INFOROM), inventory(HGX_FW_BMC_0="25.06", HGX_InfoROM_0=version))
    why = "only HMC brings it, of which no image is to be sent"
    assert {name: getattr(found, name) for name in ("steps", "refused")} == {"steps": (), "refused": ()}
    assert [name for name in ("notes", "stuck") if any(why in each for each in getattr(found, name))] == (
        [field] if field else []
    )


def test_a_bundle_that_would_bring_a_customers_adapter_along_is_refused() -> None:
    adapter = INFOROM | {"component": "NIC", "inventory_id": "NIC_0"}
    rows = catalogue(BASEBOARD, adapter)
    found = plan(rows, inventory(HGX_FW_BMC_0="25.01", NIC_0="0"), customer=True)
    assert (found.steps, len(found.refused)) == ((), 1)
    assert found.refused[0].startswith("hgx.fwpkg would bring NIC_0 (NIC) from 0 to G548, and that is withheld")
    assert plan(rows, inventory(HGX_FW_BMC_0="25.01", NIC_0="G548"), customer=True).steps


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"images": {"G548": image("x.bin")}}, "images"),
        ({"brought_by": "BMC"}, "brought_by"),
        ({"brought_by": "InfoROM"}, "brought_by"),
        ({"brought_by": ""}, "brought_by"),
    ],
)
def test_what_brings_a_component_is_another_one_with_images(change: dict[str, Any], key: str) -> None:
    with pytest.raises(CatalogueError) as error:
        catalogue(BASEBOARD, INFOROM | change)
    assert [problem.path[-1] for problem in error.value.problems] == [key]


def test_what_has_each_entry_in_its_own_request_brings_nothing_along() -> None:
    with pytest.raises(CatalogueError, match="is not exclusive"):
        catalogue(BASEBOARD | {"exclusive": "hgx"}, INFOROM)
