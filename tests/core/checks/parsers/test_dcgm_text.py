"""`dcgmi diag` and `dcgmi health` as tables."""

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.dcgm_text import diagnostic, watched
from tests.core.checks.healthy import text_of
from tests.examples import examples

V3, V4 = text_of("dcgm/diag_v3_pcie_failed.txt"), text_of("dcgm/diag_v4_memory_failed.txt")
HEALTH = text_of("dcgm/health_warning.txt")
WORDS = st.sampled_from(
    [
        *("| Diagnostic                | Result    |", "|-----  Hardware  ----------+-----|", "+-----+-----+"),
        *("| memory | Fail |", "|   | GPU0: Fail |", "| Warning | x |", "|  | y |", "| PCIe | Fail - GPUs: 0, 1 |"),
        *(
            "| Health Monitor Report    |",
            "| Overall Health | Warning |",
            "| GPU |  |",
            "| -> 0 | Failure |",
            "",
            "x",
        ),
    ]
)


def results(text: str) -> dict[str, list[dict[str, object]]]:
    (root,) = diagnostic(text).values()
    return {each["name"]: each["results"] for category in root["test_categories"] for each in category["tests"]}


@settings(max_examples=examples(200), deadline=None)
@given(st.one_of(st.text(), st.lists(WORDS).map("\n".join)))
def test_any_text_gives_a_report_or_says_why_not(text: str) -> None:
    for read in (diagnostic, watched):
        with suppress(EvidenceError):
            assert read(text) is not None


@pytest.mark.parametrize("whole", [V3, V4, HEALTH])
def test_a_table_that_was_cut_short_is_refused(whole: str) -> None:
    read = watched if whole is HEALTH else diagnostic
    for line in range(4, whole.count("\n") - 1):
        with pytest.raises(EvidenceError):
            read("\n".join(whole.split("\n")[:line]))


def test_version_3_names_gpus_in_the_result() -> None:
    found = results(V3)
    assert found["PCIe"] == [
        {"gpu_ids": "3", "status": "Fail", "warnings": [{"warning": "GPU 3 Error using CUDA API cudaMemcpy... RST"}]}
    ]
    assert found["GPU Memory"] == [{"status": "Pass"}]
    assert "DCGM Version" not in found
    several = results(V3.replace("Fail - GPU: 3   ", "Fail - GPUs: 3, 5"))
    assert [each["gpu_ids"] for each in several["PCIe"]] == ["3", "5"]


def test_version_4_has_a_row_for_each_gpu() -> None:
    said = "Memory test failed, 3 errors were found. Run a field diagnostic on the GPU."
    assert results(V4)["memory"] == [
        {"gpu_ids": "0", "status": "Pass"},
        {"gpu_ids": "1", "status": "Fail", "warnings": [{"warning": said}]},
    ]


def test_a_failure_stands_wherever_its_row_is() -> None:
    rows = "|                           | GPU1: Fail                                     |\n"
    assert V4.count(rows) == 1
    late = V4.replace(rows, "").replace("+-----  Integration", f"{rows}+-----  Integration")
    assert [each["status"] for each in results(late)["memory"]] == ["Pass", "Fail"]
    assert [each["status"] for each in results(V4.replace(rows, ""))["memory"]] == ["Pass", "Fail"]


def test_what_is_only_told_is_no_warning() -> None:
    assert "warnings" not in results(V4.replace("Warning: GPU1", "Info: GPU1   "))["memory"][1]
    odd = V4.replace("GPU0: Pass", "GPU?: Pass")
    assert results(odd)["pcie"] == [{"status": "Pass"}]


def test_a_health_watch_says_where_and_what() -> None:
    (found,) = watched(HEALTH)
    assert found.where == "GPU 0 Errors PCIe system"
    assert found.words.startswith("Warning Detected more than 8 PCIe replays")
    assert watched(HEALTH.replace("Warning ", "Healthy").split("| GPU  ")[0] + "+------+------+\n") == ()


def test_a_health_watch_that_names_no_part_tells_its_overall_health() -> None:
    (found,) = watched("| Health Monitor Report    |\n|  |  |\n| Overall Health | Failure |\n+-----+-----+\n")
    assert (found.where, found.words) == ("overall", "Failure")
    with pytest.raises(EvidenceError, match="no overall health"):
        watched("| Health Monitor Report    |\n| GPU | Failure |\n+-----+-----+\n")
