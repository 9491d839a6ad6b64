"""What is asked of a BMC so that only the next boot comes from the network, and whether it is there afterwards."""

from typing import Any

import pytest

from fleet_runner.core.boot.override import (
    ALLOWED,
    Override,
    Seen,
    Step,
    allowing,
    held,
    lasts,
    otherwise,
    plan,
    stands,
)

ONCE, TARGET, MODE = "BootSourceOverrideEnabled", "BootSourceOverrideTarget", "BootSourceOverrideMode"
DEVICE = "UefiTargetBootSourceOverride"
LISTED = f"{TARGET}@Redfish.AllowableValues"
HTTP4 = "PciRoot(0x7)/Pci(0x1,0x1)/MAC(B83FD2D7F74A,0x1)/IPv4(0.0.0.0)/Uri()"
HTTP6 = "PciRoot(0x7)/Pci(0x1,0x1)/MAC(B83FD2D7F74A,0x1)/IPv6(0000::)/Uri()"
DISK = "PciRoot(0x0)/Pci(0x3,0x2)/NVMe(0x1,02-DC)"
ADDRESS = "http://10.0.0.1/loader/snponly.efi"


def test_what_belongs_together_is_sent_together() -> None:
    assert plan("Pxe", "", Seen({})) == Override(({ONCE: "Once", TARGET: "Pxe"},))
    assert plan("None", "", Seen({LISTED: ["None"]})).steps == ({ONCE: "Disabled", TARGET: "None"},)
    assert plan("UefiHttp", ADDRESS, Seen({LISTED: ["UefiHttp"]})).steps == (
        {ONCE: "Once", TARGET: "UefiHttp", "HttpBootUri": ADDRESS},
    )
    assert plan("Cd", "", Seen({LISTED: ["Cd", "UsbCd"]})).steps == ({ONCE: "Once", TARGET: "UsbCd"},)
    assert plan("Cd", "", Seen({LISTED: ["Cd", "Pxe"]})).steps == ({ONCE: "Once", TARGET: "Cd"},)
    assert plan("Usb", "", Seen({LISTED: ["None", "Pxe"]})) == Override(why="can boot from None, Pxe, not Usb")


@pytest.mark.parametrize(
    ("own", "systems", "listed"),
    [
        ({LISTED: ["None", "Pxe", "Hdd"]}, {LISTED: ["Pxe", "UefiHttp"]}, ["None", "Pxe", "Hdd", "UefiHttp"]),
        ({LISTED: ["Pxe"]}, {}, ["Pxe"]),
        ({LISTED: ["Pxe"]}, None, ["Pxe"]),
        ({}, {LISTED: ["Pxe"]}, None),
    ],
)
def test_a_settings_object_takes_what_its_system_lists_too(own: Step, systems: object, listed: object) -> None:
    """A BlueField's settings object lists what its software knew once."""
    assert allowing(own, systems).get(LISTED) == listed


@pytest.mark.parametrize(
    ("boot", "sent"),
    [
        ({MODE: "Legacy", f"{MODE}@Redfish.AllowableValues": ["Legacy", "UEFI"]}, True),
        ({MODE: None, f"{MODE}@Redfish.AllowableValues": ["UEFI"]}, True),
        ({MODE: "UEFI", f"{MODE}@Redfish.AllowableValues": ["UEFI"]}, False),
        ({MODE: "Legacy", f"{MODE}@Redfish.AllowableValues": ["Legacy"]}, False),
        ({MODE: "Legacy"}, False),
    ],
)
def test_the_mode_goes_along_where_a_boot_over_http_needs_another_that_can_be_chosen(boot: Any, sent: object) -> None:
    [step] = plan("UefiHttp", "", Seen(boot)).steps
    assert (step.get(MODE) == "UEFI") is sent
    [step] = plan("Pxe", "", Seen(boot)).steps
    assert MODE not in step


@pytest.mark.parametrize(
    ("bios", "address", "why"),
    [
        ({"HttpDev1EnDis": "Enabled"}, "", ""),
        ({"HttpDev1EnDis": "Enabled", "HttpDev1Uri": ADDRESS}, ADDRESS, ""),
        ({"HttpDev1EnDis": "Disabled", "HttpDev3EnDis": "Enabled", "HttpDev3Uri": ADDRESS}, ADDRESS, ""),
        ({"HttpDev1EnDis": "Disabled", "HttpDev2EnDis": "Enabled"}, "", ""),
        ({"HttpDev1EnDis": "Enabled", "HttpDev1Uri": "", "HttpDev1DhcpEnDis": "Enabled"}, ADDRESS, ""),
        (
            {"HttpDev1EnDis": "Enabled", "HttpDev1Uri": "", "HttpDev1DhcpEnDis": "Disabled"},
            ADDRESS,
            "the BIOS setting HttpDev1Uri is not",
        ),
        (
            {"HttpDev1EnDis": "Disabled"},
            "",
            "a boot over HTTP needs the BIOS setting HttpDev1EnDis 'Enabled', f",
        ),
        (
            {"HttpDev1EnDis": "Enabled", "HttpDev1Uri": "http://x"},
            ADDRESS,
            "the BIOS setting HttpDev1Uri is not",
        ),
    ],
)
def test_a_dell_boots_over_http_as_its_bios_settings_say(bios: Any, address: str, why: str) -> None:
    found = plan("UefiHttp", address, Seen({LISTED: ["UefiHttp"]}, bios=bios))
    assert found.why.startswith(why)
    assert bool(found.why) is bool(why)
    assert found.steps == (() if why else ({ONCE: "Once", TARGET: "UefiHttp"},))


