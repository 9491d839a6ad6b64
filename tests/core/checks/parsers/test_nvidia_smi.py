"""`nvidia-smi -q -x`."""

from pathlib import Path

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.nvidia_smi import MAX_GPUS, parse, whole
from tests.core.checks.catalogue.judging import SMI
from tests.core.checks.healthy.gpu import ONE

LOST_LINE = "Unable to determine the device handle for GPU0000:9B:00.0: GPU is lost.  Reboot the system to recover\n"
ONE_GPU = SMI[: SMI.index('\t<gpu id="00000000:9B')] + "</nvidia_smi_log>\n"


def test_a_healthy_report_reads_as_it_is() -> None:
    """One example of every field."""
    report = whole(SMI)
    assert report.attached == 2
    assert [gpu.pci for gpu in report.gpus] == ["0000:1b:00.0", "0000:9b:00.0"]
    gpu = report.gpus[0]
    assert (gpu.model, gpu.serial, gpu.vbios) == ("NVIDIA H100 80GB HBM3", "1650000000001", "96.00.A5.00.01")
    assert (gpu.processes, gpu.used_percent, gpu.lost, gpu.recovery) == (0, 0.0, False, "None")
    assert (gpu.memory.remap_pending, gpu.memory.remap_failed, gpu.memory.uncorrectable) == (False, False, 0)
    assert (gpu.memory.sram_parity, gpu.memory.sram_secded, gpu.memory.sram_over_threshold) == (1, 0, False)
    assert (gpu.thermals.core_celsius, gpu.thermals.margin_celsius, gpu.thermals.slowed) == (31.0, 56.0, False)
    assert gpu.thermals.memory_margin_celsius is None


def test_a_captured_a100_with_mig_is_read_and_what_it_does_not_tell_is_none(samples: Path) -> None:
    """MIG hides the row-remap state; before Ada the margin is the distance to the slowdown threshold."""
    text = (samples / "gpu" / "telegraf_nvidia-smi_a100-sxm4-v12.xml").read_text(encoding="utf-8")
    gpu = parse(text).gpus[0]
    assert (gpu.model, gpu.serial, gpu.pci) == ("NVIDIA A100-SXM4-80GB", "1650522003820", "0000:01:00.0")
    assert gpu.memory.remap_pending is None
    assert gpu.memory.uncorrectable == 0
    assert gpu.thermals.margin_celsius == 62.0
    assert gpu.thermals.memory_margin_celsius == 51.0
    assert gpu.used_percent is None


def test_a_captured_report_that_describes_fewer_gpus_than_it_counts_contradicts_itself(samples: Path) -> None:
    """The capture was trimmed to one of four GPUs: that says nothing about the other three."""
    text = (samples / "gpu" / "telegraf_nvidia-smi_a100-sxm4-v12.xml").read_text(encoding="utf-8")
    with pytest.raises(EvidenceError, match="counts 4 GPUs but describes 1"):
        whole(text)


def test_no_devices_is_an_answer() -> None:
    """It was asked, and there are none."""
    report = whole("No devices were found\n")
    assert (report.gpus, report.attached, report.lost) == ((), 0, {})


@pytest.mark.parametrize(
    "text", [LOST_LINE + ONE_GPU, ONE_GPU + LOST_LINE, LOST_LINE + ONE_GPU.replace(">2<", ">1<")]
)
def test_a_gpu_whose_handle_cannot_be_had_is_lost(text: str) -> None:
    """Before or after the report, and whether the tool counts it or not."""
    report = whole(text)
    assert list(report.lost) == ["0000:9b:00.0"]
    assert report.lost["0000:9b:00.0"].startswith("GPU is lost")
    assert len(report.gpus) == 1


@pytest.mark.parametrize("rest", ["", "Terminated\n", SMI[:400]])
def test_nothing_but_a_lost_gpu_leaves_the_others_unknown(rest: str) -> None:
    """nvidia-smi gives up at the first GPU that it cannot open."""
    report = parse(LOST_LINE + rest)
    assert not report.complete
    assert list(report.lost) == ["0000:9b:00.0"]
    with pytest.raises(EvidenceError, match="described no other GPU"):
        whole(LOST_LINE + rest)


