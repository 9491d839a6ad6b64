"""The GPUs' own errors, their temperatures, their use, and what the driver logged."""

import json
from pathlib import Path

import pytest

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import DEVICE, DMESG, NODE, PROFILE, SMI, judged, remedies

SECOND = SMI.index('\t<gpu id="00000000:9B')


def bent(check: str, *swaps: tuple[str, str]) -> Result:
    """Judge a report whose first GPU differs."""
    text = SMI
    for old, new in swaps:
        assert old in text
        text = text.replace(old, new, 1)
    return judged(check, {"nvidia_smi": text})


def recovery(action: str) -> str:
    """Return the beginning of a later element, with the driver's recovery action before it."""
    return f"<gpu_recovery_action>{action}</gpu_recovery_action><gpu_module_id>"


@pytest.mark.parametrize(
    ("old", "new", "code", "remedy"),
    [
        ("row_failure>No", "row_failure>Yes", "gpu.remap_failed", Remedy.RMA),
        ("row_pending>No", "row_pending>Yes", "gpu.remap_pending", Remedy.RESET),
        ("exceeded>No", "exceeded>Yes", "gpu.sram_threshold", Remedy.RMA),
        ("parity>1", "parity>5", "gpu.sram_errors", Remedy.TRIAGE),
        ("reset_required>No", "reset_required>Yes", "gpu.recovery", Remedy.RESET),
        ("<gpu_module_id>", recovery("Reboot"), "gpu.recovery", Remedy.REBOOT),
        ("<gpu_module_id>", recovery("Dance"), "gpu.recovery", Remedy.WATCH),
    ],
)  # fmt: skip
def test_a_gpus_own_flags_say_what_follows(old: str, new: str, code: str, remedy: Remedy) -> None:
    """A failed remap goes back, a pending one is reset, and a sum over banks is for a person."""
    result = bent("gpu_errors", (old, new))
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == {code: remedy}
    assert result.findings[0].fault == f"gpu-01/{code}/GPU 0000:1b:00.0"
    assert bool(result.findings[0].steps) is (remedy in {Remedy.RMA, Remedy.TRIAGE})


LIFETIME_SECDED = "secded>{}</sram_uncorrectable_secded>\n\t\t\t\t<sram_threshold"


@pytest.mark.parametrize(
    ("old", "new"), [("parity>1", "parity>4"), (LIFETIME_SECDED.format(0), LIFETIME_SECDED.format(2))]
)
def test_sram_errors_up_to_the_limit_pass(old: str, new: str) -> None:
    """More than 4 by parity, more than 2 by SECDED: the limits themselves are good."""
    assert bent("gpu_errors", (old, new)).verdict is Verdict.PASS


def test_a_reset_flag_beside_a_pending_remap_is_one_fault() -> None:
    """The driver asks for the reset because of the remap."""
    result = bent("gpu_errors", ("row_pending>No", "row_pending>Yes"), ("reset_required>No", "reset_required>Yes"))
    assert remedies(result) == {"gpu.remap_pending": Remedy.RESET}


def test_uncorrectable_errors_below_the_limits_are_only_recorded() -> None:
    """What follows from them is in the remap flags."""
    result = bent("gpu_errors", ("dram_uncorrectable>0", "dram_uncorrectable>3"))
    assert result.verdict is Verdict.PASS
    assert remedies(result) == {"gpu.uncorrectable": Remedy.RECORD}
    assert result.observed["gpus"]["0000:1b:00.0"]["uncorrectable"] == 3


def test_a_message_leads_with_the_hardest_finding_and_counts_the_rest() -> None:
    """Three are spelled out."""
    text = SMI.replace("row_failure>No", "row_failure>Yes").replace("row_pending>No", "row_pending>Yes")
    result = judged("gpu_errors", {"nvidia_smi": text.replace("parity>1", "parity>9")})
    assert result.message.startswith("GPU 0000:1b:00.0 (GPU 0, serial 1650000000001) could not remap a memory row")
    assert result.message.endswith("; and 3 more")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("row_pending>No", "row_pending>N/A", "row-remap state"),
        ("row_failure>No", "row_failure>N/A", "row-remap state"),
        ("<volatile>", "<other>", "cannot be read"),
    ],
)
def test_a_flag_that_is_not_told_is_unknown(old: str, new: str, why: str) -> None:
    """MIG hides the row-remap state: unknown is not healthy, and not faulty."""
    result = bent("gpu_errors", (old, new))
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


