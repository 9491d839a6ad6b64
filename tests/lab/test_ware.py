"""The lab's firmware images are those that its catalogue speaks of."""

from pathlib import Path

import yaml

from fleet_runner.core.firmware import catalogue
from fleet_runner.lab import ware
from fleet_runner.lab.folder import Lab
from fleet_runner.lab.hardware import FIRMWARE
from fleet_runner.lab.redfish import images


def test_every_component_of_the_labs_catalogue_has_its_image(project: Path, tmp_path: Path) -> None:
    """Checksums stand in the catalogue, so the images are the same in every lab."""
    written = ware.write_images(Lab(tmp_path))
    file = project / "inventory" / "group_vars" / "device_type_lab_hgx_h100.yml"
    known = catalogue.read(yaml.safe_load(file.read_text())["fleet_profile"])
    assert {image.file: image.sha256 for row in known.components for image in row.images} == written
    assert {row.target for row in known.components} == set(FIRMWARE.values())


def test_an_image_brings_what_a_healthy_server_has(tmp_path: Path) -> None:
    for file in ware.write_images(Lab(tmp_path)):
        found = images.read((tmp_path / "state" / "firmware" / file).read_bytes(), ware.BYTES)
        assert found is not None
        brought = {entry: found.brings(entry) for entry in FIRMWARE if found.brings(entry)}
        assert brought.items() <= FIRMWARE.items()
        assert brought
