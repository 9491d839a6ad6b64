"""Did the GPUs' driver say something without an Xid?"""

from dataclasses import replace

import pytest

from fleet_runner.core.checks.answers import about
from fleet_runner.core.checks.parsers import nvidia_smi
from fleet_runner.core.checks.pasted.text import Pasted
from fleet_runner.core.checks.shared.driver_messages import MOST, Starts
from fleet_runner.core.checks.verdicts import Remedy, Verdict
from fleet_runner.core.faults.signals import kernel
from fleet_runner.core.faults.signals.kernel import Line
from tests.core.checks.catalogue.judging import judged, remedies
from tests.core.checks.healthy import text_of

AT = "2025-03-01T09:31:00,500000+00:00 "
BOOT = f"{AT}Linux version 6.8.0-40-generic\n"
GPU = "0000:18:00.0"

ACTION = "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"

STUCK = [
    "NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned",
    "NVRM: GPU6 nvCheckOkFailedNoLog: Check failed: Reset required [NV_ERR_RESET_REQUIRED] (0x00000062) returned",
    "NVRM: nvAssertFailedNoLog: Assertion failed: Back to back GSP RPC timeout detected! GPU marked for reset",
    "NVRM: GPU0 _kgspIsHeartbeatTimedOut: Heartbeat timed out, diff 5201 timeout 5200",
    "NVRM: _kgspRpcRecvPoll: GSP RM heartbeat timed out",
    "NVRM: GPU0 _kgspRpcRecvPoll: LibOS heartbeat timed out",
    "NVRM: _issueRpcAndWait: rpcRecvPoll timedout for fn 76 sequence 4129!",
]  # fmt: skip
"""What says that a GPU's system processor hangs."""

STARTS = [
    f"NVRM: GPU {GPU}: RmInitAdapter failed! (0x62:0x65:1792)",
    f"NVRM: GPU {GPU}: rm_init_adapter failed, device minor number 5",
]


@pytest.mark.parametrize("line", STUCK)
def test_a_gpu_that_hangs_is_reset(line: str) -> None:
    """Which one it is the line does not say, so that all are; however often it is logged, it is one fault."""
    result = judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n{AT}{line}\n"})
    assert remedies(result) == {"gpu.driver_stuck": Remedy.RESET}
    (finding,) = result.findings
    assert finding.component == "GPU"
    assert "logged 2 times" in finding.message


@pytest.mark.parametrize("line", STUCK)
@pytest.mark.parametrize(
    "code",
    ["119, pid=1, Timeout after 6s", "154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"],
)
def test_beside_an_xid_that_tells_the_same_it_is_told_once(line: str, code: str) -> None:
    """The Xid names the GPU."""
    result = judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n{AT}NVRM: Xid (PCI:{GPU[:-2]}): {code}\n"})
    assert [finding.code for finding in result.findings] == [f"xid.{code[:3]}"]


