"""The stand-ins print in the form of the real tools; what the checks make of it is tested beside this."""

import re
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

from fleet_runner.lab import faults, hardware, plan
from fleet_runner.lab.folder import Lab
from tests.lab.bench import shell

LINKED = re.compile(
    r"(CA|SW) +\d+ +\d+ 0x[0-9a-f]{16} 4x NDR - (CA|SW) +\d+ +\d+ 0x[0-9a-f]{16} \( '[^']+' - '[^']+' \)"
)
UNLINKED = re.compile(r"SW +\d+ +\d+ 0x[0-9a-f]{16} 4x \?\?\? {36}'(leaf|spine)-\d'")


def test_ibnetdiscover_lists_every_port_end_once(lab: Lab, node: str) -> None:
    lines = shell(lab, node, "ibnetdiscover -p").stdout.splitlines()
    linked = [line for line in lines if LINKED.fullmatch(line)]
    assert all(LINKED.fullmatch(line) or UNLINKED.fullmatch(line) for line in lines)
    uplinks = len(plan.leaves()) * plan.SPINES * plan.UPLINKS
    assert len(linked) == 2 * (plan.RAILS + uplinks), "gpu-02 has no power, so its links are down"
    assert len(set(lines)) == len(lines) == plan.RAILS + 10 * plan.SWITCH_PORTS


def test_its_lines_are_spaced_like_captured_ones(lab: Lab, node: str, samples: Path) -> None:
    """Names, numbers and speeds aside, the two are the same text."""
    captured = "".join(path.read_text("utf-8") for path in samples.glob("fabric/treydock_ibnetdiscover-p_*.txt"))
    forms = {_form(line) for line in captured.splitlines() if line.strip()}
    mine = {_form(line) for line in shell(lab, node, "ibnetdiscover -p").stdout.splitlines()}
    assert mine <= forms


def _form(line: str) -> str:
    line = re.sub(r"'[^']*'", "'name'", line)
    line = re.sub(r"0x[0-9a-f]{16}", "0xguid", line)
    line = re.sub(r"4x (\?\?\?|[A-Z]DR)", "4x speed", line)
    return re.sub(r" +\d+ +\d+ 0x", " lid port 0x", line)


def test_the_plain_ibnetdiscover_has_a_record_for_each_device(lab: Lab, node: str) -> None:
    text = shell(lab, node, "ibnetdiscover").stdout
    assert text.count("\nSwitch\t65 ") == len(plan.leaves()) + plan.SPINES
    assert text.count("\nCa\t1 ") == plan.RAILS
    assert f'"S-{plan.switch_guid("leaf-3")}"[1]\t\t# lid' in text


def test_ibnetdiscover_goes_through_the_adapter_that_it_is_told(lab: Lab, node: str) -> None:
    first, third = (shell(lab, node, f"ibnetdiscover -C {adapter} -P 1").stdout for adapter in ("mlx5_0", "mlx5_2"))
    assert first.splitlines()[3] == f"# Initiated from node {plan.hca_guid(1, 0)} port {plan.hca_guid(1, 0)}"
    assert third.splitlines()[3] == f"# Initiated from node {plan.hca_guid(1, 2)} port {plan.hca_guid(1, 2)}"
    assert first.splitlines()[4:] == third.splitlines()[4:]
    answer = shell(lab, node, "ibnetdiscover -p -C mlx5_8 -P 1")
    assert (answer.returncode, answer.stdout) == (255, "")
    assert "mlx5_8" in answer.stderr


def test_ibstat_shows_the_ports_of_the_node(lab: Lab, node: str) -> None:
    text = shell(lab, node, "ibstat").stdout
    assert text.count("State: Active") == plan.RAILS
    assert [line for line in text.splitlines() if line.startswith("CA ")] == [f"CA 'mlx5_{n}'" for n in range(8)]


def test_nvidia_smi_has_the_elements_of_a_captured_report(lab: Lab, node: str, samples: Path) -> None:
    """Elements that a newer driver added are allowed, another order of those in common is not."""
    real = ET.fromstring((samples / "gpu" / "telegraf_nvidia-smi_a100-sxm4-v12.xml").read_text("utf-8"))  # noqa: S314  our own
    mine = ET.fromstring(shell(lab, node, "nvidia-smi -q -x").stdout)  # noqa: S314  our own
    assert [child.tag for child in mine if child.tag != "gpu"] == [child.tag for child in real if child.tag != "gpu"]
    one, other = mine.find("gpu"), real.find("gpu")
    assert one is not None
    assert other is not None
    known = [child.tag for child in other]
    common = [child.tag for child in one if child.tag in known]
    assert common == [tag for tag in known if tag in common]
    assert {child.tag for child in one} - set(known) <= {"ecc_errors", "remapped_rows"}


def test_dmesg_is_in_order_and_in_iso_form(lab: Lab, node: str) -> None:
    hardware.log_kernel(lab, node, "the last line")
    lines = shell(lab, node, "dmesg --time-format iso").stdout.splitlines()
    stamps = [datetime.fromisoformat(line.split(" ", 1)[0].replace(",", ".")) for line in lines]
    assert stamps == sorted(stamps)
    assert lines[0].endswith("#52-Ubuntu SMP")
    assert lines[-1].endswith(" the last line")


def test_gpu_burn_runs_as_long_as_it_is_told_and_uses_the_gpus(lab: Lab, node: str) -> None:
    text = shell(lab, node, "gpu_burn -tc 1").stdout
    assert text.count("%  proc'd: ") == 10
    assert "GPU 7: OK" in text
    seen = "until nvidia-smi -q -x | grep -q '<process_name>./gpu_burn</process_name>'; do :; done"
    shell(lab, node, f"gpu_burn -tc 600 & {seen}; kill $!; wait")
    assert "./gpu_burn" not in shell(lab, node, "nvidia-smi -q -x").stdout


def test_nvidia_smi_lists_the_gpus_it_finds_and_refuses_what_it_does_not_know(lab: Lab, node: str) -> None:
    faults.inject(lab, "missing_gpu", node, {"gpu": 0})
    assert shell(lab, node, "nvidia-smi -L").stdout.count("\n") == plan.GPUS - 1
    assert shell(lab, node, "nvidia-smi").returncode == 2


def test_a_hanging_tool_hangs_and_the_others_do_not(lab: Lab, node: str) -> None:
    faults.inject(lab, "tool_hang", node, {"tool": "ibstat"})
    assert shell(lab, node, "timeout 0.5 ibstat").returncode == 124
    assert shell(lab, node, "timeout 0.5 ibstat -l").returncode == 124
    assert shell(lab, node, "uptime -s").returncode == 0


def test_uptime_follows_the_callers_time_zone(lab: Lab, node: str) -> None:
    booted = hardware.state_of(lab, node)["boot"]["kernel"]
    told = shell(lab, node, "env TZ=UTC uptime -s").stdout.strip()
    assert datetime.fromisoformat(told + "+00:00").timestamp() == int(booted)
    assert shell(lab, node, "env TZ=Asia/Tokyo uptime -s").stdout.strip() != told
