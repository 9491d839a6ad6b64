"""The burn-in's load."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Order
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import (
    NODE,
    PROFILE,
    SMI,
    Expected,
    burn_job,
    changed,
    judged,
    remedies,
    text_of,
)

OK = text_of("gpu_burn/ok.txt")


def burn(output: str = OK, expected: Expected | None = None, /, **state: Any) -> Result:
    """Judge a burn-in job."""
    return judged("gpu_burn", {"gpu_burn_job": burn_job(output, **state)}, expected or Expected(NODE, PROFILE))


def test_a_load_that_runs_is_work_not_an_answer() -> None:
    """The reconciler looks again later."""
    result = burn("", state="running", elapsed=42)
    assert result.verdict is Verdict.UNKNOWN
    assert result.observed == {"working": True, "elapsed": 42.0, "seconds": 100.0}
    assert result.message == "it runs: 42 of 100 s (42%)"


def test_a_load_that_runs_tells_how_far_each_gpu_is() -> None:
    """From its last whole line of progress."""
    half = OK[: OK.index("\tSummary")]
    observed = burn(half, state="running", elapsed=50).observed
    assert {name: observed[name] for name in ("percent", "gflops", "errors", "celsius")} == {
        "percent": 50.0, "gflops": [51300, 51210], "errors": [0, 0], "celsius": [58, 60],
    }  # fmt: skip
    bare = "proc'd: 9 (7 Gflop/s)   errors: 0   temps: 5 C"
    assert "percent" not in burn(bare, state="running", elapsed=50).observed


def test_the_load_is_gpu_burn_on_tensor_cores_unless_the_profile_says_otherwise() -> None:
    """For as long as the profile asks."""
    job = CHECKS["gpu_burn"].job
    assert job is not None
    by_pci = ("env", "CUDA_DEVICE_ORDER=PCI_BUS_ID")
    assert job(Expected(NODE, PROFILE)) == Order((*by_pci, "gpu_burn", "-tc", "100"), 100.0)
    own = PROFILE | {"burn_in": PROFILE["burn_in"] | {"argv": ["burn", "it"]}}
    assert job(Expected(NODE, own)) == Order((*by_pci, "burn", "it"), 100.0)


def test_a_faulty_gpu_fails_burn_in() -> None:
    """gpu-burn itself exits 0."""
    result = burn(text_of("gpu_burn/faulty.txt"))
    assert remedies(result) == {"gpu_burn.faulty": Remedy.TRIAGE}
    assert result.findings[0].fault == "gpu-01/gpu_burn.faulty/GPU 1"
    assert "4130 in the worst count" in result.message


def test_a_gpu_that_counted_errors_fails_whatever_the_summary_says() -> None:
    """The summary only looks at the last stretch."""
    result = burn(text_of("gpu_burn/faulty.txt").replace("FAULTY", "OK"))
    assert remedies(result) == {"gpu_burn.faulty": Remedy.TRIAGE}


def test_a_faulty_gpu_fails_without_any_progress_line() -> None:
    """The summary is enough."""
    text = text_of("gpu_burn/faulty.txt")
    assert burn(text[text.index("Killing") :]).verdict is Verdict.FAIL


def test_a_gpu_slower_than_its_neighbours_fails() -> None:
    """Below 95 % of the node's median."""
    result = burn(OK.replace("51210", "40000"))
    assert remedies(result) == {"gpu_burn.slow": Remedy.TRIAGE}
    assert "GPU 1 reached 40000 Gflop/s, 88% of the node's median" in result.message


def test_a_gpu_that_was_not_loaded_fails() -> None:
    """The load found fewer GPUs than there should be."""
    result = burn(OK, changed("parts", {"gpu": {"count": 3}}))
    assert remedies(result) == {"gpu_burn.missing": Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ({"state": "lost"}, "it is gone without an end"),
        ({"elapsed": 50}, "the load ran 50 s, expected 100"),
        ({"seconds": 6}, "the load ran 6 s, expected 100"),
        ({"rc": 1}, "exited with 1"),
    ],
)
def test_a_load_that_did_not_run_to_its_end_proves_nothing(state: dict[str, Any], why: str) -> None:
    """It must run again, and nobody is condemned."""
    result = burn(OK, **state)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


