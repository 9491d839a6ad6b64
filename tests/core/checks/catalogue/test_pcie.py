"""PCIe: devices, their links, their errors, and how they are set."""

import pytest

from fleet_runner.core.checks.parsers import files, lspci, pci_files
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.hosting import asked, edited, host, later
from tests.core.checks.catalogue.judging import HEALTHY, remedies
from tests.core.checks.healthy import text_of

SEEN = HEALTHY["pcie_devices"]["pci_devices"]
LSPCI = HEALTHY["pcie_settings"]["lspci"]
HCA = "1a:00.0__"


@pytest.mark.parametrize(
    ("ending", "said", "code"),
    [
        (f"{HCA}current_link_width", "8", "pcie.width"),
        (f"{HCA}current_link_speed", "16.0 GT/s PCIe", "pcie.speed"),
    ],
)
@pytest.mark.parametrize("pinned", [True, False])
def test_a_link_that_came_up_small_is_a_fault(ending: str, said: str, code: str, pinned: bool) -> None:
    """Against the profile's numbers, or where it says so against what the device can."""
    row = {"ids": ["15b3:1021"], "count": 2} | ({"lanes": 16, "gigatransfers": 32} if pinned else {"full_link": True})
    result = host(
        "pcie_devices", asked("pcie_devices", {"devices": {"HCA": row}}), pci_devices=edited(SEEN, **{ending: said})
    )
    assert remedies(result) == {code: Remedy.TRIAGE}
    assert result.findings[0].component == "HCA 0000:1a:00.0"
    assert "0000:1a:00.0" in result.findings[0].steps[0]


def test_a_device_that_is_not_on_the_bus_is_missing() -> None:
    """By its id; others of the kind are named, so that the right slot is found."""
    result = host("pcie_devices", pci_devices=edited(SEEN, **{f"{HCA}device": "0x101d"}))
    assert remedies(result) == {"pcie.missing": Remedy.TRIAGE}
    assert "there are: 0000:3c:00.0" in result.findings[0].steps[0]


def test_devices_may_be_told_by_their_class_and_not_be_counted() -> None:
    """As NVMe drives are, of whatever vendor."""
    rows = {"adapter": {"classes": ["0207"]}, "nothing": {}}
    result = host("pcie_devices", asked("pcie_devices", {"devices": rows}))
    assert result.message == "links run as they should: 2 adapter, 0 nothing"


def test_a_link_that_the_kernel_does_not_tell_is_unknown_where_it_is_asked_for() -> None:
    """One that is down has an unknown speed."""
    bent = edited(SEEN, **{f"{HCA}current_link_speed": "Unknown"})
    assert host("pcie_devices", pci_devices=bent).verdict is Verdict.UNKNOWN
    rows = {"HCA": {"ids": ["15b3:1021"]}}
    assert host("pcie_devices", asked("pcie_devices", {"devices": rows}), pci_devices=bent).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("kind", "total", "count", "code", "remedy"),
    [
        ("fatal", "FATAL", 1, "pcie.fatal", Remedy.REBOOT),
        ("nonfatal", "NONFATAL", 3, "pcie.nonfatal", Remedy.WATCH),
        ("correctable", "COR", 302, "pcie.corrected", Remedy.RECORD),
        ("correctable", "COR", 320, "pcie.corrected", Remedy.WATCH),
    ],
)
def test_errors_count_from_look_to_look(kind: str, total: str, count: int, code: str, remedy: Remedy) -> None:
    """A lane of 32 GT/s may make 1.92 corrected errors a minute: sixteen of them 307 in ten minutes."""
    first = host("pcie_devices")
    bent = edited(SEEN, **{f"{HCA}aer_dev_{kind}": f"BadTLP {count}\nTOTAL_ERR_{total} {count}"})
    result = host("pcie_devices", later("pcie_devices", first, 600), pci_devices=bent)
    assert remedies(result) == {code: remedy}
    assert result.findings[0].component == "PCIe device 0000:1a:00.0"


