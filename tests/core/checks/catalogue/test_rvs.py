"""AMD's validation suite: every verdict, from what it prints."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import rvs
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import EXPECTED, NODE, changed, judged, remedies
from tests.core.checks.healthy.active import RVS, TOPOLOGY, ended

MISSED = RVS.replace(
    "GFLOPS 1325226 Target GFLOPS: 1215000 met: TRUE", "GFLOPS 800000 Target GFLOPS: 1215000 met: FALSE"
)
WEAK = RVS.replace("[GPU:: 27226] pass: TRUE", "[GPU:: 27226] pass: FALSE")


def answer(output: str, topology: str | None = TOPOLOGY, rc: int = 0, state: str = "ended") -> Result:
    """Judge what the suite printed."""
    readings = {"rvs_job": ended(output, rc=rc, state=state)}
    return judged("rvs", readings if topology is None else readings | {"kfd_topology": topology})


def test_gpus_that_reach_their_targets_pass_by_their_addresses() -> None:
    result = answer(RVS)
    assert result.verdict is Verdict.PASS, result.message
    assert result.observed["gpus"]["GPU 0000:05:00.0"] == {"gst-1215Tflops-4K4K8K-rand-fp8": 1340583.0}
    assert "RVS found nothing wrong with 2 GPUs in 2 actions" in result.message


def test_a_gpu_below_its_target_is_named_with_what_it_reached() -> None:
    result = answer(MISSED)
    assert remedies(result) == {"rvs.slow": Remedy.TRIAGE}
    assert result.findings[0].component == "GPU 0000:15:00.0"
    assert "reached 800000 Gflop/s in gst-1215Tflops-4K4K8K-rand-fp8, expected 1215000" in result.message
    assert remedies(answer(WEAK)) == {"rvs.power": Remedy.TRIAGE}
    assert "did not reach the power that RVS asks for in iet-750W" in answer(WEAK).message


def copies(*rates: float, slow: str = "") -> str:
    """Return copies between each two of eight GPUs, and from the processor, which are slow where one has a part."""
    gpus = [f"0000:{bus}:00.0" for bus in ("05", "15", "65", "75", "85", "95", "e5", "f5")]
    pairs = [(a, b) for a in gpus for b in gpus if a != b]
    lines = [
        f"[RESULT] [302410.4436{at:02d}] [p2p] p2p-bandwidth[{at:2d}/12] [GPU:: {2 + at} - 42583 - {a}]"
        f" [GPU:: 3 -  1590 - {b}] bidirectional: false {rates[0] if slow and slow in f'{a} {b}' else 61.37:.3f} GBps"
        " duration: 0.227452 secs\n"
        for at, (a, b) in enumerate(pairs)
    ]
    lines += [
        f"[RESULT] [302420.4436{at:02d}] [h2d] pcie-bandwidth [ {at}/4] [CPU:: 0] [GPU:: {2 + at} - 42583 - {gpu}]"
        f" h2d::true d2h::false {rates[-1] if slow == gpu else 55.2:.3f} GBps duration: 1.5 secs\n"
        for at, gpu in enumerate(gpus)
    ]
    return "".join(lines) + RVS


COPYING = changed("active", {"rvs": {"level": 3, "seconds": 60, "copy_share_min": 0.9}})


def test_slow_copies_name_the_gpu_or_the_pair_that_they_have_in_common() -> None:
    def judge(output: str, expected: Expected = COPYING) -> Result:
        return judged("rvs", {"rvs_job": ended(output), "kfd_topology": TOPOLOGY}, expected)

    healthy = judge(copies())
    assert healthy.verdict is Verdict.PASS, healthy.message
    assert healthy.observed["copies_gbps"] == {"p2p": 61.37, "h2d": 55.2}
    (one,) = judge(copies(30.0, slow="0000:65:00.0")).findings
    assert (one.code, one.component) == ("rvs.copy", "GPU 0000:65:00.0")
    assert "copies 30 GB/s in p2p, expected at least 90% of the node's median 61.37" in one.message
    (pair,) = judge(copies(30.0, slow="0000:65:00.0 0000:05:00.0")).findings
    assert pair.component == "GPU 0000:05:00.0 and GPU 0000:65:00.0"
    assert judge(copies(30.0, slow="0000:65:00.0"), EXPECTED).verdict is Verdict.PASS
    alone = copies().removesuffix(RVS) + "".join(RVS.splitlines(keepends=True)[-8:])
    assert "with 8 GPUs in 2 actions" in judge(alone).message
    odd = copies().replace("0000:05:00.0", "5:.0.0.0", 1)
    assert judge(odd).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "topology", [None, "", "{", "{}", '{"/sys/class/kfd/kfd/topology/nodes/1/gpu_id": "27226\\n"}']
)
def test_without_the_drivers_topology_the_suites_own_number_is_told(topology: str | None) -> None:
    assert answer(MISSED, topology).findings[0].component == "GPU 27226 of RVS"


def test_output_that_was_cut_anywhere_fails_no_node() -> None:
    for end in range(len(RVS) - 1):
        assert answer(RVS[:end]).verdict is Verdict.UNKNOWN
    for begin in range(0, len(RVS), 7):
        assert answer(RVS[begin:]).verdict is not Verdict.FAIL


@pytest.mark.parametrize("state", ["running", "preempted", "lost"])
def test_a_run_that_did_not_end_says_nothing_about_the_node(state: str) -> None:
    assert answer(MISSED, state=state).verdict is (Verdict.SKIPPED if state == "preempted" else Verdict.UNKNOWN)


def test_what_is_neither_a_miss_nor_a_pass_is_unknown_and_says_why() -> None:
    assert (
        "RVS calls iet-750W failed and names no GPU"
        in answer(RVS.replace("PASS          \x1b[0m  |\n+-", "FAIL          \x1b[0m  |\n+-")).message
    )
    trouble = "[ERROR ] [  1000.000001] [gst] hipMalloc failed\n"
    assert "RVS could not test: [gst] hipMalloc failed" in answer(trouble + RVS).message
    assert "RVS could not test: no GPU" in answer("RVS-ERROR no GPU\n").message
    assert (
        "RVS tested 1 of 2 GPUs"
        in answer("".join(line for line in RVS.splitlines(keepends=True) if "27226" not in line)).message
    )
    assert "it exited with 1" in answer(RVS, rc=1).message
    assert "it exited with 127" in answer("rvs: not found\n", rc=127).message
    assert "this is no output of RVS" in answer("hello\n").message


def test_what_a_node_is_asked_to_run() -> None:
    order = CHECKS["rvs"].job
    assert order is not None

    def argv(**section: object) -> tuple[str, ...]:
        return order(Expected(NODE, {"active": {"rvs": {"seconds": 60} | section}})).argv

    assert argv(level=4) == ("/opt/rocm/bin/rvs", "-r", "4")
    assert argv(config="/etc/gst.conf") == ("/opt/rocm/bin/rvs", "-c", "/etc/gst.conf")
    with pytest.raises(EvidenceError, match="found 6, expected 1 to 5"):
        argv(level=6)


def test_addresses_are_those_of_the_drivers_topology() -> None:
    assert rvs.addresses(TOPOLOGY) == {42583: "0000:05:00.0", 27226: "0000:15:00.0"}
    nodes = "/sys/class/kfd/kfd/topology/nodes"
    assert rvs.addresses(f'{{"{nodes}/1/gpu_id": "{"7" * 5000}"}}') == {}
    odd = f'{{"{nodes}/1/gpu_id": "x", "{nodes}/2/gpu_id": "7", "/a": null}}'
    assert rvs.addresses(odd) == {}
