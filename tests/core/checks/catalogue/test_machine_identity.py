"""Which machine answers: by its serial number, by its MAC addresses, and by two who may tell of two machines."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.bmc_trees import DGX, SUPERMICRO, gathered, tree_of
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, PROFILE, judged, remedies

TEXTS = HEALTHY["machine_identity"]
BMC: dict[str, Any] = json.loads(TEXTS["redfish_machine"])
DMI: dict[str, Any] = json.loads(TEXTS["dmi"])
SYSTEM, CHASSIS = "/redfish/v1/Systems/1", "/redfish/v1/Chassis/1"
SERIAL, MAC = "A518042X3700077", "b8:3f:d2:00:00:01"
OTHER = "A518042X3700078"


def expected(serial: str | None = SERIAL, *macs: str) -> Expected:
    """Return what the source of truth says of the node."""
    interfaces = [{"name": f"eth{at}", "kind": "1000base-t", "mac": mac} for at, mac in enumerate(macs)]
    return Expected(NODE, PROFILE, {"serial": serial, "interfaces": interfaces})


def bmc(**values: Any) -> str:
    """Return what a BMC says whose system and chassis have other values."""
    return json.dumps(BMC | {uri: BMC[uri] | values for uri in (SYSTEM, CHASSIS)})


def dmi(**values: str | None) -> str:
    """Return what the firmware's table says, with other values."""
    return json.dumps(DMI | {f"/sys/class/dmi/id/{name}": value for name, value in values.items()})


def macs(*found: str) -> str:
    """Return the addresses of some interfaces."""
    return json.dumps({f"/sys/class/net/eth{at}/address": mac for at, mac in enumerate(found)})


def ask(known: Expected, **texts: str) -> Result:
    """Judge what was read and nothing else."""
    return judged("machine_identity", texts, known)


STRANGER = {
    "redfish_machine": bmc(SerialNumber=OTHER),
    "dmi": dmi(product_serial=OTHER, chassis_serial=OTHER, board_serial="OM99"),
    "network_interfaces": macs("b8:3f:d2:00:00:99"),
}


@pytest.mark.parametrize("serial", [SERIAL, f" {SERIAL.lower()} ", "C8210AM00PP0042"])
@pytest.mark.parametrize("read", ["redfish_machine", "dmi"])
def test_the_serial_number_of_the_system_or_its_chassis_proves_it(serial: str, read: str) -> None:
    """Which of them a site writes down differs, and so do case and blanks."""
    result = ask(expected(serial), **{read: TEXTS[read]})
    assert (result.verdict, result.observed["by"]) == (Verdict.PASS, "serial")


@pytest.mark.parametrize("read", ["redfish_machine", "dmi"])
def test_another_serial_number_names_both_and_asks_for_a_person(read: str) -> None:
    """Nothing else follows: no power is switched for it."""
    result = ask(expected(), **{read: STRANGER[read]})
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == {"identity.serial": Remedy.RECABLE}
    assert OTHER in result.message
    assert SERIAL in result.message
    assert result.observed["match"] == "other"


def test_a_bmc_and_a_system_of_two_machines_are_no_machine_of_the_design() -> None:
    """An address that was given twice: one of both is right."""
    result = ask(expected(), redfish_machine=TEXTS["redfish_machine"], dmi=STRANGER["dmi"])
    assert [finding.component for finding in result.findings] == ["system"]
    result = ask(expected(), redfish_machine=STRANGER["redfish_machine"], dmi=TEXTS["dmi"])
    assert [finding.component for finding in result.findings] == ["BMC"]


@pytest.mark.parametrize("unfilled", ["Default string", "To be filled by O.E.M.", "", " 0000000 ", "None"])
def test_what_nobody_filled_in_is_no_serial_number(unfilled: str) -> None:
    """Then its MAC addresses tell."""
    table = dmi(product_serial=unfilled, chassis_serial=unfilled, board_serial=unfilled)
    texts = {"redfish_machine": bmc(SerialNumber=unfilled), "dmi": table, "network_interfaces": macs(MAC)}
    assert ask(expected(SERIAL, MAC), **texts).observed["by"] == "mac"
    assert ask(expected(unfilled, MAC), **TEXTS).observed["by"] == "mac"
    assert ask(expected(SERIAL), **texts).verdict is Verdict.UNKNOWN


def test_a_bmc_with_a_null_serial_number_says_none() -> None:
    """As many do; it does not make the machine another one."""
    result = ask(expected(), redfish_machine=bmc(SerialNumber=None))
    assert (result.verdict, result.observed["match"]) == (Verdict.UNKNOWN, "unknown")
    assert "its BMC says no serial number that could be compared with A518042X3700077" in result.message


@pytest.mark.parametrize("name", ["product_serial", "chassis_serial"])
def test_a_serial_number_that_only_root_may_read_contradicts_nothing(name: str) -> None:
    """The one that was not read may be the designed one."""
    told = {"product_serial": OTHER, "chassis_serial": OTHER, name: None}
    assert ask(expected(), dmi=dmi(**told)).verdict is Verdict.UNKNOWN


def test_a_chassis_that_answers_with_an_error_contradicts_nothing() -> None:
    """Likewise."""
    found = json.loads(bmc(SerialNumber=OTHER)) | {CHASSIS: None}
    assert ask(expected(), redfish_machine=json.dumps(found)).verdict is Verdict.UNKNOWN
    found = json.loads(bmc(SerialNumber=OTHER)) | {f"{SYSTEM}/EthernetInterfaces/1": None}
    assert ask(expected(), redfish_machine=json.dumps(found)).verdict is Verdict.FAIL


