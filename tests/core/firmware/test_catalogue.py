"""Catalogues: as they are written, and with every slip that a person can make."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.fields import Path, named
from fleet_runner.core.firmware.catalogue import (
    Activate,
    Catalogue,
    CatalogueError,
    Component,
    Image,
    Power,
    Transport,
    read,
)

SHA, OTHER = "ab" * 32, "cd" * 32
Raw = dict[str, Any]


def good() -> Raw:
    """Return a profile whose catalogue says everything that one can say."""
    return {
        "firmware": {
            "boards": ["X13DEG-*"],
            "watts": 6500,
            "components": [
                {
                    "component": "BIOS",
                    "inventory_id": "BIOS",
                    "target": "2.1",
                    "accepted": ["2.0", "2.1"],
                    "images": {
                        "2.1": {"file": "smc/bios_2.1.bin", "sha256": SHA.upper(), "from": ["2.0"], "force": True},
                        "2.0": {"file": "smc/bios_2.0.bin", "sha256": SHA},
                    },
                    "order": 20,
                    "activate": {"how": "host_reset", "times": 2},
                    "power": "off",
                    "transport": "push",
                    "seconds": 900,
                    "rollback": False,
                    "targets": ["/redfish/v1/Systems/1/Bios"],
                },
                {
                    "component": "PSU",
                    "inventory_id": "*",
                    "inventory_name": "Power Supply *",
                    "count": 6,
                    "target": "1.3",
                    "exclusive": "psu",
                },
                {"component": "HMC", "inventory_id": "HGX_FW_BMC_0", "target": "rc57", **bundle("rc57")},
                {"component": "GPU", "inventory_id": "HGX_FW_GPU_SXM_*", "target": "96.00", **bundle("96.00")},
            ],
        }
    }


def bundle(version: str) -> Raw:
    """Return what rows say whose images lie in one file."""
    return {"images": {version: {"file": "hgx.fwpkg", "sha256": OTHER}}, "untargeted": True, "order": 30}


def test_a_catalogue_reads_as_it_is_written() -> None:
    """Every field once, and what is meant where none is given."""
    found = read(good())
    bios, psu, hmc, gpu = found.components
    assert found == Catalogue((bios, psu, hmc, gpu), ("X13DEG-*",), 6500.0)
    assert bios == Component(
        "BIOS",
        "BIOS",
        "2.1",
        ("2.1", "2.0"),
        (Image("2.1", "smc/bios_2.1.bin", SHA, ("2.0",), force=True), Image("2.0", "smc/bios_2.0.bin", SHA)),
        order=20,
        activate=Activate.HOST_RESET,
        times=2,
        power=Power.OFF,
        transport=Transport.PUSH,
        seconds=900.0,
        rollback=False,
        targets=("/redfish/v1/Systems/1/Bios",),
    )
    assert psu == Component(
        "PSU", "*", "1.3", ("1.3",), count=6, exclusive="psu", inventory_name="Power Supply *", order=50
    )
    assert (hmc.untargeted, hmc.images[0].file) == (gpu.untargeted, gpu.images[0].file) == (True, "hgx.fwpkg")
    assert read({"firmware": {"components": []}}) == Catalogue()


ROW: Path = ("firmware", "components", 0)
IMAGE: Path = (*ROW, "images", "2.1")

SLIPS: list[tuple[Path, Any, str]] = [
    (("firmware",), None, "a mapping"),
    (("firmware",), [{"component": "BMC"}], "a mapping"),
    (("firmware", "boards"), "X13DEG", "a list of at least one"),
    (("firmware", "boards"), [], "a list of at least one"),
    (("firmware", "watts"), "6500", "a number from 0 to"),
    (("firmware", "watts"), float("nan"), "a number from 0 to"),
    (("firmware", "components"), {}, "a list"),
    (("firmware", "bords"), ["X13"], "'boards'"),
    (("firmware", "xyzzy"), 1, "one of boards, watts, components"),
    (ROW, "BIOS", "a mapping"),
    ((*ROW, "component"), "", "a text of one line"),
    ((*ROW, "component"), "a\nb", "a text of one line"),
    ((*ROW, "inventory_id"), 3, "a text of one line; quote it"),
    ((*ROW, "inventory_id"), "Inventory/BIOS", "without a slash"),
    ((*ROW, "target"), 2.1, "quote it"),
    ((*ROW, "target"), None, "a version as a text"),
    ((*ROW, "target"), " 2.1", "without spaces around it"),
    ((*ROW, "accepted"), "2.0", "a list of at least one"),
    ((*ROW, "acepted"), ["2.0"], "'accepted'"),
    ((*ROW, "count"), 0, "a whole number from 1"),
    ((*ROW, "count"), True, "a whole number from 1"),
    ((*ROW, "order"), "20", "a whole number from 0"),
    ((*ROW, "activate"), "host_reset", "a mapping"),
    ((*ROW, "activate", "how"), "reboot", "one of none, bmc_reset, host_reset, ac_drain"),
    ((*ROW, "activate", "times"), 0, "a whole number from 1 to 10"),
    ((*ROW, "activate", "time"), 2, "'times'"),
    ((*ROW, "power"), False, "one of any, on, off; quote it"),
    ((*ROW, "transport"), "tftp", "one of auto, multipart, push, simple"),
    ((*ROW, "untargeted"), "yes", "true or false"),
    ((*ROW, "seconds"), 0, "a number from 1"),
    ((*ROW, "rollback"), None, "true or false"),
    ((*ROW, "oem_parameters"), "BIOS", "a mapping"),
    ((*ROW, "oem_parameters"), {}, "at least one"),
    ((*ROW, "images"), [], "a mapping"),
    (IMAGE, "bios_2.1.bin", "a mapping"),
    ((*IMAGE, "file"), "../bios.bin", "a file below the folder of images"),
    ((*IMAGE, "file"), "/srv/bios.bin", "a file below the folder of images"),
    ((*IMAGE, "file"), "smc//bios.bin", "a file below the folder of images"),
    ((*IMAGE, "file"), "a/..", "a file below the folder of images"),
    ((*IMAGE, "file"), "bios\r\n.bin", "a file below the folder of images"),
    ((*IMAGE, "sha256"), "ab" * 31, "64 hex digits"),
    ((*IMAGE, "sha256"), 12, "64 hex digits; quote it"),
    ((*IMAGE, "from"), [], "a list of at least one"),
    ((*IMAGE, "form"), ["2.0"], "'from'"),
    ((*IMAGE, "force"), 1, "true or false"),
]


def put(profile: Raw, path: Path, value: Any) -> Raw:
    """Write a value to where a path leads."""
    at: Any = profile
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return profile


@pytest.mark.parametrize(("path", "value", "expected"), SLIPS)
def test_a_wrong_field_is_named_with_what_was_found_and_what_is_expected(
    path: Path, value: Any, expected: str
) -> None:
    """And nothing but that field."""
    with pytest.raises(CatalogueError) as error:
        read(put(good(), path, value))
    (problem,) = error.value.problems
    assert problem.path == path
    assert expected in problem.expected
    assert str(problem) == f"{named(path)}: found {problem.found}, expected {problem.expected}"
    assert str(error.value) == f"{problem}; correct the device type's file in inventory/group_vars"


@pytest.mark.parametrize("path", [(*ROW, key) for key in ("component", "inventory_id", "target")])
def test_what_has_to_be_given_is_asked_for(path: Path) -> None:
    """A row without it means nothing."""
    profile = good()
    del profile["firmware"]["components"][0][path[-1]]
    with pytest.raises(CatalogueError) as error:
        read(profile)
    assert [(problem.path, problem.found) for problem in error.value.problems] == [(path, "nothing")]


def test_versions_that_yaml_made_numbers_of_are_named_wherever_they_stand() -> None:
    """1.10 is 1.1 to YAML: it is refused, not compared."""
    profile = good()
    row = profile["firmware"]["components"][0]
    row |= {"accepted": ["2.0", 1.1], "images": {2.1: row["images"].pop("2.1") | {"from": [1]}, **row["images"]}}
    with pytest.raises(CatalogueError) as error:
        read(profile)
    paths = {problem.path: problem.expected for problem in error.value.problems}
    assert paths == dict.fromkeys(
        [(*ROW, "accepted", 1), IMAGE, (*IMAGE, "from", 0)], "a version as a text; quote it"
    )


def apart(slips: list[tuple[Path, Any, str]]) -> dict[Path, Any]:
    """Return those of some slips that are not within another one, by their paths."""
    chosen = {path: value for path, value, _ in slips}
    return {
        path: value
        for path, value in chosen.items()
        if not any(other != path and path[: len(other)] == other for other in chosen)
    }


@given(st.lists(st.sampled_from(SLIPS), min_size=2, max_size=8).map(apart))
def test_every_wrong_field_is_told_at_once(slips: dict[Path, Any]) -> None:
    """Whoever corrects a file corrects it once."""
    profile = good()
    for path, value in slips.items():
        put(profile, path, copy.deepcopy(value))
    with pytest.raises(CatalogueError) as error:
        read(profile)
    assert {problem.path for problem in error.value.problems} == slips.keys()
    assert (f"; and {len(error.value.problems) - 1} more" in str(error.value)) is (len(slips) > 1)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.dates()
KEYS = st.sampled_from(["component", "inventory_id", "target", "accepted", "images", "activate", "file", "2.1"])
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS | SCALARS, inner, max_size=5)
)


@given(st.sampled_from(sorted({path for path, _, _ in SLIPS}, key=str)), ANYTHING)
def test_whatever_stands_in_a_file_nothing_else_is_raised(path: Path, value: Any) -> None:
    """A check that asks for the catalogue then answers UNKNOWN."""
    try:
        read(put(good(), path, value))
    except EvidenceError as error:
        assert "fleet_profile.firmware" in str(error)  # noqa: PT017  (that it may also be read is the point)


def rows(change: Callable[[list[Raw]], object]) -> Raw:
    """Return a profile whose rows were changed."""
    profile = good()
    change(profile["firmware"]["components"])
    return profile


AT = ("firmware", "components")
CLASHES: list[tuple[Callable[[list[Raw]], object], Path, str]] = [
    (lambda row: row[1].update(component="BIOS"), (*AT, 1, "component"), "another name than components[0]"),
    (lambda row: row[3].update(inventory_id="HGX_FW_BMC_0"), (*AT, 3, "inventory_id"), "other entries than"),
    (lambda row: row[0].update(count=2), (*ROW, "count"), "1, as 'BIOS' is no glob"),
    (lambda row: row[1].update(activate={"how": "none", "times": 2}), (*AT, 1, "activate", "times"), "nothing"),
    (lambda row: row[2].update(exclusive="hgx"), (*AT, 2, "exclusive"), "for all at once"),
    (lambda row: row[1].update(targets=["/redfish/v1/Chassis/1"]), (*AT, 1, "targets"), "its own request"),
    (lambda row: row[0].update(targets=["Systems/1/Bios"]), (*ROW, "targets", 0), "a resource of the BMC"),
    (lambda row: row[0].update(oem_parameters={"ImageType": "BIOS"}), (*ROW, "transport"), "multipart"),
    (lambda row: row[0]["accepted"].append("2.0"), (*ROW, "accepted", 2), "each only once"),
    (lambda row: row[0]["images"].pop("2.1"), (*ROW, "images"), "one of the target 2.1 among them"),
    (lambda row: row[0]["images"]["2.1"].update({"from": ["2.1"]}), (*IMAGE, "from"), "the image's own"),
    (
        lambda row: row[0]["images"].update({"1.9": {"file": "x.bin", "sha256": SHA}}),
        (*ROW, "images", "1.9"),
        "that some image comes `from` it",
    ),
    (
        lambda row: row[0]["images"]["2.0"].update(file="smc/bios_2.1.bin"),
        (*IMAGE, "file"),
        "another one than 2.0 has",
    ),
    (
        lambda row: row[3]["images"]["96.00"].update(sha256=SHA),
        (*AT, 3, "images", "96.00", "sha256"),
        f"{OTHER}, which components[2] says of the same file",
    ),
    (
        lambda row: row[3]["images"]["96.00"].update(force=True),
        (*AT, 3, "images", "96.00", "force"),
        "False, as components[2] says, with which it shares hgx.fwpkg",
    ),
    (lambda row: row[3].update(order=31), (*AT, 3, "order"), "30, as components[2] says"),
    (lambda row: row[3].update(activate={"how": "ac_drain"}), (*AT, 3, "activate", "how"), "none, as components[2]"),
]


@pytest.mark.parametrize(("change", "path", "expected"), CLASHES)
def test_what_contradicts_itself_or_another_row_is_said(
    change: Callable[[list[Raw]], object], path: Path, expected: str
) -> None:
    """Each field is sound for itself."""
    with pytest.raises(CatalogueError) as error:
        read(rows(change))
    (problem,) = error.value.problems
    assert problem.path == path
    assert expected in problem.expected


def test_what_goes_with_an_image_in_a_vendors_own_part_is_plain_values() -> None:
    """In the catalogue's order; anything else is named."""
    given: Raw = {"transport": "multipart", "oem_parameters": {"ImageType": "BIOS", "Keep": True, "Slot": 2}}
    read_back = read(rows(lambda row: row[0].update(given))).components[0]
    assert read_back.oem_parameters == (("ImageType", "BIOS"), ("Keep", True), ("Slot", 2))
    given["oem_parameters"] |= {"ImageType": ["BIOS"], 3: "x", "Share": 0.5}
    with pytest.raises(CatalogueError) as error:
        read(rows(lambda row: row[0].update(given)))
    assert [problem.path[-1] for problem in error.value.problems] == ["ImageType", "3", "Share"]


