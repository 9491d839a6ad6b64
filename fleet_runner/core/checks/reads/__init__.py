"""The catalogue of reads: what can be asked of a node or its BMC, one line each in the module of its kind.

Time limits are for a node that is slow, not for one that hangs: an `nvidia-smi` of eight GPUs without persistence
mode takes tens of seconds, and one whose GPU fell off the bus never comes back.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.evidence import Read, ReadEnd, Reading
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.reads import bmc, gpu, host, network
from fleet_runner.core.checks.reads.network import ADAPTER, INTERFACE
from fleet_runner.core.inventory import profile, roce

READS: dict[str, Read] = {read.name: read for read in (*gpu.READS, *host.READS, *network.READS, *bmc.READS)}

SUPPLIED = frozenset(
    {
        "bios_progress",
        "boot_progress",
        "firmware_progress",
        "gather_progress",
        "nvlink_trays",
        "path_tests",
        "reset_progress",
        "scheduler_node",
        "switch_lldp",
        "switch_ports",
        "wipe_progress",
        "work_progress",
    }
)
"""Readings that a role brings itself, because getting them is more than reading: how far a boot came that it waited
for. Those of active tests, "<check>_job", come beside them."""


Eyes = Sequence[Sequence[str]]
"""Adapters by fabric, of a node with ports in several (`cabling.rails.eyes`)."""


def modules(wanted: profile.Profile) -> tuple[str, ...]:
    """Return the adapters whose modules a profile wants read; none where it cannot be read: the check says so."""
    try:
        return tuple(profile.hca_interfaces(wanted)) if profile.optics(wanted) else ()
    except EvidenceError:
        return ()


def roce_interfaces(wanted: profile.Profile) -> tuple[str, ...]:
    """Return the interfaces that a profile wants judged as RoCE ports; none where it cannot be read."""
    try:
        return tuple(roce.interfaces(wanted).values()) if profile.has(wanted, roce.SECTION) else ()
    except EvidenceError:
        return ()


def spread(read: Read, adapters: Iterable[str], eyes: Eyes = (), interfaces: Iterable[str] = ()) -> tuple[Read, ...]:
    """Return what must be asked for a read: itself, or one read for each adapter or interface, named after both.

    `eyes` are the node's adapters by fabric, of several: what reads a whole fabric reads each through its first one.
    """
    if INTERFACE in read.argv:
        return tuple(
            replace(
                read,
                name=f"{read.name} {name}",
                argv=tuple(name if word == INTERFACE else word for word in read.argv),
            )
            for name in interfaces
        )
    if ADAPTER in read.argv:
        return tuple(replace(read, name=f"{read.name} {adapter}", argv=_argv(read, adapter)) for adapter in adapters)
    if read.by_adapter and any(eyes):
        return tuple(_through(read, each[0]) for each in eyes if each)
    return (read,)


def again(read: Read, eyes: Eyes, found: Mapping[str, Reading]) -> tuple[Read, ...]:
    """Return what must be asked once more, through another adapter: a port that is down reads no fabric."""
    failed = {name for name, each in found.items() if each.end is not ReadEnd.OK or each.rc}
    return tuple(_through(read, each[-1]) for each in eyes if each[1:] and f"{read.name} {each[0]}" in failed)


def _through(read: Read, adapter: str) -> Read:
    return replace(read.through(adapter), name=f"{read.name} {adapter}")


def _argv(read: Read, adapter: str) -> tuple[str, ...]:
    """Return the command for one adapter ("mlx5_0"), or for one of its ports ("mlx5_0/2")."""
    name, _, port = adapter.partition("/")
    words = tuple(name if word == ADAPTER else word for word in read.argv)
    return (*words, "-p", port) if port else words


def gathered(read: Read, found: Mapping[str, Reading]) -> Reading:
    """Return the reading of a read from the readings of what was asked for it, by name.

    That of a read for each adapter is always OK: {adapter: {"end", "rc", "error", "text"}} as JSON.
    """
    if read.name in found:
        return found[read.name]
    mine = {name.partition(" ")[2]: each for name, each in found.items() if name.startswith(f"{read.name} ")}
    said = {
        adapter: {"end": each.end.value, "rc": each.rc, "error": each.error, "text": each.text}
        for adapter, each in sorted(mine.items())
    }
    at = max((each.at for each in mine.values()), default=0.0)
    return Reading(read.name, ReadEnd.OK, json.dumps(said), at=at)


def apart(reading: Reading) -> dict[str, Reading]:
    """Return what each adapter said, of a reading that was gathered from several; none of one as it was read."""
    if not reading.text.startswith("{"):
        return {}
    told = json_object(reading.text, reading.name)
    try:
        return {adapter: Reading.from_json({**said, "name": reading.name}) for adapter, said in told.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise EvidenceError(
            f"{reading.name}: found {reading.text!r:.60}, expected the output of each adapter"
        ) from error