def test_counters_that_are_not_told_are_unknown() -> None:
    """ECC may be off."""
    text = SMI.replace("<volatile>", "<other>").replace("</volatile>", "</other>")
    result = judged("gpu_errors", {"nvidia_smi": text})
    assert result.verdict is Verdict.UNKNOWN
    assert "is its ECC on?" in result.message


def test_a_fault_outweighs_what_could_not_be_read() -> None:
    """FAIL stands."""
    result = bent("gpu_errors", ("row_pending>No", "row_pending>N/A"), ("row_failure>No", "row_failure>Yes"))
    assert result.verdict is Verdict.FAIL


def test_many_unread_things_are_counted() -> None:
    """Three are spelled out."""
    text = (
        SMI.replace("<volatile>", "<other>")
        .replace("</volatile>", "</other>")
        .replace("row_pending>No", "row_pending>N/A")
    )
    assert judged("gpu_errors", {"nvidia_smi": text}).message.endswith("; and 1 more")


@pytest.mark.parametrize("check", ["gpu_errors", "gpu_thermals", "gpu_usage"])
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("No devices were found\n", "sees no GPU"),
        ("Unable to determine the device handle for GPU0000:9B:00.0: GPU is lost.\n", "described no other GPU"),
        (SMI.replace("NVIDIA H100 80GB HBM3", "GPU is lost"), "sees no GPU"),
    ],
)
def test_without_a_gpu_that_answers_nothing_is_known(check: str, text: str, why: str) -> None:
    """Least of all that the node is idle."""
    result = judged(check, {"nvidia_smi": text})
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


def test_a_lost_gpu_leaves_the_others_judged() -> None:
    """It is the parts' question."""
    text = SMI[:SECOND] + SMI[SECOND:].replace("NVIDIA H100 80GB HBM3", "GPU is lost")
    assert judged("gpu_errors", {"nvidia_smi": text}).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("old", "new", "code", "remedy"),
    [
        ("56 C", "4 C", "gpu.hot", Remedy.WATCH),
        ("56 C", "0 C", "gpu.thermal_slowdown", Remedy.TRIAGE),
        ("56 C", "-3 C", "gpu.thermal_slowdown", Remedy.TRIAGE),
        ("Not Active", "Active", "gpu.thermal_slowdown", Remedy.TRIAGE),
    ],
)
def test_a_gpu_is_judged_by_its_margin_and_by_whether_it_slows(old: str, new: str, code: str, remedy: Remedy) -> None:
    """Close is watched; slowed is looked at by a person."""
    result = bent("gpu_thermals", (old, new))
    assert result.verdict is Verdict.FAIL
    assert remedies(result) == {code: remedy}


def test_a_margin_at_the_limit_passes() -> None:
    """At least five degrees means five are enough."""
    result = bent("gpu_thermals", ("56 C", "5 C"))
    assert result.verdict is Verdict.PASS
    assert result.message == "every GPU is at least 5 C from its limit, expected 5"


def test_a_gpu_that_slows_without_telling_its_margin_still_fails() -> None:
    """Its own word is enough."""
    result = bent("gpu_thermals", ("56 C", "N/A"), ("Not Active", "Active"))
    assert "at an unknown temperature" in result.message


def test_a_margin_that_is_not_told_is_unknown() -> None:
    """No margin, and no threshold to work it out from."""
    result = bent("gpu_thermals", ("56 C", "N/A"))
    assert result.verdict is Verdict.UNKNOWN
    assert result.observed["core_celsius"]["0000:1b:00.0"] == 31.0


def test_hot_memory_is_watched() -> None:
    """Where the GPU tells its memory's limit."""
    limit = "<gpu_temp_max_mem_threshold>43 C</gpu_temp_max_mem_threshold></temperature>"
    result = bent("gpu_thermals", ("</temperature>", limit))
    assert remedies(result) == {"gpu.memory_hot": Remedy.WATCH}


def test_a_captured_a100_is_judged_by_its_slowdown_threshold(samples: Path) -> None:
    """Before Ada there is no margin to T.Limit."""
    text = (samples / "gpu" / "telegraf_nvidia-smi_a100-sxm4-v12.xml").read_text(encoding="utf-8")
    result = judged("gpu_thermals", {"nvidia_smi": text.replace("gpus>4", "gpus>1")})
    assert result.verdict is Verdict.PASS
    assert result.observed["margin_celsius"] == {"0000:01:00.0": 62.0}


@pytest.mark.parametrize(
    ("old", "new", "processes"),
    [("<processes>", "<processes><process_info/><process_info/>", 2), ("<gpu_util>0 %", "<gpu_util>7 %", 0)],
)
def test_a_node_is_in_use_by_processes_or_by_work_whose_processes_are_hidden(
    old: str, new: str, processes: int
) -> None:
    """An idle guess could end somebody's work."""
    result = bent("gpu_usage", (old, new))
    assert result.verdict is Verdict.PASS
    assert result.observed == {"in_use": True, "processes": processes}