@pytest.mark.parametrize("gpu", ["GPU 0000:9b:00.0", "GPU3: 0000:9B:00.0", "gpu 00000000:9B:00.0"])
def test_a_lost_gpu_is_the_same_however_the_tool_names_it(gpu: str) -> None:
    """With its number, in lower case, with a longer domain."""
    assert list(parse(LOST_LINE.replace("GPU0000:9B:00.0", gpu)).lost) == ["0000:9b:00.0"]


def test_an_address_that_is_none_is_kept_as_it_stands() -> None:
    """The tool's own spelling is better than nothing."""
    assert list(parse(LOST_LINE.replace("0000:9B:00.0", "9B:0")).lost) == ["9B:0"]


def test_a_lost_gpu_that_is_described_is_not_lost() -> None:
    """What answers is not gone, whoever says so."""
    assert parse(LOST_LINE + SMI).lost == {}


def test_a_tool_that_counts_more_than_it_describes_is_not_believed() -> None:
    """What it left out may be well."""
    with pytest.raises(EvidenceError, match="counts 2 GPUs but describes 1"):
        whole(ONE_GPU)


def test_a_tenant_cannot_name_a_process_like_an_error_of_the_tool() -> None:
    """A process name is the one thing in the report that a tenant writes."""
    row = f"<processes><process_info><process_name>x\n{LOST_LINE}</process_name></process_info>"
    report = whole(SMI.replace("<processes>", row, 1))
    assert report.lost == {}
    assert report.gpus[0].processes == 1


@pytest.mark.parametrize("dead", ["GPU is lost", "[Unknown Error]", "GPU requires reset"])
def test_a_gpu_described_as_lost_is_lost(dead: str) -> None:
    """Newer drivers fill every field with it."""
    gpu = parse(SMI.replace("NVIDIA H100 80GB HBM3", dead, 1)).gpus[0]
    assert gpu.lost
    assert gpu.model == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "printed nothing"),
        ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", "is the driver loaded"),
        (SMI.replace("<!DOCTYPE nvidia_smi_log SYSTEM", "<!DOCTYPE x [<!ENTITY a 'b'>]><!--"), "defines entities"),
        (SMI.replace("</driver_version>", "&a;</driver_version>"), "cannot be read"),
        (SMI.replace("nvidia_smi_log", "html"), "is a <html>"),
        (SMI.replace("<attached_gpus>2", "<attached_gpus>two"), "sane number of GPUs"),
        (SMI.replace("0000:9B", "0000:1B"), "describes one PCI address twice"),
        (SMI.replace("00000000:9B:00.0", "nowhere"), "no PCI address"),
        (SMI.replace("31 C", "nan C"), "expected a number"),
        (SMI.replace(">1<", ">-1<"), "expected a whole number"),
        (SMI.replace("pending>No", "pending>Maybe"), "expected Yes or No"),
    ],
)
def test_what_is_no_report_is_refused_with_its_reason(text: str, message: str) -> None:
    """UNKNOWN, never a fault."""
    with pytest.raises(EvidenceError, match=message):
        whole(text)


def test_more_gpus_than_a_server_has_are_no_report() -> None:
    """Sizes are bounded."""
    gpus = "".join(f'<gpu id="0000:{n:02x}:00.0"/>' for n in range(MAX_GPUS + 1))
    with pytest.raises(EvidenceError, match="sane number"):
        parse(f"<nvidia_smi_log><attached_gpus>65</attached_gpus>{gpus}</nvidia_smi_log>")


def test_entities_are_refused_before_they_are_expanded() -> None:
    """A billion laughs would take the controller's memory."""
    lol = '<!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><nvidia_smi_log>&b;</nvidia_smi_log>'
    with pytest.raises(EvidenceError, match="entities"):
        parse(lol)


def test_a_bare_gpu_tells_nothing_and_is_read() -> None:
    """Every field may be missing."""
    gpu = parse('<nvidia_smi_log><attached_gpus>1</attached_gpus><gpu id="0000:1b:00.0"/></nvidia_smi_log>').gpus[0]
    assert (gpu.model, gpu.serial, gpu.processes, gpu.thermals.slowed) == ("", None, None, None)
    assert gpu.memory.uncorrectable is None


@pytest.mark.parametrize(
    ("old", "new", "recovery"),
    [
        ("reset_required>No", "reset_required>Yes", "Reset"),
        ("recommended>No", "recommended>Yes", "Drain and Reset"),
        ("<gpu_module_id>1", "<gpu_recovery_action>Reboot</gpu_recovery_action><gpu_module_id>1", "Reboot"),
    ],
)
def test_the_recovery_that_the_driver_asks_for_is_read_in_both_forms(old: str, new: str, recovery: str) -> None:
    """Drivers before R565 have two flags, later ones a word."""
    assert parse(SMI.replace(old, new, 1)).gpus[0].recovery == recovery


