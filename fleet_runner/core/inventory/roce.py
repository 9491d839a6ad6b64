"""What a device type's profile wants of its RoCE ports: `fleet_profile.roce`; nothing without the section."""

from collections.abc import Mapping
from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.inventory.profile import Profile, Section, hca_interfaces, section

SECTION = "roce"

PRIORITIES, DSCPS = 8, 64
"""Priorities of IEEE 802.1Q, and code points of DiffServ (RFC 2474)."""


@dataclass(frozen=True, slots=True)
class RoceProfile:
    """What is wanted of every RoCE port; None and empty mean that nothing is.

    `interfaces` are the kernel's names of the ports by their adapters ("mlx5_0" -> "ens1f0np0"). `pfc` are the
    priorities with priority flow control, `ecn` those with DCQCN, `dscp` the priority of each code point, `fec` the
    encodings that are accepted, in ethtool's words in lower case.
    """

    interfaces: Mapping[str, str]
    mtu: int | None
    pfc: frozenset[int] | None
    trust: str
    dscp: Mapping[int, int]
    ecn: tuple[int, ...]
    fec: tuple[str, ...]


def roce(profile: Profile) -> RoceProfile:
    """Read the section; EvidenceError names the key that cannot be read."""
    wanted = section(profile, SECTION)
    return RoceProfile(
        interfaces=interfaces(profile),
        mtu=wanted.whole("mtu") if wanted.has("mtu") else None,
        pfc=frozenset(_priorities(wanted, "pfc")) if wanted.has("pfc") else None,
        trust=wanted.text("trust").lower() if wanted.has("trust") else "",
        dscp=_dscp(wanted) if wanted.has("dscp") else {},
        ecn=_priorities(wanted, "ecn") if wanted.has("ecn") else (),
        fec=tuple(word.lower() for word in wanted.texts("fec")) if wanted.has("fec") else (),
    )


def interfaces(profile: Profile) -> dict[str, str]:
    """Return which interface each RoCE adapter is: the section's own `interfaces`, else `hca_interfaces`."""
    wanted = section(profile, SECTION)
    if not wanted.has("interfaces"):
        return hca_interfaces(profile)
    found = wanted.values["interfaces"]
    if not isinstance(found, Mapping) or not all(isinstance(name, str) and name for name in found.values()):
        raise _wrong("interfaces", found, "a mapping of adapters to the kernel's names of their interfaces")
    return {str(adapter): name for adapter, name in found.items()}


def _priorities(wanted: Section, name: str) -> tuple[int, ...]:
    found = wanted.values[name]
    if not isinstance(found, list | tuple) or not all(_below(each, PRIORITIES) for each in found):
        raise _wrong(name, found, f"a list of priorities, 0 to {PRIORITIES - 1}")
    return tuple(sorted(set(found)))


def _dscp(wanted: Section) -> dict[int, int]:
    """Return the priority of each code point; JSON makes texts of the keys that YAML has as numbers."""
    found = wanted.values["dscp"]
    if isinstance(found, Mapping):
        rows = {int(key) if str(key).isdecimal() else -1: value for key, value in found.items()}
        if all(_below(dscp, DSCPS) and _below(priority, PRIORITIES) for dscp, priority in rows.items()):
            return rows
    raise _wrong("dscp", found, f"a mapping of code points, 0 to {DSCPS - 1}, to priorities, 0 to {PRIORITIES - 1}")


def _below(value: object, end: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < end


def _wrong(name: str, found: object, wanted: str) -> EvidenceError:
    return EvidenceError(
        f"fleet_profile.{SECTION}.{name}: found {found!r:.80}, expected {wanted};"
        " correct the device type's file in inventory/group_vars"
    )
