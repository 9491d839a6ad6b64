"""Armed boots, what is told of them, and what becomes of it: the rows the store keeps, as values.

Times are seconds since the epoch (UTC), as floats.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Milestone(StrEnum):
    """How far a network boot has come, in this order."""

    DHCP = "dhcp"  # a DHCP server leased it an address
    SCRIPT = "script"  # it asked for its iPXE script
    KERNEL = "kernel"  # it asked for its kernel
    CLOUD_INIT = "cloud_init"  # cloud-init asked for its seed
    PHONE_HOME = "phone_home"  # cloud-init told that it is done
    SSH = "ssh"  # it answers ssh


@dataclass(frozen=True, slots=True)
class Identity:
    """What a machine is known by, or says of itself. What is empty is not known.

    `macs` are lower case with colons, `serial` is the SMBIOS system serial, `uuid` the SMBIOS system UUID in lower
    case, `addresses` are IP addresses without masks.
    """

    macs: frozenset[str] = frozenset()
    serial: str = ""
    uuid: str = ""
    addresses: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Boot:
    """One boot that a node is expected to make, between its arming and its closing; a node has one open at most.

    `expected` is who may have its documents. `nonce_hash` (SHA-256, hex) is set where the BMC delivered a nonce that
    must be told first. The document with secrets was given at `claimed_at`, to `claimed_by`; never twice. `reached`
    holds the first moment of each milestone, `sources` the address that came to it, `leased` every address that DHCP
    servers told of. `host_keys` are the ssh host keys it told ("ssh-ed25519 AAAA…").
    """

    id: int
    node: str
    run: int | None
    armed_at: float
    expires_at: float
    expected: Identity
    nonce_hash: str = ""
    proved_by: str = ""
    claimed_at: float | None = None
    claimed_by: str = ""
    reached: Mapping[Milestone, float] = field(default_factory=dict[Milestone, float])
    host_keys: tuple[str, ...] = ()
    refused: int = 0
    closed_at: float | None = None
    closed_because: str = ""
    sources: Mapping[Milestone, str] = field(default_factory=dict[Milestone, str])
    leased: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Reached:
    """A boot has come to a milestone; told again, it changes nothing."""

    boot: int
    milestone: Milestone
    at: float
    source: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Leased:
    """A boot that has an address is leased another one: firmware, iPXE and the system each ask."""

    boot: int
    at: float
    source: str


@dataclass(frozen=True, slots=True)
class Proved:
    """The machine at an address told the nonce that only its BMC was given."""

    boot: int
    at: float
    source: str


@dataclass(frozen=True, slots=True)
class Claim:
    """Somebody who may have it asks for the document with secrets; the answer is whether it was the first."""

    boot: int
    at: float
    source: str


@dataclass(frozen=True, slots=True)
class PhonedHome:
    """cloud-init on the node is done, and these are its ssh host keys."""

    boot: int
    at: float
    source: str
    host_keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A request that got nothing. `code` is one word for why ("unarmed", "claimed", "expired", "mismatch" …)."""

    node: str
    code: str
    sentence: str
    at: float
    source: str
    boot: int | None = None


@dataclass(frozen=True, slots=True)
class Discovered:
    """A machine that nobody knows, with what it said of itself; the first MAC address names it."""

    mac: str
    at: float
    source: str
    serial: str = ""
    uuid: str = ""
    manufacturer: str = ""
    product: str = ""
    first_at: float = 0.0
    times: int = 1


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """A part of the boot path lives: "boot" for a boot service, "dhcp" for a DHCP server that tells of its leases."""

    who: str
    at: float


Told = Reached | Leased | Proved | Claim | PhonedHome | Refused | Discovered | Heartbeat
"""What the boot service tells the store; many go into one transaction."""


@dataclass(frozen=True, slots=True)
class BootEvent:
    """One line of what happened at the boot service, as the store keeps it; `times` counts repeats within a minute.

    `kind` is "armed", a milestone's value, "lease" with its address, "proved", "claimed", "refused" or "closed";
    `code` is a refusal's. The last repeat was at `last_at`.
    """

    id: int
    node: str
    boot: int | None
    at: float
    kind: str
    sentence: str
    source: str
    times: int = 1
    code: str = ""
    last_at: float = 0.0
