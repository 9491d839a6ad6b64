"""Serial numbers in a site file: each in its place, and every other byte as it was."""

import pytest
import yaml

from fleet_runner.adapters.files.yaml_values import edited
from fleet_runner.core.base.errors import SettingsError

FILE = """\
# the fleet
- name: gpu-01  # first
  device_type: t
  inventory_items:
    - {name: GPU 0, role: gpu, serial: "A0"}  # top
    - name: GPU 1
      role: gpu
    - {name: PSU 0, role: psu}
- name: gpu-02
  device_type: t
  inventory_items:
    - {name: GPU 0, role: gpu, serial: A9}
"""


def serials(text: str, device: str) -> dict[str, str | None]:
    """Return what a reader of the file finds."""
    [mine] = [each for each in yaml.safe_load(text) if each["name"] == device]
    return {item["name"]: item.get("serial") for item in mine["inventory_items"]}


def test_serials_are_replaced_or_added_and_nothing_else_changes() -> None:
    """Comments, order and the other devices stay; a number stays a text."""
    found = edited(FILE, "gpu-01", {"GPU 0": "0012", "GPU 1": 'B "1"', "PSU 0": "P: 1"})
    assert found is not None
    assert serials(found, "gpu-01") == {"GPU 0": "0012", "GPU 1": 'B "1"', "PSU 0": "P: 1"}
    assert serials(found, "gpu-02") == {"GPU 0": "A9"}
    kept = [line for line in FILE.splitlines() if 'GPU 0, role: gpu, serial: "A0"' not in line and "PSU" not in line]
    assert [line for line in found.splitlines() if line in kept] == kept
    assert edited(found, "gpu-01", {"GPU 0": "0012"}) == found


def test_a_file_of_one_record_or_of_devices_by_their_name_is_edited_too() -> None:
    one = "name: gpu-01\ndevice_type: t\ninventory_items:\n- {name: GPU 0, serial: x}\n"
    named = "devices:\n- name: gpu-01\n  inventory_items:\n  - {name: GPU 0, serial: x}\n"
    assert edited(one, "gpu-01", {"GPU 0": "y"}) == one.replace("serial: x", 'serial: "y"')
    assert edited(named, "gpu-01", {"GPU 0": "y"}) == named.replace("serial: x", 'serial: "y"')


@pytest.mark.parametrize("text", ["", FILE.replace("gpu-01", "gpu-07"), "- text\n", "3\n"])
def test_a_file_without_the_device_is_another_one(text: str) -> None:
    assert edited(text, "gpu-01", {"GPU 0": "y"}) is None


def test_what_cannot_be_edited_says_why() -> None:
    with pytest.raises(SettingsError, match="has no inventory item GPU 7; it has GPU 0, GPU 1, PSU 0"):
        edited(FILE, "gpu-01", {"GPU 7": "y"})
    with pytest.raises(SettingsError, match="it has none"):
        edited("- {name: gpu-01, device_type: t}", "gpu-01", {"GPU 7": "y"})
    with pytest.raises(SettingsError, match="it is not YAML"):
        edited("- [", "gpu-01", {})


def test_items_that_devices_share_are_not_edited() -> None:
    """One change would be everybody's."""
    shared = (
        "- {name: gpu-01, device_type: t, inventory_items: &all [{name: GPU 0, serial: x}]}\n"
        "- {name: gpu-02, device_type: t, inventory_items: *all}\n"
    )
    with pytest.raises(SettingsError, match="shares its inventory_items"):
        edited(shared, "gpu-01", {"GPU 0": "y"})
