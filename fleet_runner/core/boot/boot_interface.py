"""The network card that the design names to boot from: by the MAC address in a boot option's UEFI device path."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError

SECTION, KEY = "boot_settings", "interface"

_DIGITS = re.compile("[^0-9a-f]")
_PATH = re.compile(r"MAC\(([0-9A-Fa-f]{12})")


def chosen(profile: Mapping[str, Any], device: Mapping[str, Any]) -> str:
    """Return the MAC address, 12 hex digits, of the interface that a profile names; "" where it names none.

    `device` is `fleet_device`: the source of truth has the interface's address.

    Raises:
        EvidenceError: the device has no such interface, or none with an address.
    """
    section = profile.get(SECTION)
    name = section.get(KEY) if isinstance(section, Mapping) else None
    if name is None:
        return ""
    found = {str(each.get("name")): str(each.get("mac") or "") for each in device.get("interfaces") or ()}
    mac = _digits(found.get(str(name), ""))
    if not mac:
        raise EvidenceError(
            f"{SECTION}.{KEY} is {name!r:.80}, and {device.get('name')} has no interface of that name with a MAC"
            " address in the source of truth; record it, or correct the profile"
        )
    return mac


def leads(option: Mapping[str, Any], mac: str) -> bool:
    """Whether a boot option boots from the card of a MAC address, as its device path says."""
    found = _PATH.search(str(option.get("UefiDevicePath") or ""))
    return found is not None and found[1].lower() == mac


def named(options: Mapping[str, Mapping[str, Any]], mac: str) -> Iterable[str]:
    """Return the boot options whose names alone have the address: enough to tell a person, not to set anything."""
    written = {name: str(body.get("DisplayName") or "").lower().replace(":", "") for name, body in options.items()}
    return (name for name, words in written.items() if mac in words)


def _digits(text: str) -> str:
    return _DIGITS.sub("", text.lower())
