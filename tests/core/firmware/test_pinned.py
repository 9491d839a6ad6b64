"""A node's firmware beside its pins, from what its newest check saw."""

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.firmware.catalogue import Catalogue, Component
from fleet_runner.core.firmware.pinned import ANOTHER, AS_PINNED, DRIFT, NAME, NOT_KNOWN, Pinned, pinned

BASE = "/redfish/v1/UpdateService/FirmwareInventory"
BODIES = {f"{BASE}/{name}": {"Version": found} for name, found in {"BMC": "1.2", "BIOS": "2.0", "CPLD": ""}.items()}
CATALOGUE = Catalogue((
    Component("the BMC", "BMC", "1.2", ("1.2", "1.1")),
    Component("the BIOS", "BIOS", "2.1", ("2.1",)),
    Component("the CPLD", "CPLD", "9", ("9",)),
))  # fmt: skip
VERSIONS = {"BMC": "1.2", "BIOS": "2.0", "CPLD": ""}


def checked(*drifted: str, versions: object = VERSIONS) -> Result:
    """What the check said."""
    findings = tuple(Finding("firmware.drift", each, "another", Remedy.REFLASH, each) for each in drifted)
    return Result(NAME, Verdict.FAIL if drifted else Verdict.PASS, "", findings, {"versions": versions})


def test_each_component_stands_beside_what_is_accepted() -> None:
    assert pinned(checked("BIOS"), CATALOGUE, BODIES) == (
        Pinned("BIOS", "the BIOS", "2.0", ("2.1",), DRIFT),
        Pinned("BMC", "the BMC", "1.2", ("1.2", "1.1"), AS_PINNED),
        Pinned("CPLD", "the CPLD", "", ("9",), NOT_KNOWN),
    )


def test_another_version_that_the_check_did_not_call_drift_is_not_called_so() -> None:
    """The customer's adapter, or a catalogue that was changed since."""
    assert pinned(checked(), CATALOGUE, BODIES)[0].stand == ANOTHER


def test_without_the_catalogue_or_the_inventory_what_was_found_is_told() -> None:
    for given in ((None, BODIES), (CATALOGUE, {})):
        assert [(row.entry, row.found, row.pins, row.stand) for row in pinned(checked("BIOS"), *given)] == [
            ("BIOS", "2.0", (), DRIFT),
            ("BMC", "1.2", (), NOT_KNOWN),
            ("CPLD", "", (), NOT_KNOWN),
        ]


def test_what_is_no_table_of_versions_tells_nothing() -> None:
    assert pinned(checked(versions=[1, 2]), None, {}) == ()
