"""The ways in: what is pushed where, who is heard there, and how much may come at once."""

from typing import NamedTuple

from fleet_runner.core.faults.signals.signal import Source

KIB = 1024


class SignalInput(NamedTuple):
    """Whose signals come this way, and the most bytes of one body."""

    source: Source
    most: int


SYSLOG = "syslog"
"""The way in of syslog's messages, which has ports of its own."""

DOORS = {
    "log": SignalInput(Source.KERNEL, 1024 * KIB),
    SYSLOG: SignalInput(Source.KERNEL, 8 * KIB),
    "alertmanager": SignalInput(Source.ALERT, 1024 * KIB),
    "redfish": SignalInput(Source.REDFISH, 256 * KIB),
    "fabric": SignalInput(Source.FABRIC, 1024 * KIB),
    "": SignalInput(Source.OPERATOR, 256 * KIB),
}
"""By what stands behind /signals/ in the address; "" is our own form."""