@pytest.mark.parametrize(
    ("pids", "sole"),
    [(("7", "7"), True), (("7", "8"), False), (("7", ""), False), (("", "7"), False), (("[N/A]", "[N/A]"), False)],
)
def test_one_process_on_every_gpu_has_the_whole_node(pids: tuple[str, str], sole: bool) -> None:
    """Several may be one job's, or several jobs': the processes do not tell."""
    first, *rest = SMI.split("<processes>")
    filled = (f"<process_info><pid>{pid}</pid></process_info>" if pid else "" for pid in pids)
    text = first + "".join(f"<processes>{each}{part}" for each, part in zip(filled, rest, strict=True))
    result = judged("gpu_usage", {"nvidia_smi": text})
    assert result.observed["in_use"] is True
    assert result.observed.get("sole", False) is sole


def test_an_idle_node_is_not_in_use() -> None:
    """The one answer after which it may be rebooted."""
    result = judged("gpu_usage", {"nvidia_smi": SMI})
    assert result.observed == {"in_use": False, "processes": 0}


def test_a_process_list_that_is_not_given_is_unknown() -> None:
    """Unknown is not idle."""
    result = bent("gpu_usage", ("<processes>\n", "<processes>N/A"))
    assert result.verdict is Verdict.UNKNOWN
    assert "it is not known whether it is idle" in result.message


def recovers(before: str, after: str) -> str:
    """Return Xid 154's line; the numbers before the words are not read."""
    return f"Xid (PCI:0000:9b:00): 154, GPU recovery action changed from 0x0 ({before}) to 0x1 ({after})"


def xid(*lines: str) -> Result:
    """Judge a kernel log with more lines."""
    return judged("xid", {"dmesg": DMESG + "".join(f"NVRM: {line}\n" for line in lines)})


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.", Remedy.REBOOT),
        ("Xid (PCI:0000:9b:00): 48, pid=1, DBE", Remedy.RESET),
        ("Xid (PCI:0000:9b:00): 74, pid=1, NVLink", Remedy.WATCH),
        ("Xid (PCI:0000:9b:00): 54, x", Remedy.TRIAGE),
        ("Xid (PCI:0000:9b:00): 31, pid=1, GPU has fallen off the bus", Remedy.RECORD),
        ("Xid (PCI:0000:9b:00): 99999, unknown error", Remedy.RECORD),
        ("Xid (PCI:0000:9b:00): 145, RLW_CTRL Nonfatal XC0 i0 Link 00 (0x3", Remedy.RECORD),
        ("Xid (PCI:0000:9b:00): 145, RLW_REMAP Fatal XC0 i0 Link 00 (0x4", Remedy.WATCH),
        ("Xid (PCI:0000:9b:00): 145, RLW_REM", Remedy.RECORD),
        ("Xid (PCI:0000:9b:00): 145, RLW_REMAP Fatal XC0 i0 Link 03 (0x00000004 0x00000040 0x0)", Remedy.WATCH),
        ("Xid (PCI:0000:9b:00): 145, RLW_REMAP Fatal XC0 i0 Link 03 (0x00000004 0x00000040)", Remedy.RESET),
        ("Xid (PCI:0000:9b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 03 (0x026001c6 0x00000000)", Remedy.RECORD),
        (recovers("None", "Node Reboot Required"), Remedy.REBOOT),
        (recovers("None", "GPU Reset Required"), Remedy.RESET),
        (recovers("None", "Drain P2P"), Remedy.WATCH),
        (recovers("None", "Drain and Reset"), Remedy.RESET),
        (recovers("GPU Reset Required", "None"), Remedy.RECORD),
        ("Xid (PCI:0000:9b:00): 154, something else", Remedy.RECORD),
    ],
)  # fmt: skip
def test_an_xid_asks_for_what_its_row_or_its_own_text_says(line: str, remedy: Remedy) -> None:
    """Codes decide; the words behind them only where the code says so."""
    result = xid(line)
    finding = next(finding for finding in result.findings if finding.component == "GPU 0000:9b:00.0")
    assert finding.remedy is remedy
    assert result.verdict is (Verdict.PASS if remedy is Remedy.RECORD else Verdict.FAIL)


