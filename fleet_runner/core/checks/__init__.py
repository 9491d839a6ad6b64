"""The catalogue of checks: one module each, and one line each in CHECKS."""

from fleet_runner.core.checks import (
    cabling_ethernet,
    cabling_infiniband,
    cloud_init,
    dcgm,
    fabric_cabling,
    fabric_counters,
    firmware_pins,
    gpu_burn,
    gpu_errors,
    gpu_thermals,
    gpu_usage,
    link_flaps,
    optics,
    parts_gpu,
    parts_hca,
    power_supplies,
    rebooted,
    xid,
)
from fleet_runner.core.checks.check import Check

CHECKS: dict[str, Check] = {
    "cabling_infiniband": cabling_infiniband.CHECK,
    "cabling_ethernet": cabling_ethernet.CHECK,
    "fabric_cabling": fabric_cabling.CHECK,
    "fabric_counters": fabric_counters.CHECK,
    "cloud_init": cloud_init.CHECK,
    "rebooted": rebooted.CHECK,
    "parts_gpu": parts_gpu.CHECK,
    "parts_hca": parts_hca.CHECK,
    "power_supplies": power_supplies.CHECK,
    "gpu_errors": gpu_errors.CHECK,
    "gpu_thermals": gpu_thermals.CHECK,
    "xid": xid.CHECK,
    "link_flaps": link_flaps.CHECK,
    "optics": optics.CHECK,
    "gpu_usage": gpu_usage.CHECK,
    "firmware_pins": firmware_pins.CHECK,
    "gpu_burn": gpu_burn.CHECK,
    "dcgm": dcgm.CHECK,
}
