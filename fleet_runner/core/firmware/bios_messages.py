"""What a BMC complains of since the host took BIOS settings up: `@Redfish.Settings`, HPE's old `SettingsResult`."""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.printable import printable

FINE = ("Success", "SystemResetRequired")
"""Ids that are no complaint where nothing says how grave they are: HPE's, of settings that wait."""

RESULTS = ("@Redfish.Settings", "SettingsResult")

LONGEST = 200
"""Characters of one complaint."""

MOST = 32
"""Complaints that are looked at."""


def complaints(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the host did not do as it was told, in the BMC's words, of a BIOS resource.

    A message without a text, as HPE's are, is told by its id and its arguments.
    """
    found: list[str] = []
    for name in RESULTS:
        said = body.get(name)
        listed = said.get("Messages") if isinstance(said, Mapping) else None
        known = [each for each in listed[:MOST] if isinstance(each, Mapping)] if isinstance(listed, list) else []
        found += filter(None, map(_complaint, known))
    return tuple(found)


def about(name: str, found: tuple[str, ...]) -> str:
    """Return what is said of one setting, else what is said first; "" where nothing is."""
    return next((text for text in found if name in text), next(iter(found), ""))


def _complaint(message: Mapping[str, Any]) -> str:
    kind, text = message.get("MessageId"), message.get("Message")
    key = kind.rpartition(".")[2] if isinstance(kind, str) else ""
    severity = message.get("MessageSeverity") or message.get("Severity")
    if severity == "OK" or (severity is None and key.startswith(FINE)):
        return ""
    if isinstance(text, str) and text:
        return printable(text)[:LONGEST]
    args = message.get("MessageArgs")
    named = [str(each) for each in args[:MOST] if isinstance(each, str | int)] if isinstance(args, list) else []
    return printable(f"{key} {', '.join(named)}".strip())[:LONGEST]
