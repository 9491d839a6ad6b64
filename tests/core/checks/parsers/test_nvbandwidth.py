"""nvbandwidth's report: text of several versions, and JSON."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.nvbandwidth import Device, Matrix, parse
from tests.core.checks.healthy import text_of

TEXT = text_of("nvbandwidth/v0.8_two.txt")
JSON = text_of("nvbandwidth/v0.7_two.json")
P2P = Matrix("device_to_device_memcpy_read_ce", (0, 1), ((0, (None, 391.12)), (1, (390.87, None))))


def test_a_text_reads_as_it_is() -> None:
    """A matrix for each test, GPUs with their PCI addresses."""
    found = parse(TEXT)
    assert found.version == "v0.8"
    assert found.devices[1] == Device(1, "NVIDIA H100 80GB HBM3", "0000:9b:00.0")
    assert [matrix.test for matrix in found.matrices] == [
        "host_to_device_memcpy_ce", "device_to_host_memcpy_ce", "device_to_device_memcpy_read_ce",
    ]  # fmt: skip
    assert found.matrices[2] == P2P
    assert (found.wrong, found.trouble) == ((), ())


def test_a_gpu_with_a_process_of_its_own_has_that_processes_number() -> None:
    """As over several nodes."""
    line = "Process   3 (gpu-01): device 1: NVIDIA GB200 (00000019:01:00)\n"
    assert parse(f"nvbandwidth Version: v0.8\n{line}").devices == (Device(3, "NVIDIA GB200", "0019:01:00.0"),)


def test_an_early_version_reads_as_it_is() -> None:
    """No addresses, no sums, tests that are waived, and 0.00 from a GPU to itself."""
    found = parse(text_of("nvbandwidth/v0.2_two.txt"))
    assert found.devices[0] == Device(0, "NVIDIA A100-SXM4-80GB", "")
    assert len(found.matrices) == 2
    assert found.matrices[0].rows == ((0, (24.92, 24.88)),)


def test_json_reads_as_the_text_does() -> None:
    """Numbers are texts in it."""
    found = parse("a line before\n" + JSON)
    assert found.version == "v0.7"
    assert found.devices[1].pci == "0000:9b:00.0"
    assert found.matrices[1] == P2P
    assert len(found.matrices) == 2


def test_the_captured_report_is_read(samples: Path) -> None:
    """Fifteen tests; of one that has two rows, both."""
    found = parse((samples / "gpu" / "superbench_nvbandwidth.log").read_text(encoding="utf-8"))
    assert found.devices == (Device(0, "NVIDIA GH200 480GB", "0009:01:00.0"),)
    assert len(found.matrices) == 15
    assert found.matrices[0].rows == ((0, (369.36, 269.33, 412.11)), (1, (323.36, 299.33, 312.11)))


def test_data_that_came_back_changed_is_told_apart_from_trouble() -> None:
    """The one is a fault, the other says nothing."""
    wrong = " Invalid value when checking the pattern at <0x7f0000000000>\n"
    assert len(parse(TEXT + wrong).wrong) == 1
    found = parse(TEXT + "ERROR: Testcase nonsense not found!\n[CUDA_ERROR_NO_DEVICE] no CUDA-capable device\n")
    assert len(found.trouble) == 2
    raw = json.loads(JSON)
    raw["nvbandwidth"]["error"] = "CUDA_ERROR_OUT_OF_MEMORY"
    raw["nvbandwidth"]["testcases"][0] |= {"status": "Error", "error": wrong}
    bent = parse(json.dumps(raw))
    assert (len(bent.wrong), bent.trouble) == (
        1, ("CUDA_ERROR_OUT_OF_MEMORY", "host_to_device_memcpy_ce: Error")
    )  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ("0 1\n0 55.1 55.2\n", ((0, (55.1, 55.2)),)),
        ("0 1\n0 55.1\n", None),
        ("0 1\n0 55.1 fast\n", None),
        ("0 1\nx 55.1 55.2\n", None),
        ("0 1\n0000 55.1 55.2\n", None),
        ("Error: it broke\n0 1\n0 55.1 55.2\n", None),
        ("0 1\n0 55.1 55.2\n\n0 1\n0 1.0 2.0\n", ((0, (55.1, 55.2)),)),
        ("0 1\n0 55.1 55.2\n1 5", ((0, (55.1, 55.2)),)),
    ],
)
def test_a_matrix_has_a_heading_and_whole_rows(lines: str, rows: object) -> None:
    """The first of each test counts."""
    found = parse(f"nvbandwidth Version: v0.8\nRunning it.\nbandwidth (GB/s)\n{lines}")
    assert [matrix.rows for matrix in found.matrices] == ([rows] if rows is not None else [])


@pytest.mark.parametrize(
    ("test", "matrices"),
    [({"name": 7}, 0), ({"name": "x", "bandwidth_matrix": []}, 0), ({"name": "x", "bandwidth_matrix": "y"}, 0),
     ({"name": "x", "bandwidth_matrix": [[55.1, True]]}, 1)],
)  # fmt: skip
def test_json_tests_without_a_matrix_are_passed_over(test: dict[str, Any], matrices: int) -> None:
    """A cell that is no number is not measured."""
    found = parse(json.dumps({"nvbandwidth": {"testcases": [test], "GPU Device info": "0: X (00000000:1b:00)"}}))
    assert len(found.matrices) == matrices
    assert found.devices == (Device(0, "X", "0000:1b:00.0"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bash: nvbandwidth: command not found\n", "no report of nvbandwidth"),
        ("", "no report of nvbandwidth"),
        ('{"nvbandwidth": 7}', "has no nvbandwidth"),
        ('{"nvbandwidth": {"testcases": 7}}', "expected a list"),
        ('{"nvbandwidth": {"testcases": [{"name": "x", "bandwidth_matrix": [[1], [1, 2]]}]}}', "equal length"),
        ('{"nvbandwidth": {"testcases": [{"name": "x", "bandwidth_matrix": [7]}]}}', "equal length"),
        ('{"nvbandwidth": {"testcases": [}', "is not JSON"),
    ],
)
def test_anything_else_is_refused(text: str, message: str) -> None:
    """A missing tool measures nothing."""
    with pytest.raises(EvidenceError, match=message):
        parse(text)
