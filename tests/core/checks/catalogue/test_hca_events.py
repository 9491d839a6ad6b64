"""Did an adapter say since the boot that it, its module or its slot is not well?"""

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
