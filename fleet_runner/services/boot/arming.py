"""Arming a node's boot, right before its power is switched, and what its BMC is told to boot from."""

import re
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.boot import progress
from fleet_runner.core.boot.boots import Boot, Identity, Milestone
from fleet_runner.core.boot.expected import expected, nobody
from fleet_runner.core.boot.heartbeats import silence
from fleet_runner.core.boot.progress import Progress
from fleet_runner.core.boot.virtual_media import SUFFIX
from fleet_runner.settings import Settings

LOADER = "snponly.efi"
"""iPXE as a UEFI program that uses the firmware's own driver of the interface it was started from."""

NONCE_BYTES = 32

FETCHED_BY = (Milestone.DHCP, Milestone.SCRIPT, Milestone.KERNEL, Milestone.CLOUD_INIT)
"""The milestones within whose limits a boot asks for its data."""

FETCH_SECONDS = 60.0
"""What cloud-init may take, on top of them, from its first document to the last one that an arming guards."""

_LOADER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
"""What the boot service takes as the name of a loader."""

_HEX = re.compile("[0-9a-f]{4,}")
"""What may be a piece of a nonce."""

PXE, HTTP, MEDIUM = "Pxe", "UefiHttp", "Cd"
"""Redfish's words for the two ways to boot from a network, and for a medium where neither is possible."""


class BootToArm(NamedTuple):
    """A boot that may be armed: of which node, who is expected, from where, for how long, with a nonce or without.

    `medium` is the address of what is inserted as virtual media, "" for none.
    """

    node: str
    who: Identity
    target: str
    seconds: float
    loaders: str
    loader: str
    proof: bool
    medium: str = ""

    @property
    def source(self) -> tuple[str, str]:
        """The target that a BMC is told, and the address without a nonce, if any."""
        return self.target, f"{self.loaders}/{self.loader}" if self.target == HTTP else ""


@dataclass(frozen=True, slots=True)
class Armed:
    """An armed boot, and what the BMC is told: a target, the address for it if any, and the secret part of that."""

    boot: Boot
    target: str
    http_uri: str = ""
    nonce: str = ""

    def without_nonce(self, words: str) -> str:
        """Return what a BMC said about the address, perhaps cut short, without what only it may know."""
        return _HEX.sub(lambda match: "…" if match[0] in self.nonce else match[0], words)


def limits(given: Mapping[str, Any]) -> Mapping[Milestone, float]:
    """Return the limits of every milestone, in seconds, with those that a role gives.

    Raises:
        FleetError: one is no milestone or no number of seconds.
    """
    try:
        own = {Milestone(str(name)): float(seconds) for name, seconds in given.items()}
    except (TypeError, ValueError) as error:
        raise FleetError(
            f"limits of a boot: found {dict(given)!r:.120}, expected seconds for some of {', '.join(Milestone)}"
        ) from error
    return {**progress.LIMITS, **own}


def made(
    store: Store, node: str, since: float | None, age: float | None, limits: Mapping[Milestone, float]
) -> Boot | None:
    """Return the boot since a moment that came to its end or still may; `age` is that of the BMC's last reset."""
    newest = store.boots(node, limit=1) if since is not None else ()
    now = time.time()
    reset = None if age is None else now - age
    wanted = (boot for boot in newest if boot.armed_at >= (since or 0.0))
    return next((boot for boot in wanted if progress.stands(Progress(boot, now, limits), reset)), None)


def served(store: Store, now: float) -> None:
    """Make sure that a boot service is there to answer, as long as nothing has been done to the node.

    Raises:
        FleetError: none was heard lately, so a node that boots now would ask in vain and stay down.
    """
    if silent := silence(store.beats(), now):
        raise FleetError(f"{silent}; until then the node is left as it is")


def wanted(  # noqa: PLR0913  who, by what, how and for how long
    settings: Settings, device: Mapping[str, Any], told: Mapping[str, Any], target: str, *,
    limits: Mapping[Milestone, float] = progress.LIMITS, loader: str = LOADER, medium: str = "",
) -> BootToArm:  # fmt: skip
    """Return the boot of a device (`fleet_device`) whose BMC tells its System resource; nothing is armed yet.

    With `boot_proof` bmc it is always a UEFI HTTP boot, because only that carries the nonce. With a medium, the name
    of a file beside the loaders, it starts from that. It stays armed for as long as the node is waited for.

    Raises:
        FleetError: nothing would tell the node from any other machine, or its loader or medium is no file's name.
    """
    node = str(device["name"])
    who = expected(device, told)
    if nobody(who):
        raise FleetError(
            f"{node} is known by no MAC address, serial number or UUID, so anybody could have its secrets; "
            "record the MAC address of the interface that it boots from in the source of truth"
        )
    if not _LOADER.fullmatch(loader):
        raise FleetError(
            f"{node}: found the loader {loader!r:.120}, expected the name of a file such as {LOADER}; "
            "correct boot_loader in its config context"
        )
    proof = settings.boot_proof == "bmc"
    seconds = max(settings.boot_armed_seconds, sum(limits[each] for each in FETCHED_BY) + FETCH_SECONDS)
    loaders = f"{settings.boot_url.rstrip('/')}/loader"
    address = medium_address(settings, medium)
    source = MEDIUM if address else HTTP if proof else target
    return BootToArm(node, who, source, seconds, loaders, loader, proof, address)


def medium_address(settings: Settings, medium: str) -> str:
    """Return where a BMC has a medium from, by its file's name; "" for none.

    Raises:
        FleetError: it is no file's name, or boots must be proved, and a medium's address is not for its node alone.
    """
    if not medium:
        return ""
    if not (_LOADER.fullmatch(medium) and medium.endswith(SUFFIX)):
        raise FleetError(f"found the boot_medium {medium!r:.120}, expected the name of a file such as ipxe.iso")
    if settings.boot_proof == "bmc":
        raise FleetError("a boot from a medium carries no proof; set boot_proof none, or take boot_medium out")
    return f"{settings.boot_url.rstrip('/')}/loader/{medium}"


def arm(store: Store, boot: BootToArm, *, run: int | None, now: float) -> Armed:
    """Arm a boot: from now on whoever proves to be its node may have its data, so nothing else may run on that."""
    nonce = secrets.token_hex(NONCE_BYTES) if boot.proof else ""
    digest = sha256(nonce.encode()).hexdigest() if nonce else ""
    made = store.arm(boot.node, boot.who, run=run, now=now, seconds=boot.seconds, nonce_hash=digest)
    if boot.target != HTTP:
        return Armed(made, boot.target)
    return Armed(made, HTTP, "/".join(filter(None, (boot.loaders, nonce, boot.loader))), nonce)