def test_a_dell_cannot_carry_a_proof() -> None:
    seen = Seen({}, bios={"HttpDev1EnDis": "Enabled", "HttpDev1DhcpEnDis": "Enabled"})
    assert plan("UefiHttp", ADDRESS, seen, proof=True) == Override(
        why="is a Dell's, and a Dell cannot carry the proof: use boot_proof none, or pxe"
    )
    assert plan("UefiHttp", ADDRESS, Seen({}), proof=True) == plan("UefiHttp", ADDRESS, Seen({}))


def test_a_dell_that_cannot_boot_over_http_says_so() -> None:
    found = plan("UefiHttp", "", Seen({LISTED: ["Pxe"]}, bios={"HttpDev1EnDis": "Enabled"}))
    assert found == Override(why="can boot from Pxe, not UefiHttp")


@pytest.mark.parametrize("listed", [True, False])
def test_a_bmc_that_boots_over_http_by_a_device_is_told_the_device_first(listed: object) -> None:
    boot: dict[str, Any] = {LISTED: ["Pxe", "UefiTarget"]}
    if listed:
        boot[f"{DEVICE}@Redfish.AllowableValues"] = [HTTP6, HTTP4, DISK]
    found = plan("UefiHttp", "", Seen(boot, () if listed else (HTTP6, HTTP4, HTTP4, DISK)))
    assert found.steps == ({DEVICE: HTTP4}, {ONCE: "Once", TARGET: "UefiTarget", DEVICE: HTTP4})


@pytest.mark.parametrize(
    ("paths", "why"),
    [
        ((DISK, HTTP6), "of its 2 devices none of them boots over HTTP"),
        ((HTTP4, HTTP4.replace("0x7", "0x8")), "of its 2 devices 2 of them boot over HTTP"),
    ],
)
def test_of_no_device_or_several_none_is_guessed(paths: tuple[str, ...], why: str) -> None:
    found = plan("UefiHttp", "", Seen({LISTED: ["UefiTarget"]}, paths))
    assert (found.steps, found.why) == ((), f"it boots over HTTP by a device alone, and {why}")


@pytest.mark.parametrize(
    ("step", "boot", "shown"),
    [
        ({ONCE: "Once", TARGET: "Pxe"}, {ONCE: "Once", TARGET: "Pxe", MODE: "Legacy"}, ""),
        # What is not shown contradicts nothing.
        ({ONCE: "Once", TARGET: "Pxe"}, {}, ""),
        ({ONCE: "Once", TARGET: "Pxe"}, {ONCE: "Once", TARGET: None}, ""),
        ({ONCE: "Once", TARGET: "Pxe"}, {ONCE: "Once", TARGET: "Hdd"}, f"{ONCE} 'Once', {TARGET} 'Hdd'"),
        ({ONCE: "Once", TARGET: "Pxe"}, {ONCE: "Disabled", TARGET: "None"}, f"{ONCE} 'Disabled', {TARGET} 'None'"),
        ({ONCE: "Once", TARGET: "Pxe"}, {ONCE: "Continuous", TARGET: "Pxe"}, f"{ONCE} 'Continuous', {TARGET} 'Pxe'"),
        ({ONCE: "Once", TARGET: "Pxe", MODE: "UEFI"}, {ONCE: "Once", TARGET: "Pxe", MODE: "Legacy"},
         f"{ONCE} 'Once', {TARGET} 'Pxe', {MODE} 'Legacy'"),
        ({ONCE: "Once", TARGET: "Pxe", "HttpBootUri": "a"}, {ONCE: "Once", TARGET: "Pxe", "HttpBootUri": "b"},
         "another HttpBootUri"),
        ({ONCE: "Once", TARGET: "Pxe", "HttpBootUri": "a"}, {ONCE: "Once", TARGET: "Pxe", "HttpBootUri": "a"}, ""),
        ({ONCE: "Once", TARGET: "Pxe", "HttpBootUri": "a"}, {ONCE: "Once", TARGET: "Pxe", "HttpBootUri": ""}, ""),
        ({ONCE: "Disabled", TARGET: "None"}, {ONCE: "Disabled", TARGET: "Pxe"}, ""),
        ({ONCE: "Disabled", TARGET: "None"}, {}, ""),
        ({ONCE: "Disabled", TARGET: "None"}, {ONCE: "Once", TARGET: "None"}, ""),
        ({ONCE: "Disabled", TARGET: "None"}, {ONCE: "Once", TARGET: "Pxe"}, f"{ONCE} 'Once', {TARGET} 'Pxe'"),
    ],
)  # fmt: skip
def test_what_a_bmc_shows_instead_is_told(step: Any, boot: Any, shown: str) -> None:
    assert held(step, boot, {MODE: "Legacy"}) == shown


