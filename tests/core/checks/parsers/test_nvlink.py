"""`nvidia-smi nvlink -s` and `-e`."""

from collections.abc import Callable

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.nvlink import MAX_COUNTERS, errors, status
from tests.core.checks.catalogue.judging import text_of

STATUS, ERRORS_5 = text_of("nvlink/status.txt"), text_of("nvlink/errors_5.txt")
FIRST, SECOND = "gpu-00000000-0000-4000-8000-00000000001b", "gpu-00000000-0000-4000-8000-00000000009b"


def test_links_are_read_with_their_speed_by_gpu() -> None:
    """Of all but the last it is certain that none was cut off."""
    found = status(STATUS)
    assert list(found) == [FIRST, SECOND]
    assert found[FIRST].gbytes_per_second == dict.fromkeys(range(4), 26.562)
    assert (found[FIRST].whole, found[SECOND].whole) == (True, False)
    assert (found[FIRST].inactive, found[FIRST].dead, found[FIRST].reason) == (frozenset(), False, "")


@pytest.mark.parametrize(
    "text",
    [STATUS.replace("\n", "\r\n"), STATUS.rstrip("\n"), STATUS.replace("\t ", "         "), "Banner\n" + STATUS],
)
def test_white_space_and_what_stands_before_change_nothing(text: str) -> None:
    """Tabs in the tool's own report, blanks in a copied one, an end of line that got lost."""
    assert status(text) == status(STATUS)


@pytest.mark.parametrize(
    "line",
    [
        "Link 99: 26.562 GB/s",
        "Link 99: <inactive>",
        "Link 0, P2P is supported: true",
        "C2C Link 0: 44.712 GB/s",
        "Link 0: 26.5",
        "Link 0: <ina",
    ],
)
def test_lines_that_tell_of_no_link_are_passed_over(line: str) -> None:
    """Capabilities, links to a CPU, numbers that no link has, half a line."""
    found = status(STATUS.split("\n")[0] + f"\n\t {line}\n")[FIRST]
    assert (found.gbytes_per_second, found.inactive) == ({}, frozenset())


def test_counters_are_read_by_link_and_name_and_ratios_are_not() -> None:
    """FEC's bin 0 stands in the billions on a good link; 15e-255 is none."""
    counters = errors(ERRORS_5)[FIRST][1]
    assert counters["FEC Errors - 0"] == 36140749276
    assert counters["Link recovery failed events"] == 0
    assert "Effective BER" not in counters


def test_a_count_without_its_lines_end_is_not_read() -> None:
    """It may be half a count."""
    text = ERRORS_5.rstrip("\n")
    assert "Raw Errors Lane 0" not in errors(text)[FIRST][1]
    assert "Raw Errors Lane 0" in errors(text + "\n")[FIRST][1]


def test_counters_and_links_beyond_any_gpus_are_left_out() -> None:
    """Sizes are bounded."""
    head = ERRORS_5.split("\n")[0]
    many = "".join(f" Link 0: counter {letter}{n}: 1\n" for n in range(10) for letter in "abcdefghij")
    found = errors(f"{head}\n Link 64: Replay Errors: 1\n{many}")[FIRST]
    assert list(found) == [0]
    assert len(found[0]) == MAX_COUNTERS


@pytest.mark.parametrize("parse", [status, errors])
@pytest.mark.parametrize("text", ["", "GPU 0: NVIDIA H100", "NVIDIA-SMI has failed\n", " Link 0: 25 GB/s\n"])
def test_a_text_without_a_gpu_is_refused(parse: Callable[[str], object], text: str) -> None:
    """UNKNOWN, never a fault."""
    with pytest.raises(EvidenceError, match="names"):
        parse(text)
