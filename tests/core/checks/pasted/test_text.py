"""Whatever is pasted: nothing raises, nothing healthy is condemned, and nothing that is cut is good news."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.checks.pasted import text as pasted
from fleet_runner.core.checks.pasted.cleaning import clean
from fleet_runner.core.checks.pasted.text import Pasted
from fleet_runner.core.checks.pasted.told import THIS_NODE, Group, automation, by_hand, ordered, plain, repeats
from tests.core.checks.pasted.pasting import asking, evidence, read
from tests.examples import examples

HEALTHY = (
    "nvidia_smi/h100_one.xml", "nvidia_smi/h100_two_idle.xml", "nvidia_smi/v100_one.xml", "nvidia_smi/q_h100.txt",
    "dcgm/v3_pass.json", "dcgm/v4_persistence_off.json", "dcgm/health_well.json", "smartctl/one_sata.txt",
    "nvme/smart_two.txt", "nccl_tests/h100_two.txt", "nvlink/status.txt", "nvlink/errors.txt", "dmesg/boot.txt",
    "redfish/logs.json", "nccl_tests/two_nodes.txt",
)  # fmt: skip
"""What healthy tools say; some of it has what is only recorded."""

FAULTY = {
    "nvidia_smi/q_h100_failed.txt": {"gpu.remap_failed": "RMA", "gpu.remap_pending": "RESET"},
    "smartctl/nvme_failing.txt": {"disk.spare": "RMA"},
    "smartctl/sata.txt": {"disk.medium": "TRIAGE"},
    "ipmitool/sel_elist.txt": {"sel.memory_uncorrectable": "TRIAGE"},
    "dmesg/two_hosts.log": {"xid.79": "POWER_CYCLE"},
    "fabric_manager/log.txt": {"fabric_manager.nvswitch_fatal": "RESET"},
}

UNSURE = ("dcgm/health_warning.json", "perfquery/two_ports.txt", "nccl/warnings.txt", "nccl_tests/crashed.txt",
          "ibqueryerrors/two_bad_ports.txt", "nvlink/status_dead.txt")  # fmt: skip


@given(st.text(), st.sampled_from([*HEALTHY, *FAULTY, *UNSURE]), st.floats(0, 1))
@settings(max_examples=examples(150), deadline=None)
def test_nothing_that_is_pasted_raises(noise: str, name: str, share: float) -> None:
    """Nonsense, alone and in the middle of what tools say."""
    text = evidence(name)
    at = int(len(text) * share)
    for each in (noise, text[:at] + noise + text[at:], text[:at] + noise):
        found = read(each)
        json.dumps([plain(told) for told in found.told])
        assert found.useless or found.summary


@pytest.mark.parametrize("name", HEALTHY)
def test_nothing_healthy_is_condemned_wherever_it_is_cut(name: str) -> None:
    """Every end of a report, and each beginning."""
    text = evidence(name)
    assert not read(text).useless
    step = max(1, len(text) // 60)
    for at in range(0, len(text), step):
        assert asking(read(text[:at])) == {}, text[:at][-80:]
        assert asking(read(text[at:])) == {}, text[at:][:80]


@pytest.mark.parametrize("name", [name for name in HEALTHY if "dmesg" not in name and "nvlink" not in name])
def test_a_report_that_is_cut_in_half_is_no_good_news(name: str) -> None:
    text = evidence(name)
    found = read(text[: len(text) // 2])
    whole_before = "smart_two" in name or "nccl_tests" in name
    assert found.useless or found.unsure or whole_before


@pytest.mark.parametrize(("name", "codes"), FAULTY.items())
def test_what_is_faulty_is_told_with_its_remedy(name: str, codes: dict[str, str]) -> None:
    found = read(evidence(name))
    assert asking(found) == codes
    for each in found.told:
        if each.group is Group.ACTION:
            assert automation(each.finding)
            assert by_hand(each.finding)
            assert each.line


@pytest.mark.parametrize("name", UNSURE)
def test_a_symptom_condemns_nobody_and_says_what_tells(name: str) -> None:
    found = read(evidence(name))
    assert asking(found) == {}
    assert found.unsure


@pytest.mark.parametrize("name", [*HEALTHY, *FAULTY, *UNSURE])
@pytest.mark.parametrize(
    "around",
    ["> {}", "\x1b[31m{}\x1b[0m", "{}\r", ">> {}", "\ufeff{}"],
    ids=["quoted", "red", "crlf", "twice", "bom"],
)
def test_what_chats_and_terminals_add_changes_nothing(name: str, around: str) -> None:
    text = evidence(name)
    wrapped = "".join(f"{around.format(line)}\n" for line in text.splitlines())
    found, bare = read(wrapped), read(text if text.endswith("\n") else f"{text}\n")
    assert asking(found) == asking(bare)
    assert [part.name for part in found.parts] == [part.name for part in bare.parts]


@pytest.mark.parametrize("name", FAULTY)
def test_a_prompt_before_and_behind_a_report_is_none_of_it(name: str) -> None:
    typed = f"root@gpu-03:~# cat it\n{evidence(name)}\nroot@gpu-03:~$ uptime\n 10:00:00 up 3 days\n$ exit\n"
    assert asking(read(typed)) == FAULTY[name]


def test_a_gpu_that_fell_off_is_one_fault_whoever_tells_of_it() -> None:
    """The kernel's log and nvidia-smi speak of the same GPU; of another one they speak apart."""
    smi = "Unable to determine the device handle for GPU0000:9B:00.0: Unknown Error\n"
    log = "NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"
    assert asking(read(smi + log)) == {"xid.79": "POWER_CYCLE"}
    assert set(asking(read(smi + log.replace("9b", "18")))) == {"xid.79", "gpu.lost"}