def test_an_xid_logged_often_is_one_finding_with_its_count() -> None:
    """One fault, one key, however often."""
    line = "Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."
    result = xid(line, line.replace("9b:00", "9b:00.0"))
    (fallen,) = [finding for finding in result.findings if finding.code == "xid.79"]
    assert fallen.fault == "gpu-01/xid.79/GPU 0000:9b:00.0"
    assert "logged 2 times" in fallen.message
    assert result.observed["xids"] == {"13": 1, "79": 2, "144": 1}


def test_only_the_last_word_of_the_recovery_action_counts() -> None:
    """It announces a state, not an event."""
    change = recovers("None", "GPU Reset Required")
    back = recovers("GPU Reset Required", "None")
    assert xid(change, back).verdict is Verdict.PASS
    assert "the driver asks for: GPU Reset Required" in xid(back, change).message


def test_an_nvlink_error_is_reset_only_when_a_switch_reports_a_fatal_one_too() -> None:
    """Look at the paired SXid first."""
    link = "NVRM: Xid (PCI:0000:9b:00): 74, pid=1, NVLink\n"
    switch = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
    data = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 20034, Data {0x10000000}\n"
    found = remedies(judged("xid", {"dmesg": link + switch + data}))
    assert found == {"xid.74": Remedy.RESET, "sxid.20034": Remedy.RESET}


def test_a_switchs_harmless_error_is_recorded_and_an_always_fatal_one_reboots() -> None:
    """21 codes need the whole node restarted, whatever their line says."""
    harmless = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress\n"
    fatal = "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12020, Link 32 sequence\n"
    found = remedies(judged("xid", {"dmesg": harmless + fatal}))
    assert found == {"sxid.12028": Remedy.RECORD, "sxid.12020": Remedy.REBOOT}


def test_an_nvlink_5_error_names_its_units_and_where_to_look() -> None:
    """A link that went down at its other end, and an error that belongs to no link."""
    links = [
        f"Xid (PCI:0000:9b:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link {number:02} (0x025001c6 0x00000000)"
        for number in range(6)
    ]
    (down,) = [finding for finding in xid(*links).findings if finding.component == "GPU 0000:9b:00.0"]
    named = ", ".join(f"NETIR_LINK_EVT of link {number}" for number in range(4))
    assert down.message.endswith(f"; {named}; look at the device at the link's other end, whose own log tells more")
    alone = xid("Xid (PCI:0000:9b:00): 150, MSE_WATCHDOG Fatal XC0 i0 Link -1 (0x00000000 0x00000000)")
    assert alone.findings[-1].message.endswith("; MSE_WATCHDOG")


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("22012, Minion Link NA interrupt", Remedy.RESET),
        ("11012, Single bit ECC errors", Remedy.RECORD),
        ("26006, SOE HALT data[0] = 0x               0", Remedy.RECORD),
        ("10004, Host_thermal_event_start", Remedy.WATCH),
        ("20034, Non-fatal, Link 30", Remedy.RECORD),
    ],
)
def test_a_switchs_error_that_names_no_severity_has_that_of_nvidias_tables(line: str, remedy: Remedy) -> None:
    """Its own word wins; a code that no table has is only recorded."""
    found = remedies(judged("xid", {"dmesg": f"nvidia-nvswitch0: SXid (PCI:0000:05:00.0): {line}\n"}))
    assert found == {f"sxid.{line[:5]}": remedy}


def test_what_is_only_recorded_is_told_in_the_pass() -> None:
    """A person sees it without opening the result."""
    assert xid().message == "no Xid since boot needs action; recorded only: Xid 13, Xid 144"
    assert judged("xid", {"dmesg": "[    0.0] Linux version 6.8\n"}).message == "no Xid since boot needs action"


def test_a_captured_log_of_a_dead_system_processor_asks_for_a_reset(samples: Path) -> None:
    """Five time-outs of one GPU are one finding."""
    text = (samples / "gpu" / "gpud_dmesg_xid119_real.log").read_text(encoding="utf-8")
    result = judged("xid", {"dmesg": text})
    assert remedies(result) == {"xid.119": Remedy.RESET}
    assert "logged 5 times, last at Sun Feb 23 16:30:13 2025" in result.message


def test_no_line_of_any_capture_sends_a_part_back(samples: Path) -> None:
    """RMA never follows from an Xid alone."""
    for name in ("xid_lines_gpud.txt", "sxid_lines_gpud_nvsentinel.txt"):
        text = (samples / "gpu" / name).read_text(encoding="utf-8")
        result = judged("xid", {"dmesg": text}, Expected(NODE, PROFILE, DEVICE))
        assert Remedy.RMA not in remedies(result).values()
        assert json.dumps(result.to_json())
