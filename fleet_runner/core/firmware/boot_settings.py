"""Secure Boot and what boots first: what a profile wants, what a BMC shows of them, and what is to be changed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.fields import Problem, Section, Unfit
from fleet_runner.core.boot import boot_interface
from fleet_runner.core.firmware import bios
from fleet_runner.core.firmware.bios import Plan
from fleet_runner.core.firmware.bios_values import Value
from fleet_runner.core.firmware.catalogue import CatalogueError

SECTION = "boot_settings"
SECURE, FIRST = "boot_settings.secure_boot", "boot_settings.first"
"""What the two are called among a node's settings; the name of no BIOS attribute has a dot."""

PATTERNS = (
    "/redfish/v1/Systems/*!HGX_*",
    "/redfish/v1/Systems/*!HGX_*/SecureBoot",
    "/redfish/v1/Systems/*!HGX_*/@Redfish.Settings:SettingsObject",
    "/redfish/v1/Systems/*!HGX_*/Boot:BootOptions/*",
)
"""The resources of a BMC that tell of them."""

DELL_SECURE = "SecureBoot"
"""A Dell's BIOS setting: its SecureBoot resource makes a job of its own at once, after which its BIOS takes no other
settings (bmc-toolbox/bmclib 471)."""

ENABLE, MODE = "SecureBootEnable", "SecureBootMode"

MODES = ("SetupMode", "AuditMode", "UserMode", "DeployedMode")
NO_KEYS = MODES[:2]
"""Modes without a platform key, in which nothing is enforced (UEFI specification, 32.3)."""

_SYSTEM = re.compile(r"/redfish/v1/Systems/[^/]+/?")
_REMOTE = re.compile(r"USB\(|CDROM\(|iSCSI\(|NVMeOF\(")
"""In the paths of what is neither the network's nor the host's own disk."""

_DISK = re.compile(r"(?:NVMe|Sata|SCSI|Scsi|SasEx|eMMC|UFS|HD)\(")
_NETWORK_NAME = re.compile(r"(?:\([^)]*\) )?(?:uefi:? ?)?(?:pxe|http|network)", re.IGNORECASE)
_DISK_NAME = re.compile(r"(?:\([^)]*\) )?(?:uefi:? ?)?(?:hard ?(?:disk|drive)|nvme)", re.IGNORECASE)
_IPV6 = re.compile("IPv6|(?:PXE|HTTP)v6")
_HTTP = re.compile(r"Uri\(|HTTP")


class Kind(StrEnum):
    """What a boot option boots from."""

    NETWORK = "network"
    DISK = "disk"
    OTHER = "other"


OTHER_CARD = "another network card"
"""What the first option boots from where the design names a card, and another one of the order is that card's."""

