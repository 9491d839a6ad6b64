"""The screen of a look: 80 columns, what is bad first, and every list short."""

import dataclasses

from fleet_runner.core.bmc import parts
from fleet_runner.core.bmc.look import Logged, Look, look
from fleet_runner.core.bmc.parts import Device, Firmware
from fleet_runner.core.bmc.screen import MOST_BAD, MOST_FIRMWARE, MOST_UNREAD, lines
from fleet_runner.core.bmc.tree import Tree
from fleet_runner.core.checks.verdicts import Finding, Remedy
from tests.core.bmc.trees import captured, surveyed

WELL = look(surveyed(captured())[0])


def shown(found: Look, width: int = 80) -> list[str]:
    """Return the lines."""
    return [line.text for line in lines(found, width)]


def bad(message: str) -> Finding:
    """Return a finding."""
    return Finding("health.dimm", "DIMM", message, Remedy.TRIAGE, "key")


def test_a_captured_bmc_fits_one_screen() -> None:
    told = shown(WELL)
    assert max(map(len, told)) <= 80
    assert told[:3] == [
        "Supermicro SYS-821GE-TNHR, serial S900000X0000001",
        "power On, BIOS 1.4, BMC 11.01.01, Redfish 1.11.0",
        "No problem found.",
    ]
    assert "  processors        2 x Intel(R) Xeon(R) Platinum 8462Y+, 32 cores" in told
    assert "  GPU* System Slot1 (2): 96.00.61.00.01   HGX_FW_BMC_0: HGX-22.10-1-rc34" in told
    assert "  drives            none listed" in told


def test_a_bmc_that_tells_nothing_is_said_to() -> None:
    told = shown(look(Tree()))
    assert told[0] == "unknown machine, serial not reported"
    assert told[-1] == "FIRMWARE: none listed"
    assert "  fans              none listed" in told


def test_what_is_bad_is_counted_and_the_rest_left_to_json() -> None:
    found = dataclasses.replace(WELL, bad=tuple(bad(f"the BMC calls DIMM {number} bad") for number in range(15)))
    told = shown(found)
    assert told[2] == "BAD (15)"
    assert told[3 + MOST_BAD] == "  and 3 more; --json lists all"


def test_what_was_not_read_keeps_good_news_small_and_has_a_line_each() -> None:
    found = dataclasses.replace(
        WELL, unread=tuple(f"Systems/{number}: slow" for number in range(10)), absent=("Systems/x",), notes=("odd",)
    )
    told = shown(found)
    assert "No problem found in what was read." in told
    assert told[-12:-9] == ["NOTES", "  odd", "not read: Systems/0: slow"]
    assert told[-2:] == [
        f"not read: {10 - MOST_UNREAD} more; --json lists all",
        "1 resource is listed but absent (404): Systems/x",
    ]
    many = dataclasses.replace(found, absent=tuple(f"S/{number}" for number in range(6)))
    assert shown(many)[-1].endswith("(404): S/0, S/1, S/2, S/3 and 2 more")


def test_a_log_names_the_part_unless_the_message_does_and_says_nothing_twice() -> None:
    log = (
        Logged("2023-01-19 01:12", "Warning", "the server", "System Power Supplies Not Redundant", 1),
        Logged("", "Critical", "DIMM_A1", "uncorrectable error", 3),
        Logged("", "Critical", "DIMM_B1", "DIMM_B1 failed", 1),
        Logged("", "Critical", "CPU", "is told above", 1),
    )
    told = shown(dataclasses.replace(WELL, log=log, bad=(bad("Log1 4, CPU: is told above; it means this"),)))
    start = told.index("LOG: entries that no later entry cleared")
    assert told[start + 1 : start + 4] == [
        "  2023-01-19 01:12  Warning  System Power Supplies Not Redundant",
        "  undated           Critical  DIMM_A1: uncorrectable error (3 times)",
        "  undated           Critical  DIMM_B1 failed",
    ]
    assert told[start + 4] == "PARTS"


def test_a_long_log_and_a_long_inventory_say_how_much_is_left_out() -> None:
    log = tuple(Logged("", "Warning", "x", f"x {number}", 1) for number in range(9))
    firmware = tuple(Firmware(f"F{number}", "", "", 1) for number in range(MOST_FIRMWARE + 2))
    told = shown(dataclasses.replace(WELL, log=log, firmware=firmware))
    assert "LOG: entries that no later entry cleared, newest 5 of 9" in told
    assert "FIRMWARE (42, 2 more by --json)" in told
    assert "  F0: version not reported                F1: version not reported" in told


def test_parts_have_their_figures_and_sensors_their_silent_ones() -> None:
    devices = (
        Device("drive", "1", "", gigabytes=1920, protocol="NVMe"),
        Device("dimm", "1", "M", gib=64.0, megatransfers=4400),
    )
    sensed = dataclasses.replace(WELL.sensed, slowest="51 %", fastest="51 %", warmest=(), silent=tuple("abcdef"))
    told = shown(dataclasses.replace(WELL, devices=devices, sensed=sensed))
    assert "  drives            1 x model not reported, 1920 GB, NVMe" in told
    assert "  memory modules    1 x M, 64 GiB, 4400 MT/s" in told
    assert "  fans              3, 51 %" in told
    assert "  sensors           7 in use. 6 without a reading: a, b, c, d and 2 more" in told
    still = dataclasses.replace(sensed, slowest="", fastest="")
    assert "  fans              3" in shown(dataclasses.replace(WELL, sensed=still))


def test_every_kind_of_part_has_a_row() -> None:
    told = "\n".join(shown(WELL))
    assert all(called in told for called in parts.KINDS.values())
