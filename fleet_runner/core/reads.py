"""The catalogue of reads: what can be asked of a node or its BMC, one line each.

Time limits are for a node that is slow, not for one that hangs: an `nvidia-smi` of eight GPUs without persistence
mode takes tens of seconds, and one whose GPU fell off the bus never comes back.
"""

from fleet_runner.core.evidence import Read, ReadKind

_ALL = (
    Read("nvidia_smi", ReadKind.COMMAND, ("nvidia-smi", "-q", "-x"), seconds=60.0),
    Read("dmesg", ReadKind.COMMAND, ("dmesg", "--time-format", "iso"), max_bytes=16_000_000),
    Read("lldp", ReadKind.COMMAND, ("lldpctl", "-f", "json0")),
    # The whole fabric comes back: 4,096 servers print about 100 MB, one building block of 64 about 2 MB.
    Read("ibnetdiscover", ReadKind.COMMAND, ("ibnetdiscover", "-p"), seconds=120.0, max_bytes=128_000_000),
    Read("ibstat", ReadKind.COMMAND, ("ibstat",)),
    # ibstat's report has no end mark: only the list of names tells a short report from a cut one.
    Read("ibstat_list", ReadKind.COMMAND, ("ibstat", "-l")),
    Read("uptime", ReadKind.COMMAND, ("env", "TZ=UTC", "uptime", "-s")),
    Read("cloud_init", ReadKind.COMMAND, ("cloud-init", "status", "--format", "json")),
    # DCGM's level 3 takes about a quarter of an hour on eight GPUs; burn_in's deadline is half an hour.
    Read("dcgm_diag", ReadKind.COMMAND, ("dcgmi", "diag", "-r", "3", "-j"), seconds=1500.0),
    Read("redfish_systems", ReadKind.REDFISH, path="/redfish/v1/Systems/*", seconds=60.0),
    Read("redfish_firmware", ReadKind.REDFISH, path="/redfish/v1/UpdateService/FirmwareInventory/*", seconds=120.0),
    Read("redfish_power", ReadKind.REDFISH, path="/redfish/v1/Chassis/*/Power", seconds=60.0),
)

READS: dict[str, Read] = {read.name: read for read in _ALL}

SUPPLIED = frozenset({"gpu_burn_job"})
"""Readings that a role brings itself, because getting them is more than reading: the state of a job it started."""
