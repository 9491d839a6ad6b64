"""Secure Boot and what boots first: as a profile wants them, as BMCs show them, and what is sent."""

from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.firmware.bios import Plan
from fleet_runner.core.firmware.boot_settings import (
    FIRST,
    SECURE,
    Kind,
    Shown,
    both,
    in_force,
    kind,
    pending,
    plan,
    read,
    reordered,
    shown,
)
from fleet_runner.core.firmware.catalogue import CatalogueError

SYSTEM = "/redfish/v1/Systems/1"
PXE4 = "PciRoot(0x0)/Pci(0x1,0x0)/MAC(020000000001,0x1)/IPv4(0.0.0.0)"
PXE6 = "PciRoot(0x0)/Pci(0x1,0x0)/MAC(020000000001,0x1)/IPv6(0000::)"
NVME = "PciRoot(0x0)/Pci(0x3,0x2)/NVMe(0x1,02-DC)"
OPTIONS: dict[str, dict[str, Any]] = {
    "Boot0001": {"UefiDevicePath": NVME},
    "Boot0002": {"UefiDevicePath": PXE6},
    "Boot0003": {"UefiDevicePath": f"{PXE4}/Uri()"},
    "Boot0004": {"UefiDevicePath": PXE4},
    "Boot0005": {"UefiDevicePath": PXE4, "BootOptionEnabled": False},
}
ORDER = tuple(OPTIONS)
USER = {"SecureBootEnable": False, "SecureBootCurrentBoot": "Disabled", "SecureBootMode": "UserMode"}


def test_a_profile_names_either_or_both() -> None:
    assert read({}) == {}
    assert read({"boot_settings": {"secure_boot": False}}) == {SECURE: False}
    assert read({"boot_settings": {"secure_boot": True, "first": "disk"}}) == {SECURE: True, FIRST: "disk"}


@pytest.mark.parametrize(
    ("section", "why"),
    [
        ({}, "expected secure_boot, first, or both"),
        ({"first": "cd"}, "expected network or disk"),
        ({"secure_boot": "on"}, "expected true or false"),
        ({"secure": True}, "expected 'secure_boot'"),
        ([], "expected a mapping"),
        ({"secure_boot": True}, "found SecureBoot among the attributes of bios, too, expected one of them"),
    ],
)
def test_what_is_wrong_with_a_profile_is_named(section: Any, why: str) -> None:
    with pytest.raises(CatalogueError, match=why):
        read({"boot_settings": section, "bios": {"attributes": {"SecureBoot": "Disabled"}}})


@pytest.mark.parametrize(
    "bios", [None, [], {}, {"attributes": ["SecureBoot"]}, {"attributes": {"SriovEnable": "On"}}]
)
def test_whatever_else_is_among_the_bios_settings_is_not_its_matter(bios: Any) -> None:
    assert read({"boot_settings": {"secure_boot": True}, "bios": bios}) == {SECURE: True}
    both_named = {"boot_settings": {"first": "disk"}, "bios": {"attributes": {"SecureBoot": "Enabled"}}}
    assert read(both_named) == {FIRST: "disk"}


@pytest.mark.parametrize(
    ("option", "of"),
    [
        ({"Alias": "Pxe"}, Kind.NETWORK),
        ({"Alias": "UefiHttp", "UefiDevicePath": NVME}, Kind.NETWORK),
        ({"Alias": "Pxe", "UefiDevicePath": "PciRoot(0x0)/USB(0xA,0x0)/MAC(02,0x0)/IPv4(0.0.0.0)"}, Kind.OTHER),
        ({"Alias": "None", "UefiDevicePath": PXE4}, Kind.NETWORK),
        ({"DisplayName": "(B26/D0/F0) UEFI PXE IPv4 Intel"}, Kind.NETWORK),
        ({"DisplayName": "HardDisk"}, Kind.DISK),
        ({"Alias": "Hdd"}, Kind.DISK),
        ({"Alias": "Cd", "UefiDevicePath": NVME}, Kind.OTHER),
        ({"UefiDevicePath": PXE6}, Kind.NETWORK),
        ({"UefiDevicePath": NVME}, Kind.DISK),
        ({"UefiDevicePath": "HD(1,GPT,A04D0F1E,0x800)/\\EFI\\debian\\shimx64.efi"}, Kind.DISK),
        ({"UefiDevicePath": "PciRoot(0x0)/USB(0x1,0x0)/HD(1,GPT)"}, Kind.OTHER),
        ({"UefiDevicePath": "VenHw_B2AD3248_05000000", "DisplayName": "Network"}, Kind.NETWORK),
        ({"UefiDevicePath": "VenHw_B2AD3248_02000000", "DisplayName": "Hard Drive"}, Kind.DISK),
        ({"DisplayName": "UEFI: PXE IPv4 Intel"}, Kind.NETWORK),
        ({"DisplayName": "UEFI Shell"}, Kind.OTHER),
        ({"UefiDevicePath": f"{PXE4}/iSCSI(iqn.2026-01.example:disk,0x0)"}, Kind.OTHER),
        ({"UefiDevicePath": f"{PXE4}/NVMeOF(nqn.2026-01.example:disk)"}, Kind.OTHER),
        ({}, Kind.OTHER),
    ],
)
def test_an_option_is_known_by_its_alias_its_path_and_its_name(option: Any, of: Kind) -> None:
    assert kind(option) is of


