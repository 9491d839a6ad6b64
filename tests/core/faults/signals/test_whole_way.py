"""From what is pushed to alarms, by the built-in rules: each of the sequences that operators know."""

import json

import pytest

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import DEFAULT
from fleet_runner.core.faults.signals import json_lines, kernel
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.places import Places
from tests.core.faults.signals.telling import NOW

XID = "NVRM: Xid (PCI:0000:9b:00): "
SXID = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): "
FATAL = SXID + "20034, Fatal, Link 30 LTSSM Fault Up"
LINK = XID + "74, pid=1, NVLink: fatal error detected on link 6(0x10000, 0x0)"
FAULT = XID + "31, pid={}, name=python3, Ch 00000008, MMU Fault"
LOST = XID + "79, pid=1, GPU has fallen off the bus."
UNCORRECTED = XID + "48, pid=1, DBE"
REMAPPED = XID + "63, pid=1, Row Remapper: New row marked for remapping"

PLACES = Places.of(["gpu-01", "gpu-02"])

Pushed = tuple[float, tuple[str, ...]]


def following(_: str, code: str) -> Following:
    """Return what the built-in rules say."""
    return DEFAULT.of("hgx-h100", code)


def pushed(*pushes: Pushed) -> dict[str, Alarm]:
    """Return the alarms that count, by code, after pushes of journald's lines at these seconds."""
    desk, stored = AlarmEngine(following), dict[str, Alarm]()
    for second, texts in pushes:
        now = NOW + second
        rows = [
            {"_HOSTNAME": "gpu-01.hall.example", "_TRANSPORT": "kernel", "MESSAGE": text, "timestamp": now}
            for text in texts
        ]
        lines, _ = json_lines.read("\n".join(map(json.dumps, rows)), "", now)
        heard = desk.hear(PLACES.place(kernel.read(lines, now)).signals, now)
        stored |= {each.code: each for each in (*heard.changed, *desk.due(now))}
    return {code: each for code, each in stored.items() if each.raised_at is not None and each.cleared_at is None}


def asked(*pushes: Pushed) -> dict[str, tuple[Remedy, bool]]:
    """Return what the alarms that count ask for, and whether at once."""
    return {code: (each.remedy, each.at_once) for code, each in pushed(*pushes).items()}


def test_a_lost_gpu_is_an_alarm_at_once() -> None:
    """Of the node by its short name, with the sweep's key of the fault."""
    alarm = pushed((0, (LOST,)))["xid.79"]
    assert (alarm.node, alarm.fault, alarm.at_once) == ("gpu-01", "gpu-01/xid.79/GPU 0000:9b:00.0", True)
    assert alarm.remedy is Remedy.POWER_CYCLE


@pytest.mark.parametrize(
    "pushes",
    [((0, (FATAL, LINK)),), ((0, (LINK, FATAL)),), ((0, (FATAL,)), (60, (LINK,))), ((0, (LINK,)), (60, (FATAL,)))],
)
def test_an_nvlink_error_counts_beside_the_switchs(pushes: tuple[Pushed, ...]) -> None:
    """In one push or in two, whichever is first; alone, too, since it is fatal."""
    assert asked(*pushes)["xid.74"] == (Remedy.RESET, False)
    assert asked((0, (LINK,))) == {"xid.74": (Remedy.RESET, False)}
    assert asked((0, (LINK.replace("fatal ", ""),)))["xid.74"] == (Remedy.WATCH, False)


def test_an_applications_fault_counts_when_it_comes_again() -> None:
    """A crash that the driver logs over several lines is one; the next one within a day is the second."""
    crash = tuple(FAULT.format(each) for each in range(9))
    assert asked((0, crash)) == {}
    assert asked((0, crash), (3600, (FAULT.format(99),)))["xid.31"] == (Remedy.TRIAGE, False)
    assert asked((0, crash), (90_000, (FAULT.format(99),))) == {}


def test_an_uncorrected_error_asks_for_a_reset_and_a_remapped_row_for_nothing() -> None:
    """Whether the remapping is pending or failed is for the GPU's own flags."""
    assert asked((0, (UNCORRECTED, REMAPPED))) == {"xid.48": (Remedy.RESET, False), "xid.63": (Remedy.RECORD, False)}
