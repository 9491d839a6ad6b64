"""What a Supermicro BMC is told beside an image: the resource that it is for, and what is kept.

Its BMC takes an image of its own firmware for its Manager and a BIOS for the Bios of the system, and keeps of either
only what it is told to. From Supermicro's Redfish reference guide, as fwupd, bmclib and NVIDIA's infra-controller
follow it.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

KEEPS: Mapping[str, Mapping[str, bool]] = {
    "BMC": {"PreserveCfg": True, "PreserveSdr": True, "PreserveSsl": True},
    "BIOS": {"PreserveNVRAM": True, "PreserveSMBIOS": True},
    "CPLD": {},
}
"""What is kept, by the kind of image, unless the catalogue says otherwise: all that every model knows."""

ME: Mapping[str, bool] = {"PreserveME": True}
"""What is kept of a BIOS on boards with an ME, and is refused by others: those with `SPSVersion` in their BIOS."""

OMIT = "omit"
"""The value of a key that a board does not know, and would refuse."""

KIND = "ImageType"
"""The key of a catalogue's `oem_parameters` that says the kind where the targets do not; it is not sent."""

_RESOURCE = re.compile(r".*/(Managers|Systems)/\d+")
"""The BMC and the computer of a board; what stands beside them, as HGX_BMC_0, is of a baseboard."""


class Told(NamedTuple):
    """The Targets of a request, and its Oem; the latter is empty where the kind of image has none."""

    targets: tuple[str, ...]
    oem: Mapping[str, Any]


def kind(uri: str) -> str:
    """Return the kind of image that goes to a resource or to the firmware of one: BMC, BIOS, or "" for any other."""
    whole = uri.rstrip("/")
    name = whole.rpartition("/")[2]
    found = _RESOURCE.fullmatch(whole)
    if name == "BMC" or (found and found[1] == "Managers"):
        return "BMC"
    return "BIOS" if found or name in {"BIOS", "Bios"} else ""


def told(named: Mapping[str, Mapping[str, Any]], chosen: Mapping[str, Any]) -> Told:
    """Return what goes with an image. `named` are the resources that it is for, as they were read, by URI.

    `chosen` are the catalogue's `oem_parameters`: they go before what is kept by default.
    """
    said = str(chosen.get(KIND)).upper()
    kinds = list(dict.fromkeys(each for each in (said, *map(kind, named)) if each in KEEPS))
    me = ME if any(kind(uri) == "BIOS" and _has_me(body) for uri, body in named.items()) else {}
    more = {key: value for key, value in chosen.items() if key != KIND}
    kept = {each: {**KEEPS[each], **(me if each == "BIOS" else {}), **more} for each in kinds}
    oem = {each: {key: value for key, value in keys.items() if value != OMIT} for each, keys in kept.items()}
    return Told(tuple(_resource(uri, body) for uri, body in named.items()), {"Supermicro": oem} if oem else {})


def _resource(uri: str, body: Mapping[str, Any]) -> str:
    """Return what a BMC's or BIOS's firmware is about, which alone may be named; anything else is named itself."""
    related = body.get("RelatedItem")
    first: object = related[0] if isinstance(related, list) and related else None
    about = first.get("@odata.id") if isinstance(first, Mapping) else None
    fits = isinstance(about, str) and about.startswith("/") and kind(uri) and kind(about) == kind(uri)
    return str(about) if fits else uri


def _has_me(body: Mapping[str, Any]) -> bool:
    oem = body.get("Oem")
    own = oem.get("Supermicro") if isinstance(oem, Mapping) else None
    return isinstance(own, Mapping) and bool(own.get("SPSVersion"))