def test_what_a_bmc_shows_is_found_among_its_resources() -> None:
    bodies = {
        SYSTEM: {"Boot": {"BootOrder": ["Boot0001", 7]}, "Oem": {"Dell": {}}},
        f"{SYSTEM}/Settings": {"Boot": {"BootOrder": ["Boot0004"]}},
        f"{SYSTEM}/SecureBoot": USER,
        f"{SYSTEM}/BootOptions/Boot0001": {"BootOptionReference": "Boot0001", "UefiDevicePath": NVME},
        f"{SYSTEM}/BootOptions/Boot0002": None,
        "/redfish/v1/Systems/2": {"Boot": {"BootOrder": None}},
    }
    seen = shown(bodies)
    assert (seen.order, seen.later, seen.secure, seen.dell) == (("Boot0001",), ("Boot0004",), USER, True)
    assert list(seen.options) == ["Boot0001"]
    assert shown({}) == Shown()
    with pytest.raises(EvidenceError, match="several computers have boot settings"):
        shown({**bodies, "/redfish/v1/Systems/2/": bodies[SYSTEM]})


@pytest.mark.parametrize(
    ("seen", "now", "then"),
    [
        (Shown(), {}, {}),
        (Shown(USER), {SECURE: False}, {}),
        (Shown({**USER, "SecureBootEnable": True}), {SECURE: False}, {SECURE: True}),
        (Shown({"SecureBootEnable": True}), {}, {}),
        (Shown({"SecureBootCurrentBoot": "Enabled"}), {SECURE: True}, {}),
        (Shown({"SecureBootCurrentBoot": None, "SecureBootEnable": None}), {}, {}),
        (Shown(order=ORDER), {}, {}),
        (Shown(order=ORDER, options=OPTIONS), {FIRST: "disk"}, {}),
        (Shown(order=ORDER, later=ORDER, options=OPTIONS), {FIRST: "disk"}, {}),
        (Shown(order=ORDER, later=("Boot0004",), options=OPTIONS), {FIRST: "disk"}, {FIRST: "network"}),
        (Shown(order=ORDER, later=("Boot0009",), options=OPTIONS), {FIRST: "disk"}, {}),
        (Shown(order=("Boot0005", "Boot0001"), options=OPTIONS), {FIRST: "disk"}, {}),
        (Shown(order=("Boot0005", "Boot0009", "Boot0001"), options=OPTIONS), {}, {}),
        (Shown(order=("Boot0005",), options=OPTIONS), {}, {}),
    ],
)
def test_what_holds_and_what_waits(seen: Shown, now: Any, then: Any) -> None:
    assert (in_force(seen), pending(seen)) == (now, then)


def test_the_first_network_device_is_one_of_pxe_and_ipv4_and_the_rest_stays() -> None:
    seen = Shown(order=ORDER, options=OPTIONS)
    assert reordered(seen, "network") == ("Boot0004", "Boot0001", "Boot0002", "Boot0003", "Boot0005")
    assert reordered(seen, "disk") == ORDER
    named = {"Boot0001": {"DisplayName": "UEFI HTTPv4 (MAC:02)"}, "Boot0002": {"DisplayName": "UEFI PXEv4 (MAC:02)"}}
    assert reordered(Shown(order=tuple(named), options=named), "network") == ("Boot0002", "Boot0001")
    assert reordered(Shown(order=("Boot0005",), options=OPTIONS), "network") == ()
    assert reordered(Shown(order=("Boot0009",), options=OPTIONS), "disk") == ()
    assert reordered(Shown(order=ORDER, later=ORDER[::-1], options=OPTIONS), "disk")[:2] == ("Boot0001", "Boot0005")


def test_a_plan_says_what_is_sent_what_waits_and_what_cannot_be() -> None:
    both_wanted: dict[str, Any] = {SECURE: True, FIRST: "network"}
    seen = Shown(USER, ORDER, (), OPTIONS)
    assert plan(both_wanted, seen).changes == both_wanted
    assert plan({SECURE: False, FIRST: "disk"}, seen) == Plan(settled=(SECURE, FIRST))
    waits = Shown({**USER, "SecureBootEnable": True}, ORDER, ("Boot0004", "Boot0001"), OPTIONS)
    found = plan(both_wanted, waits)
    assert (found.changes, found.waiting, found.wrong) == ({}, both_wanted, {SECURE: False, FIRST: "disk"})
    back = plan({SECURE: False, FIRST: "disk"}, waits)
    assert (back.changes, back.settled) == ({SECURE: False, FIRST: "disk"}, ()), "in force, and about to be lost"


