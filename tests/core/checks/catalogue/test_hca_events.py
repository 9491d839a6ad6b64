"""Did an adapter report a fault of itself, its module or its slot since the boot?"""

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.judging import DMESG, judged, remedies

AT = "2025-03-01T09:31:00,500000+00:00 "
CARD = "mlx5_core 0000:41:00.0: "

SAID = [
    ("poll_health:852:(pid 0): device's health compromised - reached miss", "hca.firmware_failed", Remedy.REBOOT),
    ("poll_health:174: device's health compromised - reached miss count", "hca.firmware_failed", Remedy.REBOOT),
    ("print_health_info:458:(pid 0): synd 0x8: unrecoverable hardware error", "hca.firmware_failed", Remedy.REBOOT),
    (
        "print_health_info:430:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:",
        "hca.firmware_failed",
        Remedy.REBOOT,
    ),
    ("temp_warn:170:(pid 0): High temperature on sensors with bit set 0 1", "hca.hot", Remedy.RECORD),
    ("print_health_info:430:(pid 0): Health issue observed, High temperature, severity(2) CRITICAL:", "hca.hot",
     Remedy.RECORD),
    ("Port module event[error]: module 0, Cable error, High Temperature", "hca.hot", Remedy.RECORD),
    ("mlx5_port_module_event:1131:(pid 0): Port module event[error]: module 1, Cable error, Bad or shorted cable",
     "hca.module", Remedy.RECORD),
    ("mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).", "hca.slot_power",
     Remedy.RECORD),
    ("wait_func:1132:(pid 141181): ENABLE_HCA(0x104) timeout. Will cause a leak of a command resource", "hca.stopped",
     Remedy.REBOOT),
    ("wait_func:1132:(pid 141181): CREATE_DCT(0x710) timeout. Will cause a leak of a command resource",
     "hca.command_timeout", Remedy.WATCH),
    ("mlx5_cmd_out_err:838:(pid 12): ACCESS_REG(0x805) op_mod(0x1) failed, status bad operation(0x2), err(-22)",
     "hca.access_failed", Remedy.WATCH),
    ("TX timeout detected", "hca.queue_timeout", Remedy.WATCH),
    ("RX timeout on channel: 3, ICOSQ: 0x2a1 RQ: 0x2a4, CQ: 0x4d", "hca.queue_timeout", Remedy.WATCH),
]  # fmt: skip
"""What the driver logs, and what it asks for."""


@pytest.mark.parametrize(("line", "code", "remedy"), SAID)
@pytest.mark.parametrize("card", [CARD, "mlx5_core 0000:41:00.0 ib2: "])
def test_what_the_driver_says_is_understood(line: str, code: str, remedy: Remedy, card: str) -> None:
    """With the interface's name or without it, however often it is said."""
    log = f"{DMESG}{AT}{card}{line}\n" * 2
    result = judged("hca_events", {"dmesg": log})
    assert remedies(result) == {code: remedy}
    (finding,) = result.findings
    assert finding.component == "HCA 0000:41:00.0"
    assert "logged 2 times" in finding.message


@pytest.mark.parametrize(
    "line",
    [
        "Port module event: module 1, Cable plugged",
        "print_health_info:458:(pid 0): synd 0x0: no error",
        "print_health_info:458:(pid 0): synd 0x10: High temperature",
        "mlx5_pcie_event:304:(pid 1): PCIe slot advertised sufficient power (75W).",
        "print_health_info:430:(pid 0): Health issue observed, unrecognized error, severity(6) INFO:",
    ],
)
def test_what_is_no_fault_is_none(line: str) -> None:
    """Cables that come and go are `link_flaps`' matter."""
    assert judged("hca_events", {"dmesg": f"{DMESG}{AT}{CARD}{line}\n"}).findings == ()


def test_others_may_quote_the_driver() -> None:
    """A process that writes to the kernel's log is not believed."""
    quoted = f"{DMESG}{AT}systemd[1]: said: {CARD}{SAID[0][0]}\n"
    assert judged("hca_events", {"dmesg": quoted}).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "line",
    [
        "NETDEV WATCHDOG: eno1 (bnxt_en): transmit queue 3 timed out",
        "NETDEV WATCHDOG: eno1 (bnxt_en): transmit queue 3 timed out 5010 ms",
        "bnxt_en 0000:65:00.0 eno1: NETDEV WATCHDOG: CPU: 3: transmit queue 3 timed out 5010 ms",
    ],
)
def test_a_queue_that_stands_still_is_watched(line: str) -> None:
    """Of any maker, in the kernel's words before and since 6.7."""
    (finding,) = judged("hca_events", {"dmesg": f"{DMESG}{AT}{line}\n"}).findings
    assert (finding.code, finding.component) == ("nic.queue_timeout", "interface eno1")
    assert finding.remedy is Remedy.WATCH


@pytest.mark.parametrize(
    "line",
    [
        "NETDEV WATCHDOG: ens1f0np0 (mlx5_core): transmit queue 3 timed out",
        "mlx5_core 0000:65:00.0 ens1f0np0: NETDEV WATCHDOG: CPU: 3: transmit queue 3 timed out 5010 ms",
    ],
)
def test_what_the_adapters_own_driver_tells_is_told_once(line: str) -> None:
    """It says that it detected a timeout right after the kernel did."""
    log = f"{DMESG}{AT}{line}\n{AT}mlx5_core 0000:65:00.0 ens1f0np0: TX timeout detected\n"
    assert [finding.code for finding in judged("hca_events", {"dmesg": log}).findings] == ["hca.queue_timeout"]
