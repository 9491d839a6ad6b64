"""Where the next boot alone comes from: what a maker's BMC wants to be asked, and whether it took it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fleet_runner.core.base.fields import shown
from fleet_runner.core.boot import boot_interface

ENABLED, TARGET = "BootSourceOverrideEnabled", "BootSourceOverrideTarget"
MODE, DEVICE = "BootSourceOverrideMode", "UefiTargetBootSourceOverride"
ADDRESS = "HttpBootUri"
ALLOWED = "@Redfish.AllowableValues"

PXE, HTTP, UEFI_TARGET, NOWHERE = "Pxe", "UefiHttp", "UefiTarget", "None"
CD, USB_CD = "Cd", "UsbCd"
"""A Supermicro boots virtual media from the second alone, though it lists both (openstack/sushy, X11 and X12)."""

UEFI = "UEFI"

DELL_DEVICES = tuple(f"HttpDev{number}" for number in range(1, 5))
"""Of a Dell's BIOS settings: the only place where it takes what to load over HTTP (dsx-ai-factory/libredfish 75)."""

HTTP_PATH = "/Uri("
"""In the UEFI device path of what boots over HTTP (UEFI specification, 10.3.4.23)."""

IPV6_PATH = "/IPv6("

MOST_PATHS = 256

Step = Mapping[str, Any]

NO_OVERRIDE: Step = {ENABLED: "Disabled", TARGET: NOWHERE}


@dataclass(frozen=True, slots=True)
class Seen:
    """The `Boot` of the resource that is changed, the device paths of its boot options, and BIOS settings if any.

    `mac` is that of the card that the design names to boot from, "" for none.
    """

    boot: Mapping[str, Any]
    paths: Sequence[str] = ()
    bios: Mapping[str, Any] = field(default_factory=dict[str, Any])
    mac: str = ""


@dataclass(frozen=True, slots=True)
class Override:
    """What is to be sent as `Boot`, one request after the other; nothing, and why not, where it cannot be had.

    `note` says why the firmware chooses the network card, where the design names one.
    """

    steps: tuple[Step, ...] = ()
    why: str = ""
    note: str = ""


def allowing(boot: Mapping[str, Any], system: object) -> Mapping[str, Any]:
    """Return a settings object's `Boot` with the targets that its system lists beside those that it lists itself.

    A BlueField's settings object lists what its software knew once, without the UefiHttp that it shows as its target;
    only the system's list is the host's own.
    """
    own, others = (each.get(f"{TARGET}{ALLOWED}") if isinstance(each, Mapping) else None for each in (boot, system))
    if not isinstance(own, list) or not isinstance(others, list):
        return boot
    return {**boot, f"{TARGET}{ALLOWED}": list(dict.fromkeys([*own, *others]))}


def plan(target: str, http_uri: str, seen: Seen, *, proof: bool = False) -> Override:
    """Return how the next boot alone is had from a target (Pxe, UefiHttp, Cd); "None" takes such a request back.

    With `proof` the address holds a secret that is new for each boot. A network card that the design names is asked
    for by its device path where a BMC takes that; elsewhere the firmware chooses the card, as ever.
    """
    allowed = seen.boot.get(f"{TARGET}{ALLOWED}")
    possible = [str(each) for each in allowed] if isinstance(allowed, list) else [target]
    if target == HTTP and any(f"{device}EnDis" in seen.bios for device in DELL_DEVICES):
        if proof:
            return Override(why="is a Dell's, and a Dell cannot carry the proof: use boot_proof none, or pxe")
        return _dell(http_uri, seen, possible)
    if seen.mac and target in {PXE, HTTP}:
        return _by_card(target, http_uri, seen, possible)
    return _by_target(target, http_uri, seen, possible)


def _by_card(target: str, http_uri: str, seen: Seen, possible: Sequence[str]) -> Override:
    paths = [path for path in _known(seen) if boot_interface.leads({"UefiDevicePath": path}, seen.mac)]
    able = [path for path in paths if (HTTP_PATH in path) is (target == HTTP) and IPV6_PATH not in path]
    if UEFI_TARGET in possible and able:
        return _device(able[0], http_uri, seen)
    found = _by_target(target, http_uri, seen, possible)
    lacks = "its BMC takes no UefiTarget" if able else f"no device path of {target} has MAC({seen.mac.upper()})"
    return replace(found, note=f"the firmware chooses the network card of the next boot: {lacks}")


def _by_target(target: str, http_uri: str, seen: Seen, possible: Sequence[str]) -> Override:
    if target == CD and USB_CD in possible:
        target = USB_CD
    if target in possible:
        return Override((_step(target, http_uri, seen.boot),))
    if target == HTTP and UEFI_TARGET in possible:
        return _by_device(http_uri, seen)
    return _impossible(target, possible)