@pytest.mark.parametrize("line", STARTS)
def test_a_gpu_that_does_not_start_is_reset(line: str) -> None:
    """Unless nvidia-smi sees it by now; an Xid of another GPU tells nothing of this one."""
    other = f"{AT}NVRM: Xid (PCI:0000:2a:00): 79, GPU has fallen off the bus.\n"
    result = judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n{other}"})
    assert remedies(result) == {"xid.79": Remedy.REBOOT, "gpu.driver_no_start": Remedy.RESET}
    assert {finding.component for finding in result.findings} == {f"GPU {GPU}", "GPU 0000:2a:00.0"}
    same = f"{AT}NVRM: Xid (PCI:{GPU[:-2]}): 79, GPU has fallen off the bus.\n"
    assert set(remedies(judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n{same}"}))) == {"xid.79"}


def test_a_gpu_that_started_since_is_only_recorded() -> None:
    """A moment of the boot costs no healthy GPU its work; where nvidia-smi has no answer, the log's word stands."""
    there = text_of("nvidia_smi/h100_two_idle.xml")
    pci = nvidia_smi.parse(there).gpus[0].pci
    log = f"{BOOT}{AT}NVRM: GPU {pci}: RmInitAdapter failed! (0x62:0x65:1792)\n"
    for smi, remedy in ((there, Remedy.RECORD), ("", Remedy.RESET), (there[:100], Remedy.RESET)):
        assert remedies(judged("xid", {"dmesg": log, "nvidia_smi": smi})) == {"gpu.driver_no_start": remedy}
    assert "nvidia-smi sees it now" in judged("xid", {"dmesg": log, "nvidia_smi": there}).findings[0].message


def test_nvlinks_that_cannot_be_found_out_ask_for_a_reset() -> None:
    """As the driver logs it."""
    line = "NVRM: knvlinkUpdatePostRxDetectLinkMask_IMPL: Failed to update Rx Detect Link mask!"
    assert remedies(judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n"})) == {"gpu.driver_nvlink": Remedy.RESET}


@pytest.mark.parametrize(
    ("line", "code", "remedy"),
    [
        ("NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n   NVRM: BAR0 is 0M @ 0x0 (PCI:0)",
         "gpu.no_address", Remedy.WATCH),
        ("NVRM: API mismatch: the client has the version 535.54.03, but#012NVRM: this kernel module has the version",
         "gpu.driver_mismatch", Remedy.RECORD),
        ("NVRM: API mismatch: the client 'python3' (pid 1005)\n               NVRM: has the version 595.84, but",
         "gpu.driver_mismatch", Remedy.RECORD),
    ],
)  # fmt: skip
def test_settings_and_programs_cost_no_gpu_its_work(line: str, code: str, remedy: Remedy) -> None:
    """The BIOS's or the virtual machine's sizes; a container's own libraries, or an update without a reboot."""
    assert remedies(judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n"})) == {code: remedy}


@pytest.mark.parametrize(
    ("registers", "remedy"),
    [("", Remedy.RESET), ("(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)", Remedy.RESET),
     ("(0x0, 0x0, 0x0, 0x0, 0x100000, 0x0, 0x0)", Remedy.RECORD)],
)  # fmt: skip
def test_a_fatal_nvlink_error_asks_for_a_reset_by_itself(registers: str, remedy: Remedy) -> None:
    """Without a word of the NVSwitch; its registers say which link it is, and more."""
    line = f"NVRM: Xid (PCI:{GPU[:-2]}): 74, pid='<unknown>', NVLink: fatal error detected on link 14{registers}"
    (finding,) = judged("xid", {"dmesg": f"{BOOT}{AT}{line}\n"}).findings
    assert (finding.code, finding.remedy) == ("xid.74", remedy)
    assert ("link 14" in finding.message) == bool(registers)


@pytest.mark.parametrize("line", [*STUCK, *STARTS])
def test_others_may_quote_the_driver(line: str) -> None:
    """A process that writes to the kernel's log is not believed."""
    assert judged("xid", {"dmesg": f"{BOOT}{AT}systemd[1]: said: {line}\n"}).verdict is Verdict.PASS


MISMATCHES = (
    "NVRM: API mismatch: the client has the version 570.153.02, but\n               NVRM: this kernel module has",
    "NVRM: _kgspFwContainerVerifyVersion: GSP firmware image version mismatch: got version 570.1, expected version 2",
    "NVRM: GPU0 _kgspFwContainerVerifyVersion: GSP firmware image version unknown or malformed, expected version 1",
)
NO_FIRMWARE = f"NVRM: GPU {GPU}: RmInitAdapter failed! (0x61:0x56:1770)\n{AT}{STARTS[1]}"
REFUSED = f"NVRM: GPU {GPU}: RmInitAdapter failed! (0x62:0x25:2015)"


def of_log(log: str) -> dict[str, Remedy]:
    """Return the codes and remedies of a log by the sweep, which pushed lines and a pasted log must tell alike."""
    swept = remedies(judged("xid", {"dmesg": log}))
    pushed = kernel.read([Line("gpu-07", line) for line in log.splitlines()], heard=1e9)
    assert {each.code: each.remedy for each in pushed} == swept
    pasted = Pasted("log")
    pasted.feed(log)
    assert {each.finding.code: each.finding.remedy for each in pasted.end().told} == swept
    return swept


@pytest.mark.parametrize("mismatch", MISMATCHES)
@pytest.mark.parametrize("start", [NO_FIRMWARE, REFUSED])
def test_files_of_two_versions_explain_that_a_gpu_does_not_start(mismatch: str, start: str) -> None:
    """One cause is told once, and no reset is asked for that mends nothing; without the cause it is as it was."""
    assert of_log(f"{BOOT}{AT}{mismatch}\n{AT}{start}\n") == {"gpu.driver_mismatch": Remedy.RECORD}
    assert of_log(f"{BOOT}{AT}{start}\n") == {"gpu.driver_no_start": Remedy.RESET}


@pytest.mark.parametrize(
    "start",
    [STARTS[0], STARTS[1], f"{NO_FIRMWARE}\n{AT}{STARTS[0]}",
     f"NVRM: GPU 0000:2a:00.0: RmInitAdapter failed! (0x61:0x56:1770)\n{AT}{STARTS[0]}"],
)  # fmt: skip
def test_a_gpu_that_fails_by_itself_is_reset_beside_a_mismatch(start: str) -> None:
    """A container's own libraries explain no timeout of a GPU; nor do another GPU's files."""
    both = {"gpu.driver_mismatch": Remedy.RECORD, "gpu.driver_no_start": Remedy.RESET}
    assert of_log(f"{BOOT}{AT}{MISMATCHES[0]}\n{AT}{start}\n") == both


def test_a_mismatch_before_a_boot_explains_nothing_after_it() -> None:
    pasted = Pasted("log")
    pasted.feed(f"{BOOT}{AT}{MISMATCHES[0]}\n{BOOT}{AT}{NO_FIRMWARE}\n")
    assert "gpu.driver_no_start" in {each.finding.code for each in pasted.end().told}


def test_a_log_of_more_gpus_than_any_node_has_is_read() -> None:
    starts = Starts()
    for number in range(MOST + 2):
        starts.take(f"NVRM: GPU {number:04x}:00:00.0: RmInitAdapter failed! (0x61:0x56:1770)\n")
    starts.take("NVRM: API mismatch: the client has the version 1\n")
    about_last = about("gpu-07", "gpu.driver_no_start", f"GPU {MOST - 1:04x}:00:00.0")
    told = about_last(message="", remedy=Remedy.RESET)
    assert starts.mismatched(told)
    assert not starts.mismatched(replace(told, component=f"GPU {MOST:04x}:00:00.0"))
