"""The card that a profile names: its address is the source of truth's, and a boot option shows it in its path."""

from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.boot.boot_interface import chosen, leads, named

MAC = "b83fd2d7f74a"
DEVICE = {
    "name": "gpu-01",
    "interfaces": [{"name": "eth0", "mac": "b8:3f:d2:d7:f7:4a"}, {"name": "eth1", "mac": None}],
}


def test_a_profile_names_an_interface_and_the_source_of_truth_its_address() -> None:
    assert chosen({"boot_settings": {"interface": "eth0"}}, DEVICE) == MAC
    for profile in ({}, {"boot_settings": {"first": "network"}}, {"boot_settings": None}):
        assert chosen(profile, {}) == ""


@pytest.mark.parametrize("name", ["eth1", "eth9", 7])
@pytest.mark.parametrize("device", [DEVICE, {}])
def test_an_interface_without_an_address_is_told(name: Any, device: Any) -> None:
    with pytest.raises(
        EvidenceError, match="has no interface of that name with a MAC address in the source of truth"
    ):
        chosen({"boot_settings": {"interface": name}}, device)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("PciRoot(0x7)/MAC(B83FD2D7F74A,0x1)/IPv4(0.0.0.0)", True),
        ("PciRoot(0x7)/MAC(B83FD2D7F74A0000,0x1)", True),  # EDK2 writes up to 32 bytes of it
        ("PciRoot(0x7)/MAC(88E9A4809DA2,0x1)/IPv4(0.0.0.0)", False),
        ("PciRoot(0x0)/NVMe(0x1,B8-3F-D2-D7-F7-4A)", False),
        (None, False),
    ],
)
def test_a_boot_option_leads_to_a_card_by_its_path_alone(path: str | None, found: object) -> None:
    assert leads({"UefiDevicePath": path, "DisplayName": f"PXE {MAC}"}, MAC) is found


def test_a_name_is_only_told() -> None:
    options = {
        "Boot0021": {"DisplayName": "UEFI PXE IPv4 Intel(R) Ethernet Controller X550 - B83FD2D7F74A"},
        "Boot0022": {"DisplayName": "UEFI: PXE IPv4 Nvidia Network Adapter - b8:3f:d2:d7:f7:4a"},
        "Boot0023": {"DisplayName": "UEFI PXE IPv4"},
        "Boot0024": {},
    }
    assert list(named(options, MAC)) == ["Boot0021", "Boot0022"]