def test_several_reports_in_one_paste_are_all_read() -> None:
    text = "".join(f"$ cat {name}\n{evidence(name)}\n" for name in FAULTY)
    assert asking(read(text)).keys() == {code for codes in FAULTY.values() for code in codes}


@given(st.integers(1, 9))
def test_pieces_of_any_size_say_the_same(size: int) -> None:
    text = evidence("dmesg/two_hosts.log")
    assert plain(read(text, size=size).told[0]) == plain(read(text).told[0])


@pytest.mark.parametrize("text", ["", "\n \n", "\ufeff"])
def test_an_empty_text_says_nothing(text: str) -> None:
    found = read(text)
    assert (found.lines, found.useless) == (0, "nothing is in it, so it says nothing")


def test_what_is_not_known_is_answered_with_what_is() -> None:
    found = read("NAME MAJ:MIN RM SIZE\nsda 8:0 0 3.6T\n")
    assert found.useless.startswith("nothing in its 2 lines is known. Known are: kernel logs (dmesg")
    assert "nvidia-smi -q -x" in found.useless


def test_what_could_not_be_read_to_its_end_says_so() -> None:
    log = Pasted("a.gz")
    log.feed("[    1.000000] Linux version 6.8.0\n")
    assert log.end("its gzip data is cut").unsure == ("a.gz could not be read to its end: its gzip data is cut",)
    assert Pasted("b.gz").end("its gzip data is cut").useless == (
        "nothing is in it (its gzip data is cut), so it says nothing"
    )


def test_of_a_very_large_text_only_the_kernels_messages_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pasted, "LARGEST", 100)
    found = read(evidence("dmesg/two_hosts.log"), size=1)
    assert asking(found) == {"xid.79": "POWER_CYCLE"}
    assert found.notes == ("paste is so large that only the kernel's messages in it were read",)


@pytest.mark.parametrize("before", ["/var/log/kern.log:", "kern.log-", "kern.log:4242:", "4242:", "  4242\t", "> "])
def test_a_line_is_cleaned_of_the_file_it_was_found_in(before: str) -> None:
    assert clean(f"{before}Nov 28 02:11:04 gpu-03 kernel: x\r\n") == "Nov 28 02:11:04 gpu-03 kernel: x"
    assert clean(f"{before}[   12.345678] NVRM: x") == "[   12.345678] NVRM: x"


def test_what_looks_like_a_files_name_and_stands_before_no_time_stays() -> None:
    assert clean("mlx5_core: [x] 4242: y") == "mlx5_core: [x] 4242: y"
    assert clean("> > a\u00a0b") == "a b"


def test_the_rules_say_what_repeats_of_an_applications_errors_are() -> None:
    line = "Nov 28 02:11:0{} gpu-07 kernel: NVRM: Xid (PCI:0000:1b:00): 31, pid=1, name=a, Ch 8\n"
    once, twice = read(line.format(1)).told[0], read(line.format(1) + line.format(2)).told[0]
    assert (once.group, repeats(once)) == (Group.APPLICATION, "")
    assert (
        repeats(twice) == "the built-in policy has a GPU diagnosed on which it comes 2 times in 24 h: dcgmi diag -r 3"
    )
    (xid43,) = read(line.replace("31,", "43,").format(1)).told
    assert (xid43.group, repeats(xid43)) == (Group.APPLICATION, "")


def test_findings_come_node_by_node_the_hardest_first() -> None:
    told = ordered(read(evidence("dmesg/two_hosts.log")).told[::-1])
    assert [each.finding.code for each in told] == ["xid.79", "xid.31", "xid.63"]
    assert read(evidence("smartctl/sata.txt")).told[0].node == THIS_NODE
    assert read(evidence("smartctl/sata.txt"), node="gpu-01").told[0].node == "gpu-01"


@pytest.mark.parametrize(
    ("name", "codes"),
    [
        ("gpu/gpud_dmesg_xid119_real.log", {"xid.119": "RESET"}),
        ("gpu/gpud_fabricmanager.log", {}),
        ("gpu/gpud_nvidia-smi_nvlink_status_a100.txt", {}),
        ("gpu/gcm_dcgmi_diag_fail_output.json", {}),
        ("gpu/gcm_dcgmi_diag_pass_output.json", {}),
        ("gpu/superbench_nccl_allreduce_a100.log", {}),
        ("gpu/telegraf_nvidia-smi_a100-sxm4-v12.xml", {}),
        ("fabric/treydock_perfquery_switch.txt", {}),
        ("fabric/aznhc_1dev_6flap_syslog", {"link.flaps": "RECABLE"}),
        ("redfish/dell_r750.json.gz", {}),
        ("redfish/dgx_h100.json.gz", {}),
        ("redfish/hpe_dl385.json.gz", {}),
        ("redfish/nvidia_gb200.json.gz", {}),
        ("redfish/supermicro_hgx_h100.json.gz", {}),
    ],
)
def test_what_real_machines_said_is_told_rightly(samples: Path, name: str, codes: dict[str, str]) -> None:
    raw = (samples / name).read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    found = read(text)
    assert not found.useless
    assert asking(found) == codes