@pytest.mark.parametrize(
    ("wanted", "seen", "why"),
    [
        ({SECURE: True}, Shown(), "boot_settings.secure_boot: the BMC does not show whether Secure Boot is on"),
        (
            {FIRST: "disk"},
            Shown(USER),
            "boot_settings.first: the BMC does not show a boot order with the options in it",
        ),
        ({SECURE: True}, Shown({**USER, "SecureBootMode": "AuditMode"}), "is in AuditMode, without a platform key"),
        ({SECURE: True}, Shown({**USER, "SecureBootMode": "SetupMode"}), "is in SetupMode, without a platform key"),
        (
            {FIRST: "network"},
            Shown(order=ORDER, options=OPTIONS, dell=True),
            "set its SetBootOrderEn in the",
        ),
        ({FIRST: "network"}, Shown(order=("Boot0001",), options=OPTIONS), "no network device is in the boot order"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(wanted: Any, seen: Shown, why: str) -> None:
    found = plan(wanted, seen)
    assert found.changes == {}
    assert why in found.refused[0]


def test_secure_boot_without_keys_can_stay_off() -> None:
    seen = Shown({"SecureBootEnable": True, "SecureBootCurrentBoot": "Disabled", "SecureBootMode": "SetupMode"})
    assert plan({SECURE: False}, seen).changes == {SECURE: False}


def test_two_plans_are_one() -> None:
    bios = Plan({"A": 1}, {"B": 2}, ("C",), {"A": 0, "B": 0}, ("D: no",), ("note",), ("said",), ("A",))
    boot = Plan({SECURE: True}, {FIRST: "disk"}, (), {SECURE: False, FIRST: "network"}, ("E: no",))
    assert both(bios, boot) == Plan(
        {"A": 1, SECURE: True},
        {"B": 2, FIRST: "disk"},
        ("C",),
        {"A": 0, "B": 0, SECURE: False, FIRST: "network"},
        ("D: no", "E: no"),
        ("note",),
        ("said",),
        ("A",),
    )


CARD = "020000000002"
SECOND4 = PXE4.replace("020000000001", CARD)
CARDS: dict[str, dict[str, Any]] = {
    "Boot0001": {"UefiDevicePath": PXE4},
    "Boot0002": {"UefiDevicePath": f"{SECOND4}/Uri()"},
    "Boot0003": {"UefiDevicePath": SECOND4},
    "Boot0004": {"UefiDevicePath": NVME},
}


def test_the_card_that_the_design_names_boots_first() -> None:
    seen = Shown(order=tuple(CARDS), options=CARDS, mac=CARD)
    assert in_force(seen) == {FIRST: "another network card"}
    found = plan({FIRST: "network"}, seen)
    assert (found.changes, found.wrong, found.notes) == ({FIRST: "network"}, {FIRST: "another network card"}, ())
    order = reordered(seen, "network")
    assert order == ("Boot0003", "Boot0001", "Boot0002", "Boot0004")
    waits = Shown(order=tuple(CARDS), later=order, options=CARDS, mac=CARD)
    assert pending(waits) == {FIRST: "network"}
    assert plan({FIRST: "network"}, waits).waiting == {FIRST: "network"}
    done = Shown(order=order, options=CARDS, mac=CARD)
    assert plan({FIRST: "network"}, done).settled == (FIRST,)
    assert in_force(Shown(order=order, options=CARDS)) == {FIRST: "network"}


def test_a_card_that_is_switched_off_or_not_in_the_order_is_no_card_to_boot_from() -> None:
    off = {**CARDS, **{name: {**CARDS[name], "BootOptionEnabled": False} for name in ("Boot0002", "Boot0003")}}
    assert in_force(Shown(order=tuple(off), options=off, mac=CARD)) == {FIRST: "network"}
    assert in_force(Shown(order=("Boot0001", "Boot0009"), options=CARDS, mac=CARD)) == {FIRST: "network"}
    assert in_force(Shown(order=("Boot0004", "Boot0003"), options=CARDS, mac=CARD)) == {FIRST: "disk"}


@pytest.mark.parametrize(
    ("name", "told"), [("PXE IPv4 X550 - 02:00:00:00:00:02", "; by its name it is Boot0001"), ("PXE IPv4", "")]
)
def test_a_card_that_no_path_shows_is_told_and_not_set(name: str, told: str) -> None:
    """As of the captured Supermicro, whose options have names alone."""
    options = {"Boot0001": {"DisplayName": name}, "Boot0002": {"DisplayName": "PXE IPv4 other"}}
    seen = Shown(order=("Boot0002", "Boot0001"), options=options, mac=CARD)
    found = plan({FIRST: "network"}, seen)
    assert (found.changes, found.settled) == ({}, (FIRST,))
    path = "no boot option has MAC(020000000002) in its UEFI device path"
    assert found.notes == (f"{path}, so the card that boots first is not set{told}",)
    assert plan({FIRST: "disk"}, seen).notes == ()


def test_a_profile_may_name_an_interface_alone() -> None:
    assert read({"boot_settings": {"interface": "eth0"}}) == {}
    with pytest.raises(CatalogueError, match="expected the name of an interface in the source of truth"):
        read({"boot_settings": {"first": "network", "interface": ""}})