ALIASES = {"Pxe": Kind.NETWORK, "UefiHttp": Kind.NETWORK, "Hdd": Kind.DISK}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a BMC shows: its Secure Boot, the boot order in force and the one that waits, and its options by name.

    `mac` is that of the card that the design names (`core.boot.boot_interface`), "" for none.
    """

    secure: Mapping[str, Any] = field(default_factory=dict[str, Any])
    order: tuple[str, ...] = ()
    later: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    dell: bool = False
    mac: str = ""


def read(profile: Mapping[str, Any]) -> dict[str, Value]:
    """Return what a profile wants of them; nothing where it has no such section.

    Raises:
        CatalogueError: with everything that is wrong with it.
    """
    if SECTION not in profile:
        return {}
    problems: list[Problem] = []
    section = Section(profile[SECTION], (SECTION,), problems)
    secure, first = section.take("secure_boot", _truth, None), section.take("first", _kind, None)
    interface = section.take("interface", _name, None)
    section.strangers()
    if not problems and secure is None and first is None and interface is None:
        section.wrong("first", "nothing", "secure_boot, first, or both")
    attributes = profile[bios.SECTION].get("attributes") if isinstance(profile.get(bios.SECTION), Mapping) else None
    if secure is not None and isinstance(attributes, Mapping) and DELL_SECURE in attributes:
        section.wrong("secure_boot", f"{DELL_SECURE} among the attributes of bios, too", "one of them")
    if problems:
        raise CatalogueError(tuple(problems))
    return {name: value for name, value in ((SECURE, secure), (FIRST, first)) if value is not None}


def shown(bodies: Mapping[str, Any], mac: str = "") -> Shown:
    """Return what the resources of PATTERNS tell, for a machine that boots from the card of a MAC address, if any.

    Raises:
        EvidenceError: several computers have a boot order, or Secure Boot.
    """
    known = {uri: body for uri, body in bodies.items() if isinstance(body, Mapping)}
    systems = [body for uri, body in known.items() if _SYSTEM.fullmatch(uri) and _boot(body)]
    secures = [body for body in known.values() if "SecureBootEnable" in body or "SecureBootCurrentBoot" in body]
    if max(len(systems), len(secures)) > 1:
        raise EvidenceError("several computers have boot settings, expected one")
    system = systems[0] if systems else {}
    waiting = [_boot(body) for uri, body in known.items() if not _SYSTEM.fullmatch(uri) and _boot(body)]
    oem = system.get("Oem")
    return Shown(
        secure=secures[0] if secures else {},
        order=_order(_boot(system)),
        later=next(filter(None, map(_order, waiting)), ()),
        options={
            str(body["BootOptionReference"]): body for body in known.values() if body.get("BootOptionReference")
        },
        dell=isinstance(oem, Mapping) and "Dell" in oem,
        mac=mac,
    )


def in_force(seen: Shown) -> dict[str, Value]:
    """Return what holds for the system that runs, as far as the BMC tells."""
    found: dict[str, Value] = {}
    current = seen.secure.get("SecureBootCurrentBoot")
    if current in ("Enabled", "Disabled"):
        found[SECURE] = current == "Enabled"
    if (first := _first(seen.order, seen)) is not None:
        found[FIRST] = first
    return found


def pending(seen: Shown) -> dict[str, Value]:
    """Return what the next reset changes."""
    now = in_force(seen)
    found: dict[str, Value] = {}
    enabled = seen.secure.get(ENABLE)
    if SECURE in now and isinstance(enabled, bool) and enabled is not now[SECURE]:
        found[SECURE] = enabled
    if FIRST in now and (then := _first(seen.later, seen)) not in (None, now[FIRST]):
        found[FIRST] = str(then)
    return found


def kind(option: Mapping[str, Any]) -> Kind:
    """Return what a boot option boots from: by its alias, its UEFI device path, and last by its name.

    A network card behind USB is the BMC's own, which leads to no network; a disk behind the network is none
    of the host's own.
    """
    alias, path, name = (str(option.get(key) or "") for key in ("Alias", "UefiDevicePath", "DisplayName"))
    if _REMOTE.search(path):
        return Kind.OTHER
    if alias not in ("", "None"):
        return ALIASES.get(alias, Kind.OTHER)
    if "MAC(" in path:
        return Kind.NETWORK
    if _DISK.search(path) or _DISK_NAME.match(name):
        return Kind.DISK
    return Kind.NETWORK if _NETWORK_NAME.match(name) else Kind.OTHER


def reordered(seen: Shown, first: Value) -> tuple[str, ...]:
    """Return the boot order with a device of a kind first, the rest as it stands; () where there is none.

    Of the network's the card that the design names comes before others, and PXE over IPv4 before other ways.
    """
    order = seen.later or seen.order
    able = [each for each in order if (body := seen.options.get(each)) and _usable(body) and kind(body) == first]
    best = min(
        able, key=lambda each: (not _leads(seen.options[each], seen), _plain(seen.options[each])), default=None
    )
    return () if best is None else (best, *(each for each in order if each != best))


def plan(wanted: Mapping[str, Value], seen: Shown) -> Plan:
    """Compare what a profile wants of them with what a BMC shows."""
    now = in_force(seen)
    then = {**now, **pending(seen)}
    known = {name: value for name, value in wanted.items() if name in now}
    wrong = {name: now.get(name) for name, value in wanted.items() if now.get(name) != value}
    refused = {name: _missing(name) for name in wanted if name not in now}
    refused |= {
        name: why for name, value in known.items() if then[name] != value and (why := _kept(name, value, seen))
    }
    return Plan(
        changes={name: value for name, value in known.items() if then[name] != value and name not in refused},
        waiting={name: value for name, value in known.items() if name in wrong and then[name] == value},
        settled=tuple(name for name, value in known.items() if name not in wrong and then[name] == value),
        wrong=wrong,
        refused=tuple(f"{name}: {why}" for name, why in refused.items()),
        notes=_unknown_card(seen) if wanted.get(FIRST) == Kind.NETWORK and FIRST in now else (),
    )


def both(first: Plan, second: Plan) -> Plan:
    """Return two plans as one."""
    return Plan(
        {**first.changes, **second.changes},
        {**first.waiting, **second.waiting},
        (*first.settled, *second.settled),
        {**first.wrong, **second.wrong},
        (*first.refused, *second.refused),
        (*first.notes, *second.notes),
        first.said,
        first.later,
    )


def _missing(name: str) -> str:
    what = "whether Secure Boot is on" if name == SECURE else "a boot order with the options in it"
    return f"the BMC does not show {what}; leave it out of {SECTION}, or look once the host has booted"


def _kept(name: str, value: Value, seen: Shown) -> str:
    """Say why it is not changed, though it is not as it should be; "" where it can be."""
    if name == SECURE:
        mode = seen.secure.get(MODE)
        without = value is True and mode in NO_KEYS
        return f"the BIOS is in {mode}, without a platform key: enroll keys first, then retry" if without else ""
    if seen.dell:
        return "a Dell's boot order is not changed here: set its SetBootOrderEn in the profile's bios"
    return "" if reordered(seen, value) else f"no {value} device is in the boot order"


def _plain(option: Mapping[str, Any]) -> int:
    """Return how far an option is from PXE over IPv4."""
    told = f"{option.get('UefiDevicePath')} {option.get('DisplayName')}"
    return 2 * bool(_IPV6.search(told)) + bool(_HTTP.search(told))


def _first(order: Sequence[str], seen: Shown) -> str | None:
    """Return what the first option boots from that is not switched off; None where one before it is not shown."""
    for each in order:
        option = seen.options.get(each)
        if option is None or _usable(option):
            return None if option is None else _from(option, order, seen)
    return None


def _from(option: Mapping[str, Any], order: Sequence[str], seen: Shown) -> str:
    found = kind(option)
    if found is not Kind.NETWORK or not seen.mac or _leads(option, seen):
        return str(found)
    others = [body for each in order if (body := seen.options.get(each)) and _usable(body)]
    return OTHER_CARD if any(_leads(body, seen) for body in others) else str(found)


def _leads(option: Mapping[str, Any], seen: Shown) -> bool:
    return bool(seen.mac) and kind(option) is Kind.NETWORK and boot_interface.leads(option, seen.mac)


def _unknown_card(seen: Shown) -> tuple[str, ...]:
    """Say that no boot option shows which card it boots from, and which may be the one that the design names."""
    if not seen.mac or any(_leads(body, seen) for body in seen.options.values()):
        return ()
    maybe = ", ".join(boot_interface.named(seen.options, seen.mac))
    return (
        f"no boot option has MAC({seen.mac.upper()}) in its UEFI device path, so the card that boots first is not set"
        + (maybe and f"; by its name it is {maybe}"),
    )


def _usable(option: Mapping[str, Any]) -> bool:
    return option.get("BootOptionEnabled") is not False


def _boot(body: Mapping[str, Any]) -> Mapping[str, Any]:
    boot = body.get("Boot")
    return boot if isinstance(boot, Mapping) and isinstance(boot.get("BootOrder"), list) else {}


def _order(boot: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(each for each in boot.get("BootOrder", ()) if isinstance(each, str))


def _truth(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    raise Unfit("true or false")


def _name(value: object) -> str | None:
    if isinstance(value, str) and value:
        return value
    raise Unfit("the name of an interface in the source of truth")


def _kind(value: object) -> str | None:
    if value in (Kind.NETWORK, Kind.DISK):
        return str(value)
    raise Unfit("network or disk")
