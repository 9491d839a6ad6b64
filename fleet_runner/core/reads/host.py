"""What is asked of a node's kernel, disks and memory."""

from fleet_runner.core.evidence import Read, ReadKind

READS = (
    Read("dmesg", ReadKind.COMMAND, ("dmesg", "--time-format", "iso"), max_bytes=16_000_000),
    Read("uptime", ReadKind.COMMAND, ("env", "TZ=UTC", "uptime", "-s")),
    Read("cloud_init", ReadKind.COMMAND, ("cloud-init", "status", "--format", "json")),
)
