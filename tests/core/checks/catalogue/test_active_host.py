"""Processors, memory, disks and network under load: every verdict, from what the tools print."""

import json

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Order
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import NODE, PROFILE, changed, judged, remedies
from tests.core.checks.healthy import active, text_of
from tests.core.checks.healthy.active import FIO, IPERF, STREAM, STRESS, ended

CASES = {"cpu_stress": STRESS, "memory_bandwidth": STREAM, "disk_speed": FIO, "network_speed": IPERF}


def answer(name: str, output: str, expected: Expected | None = None, rc: int = 0) -> Result:
    """Judge what a tool printed."""
    return judged(name, {f"{name}_job": ended(output, rc=rc)}, expected or wanting(name))


def wanting(name: str, **section: object) -> Expected:
    """Return what is expected, with another section of the profile for a check."""
    return changed("active", {name: active.PROFILE["active"][name] | section})


def ordered(name: str, **section: object) -> Order:
    """Return what a node is asked to run."""
    job = CHECKS[name].job
    assert job is not None
    return job(Expected(NODE, {"active": {name: section}, "parts": PROFILE["parts"]}))


@pytest.mark.parametrize("name", sorted(CASES))
def test_output_that_was_cut_anywhere_fails_no_node(name: str) -> None:
    """Half of what a tool says is not news, good or bad."""
    for end in range(len(CASES[name])):
        assert answer(name, CASES[name][:end]).verdict is not Verdict.FAIL
    assert answer(name, CASES[name][: len(CASES[name]) // 2]).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("state", ["running", "preempted", "lost"])
def test_a_test_that_did_not_end_says_nothing_about_the_node(name: str, state: str) -> None:
    """It still runs, gave way, or is gone."""
    result = judged(name, {f"{name}_job": ended(CASES[name], state=state)})
    assert result.verdict is (Verdict.SKIPPED if state == "preempted" else Verdict.UNKNOWN)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_tool_that_is_not_there_is_no_fault_of_the_node(name: str) -> None:
    """The supervisor exits with 127."""
    result = answer(name, "[Errno 2] No such file or directory: 'tool'\n", rc=127)
    assert result.verdict is Verdict.UNKNOWN
    assert "127" in result.message


def test_a_wrong_result_under_stress_sends_the_node_to_triage() -> None:
    """stress-ng says so, and exits with 2."""
    result = answer("cpu_stress", text_of("stress_ng/wrong.txt"), rc=2)
    assert remedies(result) == {"cpu_stress.wrong": Remedy.TRIAGE}
    assert "detected 1 memory error (and 1 more)" in result.message


@pytest.mark.parametrize(
    ("line", "rc"),
    [
        ("fail:  [1] vm: mmap failed, errno=12 (Cannot allocate memory)", 2),
        ("fail:  [1] metrics-check: stressor metrics corrupted, data is compromised", 2),
        ("warn:  [1] vm: [77] killed by the OOM killer", 0),
        ("info:  [1] skipped: 2: vm (2)", 0),
        ("error: [1] vm: [8] terminated on signal: 9 (Killed)", 3),
    ],
)
def test_what_keeps_stress_from_its_work_is_no_wrong_result(line: str, rc: int) -> None:
    """A lack of memory, a kill, counters that a kill left behind."""
    result = answer("cpu_stress", f"stress-ng: {line}\n{STRESS}", rc=rc)
    assert result.verdict is Verdict.UNKNOWN


def test_wrong_results_count_only_with_the_exit_status_that_goes_with_them() -> None:
    """A complaint in a run that stress-ng calls a success is nobody's fault, and no PASS without a word."""
    result = answer("cpu_stress", text_of("stress_ng/wrong.txt"))
    assert result.verdict is Verdict.UNKNOWN
    assert "cpu, matrix, cache, vm" in result.message


def test_a_stressor_without_figures_was_not_run() -> None:
    """One that came to the end of no operation proves nothing either."""
    idle = STRESS.replace("vm              410220", "vm                   0")
    assert "reports no figures for vm" in answer("cpu_stress", idle).message
    assert answer("cpu_stress", idle, wanting("cpu_stress", argv=["stress-ng", "--cpu", "0"])).verdict is Verdict.PASS


def test_an_exit_status_without_a_reason_is_said() -> None:
    """2 and no complaint."""
    assert "exited with 2 and gives no reason" in answer("cpu_stress", STRESS, rc=2).message


def test_slow_processors_and_slow_memory_are_found() -> None:
    """Against marks of the profile; without marks nothing is slow."""
    slow = answer("cpu_stress", STRESS, wanting("cpu_stress", cpu_bogo_ops_per_second_min=2000))
    assert remedies(slow) == {"cpu_stress.slow": Remedy.TRIAGE}
    assert "1538, expected at least 2000" in slow.message
    low = answer("memory_bandwidth", STREAM, wanting("memory_bandwidth", gbps_min=300))
    assert remedies(low) == {"memory_bandwidth.low": Remedy.TRIAGE}
    assert answer("memory_bandwidth", STREAM, wanting("memory_bandwidth", gbps_min=None)).verdict is Verdict.PASS


def test_memory_rates_are_added_up_over_instances_in_units_of_ten() -> None:
    """stress-ng's MB are 2^20 bytes; older versions tell one rate for both ways."""
    mib = 7499.99 + 4999.99 + 7492.88 + 4995.25
    assert answer("memory_bandwidth", STREAM).observed == {"gbps": round(mib * 1_048_576 / 1e9, 3), "instances": 2}
    old = "stress-ng: info:  [9] stream: memory rate: 20000.00 MB/sec, 1000.00 Mflop/sec (instance 0)\n"
    end = "stress-ng: info:  [9] successful run completed in 9.32s\n"
    assert answer("memory_bandwidth", old + end).observed["gbps"] == 20.972


def test_too_short_a_measurement_is_no_slow_memory() -> None:
    """stress-ng says so itself below five seconds."""
    result = answer("memory_bandwidth", STRESS)
    assert result.verdict is Verdict.UNKNOWN
    assert "needs 5 s or more" in result.message


def test_the_load_is_on_every_processor_and_verified() -> None:
    """Or what the profile names."""
    order = ordered("cpu_stress", seconds=600, memory_share=0.7)
    assert order.seconds == 600
    assert {"--cpu", "--vm", "70%", "--verify"} <= set(order.argv)
    assert ordered("cpu_stress", seconds=5, argv=["stress-ng", "--cpu", "0"]).argv == ("stress-ng", "--cpu", "0")
    assert ordered("memory_bandwidth", seconds=30).argv[:3] == ("stress-ng", "--stream", "0")
    with pytest.raises(EvidenceError, match="memory_share: found 1"):
        ordered("cpu_stress", seconds=600, memory_share=1)


def fio_line(target: str = "/dev/nvme1n1", kind: str = "read", **told: object) -> str:
    """Return a line of the program over fio."""
    return json.dumps({"program": "disk_speed", "target": target, "kind": kind, "rc": 0, "said": [], **told}) + "\n"


def fio_job(error: object = 0, **way: object) -> dict[str, object]:
    """Return a trimmed report of fio."""
    return {"jobs": [{"error": error, "read": {"bw_bytes": 7_000_000_000, "iops": 6500.0, **way}}]}


def test_an_io_error_sends_the_node_to_triage() -> None:
    """EIO is the disk's word; fio's sentence goes with it."""
    said = ["fio: io_u error on file /proc/self/fd/3: Input/output error: read offset=0, buflen=4096"]
    result = answer("disk_speed", fio_line(fio=fio_job(5), rc=1, said=said) + FIO)
    assert remedies(result) == {"disk_speed.error": Remedy.TRIAGE}
    assert "Input/output error" in result.message


@pytest.mark.parametrize(
    "line",
    [
        fio_line(fio=fio_job(28)),  # no space left
        fio_line(fio=fio_job("x")),
        fio_line(fio=fio_job(bw_bytes=0)),
        fio_line(fio=fio_job(iops=None)),
        fio_line(fio={"jobs": []}, rc=1, said=["fio: engine libaio not loadable"]),
        fio_line(fio={"jobs": [{"error": 0}]}),
        fio_line(fio=None),
        json.dumps({"program": "disk_speed", "target": "/mnt/x", "error": "1.0 GB are free, too few"}) + "\n",
    ],
)
def test_a_disk_that_could_not_be_measured_is_unknown(line: str) -> None:
    """Whatever kept fio from it, the others were measured and passed."""
    assert answer("disk_speed", line + FIO).verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(
    "output",
    [
        fio_line(kind="trim") + FIO,
        '{"program": "disk_speed", "error": "fio is not installed"}\n',
        '{"program": "disk_speed", "ended": true, "targets": 0}\n',
    ],
)
def test_no_measurement_at_all_is_unknown(output: str) -> None:
    """Nothing was asked for, or nothing could be done."""
    assert answer("disk_speed", output).verdict is Verdict.UNKNOWN


def test_a_slow_disk_is_named_with_its_figure() -> None:
    """Each mark, and only that; a latency that fio does not tell is not held against one."""
    for name, mark, said in [
        ("read_gbps_min", 7, "/mnt/scratch reads 6.825 GB/s, expected at least 7 GB/s"),
        ("write_gbps_min", 6, "/mnt/scratch writes 5.118 GB/s"),
        ("random_read_iops_min", 870_000, "/dev/nvme1n1 reads at random 8.681e+05 IOPS"),
        ("random_read_p99_ms_max", 0.1, "random reads within 0.1628 ms, expected at most 0.1 ms"),
    ]:
        result = answer("disk_speed", FIO, wanting("disk_speed", **{name: mark}))
        assert remedies(result) == {"disk_speed.slow": Remedy.TRIAGE}
        assert said in result.message
    untold = fio_line(kind="randread", fio=fio_job(clat_ns=None, iops=900_000)) + FIO
    assert answer("disk_speed", untold).verdict is Verdict.PASS


def test_disks_are_measured_through_our_own_program() -> None:
    """It holds to its own file, and only reads raw devices."""
    order = ordered("disk_speed", folders=["/mnt/a"], devices=["/dev/nvme*n1"], file_gb=4, seconds=10)
    assert order.program == "disk_speed.py"
    assert order.argv[1:6] == ("{program}", "--folder", "/mnt/a", "--device", "/dev/nvme*n1")
    assert "4000000000" in order.argv
    assert ordered("disk_speed", devices="/dev/nvme0n1").seconds == 90
    with pytest.raises(EvidenceError, match="neither folders nor devices"):
        ordered("disk_speed", seconds=10)


def test_a_slow_or_lossy_way_is_watched() -> None:
    """Either end may be at fault, so nothing leaves production for it."""
    slow = answer("network_speed", IPERF, wanting("network_speed", gbitps_min=180))
    assert remedies(slow) == {"network_speed.slow": Remedy.WATCH}
    assert "gpu-01 sends to 192.0.2.7 94.96 Gb/s, expected at least 180 Gb/s" in slow.message
    lossy = answer("network_speed", IPERF, wanting("network_speed", retransmit_share_max=1e-6))
    assert remedies(lossy) == {"network_speed.retransmits": Remedy.WATCH}


@pytest.mark.parametrize(
    ("part", "value"),
    [("error", "the server is busy running a test. try again later"), ("end", {}), ("end", None),
     ("end", {"sum_sent": {}, "sum_received": {"bits_per_second": 0}})],
)  # fmt: skip
def test_a_server_that_is_not_there_is_no_fault_of_the_node(part: str, value: object) -> None:
    """iperf3 says why in its report, whatever its exit status."""
    report = json.dumps(json.loads(IPERF) | {part: value})
    for rc in (0, 1):
        assert answer("network_speed", report, rc=rc).verdict is Verdict.UNKNOWN
    assert "refused" in answer("network_speed", text_of("iperf3/refused.json")).message


def test_segments_sent_again_that_nobody_tells_are_not_none() -> None:
    """Over UDP, and from systems that are not Linux; a mark for them then has no answer."""
    report = json.loads(IPERF)
    del report["end"]["sum_sent"]["retransmits"]
    assert answer("network_speed", json.dumps(report)).verdict is Verdict.UNKNOWN
    unasked = wanting("network_speed", retransmit_share_max=None)
    assert answer("network_speed", json.dumps(report), unasked).verdict is Verdict.PASS
    total = {"bits_per_second": 95e9}
    udp = json.dumps({"start": None, "end": {"sum": total}})
    result = answer("network_speed", udp, unasked)
    assert (result.verdict, result.observed["streams"]) == (Verdict.PASS, 0)


def test_the_client_asks_the_profiles_server() -> None:
    """At iperf3's own port, unless the profile says otherwise."""
    order = ordered("network_speed", server="192.0.2.7", seconds=10, port=5301, streams=8)
    assert order.argv[:5] == ("iperf3", "--client", "192.0.2.7", "--port", "5301")
    assert "5201" in ordered("network_speed", server="192.0.2.7", seconds=10).argv