def test_a_process_list_that_is_not_given_is_none_not_empty() -> None:
    """Unknown is not idle."""
    assert parse(SMI.replace("<processes>\n", "<processes>N/A", 1)).gpus[0].processes is None


def test_a_gpu_without_a_serial_has_none() -> None:
    """Boards without one print 0 or N/A."""
    assert parse(SMI.replace("1650000000001", "0")).gpus[0].serial is None
    assert parse(SMI.replace("1650000000001", "N/A")).gpus[0].serial is None


def test_a_full_report_reads_as_it_is() -> None:
    """One example of what newer drivers tell beside errors and temperatures."""
    report = whole(ONE)
    assert (report.driver, report.cuda, report.corrupted) == ("580.105.08", "13.0", frozenset())
    gpu = report.gpus[0]
    assert gpu.uuid == "GPU-00000000-0000-4000-8000-00000000001b"
    link = gpu.link
    assert (link.generation, link.generation_max, link.width, link.width_max) == (5, 5, 16, 16)
    assert (link.replays, link.rollovers) == (150, 0)
    assert gpu.clocks.current == {"graphics": 345.0, "sm": 345.0, "mem": 2619.0}
    assert gpu.clocks.most["sm"] == 1980.0
    assert gpu.clocks.reasons["gpu_idle"]
    assert not gpu.clocks.reasons["hw_slowdown"]
    assert gpu.clocks.slowed_us["sw_power_cap"] == 7015662857
    assert (gpu.power.draw_watts, gpu.power.limit_watts, gpu.power.module_limit_watts) == (68.57, 700.0, None)
    assert (gpu.settings.persistence, gpu.settings.ecc, gpu.settings.mig) == (True, True, False)
    assert (gpu.settings.compute_mode, gpu.settings.gsp_firmware) == ("Default", "580.105.08")
    assert gpu.spares.banks == {"max": 2560, "high": 0, "partial": 0, "low": 0, "none": 0}
    assert (gpu.spares.uncorrected, gpu.spares.retired) == (0, None)
    assert (gpu.fabric.state, gpu.fabric.status, gpu.fabric.clique) == ("Completed", "Success", "0")
    assert gpu.fabric.health == (("summary", "Healthy"), ("access_timeout_recovery", "False"))
    assert (gpu.memory.repair_pending, gpu.memory.unrepairable, gpu.used_mib) == (False, None, 1.0)


@pytest.mark.parametrize("path", ["<gpu_util>0 %", "<used>1 MiB"])
def test_a_gpu_whose_measures_are_lost_is_lost(path: str) -> None:
    """Its name may be remembered from better days."""
    tag = path[: path.index(">") + 1]
    assert parse(ONE.replace(path, tag + "GPU is lost")).gpus[0].lost


def test_a_fabric_health_without_end_is_cut() -> None:
    """Sizes are bounded."""
    many = "".join(f"<word{n}>True</word{n}>" for n in range(1000))
    assert len(parse(ONE.replace("<health>", f"<health>{many}")).gpus[0].fabric.health) == 32


def test_a_report_without_its_count_of_gpus_is_taken_by_what_it_describes() -> None:
    """Somebody trimmed it; with no GPU at all it is no report."""
    bare = ONE.replace("<attached_gpus>1</attached_gpus>", "")
    assert whole(bare).attached == 1
    with pytest.raises(EvidenceError, match="sane number"):
        parse("<nvidia_smi_log></nvidia_smi_log>")


WARNING = "WARNING: infoROM is corrupted at gpu 0000:1B:00.0\n"


@pytest.mark.parametrize("text", [ONE + WARNING, WARNING + ONE, WARNING.replace("0000:1B", "00000000:1b") + ONE])
def test_a_warning_of_the_tool_is_no_part_of_its_report(text: str) -> None:
    """It stands before or behind it, and names a GPU."""
    assert parse(text).corrupted == {"0000:1b:00.0"}


def test_other_warnings_are_passed_over() -> None:
    """They name no InfoROM."""
    assert parse(ONE + "WARNING: something else\n").corrupted == frozenset()