def test_what_was_counted_is_not_told_again_from_the_log() -> None:
    """One fault, one finding; of other devices the log alone tells."""
    first = host("pcie_devices")
    bent = edited(SEEN, **{f"{HCA}aer_dev_correctable": "TOTAL_ERR_COR 9"})
    result = host(
        "pcie_devices", later("pcie_devices", first, 600), pci_devices=bent, dmesg=text_of("dmesg/host_faults.txt")
    )
    assert [(each.code, each.component, each.remedy) for each in result.findings] == [
        ("pcie.corrected", "PCIe device 0000:1a:00.0", Remedy.RECORD),
        ("pcie.fatal", "PCIe device 0000:18:00.0", Remedy.REBOOT),
        ("pcie.fatal", "PCIe device 0000:19:00.0", Remedy.REBOOT),
        ("pcie.nonfatal", "PCIe device 0000:17:00.0", Remedy.WATCH),
        ("pcie.unplugged", "PCIe device 0000:20:01.0", Remedy.WATCH),
    ]


def test_a_speed_without_a_known_limit_counts_no_corrected_errors() -> None:
    """Nobody says how many such a lane may make."""
    first = host("pcie_devices")
    bent = edited(
        SEEN,
        **{f"{HCA}aer_dev_correctable": "TOTAL_ERR_COR 9999", f"{HCA}current_link_speed": "128.0 GT/s PCIe"},
    )
    assert host("pcie_devices", later("pcie_devices", first, 600), pci_devices=bent).findings == ()


def test_older_kernels_give_no_total() -> None:
    """Then the kinds of errors are added."""
    bent = edited(SEEN, **{f"{HCA}aer_dev_correctable": "RxErr 1\nBadTLP 2\n"})
    found = pci_files.devices(files.parse(bent))
    assert {each.errors.get("correctable") for each in found} == {None, 2, 3}


def test_no_device_at_all_is_unknown() -> None:
    """Every server has some."""
    assert host("pcie_devices", pci_devices="{}").verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("ACSCtl:\tSrcValid- TransBlk- ReqRedir-", "ACSCtl:\tSrcValid+ TransBlk- ReqRedir+", "pcie.acs"),
        ("MaxReadReq 4096", "MaxReadReq 512", "pcie.request"),
        ("\tMaxPayload 512 bytes, MaxR", "\tMaxPayload 128 bytes, MaxR", "pcie.payload"),
        ("RlxdOrd+", "RlxdOrd-", "pcie.ordering"),
    ],
)
def test_a_setting_off_its_pin_asks_for_the_setting(old: str, new: str, code: str) -> None:
    """It is the BIOS's, or a boot script's."""
    result = host("pcie_settings", lspci=LSPCI.replace(old, new))
    assert remedies(result) == {code: Remedy.REFLASH}


def test_many_bridges_with_access_controls_are_one_finding() -> None:
    """It names the first few."""
    bridge = LSPCI[: LSPCI.index("\n\n")].replace("SrcValid- TransBlk-", "SrcValid+ TransBlk-")
    text = "\n\n".join(bridge.replace("0000:17", f"0000:{nth:02x}") for nth in range(10)) + "\n\n" + LSPCI
    result = host("pcie_settings", lspci=text)
    assert len(result.findings) == 1
    assert "on at 10 bridges" in result.message
    assert "…" in result.message


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("ACSCtl", "x", "run by root"),
        ("15b3:1021]", "15b3:101d]", "lists no device 15b3:1021"),
        ("DevCtl", "x", "MaxReadReq"),
    ],
)
def test_what_lspci_does_not_show_is_unknown(old: str, new: str, said: str) -> None:
    """Capabilities are shown to root alone."""
    result = host("pcie_settings", lspci=LSPCI.replace(old, new))
    assert result.verdict is Verdict.UNKNOWN
    assert said in result.message.replace("read_request_bytes", "MaxReadReq")


def test_a_profile_may_ask_for_nothing_but_adapters() -> None:
    """Or want access controls on, for a node that is shared."""
    none = dict.fromkeys(("acs", "read_request_bytes", "payload_bytes_min", "relaxed_ordering"), None)
    assert host("pcie_settings", asked("pcie_settings", none)).verdict is Verdict.PASS
    on = asked("pcie_settings", none | {"acs": True, "ids": None})
    assert host("pcie_settings", on, lspci=LSPCI.replace("SrcValid-", "SrcValid+")).verdict is Verdict.PASS


def test_an_address_without_a_domain_is_in_the_first() -> None:
    """Without -D, lspci leaves it out."""
    first = lspci.parse("17:00.0 PCI bridge [0604]: X [1000:c030]\n\tControl: I/O+\n")[0]
    assert (first.pci, first.kind, first.id, first.steered) == ("0000:17:00.0", "0604", "1000:c030", None)
    assert lspci.parse("17:00.0 PCI bridge: X\n")[0].id == ""
