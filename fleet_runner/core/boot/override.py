"""Where the next boot alone comes from: what a maker's BMC wants to be asked, and whether it took it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleet_runner.core.base.fields import shown

ENABLED, TARGET = "BootSourceOverrideEnabled", "BootSourceOverrideTarget"
MODE, DEVICE = "BootSourceOverrideMode", "UefiTargetBootSourceOverride"
ADDRESS = "HttpBootUri"
ALLOWED = "@Redfish.AllowableValues"

HTTP, UEFI_TARGET, NOWHERE = "UefiHttp", "UefiTarget", "None"
UEFI = "UEFI"

DELL_HTTP, DELL_ADDRESS = "HttpDev1EnDis", "HttpDev1Uri"
"""BIOS settings of a Dell: the only place where it takes what to load over HTTP (dsx-ai-factory/libredfish 75)."""

HTTP_PATH = "/Uri("
"""In the UEFI device path of what boots over HTTP (UEFI specification, 10.3.4.23)."""

MOST_PATHS = 256

Step = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """The `Boot` of the resource that is changed, the device paths of its boot options, and BIOS settings if any."""

    boot: Mapping[str, Any]
    paths: Sequence[str] = ()
    bios: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class Override:
    """What is to be sent as `Boot`, one request after the other; nothing, and why not, where it cannot be had."""

    steps: tuple[Step, ...] = ()
    why: str = ""


def plan(target: str, http_uri: str, seen: Seen) -> Override:
    """Return how the next boot alone is had from a target (Pxe, UefiHttp); "None" takes such a request back."""
    allowed = seen.boot.get(f"{TARGET}{ALLOWED}")
    possible = [str(each) for each in allowed] if isinstance(allowed, list) else [target]
    if target == HTTP and DELL_HTTP in seen.bios:
        return _dell(http_uri, seen, possible)
    if target in possible:
        return Override((_step(target, http_uri, seen.boot),))
    if target == HTTP and UEFI_TARGET in possible:
        return _by_device(http_uri, seen)
    return _impossible(target, possible)


def held(step: Step, boot: Mapping[str, Any]) -> str:
    """Say what a BMC shows instead of what it was sent; "" where it shows that."""
    if step[TARGET] == NOWHERE:
        undone = boot.get(ENABLED) in (None, "Disabled") or boot.get(TARGET) in (None, NOWHERE)
        return "" if undone else _told(boot, (ENABLED, TARGET))
    names = [name for name in (ENABLED, TARGET, DEVICE, MODE) if name in step]
    if step.get(ADDRESS) and boot.get(ADDRESS) and boot[ADDRESS] != step[ADDRESS]:
        return f"another {ADDRESS}"
    return "" if all(boot.get(name) == step[name] for name in names) else _told(boot, names)


def otherwise(step: Step, boot: Mapping[str, Any]) -> Step:
    """Return a step with the boot mode where it had none, and without one where it had.

    Some BMCs want it in every request (ansible-collections/community.general 11542), some fall back to another one
    without it (DMTF/Redfishtool 106), and some refuse it (community.general 3509, HPE's).
    """
    if MODE in step:
        return {name: value for name, value in step.items() if name != MODE}
    return {**step, MODE: boot.get(MODE) or UEFI}


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
    state = seen.bios.get(DELL_HTTP)
    if state != "Enabled":
        return Override(
            why=f"a boot over HTTP needs the BIOS setting {DELL_HTTP} 'Enabled', found {shown(state)};"
            " set it, and HttpDev1Interface, in the profile's bios"
        )
    if http_uri and seen.bios.get(DELL_ADDRESS) != http_uri:
        return Override(
            why=f"the BIOS setting {DELL_ADDRESS} is not the address that this boot is to load, and a Dell takes no"
            " other; set it in the profile's bios, or boot with pxe"
        )
    return Override((_step(HTTP, "", seen.boot),)) if HTTP in possible else _impossible(HTTP, possible)


def _by_device(http_uri: str, seen: Seen) -> Override:
    """Boot over HTTP by the only device that can: its path first, the target afterwards (HPE wants it so)."""
    listed = seen.boot.get(f"{DEVICE}{ALLOWED}")
    known = [str(each) for each in listed[:MOST_PATHS]] if isinstance(listed, list) else seen.paths
    able = list(dict.fromkeys(path for path in known if HTTP_PATH in path and "/IPv6(" not in path))
    if len(able) != 1:
        named = f"{len(able)} of them boot over HTTP" if able else "none of them boots over HTTP"
        return Override(why=f"it boots over HTTP by a device alone, and of its {len(known)} devices {named}")
    return Override(({DEVICE: able[0]}, {**_step(UEFI_TARGET, http_uri, seen.boot), DEVICE: able[0]}))


def _impossible(target: str, possible: Iterable[str]) -> Override:
    return Override(why=f"can boot from {', '.join(possible)}, not {target}")


def _told(boot: Mapping[str, Any], names: Iterable[str]) -> str:
    return ", ".join(f"{name} {shown(boot.get(name))}" for name in names)
