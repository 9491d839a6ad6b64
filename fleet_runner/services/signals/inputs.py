"""The ways in: what is pushed where, who is heard there, and how much may come at once."""

from typing import NamedTuple

from fleet_runner.core.faults.signals.signal import Source

KIB = 1024


class Door(NamedTuple):
    """Whose signals come this way, and the most bytes of one body."""

    source: Source
    most: int


SYSLOG = "syslog"
"""The way in of syslog's messages, which has ports of its own."""

DOORS = {
    "log": Door(Source.KERNEL, 1024 * KIB),
    SYSLOG: Door(Source.KERNEL, 8 * KIB),
    "alertmanager": Door(Source.ALERT, 1024 * KIB),
    "redfish": Door(Source.REDFISH, 256 * KIB),
    "fabric": Door(Source.FABRIC, 1024 * KIB),
    "": Door(Source.OPERATOR, 256 * KIB),
}
"""By what stands behind /signals/ in the address; "" is our own form."""