def held(step: Step, boot: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    """Say what a BMC shows that contradicts what it was sent; "" where nothing does. `before` is what it showed then.

    What it does not show contradicts nothing. It fell to another boot mode only where it was in UEFI's.
    """
    if step[TARGET] == NOWHERE:
        undone = boot.get(ENABLED) in (None, "Disabled") or boot.get(TARGET) in (None, NOWHERE)
        return "" if undone else _told(boot, (ENABLED, TARGET))
    names = [name for name in (ENABLED, TARGET, DEVICE, MODE) if name in step]
    wanted = {name: step[name] for name in names}
    if before.get(MODE) == UEFI and boot.get(MODE) not in (None, UEFI):
        wanted[MODE] = UEFI
    if step.get(ADDRESS) and boot.get(ADDRESS) and boot[ADDRESS] != step[ADDRESS]:
        return f"another {ADDRESS}"
    return _told(boot, wanted) if any(boot.get(name) not in (None, wanted[name]) for name in wanted) else ""


def stands(step: Step, boot: Mapping[str, Any]) -> bool:
    """Say whether a BMC shows that it took a step."""
    return step[TARGET] == NOWHERE or all(boot.get(name) == step[name] for name in (ENABLED, TARGET))


def lasts(before: Mapping[str, Any], boot: Mapping[str, Any]) -> bool:
    """Say whether a BMC made a request that is good for all boots of one for the next; a person's own is not ours."""
    names = (ENABLED, TARGET)
    return boot.get(ENABLED) == "Continuous" and any(boot.get(name) != before.get(name) for name in names)


def otherwise(step: Step, boot: Mapping[str, Any]) -> Step | None:
    """Return a step without a boot mode where it had one, else with UEFI's where that was shown before; None if not.

    Some BMCs want it in every request (ansible-collections/community.general 11542), some fall back to another one
    without it (DMTF/Redfishtool 106) or drop the request (bmc-toolbox/bmclib 459), and some refuse it
    (community.general 3509, HPE's). No other mode is ever sent.
    """
    if MODE in step:
        return {name: value for name, value in step.items() if name != MODE}
    return {**step, MODE: UEFI} if boot.get(MODE) == UEFI and step[TARGET] != NOWHERE else None


def _step(target: str, http_uri: str, boot: Mapping[str, Any]) -> Step:
    """Return one request; which properties belong together is sent together."""
    step: dict[str, Any] = {ENABLED: "Disabled" if target == NOWHERE else "Once", TARGET: target}
    if http_uri:
        step[ADDRESS] = http_uri
    modes = boot.get(f"{MODE}{ALLOWED}")
    if target == HTTP and isinstance(modes, list) and UEFI in modes and boot.get(MODE) != UEFI:
        step[MODE] = UEFI
    return step


def _dell(http_uri: str, seen: Seen, possible: Sequence[str]) -> Override:
    able = [device for device in DELL_DEVICES if seen.bios.get(f"{device}EnDis") == "Enabled"]
    if not able:
        first = f"{DELL_DEVICES[0]}EnDis"
        return Override(
            why=f"a boot over HTTP needs the BIOS setting {first} 'Enabled', found {shown(seen.bios.get(first))};"
            f" set it, and {DELL_DEVICES[0]}Interface, in the profile's bios"
        )
    if http_uri and not any(_loads(device, http_uri, seen.bios) for device in able):
        return Override(
            why=f"the BIOS setting {able[0]}Uri is not the address that this boot is to load, and a Dell takes no"
            " other; set it in the profile's bios, or boot with pxe"
        )
    return Override((_step(HTTP, "", seen.boot),)) if HTTP in possible else _impossible(HTTP, possible)


def _loads(device: str, http_uri: str, bios: Mapping[str, Any]) -> bool:
    """Say whether a Dell's HTTP device loads an address: it is set there, or the DHCP server says what to load."""
    address = bios.get(f"{device}Uri")
    return address == http_uri or (not address and bios.get(f"{device}DhcpEnDis") == "Enabled")


def _by_device(http_uri: str, seen: Seen) -> Override:
    """Boot over HTTP by the only device that can: its path first, the target afterwards (HPE wants it so)."""
    known = _known(seen)
    able = list(dict.fromkeys(path for path in known if HTTP_PATH in path and IPV6_PATH not in path))
    if len(able) != 1:
        named = f"{len(able)} of them boot over HTTP" if able else "none of them boots over HTTP"
        return Override(why=f"it boots over HTTP by a device alone, and of its {len(known)} devices {named}")
    return _device(able[0], http_uri, seen)


def _device(path: str, http_uri: str, seen: Seen) -> Override:
    return Override(({DEVICE: path}, {**_step(UEFI_TARGET, http_uri, seen.boot), DEVICE: path}))


def _known(seen: Seen) -> Sequence[str]:
    """Return the device paths that a BMC takes, or those of its boot options."""
    listed = seen.boot.get(f"{DEVICE}{ALLOWED}")
    return [str(each) for each in listed[:MOST_PATHS]] if isinstance(listed, list) else seen.paths


def _impossible(target: str, possible: Iterable[str]) -> Override:
    return Override(why=f"can boot from {', '.join(possible)}, not {target}")


def _told(boot: Mapping[str, Any], names: Iterable[str]) -> str:
    return ", ".join(f"{name} {shown(boot.get(name))}" for name in names)
