"""What a lab's BMCs tell of by themselves, in DMTF's messages: a fault that is put into a node, and its end."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fleet_runner.lab.tree import CHASSIS, SYSTEM

Body = dict[str, Any]
Faults = Mapping[str, Mapping[str, Any]]


class Alert(NamedTuple):
    """The messages of a fault's beginning and end, how bad it is, and where; "{psu}" stands for its option psu."""

    begins: str
    ends: str
    severity: str
    origin: str
    part: str


ALERTS: Mapping[str, Alert] = {
    "dead_psu": Alert(
        "Power.1.2.PowerSupplyFailed", "Power.1.2.PowerSupplyRestored", "Critical",
        f"{CHASSIS}/Power#/PowerSupplies/{{psu}}", "Power supply {psu}",
    ),
    "dead_fan": Alert(
        "Environmental.1.4.FanFailed", "Environmental.1.4.FanRestored", "Critical",
        f"{CHASSIS}/Thermal#/Fans/{{fan}}", "Fan {fan}",
    ),
    "hot_gpu": Alert(
        "Environmental.1.4.TemperatureAboveUpperCriticalThreshold", "Environmental.1.4.TemperatureNormal", "Critical",
        f"{CHASSIS}/Sensors/GPU_{{gpu}}_Temp", "GPU_{gpu}_Temp",
    ),
    "memory_error": Alert(
        "ResourceEvent.1.4.ResourceErrorsDetected", "ResourceEvent.1.4.ResourceErrorsCorrected", "Critical",
        f"{SYSTEM}/Memory/{{dimm}}", "{dimm}",
    ),
}  # fmt: skip
"""By the fault's name; of all others a BMC knows nothing, or tells when it is asked."""


def events(before: Faults, now: Faults) -> Iterator[Body]:
    """Yield what a BMC sends when the faults of its node have become other ones."""
    for fault, alert in ALERTS.items():
        was, is_ = before.get(fault), now.get(fault)
        if was == is_:
            continue
        if was is not None:
            yield _event(alert, alert.ends, "OK", was)
        if is_ is not None:
            yield _event(alert, alert.begins, alert.severity, is_)


def _event(alert: Alert, message: str, severity: str, options: Mapping[str, Any]) -> Body:
    part = alert.part.format_map(options)
    return {
        "MessageId": message,
        "MessageSeverity": severity,
        "Message": f"{part}: {message.rpartition('.')[2]}",
        "MessageArgs": [part],
        "OriginOfCondition": {"@odata.id": alert.origin.format_map(options)},
    }