@pytest.mark.parametrize(
    ("output", "why"),
    [("", "it exited with 127; expected 0; gpu-burn's output has no summary"),
     ("No such file or directory: 'gpu_burn'\n", "last output: No such file or directory: 'gpu_burn'")],
)  # fmt: skip
def test_a_load_that_died_says_its_last_word(output: str, why: str) -> None:
    """A missing tool is no broken GPU."""
    result = burn(output, rc=127)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


@pytest.mark.parametrize("output", [OK[OK.index("Killing") :], OK.replace("(51210 ", "(0 ")])
def test_a_speed_that_is_not_told_is_unknown(output: str) -> None:
    """0 Gflop/s is a GPU that was not measured yet."""
    result = burn(output)
    assert result.verdict is Verdict.UNKNOWN
    assert "how fast" in result.message


def test_a_captured_run_passes_and_cutting_it_never_fails(samples: Path) -> None:
    """Eight real A100s, within two per cent of each other."""
    with gzip.open(samples / "gpu" / "superbench_gpu_burn.log.gz", "rt", encoding="utf-8", newline="") as file:
        text = file.read()
    expected = changed("parts", {"gpu": {"count": 8}})
    assert burn(text, expected).verdict is Verdict.PASS
    for end in range(0, len(text), 997):
        assert burn(text[:end], expected).verdict is not Verdict.FAIL


def test_a_gpu_is_named_by_its_address_where_nvidia_smi_tells_it() -> None:
    """The ticket of one fault is the same whoever finds it."""
    texts = {"gpu_burn_job": burn_job(text_of("gpu_burn/faulty.txt")), "nvidia_smi": SMI}
    [finding] = judged("gpu_burn", texts, Expected(NODE, PROFILE)).findings
    assert finding.component == "GPU 0000:9b:00.0"
    lost = SMI.replace("</nvidia_smi_log>", "")
    [finding] = judged("gpu_burn", texts | {"nvidia_smi": lost}, Expected(NODE, PROFILE)).findings
    assert finding.component == "GPU 1"


def test_a_gpu_below_its_learned_mark_is_slow_though_its_neighbours_are_as_well() -> None:
    """The median of a node says nothing about a node that is slow as a whole."""
    wanted = changed("burn_in", PROFILE["burn_in"] | {"gpu_gflops_min": 51_250})
    result = burn(OK, wanted)
    assert remedies(result) == {"gpu_burn.slow": Remedy.TRIAGE}
    assert result.message == "GPU 1 reached 51210 Gflop/s, expected at least 51250"


DIED = "100.0%  proc'd: 1310 (51300 Gflop/s) - -1 (900 Gflop/s)   errors: 0 - -1  (DIED!)  temps: 58 C - -- \n"


def test_a_load_that_died_on_one_gpu_is_its_own_fault() -> None:
    """gpu-burn calls the GPU faulty, for it counts the end as an error."""
    text = DIED.replace("(900 ", "(51200 ") + OK[OK.index("Killing") :].replace("GPU 1: OK", "GPU 1: FAULTY")
    result = burn(text)
    assert remedies(result) == {"gpu_burn.died": Remedy.TRIAGE}
    assert result.message == "the load on GPU 1 stopped before its end"


def test_gpus_that_were_never_measured_are_in_no_median() -> None:
    """Most of a node's may be so; those that were are held against each other."""
    line = "100.0%  proc'd: 9 (51300 Gflop/s) - 0 (0 Gflop/s) - 0 (0 Gflop/s) errors: 0 - 0 - 0 temps: --"
    summary = "\nTested 3 GPUs:\n\tGPU 0: OK\n\tGPU 1: OK\n\tGPU 2: OK\n"
    result = burn(line + summary)
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == "the load's output does not show how fast every GPU was"


def test_a_load_that_never_began_on_a_gpu_is_unknown() -> None:
    """Another process may hold its memory."""
    text = DIED.replace("(900 ", "(0 ") + OK[OK.index("Killing") :].replace("GPU 1: OK", "GPU 1: FAULTY")
    result = burn(text)
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == "the load could not start on GPU 1; is its memory in use?"
