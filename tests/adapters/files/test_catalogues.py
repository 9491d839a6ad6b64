"""The catalogues of device types in their files: what is wrong, in which line."""

import hashlib
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner import settings
from fleet_runner.adapters.files.catalogues import check_file, check_files
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.ware import write_images
from fleet_runner.settings import Settings

GOOD = """\
---
# A device type.
vaulted: !vault |
  $ANSIBLE_VAULT;1.1;AES256
fleet_profile:
  parts: {}
  firmware:
    boards: ["X13DEG-OAD"]
    components:
      - component: BIOS
        inventory_id: "BIOS"
        target: "2.1"
        images:
          "2.1":
            file: bios.bin
            sha256: "{sha}"
      - {component: CPLD, inventory_id: "CPLD", target: "F1"}
"""
SHA = hashlib.sha256(b"firmware").hexdigest()


@pytest.fixture
def site(tmp_path: Path) -> Settings:
    """A folder with an inventory and a folder of images, without any device type yet."""
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "images").mkdir()
    return settings.load(inventory=tmp_path / "fleet.yml", firmware_images=tmp_path / "images")


def write(site: Settings, text: str, name: str = "device_type_x.yml") -> Path:
    """Write a device type's file."""
    path = site.inventory_file.parent / "group_vars" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text.replace("{sha}", SHA), encoding="utf-8")
    return path


def said(site: Settings, *, images: bool = False) -> list[str]:
    """Return what is said of all files, without their folder."""
    folder = f"{site.inventory_file.parent / 'group_vars'}/"
    return [str(slip).removeprefix(folder) for slip in check_files(site, images=images)]


def test_the_files_that_are_shipped_are_all_right(project: Path, tmp_path: Path) -> None:
    """Each of them, with the images that the lab makes for its own."""
    write_images(Lab(tmp_path))
    folder = tmp_path / "state" / "firmware"
    found = settings.load(project_dir=project, inventory=project / "inventory" / "fleet.yml", firmware_images=folder)
    assert check_files(found, images=True) == []


def test_a_good_file_is_all_right(site: Settings) -> None:
    """With whatever else stands in it."""
    write(site, GOOD)
    assert said(site) == []


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('target: "2.1"', "target: 2.10", "12: fleet_profile.firmware.components[0].target: found 2.1, expected"),
        ('"2.1":', "2.10:", '14: fleet_profile.firmware.components[0].images["2.1"]: found the key 2.1, expected'),
        ("{sha}", "12", "16: fleet_profile.firmware.components[0].images[\"2.1\"].sha256: found '12', expected"),
        (
            "file: bios",
            "fil: bios",
            "15: fleet_profile.firmware.components[0].images[\"2.1\"].fil: found the key 'fil'",
        ),
        ("boards:", "bords:", "8: fleet_profile.firmware.bords: found the key 'bords', expected 'boards'"),
        ("component: CPLD", "component: BIOS", "17: fleet_profile.firmware.components[1].component: found 'BIOS'"),
        ("{component: CPLD, ", "{", "17: fleet_profile.firmware.components[1].component: found nothing"),
        (
            '        target: "2.1"\n',
            '        target: "2.1"\n        target: "2.1"\n',
            "13: fleet_profile.firmware.components[0].target: found again, expected once; it stands in line 12",
        ),
        ("  parts: {}", "  firmware: {}", "7: fleet_profile.firmware: found again, expected once; it stands in"),
        ("components:\n", "components: 3\n    rest:\n", "9: fleet_profile.firmware.components: found 3, expected a"),
    ],
)
def test_a_slip_is_told_by_its_line(site: Settings, old: str, new: str, expected: str) -> None:
    """And by its field, with what was found and what is expected."""
    write(site, GOOD.replace(old, new, 1))
    assert any(each.startswith(f"device_type_x.yml:{expected}") for each in said(site)), said(site)