def test_a_request_that_names_nothing_names_no_targets_either() -> None:
    """All rows of its file disagree then, too."""
    with pytest.raises(CatalogueError) as error:
        read(rows(lambda row: [each.update(targets=["/redfish/v1/Chassis/1"]) for each in row[2:]]))
    assert {problem.path for problem in error.value.problems} == {(*AT, 2, "targets"), (*AT, 3, "targets")}


def test_rows_of_one_file_may_differ_where_each_entry_has_its_own_request() -> None:
    """They never share one."""
    exclusive = {"exclusive": "hgx", "untargeted": False}
    profile = rows(lambda row: [row[2].update(exclusive), row[3].update(exclusive, order=31)])
    assert [row.order for row in read(profile).components[2:]] == [30, 31]


def test_hops_that_lead_to_the_target_are_needed() -> None:
    """By way of versions that are not accepted."""
    hops = {
        "2.1": {"file": "c", "sha256": SHA, "from": ["1.9"]},
        "1.9": {"file": "b", "sha256": SHA, "from": ["1.8"]},
        "1.8": {"file": "a", "sha256": SHA},
    }
    profile = rows(lambda row: row[0].update(images=hops, accepted=["2.1"]))
    assert [image.version for image in read(profile).components[0].images] == ["2.1", "1.9", "1.8"]


def test_a_path_is_written_as_a_person_would() -> None:
    """Keys that are no words in brackets."""
    path = ("firmware", "components", 3, "images", "2.1", "sha256")
    assert named(path) == 'fleet_profile.firmware.components[3].images["2.1"].sha256'