def test_a_board_proves_its_machine_and_never_contradicts_it() -> None:
    """A main board is replaced, and its serial number is nobody's name for the machine."""
    blank = {"product_serial": "Default string", "chassis_serial": "Default string"}
    assert ask(expected("OM22AS600123"), dmi=dmi(**blank)).verdict is Verdict.PASS
    assert ask(expected(), dmi=dmi(**blank)).verdict is Verdict.UNKNOWN


def test_a_machine_with_none_of_the_designed_mac_addresses_is_another_one() -> None:
    """Where no serial number can be compared."""
    result = ask(expected(None, MAC), network_interfaces=macs("b8:3f:d2:00:00:99", "02:42:ac:11:00:02"))
    assert remedies(result) == {"identity.mac": Remedy.RECABLE}
    assert "its system has MAC address b8:3f:d2:00:00:99, and none of the source of truth's" in result.message


def test_other_mac_addresses_in_the_right_machine_are_told_as_well() -> None:
    """An adapter that was replaced boots nothing until the source of truth knows it."""
    result = ask(expected(SERIAL, MAC), dmi=TEXTS["dmi"], network_interfaces=macs("b8:3f:d2:00:00:99"))
    assert (result.verdict, list(remedies(result))) == (Verdict.FAIL, ["identity.mac"])
    assert result.observed["match"] == "same"


@pytest.mark.parametrize("found", [("02:42:ac:11:00:02",), ("00:00:00:00:00:00",), ("00:00:10:29:fe:80:00:00",), ()])
def test_addresses_that_software_made_up_tell_nothing(found: tuple[str, ...]) -> None:
    """Bridges, loopbacks and InfiniBand have no address of a card."""
    assert ask(expected(None, MAC), network_interfaces=macs(*found, "02:00:00:00:00:01")).verdict is Verdict.UNKNOWN


def test_a_bmc_may_leave_out_mac_addresses() -> None:
    """Many list only those on the board: one that is there proves it, one that is not proves nothing."""
    blank = bmc(SerialNumber=None)
    assert ask(expected(None, MAC), redfish_machine=blank).observed["by"] == "mac"
    result = ask(expected(None, "b8:3f:d2:00:00:99"), redfish_machine=blank)
    assert result.verdict is Verdict.UNKNOWN
    assert "lists none of its MAC addresses" in result.message


def test_the_address_of_a_bmc_and_of_a_fabric_are_no_mac_address_of_the_node() -> None:
    """Neither is what it boots from."""
    device = {"interfaces": [
        {"name": "bmc", "kind": "1000base-t", "mac": MAC, "mgmt_only": True},
        {"name": "ib0", "kind": "infiniband-ndr", "mac": MAC},
    ]}  # fmt: skip
    result = ask(Expected(NODE, PROFILE, device), **TEXTS)
    assert result.verdict is Verdict.UNKNOWN
    assert "no serial number and no MAC address of it; record its serial number" in result.message


def test_two_serial_numbers_without_a_designed_one_may_be_two_machines() -> None:
    """Then its MAC address proves only one of them."""
    result = ask(expected(None, MAC), dmi=STRANGER["dmi"], **{
        name: TEXTS[name] for name in ("redfish_machine", "network_interfaces")
    })  # fmt: skip
    assert result.verdict is Verdict.UNKNOWN
    assert "are these two machines?" in result.message


def test_two_uuids_where_one_side_says_no_serial_number_may_be_two_machines() -> None:
    """In whichever order their bytes are."""
    one, other = "2d7c8a00-51f1-11ee-8000-3cecef0077aa", "2d7c8a00-51f1-11ee-8000-3cecef0077ff"
    turned = "008a7c2d-f151-ee11-8000-3cecef0077aa"
    for uuid, verdict in ((one, Verdict.PASS), (turned, Verdict.PASS), (other, Verdict.UNKNOWN)):
        result = ask(expected(), redfish_machine=bmc(SerialNumber=None, UUID=uuid), dmi=TEXTS["dmi"])
        assert result.verdict is verdict, uuid


def test_two_uuids_of_one_serial_number_are_the_firmwares_affair() -> None:
    """Both sides have said who they are."""
    found = bmc(UUID="2d7c8a00-51f1-11ee-8000-3cecef0077ff")
    assert ask(expected(), redfish_machine=found, dmi=TEXTS["dmi"]).verdict is Verdict.PASS


def test_nobody_who_answers_is_unknown() -> None:
    """A node that is down, behind a BMC that does not answer."""
    result = ask(Expected(NODE, PROFILE, DEVICE))
    assert result.verdict is Verdict.UNKNOWN
    assert "its BMC gave no identity: redfish_machine was not read" in result.message


@pytest.mark.parametrize(("name", "wanted"), [
    (SUPERMICRO, "SN3E9D25880F12"), (SUPERMICRO, "SN5DA7AA3C2277"), (DGX, "SN525F4CE9090D"), (DGX, "SNC4A9A5F919F1"),
])  # fmt: skip
def test_real_bmcs_prove_their_machine_by_system_and_chassis(samples: Path, name: str, wanted: str) -> None:
    """A DGX has two systems; that of its GPU baseboard, and the baseboards' chassis, are parts."""
    text = gathered(tree_of(samples, name), "redfish_machine")
    assert ask(expected(wanted), redfish_machine=text).verdict is Verdict.PASS
    result = ask(expected("SOMETHING-ELSE"), redfish_machine=text)
    assert remedies(result) == {"identity.serial": Remedy.RECABLE}
    assert ask(expected("SN3FEF4D8EC35C"), redfish_machine=text).verdict is Verdict.FAIL, "a baseboard is no machine"