def test_every_slip_of_every_file_is_told(site: Settings) -> None:
    """In the order of files and lines, also where a device type has a folder."""
    write(site, GOOD.replace('target: "2.1"', "target: 2.1").replace("boards", "bords"))
    write(site, "fleet_profile: 3\n", "device_type_y.yaml")
    write(site, "fleet_profile: {firmware: {components: [1]}}\n", "device_type_z/main.yml")
    write(site, "fleet_profile: 3\n", "all.yml")
    assert [each.split(": ")[0] for each in said(site)] == [
        "device_type_x.yml:8",
        "device_type_x.yml:12",
        "device_type_y.yaml:1",
        "device_type_z/main.yml:1",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: [\n", "device_type_x.yml:2: this is no YAML: "),
        ("a: b: c\n", "device_type_x.yml:1: this is no YAML: "),
        ("\n\nx: {[1]: 2}\n", "device_type_x.yml:3: this is no YAML: found unhashable key"),
        ("x: 2023-13-45\n", "device_type_x.yml:1: this cannot be read: month must be in 1..12"),
        ("\0", "device_type_x.yml:1: this cannot be read: unacceptable character"),
        ("[" * 3000, "device_type_x.yml:1: this cannot be read: maximum recursion depth"),
    ],
)
def test_what_is_no_yaml_is_said_by_its_line(site: Settings, text: str, expected: str) -> None:
    """The others are looked at nevertheless."""
    write(site, text)
    write(site, "fleet_profile: 3\n", "device_type_y.yml")
    first, second = said(site)
    assert first.startswith(expected)
    assert second.startswith("device_type_y.yml:1: ")


@pytest.mark.parametrize("text", ["", "- 1\n", "other: 1\n", "fleet_profile: {parts: {}}\n", "<<: {a: 1}\n"])
def test_a_file_without_a_catalogue_has_nothing_wrong(site: Settings, text: str) -> None:
    """A switch has no firmware of ours."""
    write(site, text)
    assert said(site) == []


def test_anchors_and_merged_keys_are_followed(site: Settings) -> None:
    """What is wrong is told where it stands."""
    write(site, "base: &base\n  firmware:\n    components: 3\nfleet_profile:\n  <<: *base\n")
    assert said(site) == ["device_type_x.yml:3: fleet_profile.firmware.components: found 3, expected a list"]
    write(site, "fleet_profile: &a\n  firmware: {components: [*a]}\n")
    assert all("fleet_profile.firmware.components[0]" in each for each in said(site))
    assert said(site)


def test_a_missing_image_and_a_wrong_one_are_warnings(site: Settings) -> None:
    """The catalogue is right, and a node that needs the image would be refused."""
    write(site, GOOD)
    (missing,) = check_files(site, images=True)
    assert (missing.line, missing.grave) == (15, False)
    assert str(missing).endswith(
        f'components[0].images["2.1"].file: {site.firmware_dir}/bios.bin is not there;'
        " put the image there, or correct the catalogue"
    )
    (site.firmware_dir / "bios.bin").write_bytes(b"firmwore")
    (wrong,) = check_files(site, images=True)
    assert f"has the SHA-256 {hashlib.sha256(b'firmwore').hexdigest()}, expected {SHA}" in wrong.text
    (site.firmware_dir / "bios.bin").write_bytes(b"firmware")
    assert check_files(site, images=True) == []


def test_an_image_of_many_rows_is_looked_at_once(site: Settings) -> None:
    """All rows of a baseboard share one."""
    rows = [
        f'{{component: P{n}, inventory_id: P{n}, target: "1", images: {{"1": {{file: a.bin, sha256: "{SHA}"}}}}}}'
        for n in range(3)
    ]
    write(site, f"fleet_profile: {{firmware: {{components: [{', '.join(rows)}]}}}}\n")
    assert len(check_files(site, images=True)) == 1


def test_a_file_that_cannot_be_read_is_said(site: Settings) -> None:
    """A folder of that name, for one."""
    path = write(site, GOOD)
    path.unlink()
    path.mkdir()
    assert "this cannot be read: Is a directory" in said(site)[0]
    shutil.rmtree(path)


@given(st.text(alphabet='{}[]:,- \n"a1&*<!', max_size=60))
def test_whatever_stands_in_a_file_nothing_is_raised(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """It is a person's file."""
    path = tmp_path_factory.getbasetemp() / "device_type_any.yml"
    path.write_text(f"fleet_profile:\n  firmware: {text}", encoding="utf-8")
    assert all(slip.line >= 1 and slip.text for slip in check_file(path))
