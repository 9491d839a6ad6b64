"""Is every firmware component on one of its accepted versions?"""

from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import redfish
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.firmware import catalogue, inventory
from fleet_runner.core.firmware.catalogue import Component
from fleet_runner.core.firmware.excluded import is_adapter
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.matching import match
from fleet_runner.core.inventory.records import Management


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold versions against the catalogue as texts: vendors' versions have no order, so drift is being another one.

    Of a node that its customer manages, network adapters are not ours to update, and so never drift.

    A component that the inventory does not list, lists in another number, or without a version, is UNKNOWN: the
    baseboard of the GPUs answers nothing while the host is off.
    """
    rows = catalogue.read(expected.profile)
    theirs = expected.device.get("management") == Management.CUSTOMER
    bodies = redfish.resources(text_of(readings["redfish_firmware"]), "the firmware inventory")
    found = match(rows, inventory.entries(bodies))
    others = [
        (row, entry)
        for row, mine in found.rows
        for entry in mine
        if entry.version and entry.version not in row.accepted
    ]
    drifted = [(row, entry) for row, entry in others if not (theirs and is_adapter(row.name, entry))]
    findings = [_drift(entry, row, expected.node) for row, entry in drifted]
    versions = {entry.id: entry.version for _, mine in found.rows for entry in mine}
    left = len(others) - len(drifted)
    passed = f"{len(versions) - left} components are on accepted versions"
    passed += f"; {left} others are network adapters of the customer's" if left else ""
    passed = passed if rows.components else "the catalogue has no components"
    return unless_unread(conclude("firmware_pins", findings, passed, {"versions": versions}), found.troubles)


def _drift(entry: Entry, row: Component, node: str) -> Finding:
    accepted = " or ".join(row.accepted)
    return about(node, "firmware.drift", entry.id)(
        message=f"{entry.id} ({row.name}) has version {entry.version:.80}, expected {accepted}",
        remedy=Remedy.REFLASH,
        steps=(f"Bring {entry.id} of {node} to {row.target}, and read the inventory again.",),
    )


CHECK = Check(
    name="firmware_pins",
    question="Is every firmware component on one of its accepted versions?",
    reads=("redfish_firmware",),
    judge=judge,
    section=catalogue.SECTION,
    codes=(
        Code("firmware.drift", (Remedy.REFLASH,), "a component has none of the versions that the catalogue accepts"),
    ),
    source="The profile's own `firmware`, a catalogue; vendors' versions have no order, so drift is inequality.",
)
