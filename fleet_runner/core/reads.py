"""The catalogue of reads: what can be asked of a node or its BMC, one line each.

Time limits are for a node that is slow, not for one that hangs: an `nvidia-smi` of eight GPUs without persistence
mode takes tens of seconds, and one whose GPU fell off the bus never comes back.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fleet_runner.core import profile
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.evidence import Read, ReadEnd, Reading, ReadKind
from fleet_runner.core.parsers.json_text import json_object

ADAPTER = "{adapter}"
"""Stands in a command for each adapter of the node in turn: what looks like one read is one for each."""

CONGESTION = ("PortXmitWait", "PortXmitDiscards", "PortRcvSwitchRelayErrors", "VL15Dropped")
"""Counters that a busy fabric moves and a good cable does not stop."""

IBQUERYERRORS = ("ibqueryerrors", "--skip-sl", "--threshold-file", "/dev/null", "-s", ",".join(CONGESTION))

_ALL = (
    Read("nvidia_smi", ReadKind.COMMAND, ("nvidia-smi", "-q", "-x"), seconds=60.0),
    Read("dmesg", ReadKind.COMMAND, ("dmesg", "--time-format", "iso"), max_bytes=16_000_000),
    Read("lldp", ReadKind.COMMAND, ("lldpctl", "-f", "json0")),
    # The whole fabric comes back: 4,096 servers print about 100 MB, one building block of 64 about 2 MB.
    Read(
        "ibnetdiscover",
        ReadKind.COMMAND,
        ("ibnetdiscover", "-p"),
        seconds=120.0,
        max_bytes=128_000_000,
        by_adapter=True,
    ),
    # The same fabric once more: only this tells a port that is up, with a silent far end, from one that is down.
    Read(
        "iblinkinfo",
        ReadKind.COMMAND,
        ("iblinkinfo", "-l"),
        seconds=120.0,
        max_bytes=128_000_000,
        by_adapter=True,
    ),
    # A line for each port with an error since its counters were cleared; what only congestion makes is left out. Of
    # the site's own thresholds nothing is wanted, and the service levels that it would ask for take a manager's time.
    Read("ibqueryerrors", ReadKind.COMMAND, IBQUERYERRORS, seconds=300.0, max_bytes=64_000_000, by_adapter=True),
    Read("mlxlink", ReadKind.COMMAND, ("mlxlink", "-d", ADAPTER, "-m", "--json"), seconds=60.0, max_bytes=200_000),
    Read("ibstat", ReadKind.COMMAND, ("ibstat",)),
    # ibstat's report has no end mark: only the list of names tells a short report from a cut one.
    Read("ibstat_list", ReadKind.COMMAND, ("ibstat", "-l")),
    Read("uptime", ReadKind.COMMAND, ("env", "TZ=UTC", "uptime", "-s")),
    Read("cloud_init", ReadKind.COMMAND, ("cloud-init", "status", "--format", "json")),
    # DCGM's level 3 takes about a quarter of an hour on eight GPUs; burn_in's deadline is half an hour.
    Read("dcgm_diag", ReadKind.COMMAND, ("dcgmi", "diag", "-r", "3", "-j"), seconds=1500.0),
    Read("redfish_firmware", ReadKind.REDFISH, path="/redfish/v1/UpdateService/FirmwareInventory/*", seconds=120.0),
    Read("redfish_bios", ReadKind.REDFISH, path="/redfish/v1/Systems/*/Bios", seconds=60.0),
    # Where settings wait for a reset: /Bios/Settings, /Bios/SD, as the resource itself says.
    Read(
        "redfish_bios_future",
        ReadKind.REDFISH,
        path="/redfish/v1/Systems/*/Bios/@Redfish.Settings:SettingsObject",
        seconds=60.0,
    ),
    Read("redfish_power", ReadKind.REDFISH, path="/redfish/v1/Chassis/*/Power", seconds=60.0),
)

READS: dict[str, Read] = {read.name: read for read in _ALL}

SUPPLIED = frozenset({"bios_progress", "boot_progress", "firmware_progress", "gpu_burn_job", "wipe_progress"})
"""Readings that a role brings itself, because getting them is more than reading: how far a boot came that it waited
for, the state of a job it started."""


Eyes = Sequence[Sequence[str]]
"""Adapters by fabric, of a node with ports in several (`cabling.rails.eyes`)."""


def modules(wanted: profile.Profile) -> tuple[str, ...]:
    """Return the adapters whose modules a profile wants read; none where it cannot be read: the check says so."""
    try:
        return tuple(profile.hca_interfaces(wanted)) if profile.optics(wanted) else ()
    except EvidenceError:
        return ()


def spread(read: Read, adapters: Iterable[str], eyes: Eyes = ()) -> tuple[Read, ...]:
    """Return what must be asked for a read: itself, or one read for each adapter, named after both.

    `eyes` are the node's adapters by fabric, of several: what reads a whole fabric reads each through its first one.
    """
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
        raise EvidenceError(f"{reading.name}: found {reading.text!r:.60}, expected what each adapter said") from error
