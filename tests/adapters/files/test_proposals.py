"""What is proposed for site files is a diff that fits, with every other line as it was, and nothing is applied."""

import subprocess
from pathlib import Path

import pytest

from fleet_runner.adapters.files import proposals
from fleet_runner.core.base.errors import FleetError, SourceError
from fleet_runner.core.inventory.drift.difference import Difference, Kind
from fleet_runner.core.inventory.drift.tables import Tables

DEVICES = """\
devices:
  # the first of its rack
  - name: gpu-1
    device_type: hgx
    serial: CH-1  # on the front
    interfaces:
      - {name: ib0, wwn: "00000000000000a0"}
      - name: eth0
    inventory_items:
      - {name: SXM0, role: gpu, part_id: H100, serial: G0}
      - {name: SXM1, role: gpu, part_id: H100}
"""
OTHER = "devices:\n  - {name: gpu-2, device_type: hgx}\n"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of site files; two devices, each in a file of its own."""
    folder = tmp_path / "site"
    (folder / "devices").mkdir(parents=True)
    (folder / "devices.yml").write_text(DEVICES)
    (folder / "devices" / "more.yml").write_text(OTHER)
    return folder


def difference(kind: Kind, name: str, value: str, node: str = "gpu-1") -> Difference:
    return Difference(node, kind, name, "parts_gpu", 1.0, "before", value, value)


def test_a_diff_puts_each_value_where_it_belongs(site: Path) -> None:
    text, left = proposals.site_diff(
        site,
        [
            difference(Kind.DEVICE, "serial number", "CH-2"),
            difference(Kind.DEVICE, "serial number", "CH-3", node="gpu-2"),
            difference(Kind.GUID, "ib0", "00000000000000b0"),
            difference(Kind.MAC, "eth0", "02:00:00:00:00:01"),
            difference(Kind.PART, "SXM1", "G9"),
            difference(Kind.PART, "SXM0", ""),
        ],
    )
    assert left == []
    assert (site / "devices.yml").read_text() == DEVICES
    subprocess.run(["patch", "-p1", "-s"], cwd=site, input=text, text=True, check=True, timeout=30)
    assert (site / "devices.yml").read_text() == (
        DEVICES.replace("serial: CH-1 ", 'serial: "CH-2" ')
        .replace('"00000000000000a0"', '"00000000000000b0"')
        .replace("- name: eth0", '- name: eth0\n        mac_address: "02:00:00:00:00:01"')
        .replace("{name: SXM1,", '{name: SXM1, serial: "G9",')
    )
    assert (site / "devices" / "more.yml").read_text() == OTHER.replace("gpu-2,", 'gpu-2, serial: "CH-3",')


def test_what_no_file_has_is_said_and_the_rest_is_proposed(site: Path) -> None:
    text, left = proposals.site_diff(
        site,
        [
            difference(Kind.MAC, "eth9", "02:00:00:00:00:01"),
            difference(Kind.DEVICE, "serial number", "X-1", node="gpu-9"),
            difference(Kind.DEVICE, "serial number", "CH-3", node="gpu-2"),
        ],
    )
    assert left == [
        f"{site / 'devices.yml'}: gpu-1 has no interface eth9; it has ib0, eth0; change it there by hand",
        "no file of devices describes gpu-9; change it where it is described",
    ]
    assert text.startswith("--- a/devices/more.yml\n+++ b/devices/more.yml\n")


def test_files_that_cannot_be_read_are_an_error(site: Path) -> None:
    (site / "devices.yml").write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match="must be readable"):
        proposals.site_diff(site, [])


def test_files_are_written_into_a_new_folder_only(tmp_path: Path) -> None:
    tables: Tables = {"devices.csv": [("id", "serial"), ("1", 'a "quoted", one')]}
    made = proposals.write(tmp_path / "review" / "first", {"site-files.diff": "text\n"}, tables)
    assert [path.name for path in made] == ["site-files.diff", "devices.csv"]
    assert made[1].read_text() == 'id,serial\n1,"a ""quoted"", one"\n'
    with pytest.raises(FleetError, match="it is not empty; name a new folder"):
        proposals.write(tmp_path / "review" / "first", {}, tables)
    (tmp_path / "file").touch()
    with pytest.raises(FleetError, match="name a folder that can be written"):
        proposals.write(tmp_path / "file", {}, tables)