@pytest.mark.parametrize(("mode", "shown"), [("UEFI", ""), (None, ""), ("Legacy", f", {MODE} 'Legacy'")])
def test_a_bmc_fell_to_another_mode_only_from_uefi(mode: str | None, shown: str) -> None:
    boot = {ONCE: "Once", TARGET: "Pxe", MODE: mode}
    told = shown and f"{ONCE} 'Once', {TARGET} 'Pxe'{shown}"
    assert held({ONCE: "Once", TARGET: "Pxe"}, boot, {MODE: "UEFI"}) == told
    for before in (None, "Legacy"):
        assert held({ONCE: "Once", TARGET: "Pxe"}, boot, {MODE: before}) == ""


@pytest.mark.parametrize(
    ("target", "boot", "there"),
    [
        ("Pxe", {ONCE: "Once", TARGET: "Pxe"}, True),
        ("Pxe", {ONCE: "Once"}, False),
        ("Pxe", {ONCE: "Continuous", TARGET: "Pxe"}, False),
        ("None", {}, True),
    ],
)
def test_what_a_bmc_refused_stands_only_where_it_shows_it(target: str, boot: Step, there: object) -> None:
    assert stands({ONCE: "Once", TARGET: target}, boot) is there


def test_what_was_made_good_for_all_boots_is_told_from_what_was_so_before() -> None:
    always = {ONCE: "Continuous", TARGET: "Hdd"}
    assert lasts({ONCE: "Disabled", TARGET: "None"}, always)
    assert lasts(always, {**always, TARGET: "Pxe"})
    assert not lasts(always, always)
    assert not lasts({}, {ONCE: "Once", TARGET: "Hdd"})


@pytest.mark.parametrize(
    ("step", "before", "other"),
    [
        ({TARGET: "Pxe"}, {MODE: "UEFI"}, {TARGET: "Pxe", MODE: "UEFI"}),
        ({TARGET: "Pxe"}, {MODE: "Legacy"}, None),
        ({TARGET: "Pxe"}, {MODE: None}, None),
        ({TARGET: "Pxe"}, {}, None),
        ({TARGET: "None"}, {MODE: "UEFI"}, None),
        ({TARGET: "Pxe", MODE: "UEFI"}, {MODE: "Legacy"}, {TARGET: "Pxe"}),
    ],
)
def test_the_other_way_never_has_another_mode_than_uefi(step: Step, before: Step, other: Step | None) -> None:
    assert otherwise(step, before) == other


MAC = "b83fd2d7f74a"
PXE4 = HTTP4.removesuffix("/Uri()")
OTHER4 = PXE4.replace("B83FD2D7F74A", "88E9A4809DA2")


@pytest.mark.parametrize(("target", "path"), [("Pxe", PXE4), ("UefiHttp", HTTP4)])
@pytest.mark.parametrize("listed", [True, False])
def test_the_card_that_the_design_names_is_asked_for_by_its_path(target: str, path: str, listed: object) -> None:
    known = [OTHER4, HTTP6, PXE4, HTTP4, DISK]
    boot: dict[str, Any] = {LISTED: [target, "UefiTarget"]}
    seen = Seen({**boot, f"{DEVICE}{ALLOWED}": known}, mac=MAC) if listed else Seen(boot, known, mac=MAC)
    once = {ONCE: "Once", TARGET: "UefiTarget", DEVICE: path}
    assert plan(target, "", seen) == Override(({DEVICE: path}, once))


@pytest.mark.parametrize(
    ("possible", "paths", "why"),
    [
        (["Pxe"], [PXE4], "its BMC takes no UefiTarget"),
        (["Pxe", "UefiTarget"], [OTHER4, HTTP4, DISK], "no device path of Pxe has MAC(B83FD2D7F74A)"),
    ],
)
def test_where_a_card_cannot_be_asked_for_the_firmware_chooses_and_that_is_told(
    possible: list[str], paths: list[str], why: str
) -> None:
    found = plan("Pxe", "", Seen({LISTED: possible}, paths, mac=MAC))
    assert found.steps == ({ONCE: "Once", TARGET: "Pxe"},)
    assert found.note == f"the firmware chooses the network card of the next boot: {why}"


def test_a_medium_and_no_override_come_from_no_card() -> None:
    assert plan("Cd", "", Seen({}, mac=MAC)) == Override(({ONCE: "Once", TARGET: "Cd"},))
    assert plan("None", "", Seen({}, mac=MAC)).note == ""
