"""Is every firmware component on one of its pinned versions?"""

from fnmatch import fnmatchcase

from fleet_runner.core import profile
from fleet_runner.core.checks.answers import about, conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import redfish
from fleet_runner.core.profile import Pin
from fleet_runner.core.verdicts import Finding, Remedy, Result

NOT_RUNNING = ("Backup_", "Golden_", "Staging_", "Previous-")
"""How ids of images begin that lie in the BMC but do not run (Supermicro, Dell): their versions are not drift."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Hold versions against the pins as texts: vendors' versions have no order, so drift is being another one.

    A pinned component that the inventory does not list, or lists without a version, is UNKNOWN: the baseboard of
    the GPUs answers nothing while the host is off.
    """
    pins = profile.pins(expected.profile)
    found = redfish.firmware(text_of(readings["redfish_firmware"]))
    running = {name: version for name, version in found.items() if not name.startswith(NOT_RUNNING)}
    findings: list[Finding] = []
    unread: list[str] = []
    versions: dict[str, str] = {}
    for pin in pins:
        mine = {name: version for name, version in running.items() if fnmatchcase(name, pin.inventory_id)}
        versions |= mine
        unread += _unread(pin, mine)
        findings += [
            _drift(name, version, pin, expected.node)
            for name, version in mine.items()
            if version and version not in pin.accepted
        ]
    passed = f"{len(versions)} components are on their pins" if pins else "the profile pins no firmware"
    return unless_unread(conclude("firmware_pins", findings, passed, {"versions": versions}), unread)


def _unread(pin: Pin, mine: dict[str, str]) -> list[str]:
    if not mine:
        return [f"the BMC lists no {pin.component} ({pin.inventory_id}); is the host on?"]
    return [f"the BMC gives no version of {name}" for name, version in mine.items() if not version]


def _drift(name: str, version: str, pin: Pin, node: str) -> Finding:
    return about(node, "firmware.drift", name)(
        message=f"{name} ({pin.component}) has version {version:.80}, expected {' or '.join(pin.accepted)}",
        remedy=Remedy.REFLASH,
        steps=(f"Bring {name} of {node} to {pin.accepted[0]}, and read the inventory again.",),
    )


CHECK = Check(
    name="firmware_pins",
    question="Is every firmware component on one of its pinned versions?",
    reads=("redfish_firmware",),
    judge=judge,
)
