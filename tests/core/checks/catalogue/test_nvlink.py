"""NVLinks: those that are up, their speed, and the errors that they count."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.catalogue.nvlink import PER_MINUTE_MAX
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import HEALTHY, NODE, judged, remedies
from tests.core.checks.catalogue.looking import GPU, PCI, asked, bent, remembering
from tests.core.checks.healthy import text_of

STATUS, ERRORS, ERRORS_5 = text_of("nvlink/status.txt"), text_of("nvlink/errors.txt"), text_of("nvlink/errors_5.txt")
SECOND = STATUS.index("GPU 1")


def linked(status: str = STATUS, errors: str | None = ERRORS, expected: Expected | None = None) -> Result:
    """Judge NVLinks over the tool's two reports; without the second where it is None."""
    texts = HEALTHY["nvlink"] | {"nvlink_status": status, "nvlink_errors": errors or ""}
    if errors is None:
        del texts["nvlink_errors"]
    return judged("nvlink", texts, expected or asked())


@pytest.mark.parametrize(
    ("status", "down"),
    [
        (STATUS.replace("Link 2: 26.562 GB/s", "Link 2: <inactive>", 1), "2"),
        (STATUS.replace("Link 2: 26.562 GB/s", "Link 2: inActive", 1), "2"),
        (STATUS.replace("\t Link 3: 26.562 GB/s\n", "", 1), "3"),
        (text_of("nvlink/status_dead.txt"), "0, 1, 2, 3"),
        (text_of("nvlink/status_dead.txt").replace(")\nNVML", ") NVML"), "0, 1, 2, 3"),
    ],
)
def test_links_that_are_down_are_named(status: str, down: str) -> None:
    """However the tool says it, on a line of its own or behind the GPU's name."""
    result = linked(status)
    assert remedies(result) == {"nvlink.down": Remedy.REBOOT}
    assert f"down: {down};" in result.message
    assert result.findings[0].component == GPU


def test_many_links_that_are_down_are_counted() -> None:
    """Six are named."""
    result = linked(text_of("nvlink/status_dead.txt"), expected=asked("nvlink", links=18))
    assert "has 0 of 18 NVLinks up; down: 0, 1, 2, 3, 4, 5 and 12 more" in result.message


def test_a_slow_link_is_named_with_its_speed() -> None:
    """A link that trained badly stays up and carries little."""
    result = linked(STATUS.replace("Link 1: 26.562", "Link 1: 1.562", 1))
    assert remedies(result) == {"nvlink.slow": Remedy.REBOOT}
    assert "NVLinks 1 of" in result.message
    assert "run at 1.562 GB/s, expected 26.562" in result.message
    assert linked(expected=asked("nvlink", gbytes_per_second=26.5625)).verdict is Verdict.PASS


def test_the_last_gpus_list_may_be_cut_unless_its_counters_agree() -> None:
    """A report has no end mark; two reports that end at the same link have not been cut."""
    only = STATUS[:SECOND]
    short = only.replace("\t Link 3: 26.562 GB/s\n", "")
    assert linked(short).verdict is Verdict.UNKNOWN
    assert "lists 3 of 4 NVLinks" in linked(short).message
    assert linked(short, None).verdict is Verdict.UNKNOWN
    counted = "".join(line for line in ERRORS.splitlines(keepends=True) if "Link 3" not in line)
    assert remedies(linked(short, counted)) == {"nvlink.down": Remedy.REBOOT}


def test_a_named_link_that_is_down_counts_though_the_list_may_be_cut() -> None:
    """What was said was said."""
    result = linked(STATUS[:SECOND].replace("Link 3: 26.562 GB/s", "Link 3: <inactive>"), None)
    assert remedies(result) == {"nvlink.down": Remedy.REBOOT}


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (text_of("nvlink/status_mig.txt"), "not supported for Devices in MIG mode"),
        (STATUS[:SECOND].split("\n")[0] + "\nDevice does not have or support Nvlink\n", "not have or support"),
        (STATUS[:SECOND].split("\n")[0] + "\n", "lists 0 of 4 NVLinks"),
        (STATUS[SECOND:], "does not list GPU"),
        ("Driver/library version mismatch\n", "names 0 GPUs"),
        (STATUS + STATUS, "names 2 GPUs in 4 places"),
    ],
)
def test_a_report_that_does_not_tell_is_unknown(status: str, why: str) -> None:
    """MIG, a GPU without links, one that is not listed, and nonsense."""
    result = linked(status)
    assert result.verdict is Verdict.UNKNOWN
    assert why in result.message


def test_a_gpu_without_a_uuid_is_not_found_in_the_list() -> None:
    """Nothing else is the same in both reports."""
    texts = HEALTHY["nvlink"] | {"nvidia_smi": bent(("<uuid>GPU-00000000-0000-4000-8000-00000000001b", "<uuid>N/A"))}
    assert judged("nvlink", texts, asked()).verdict is Verdict.UNKNOWN


def before(**counts: int) -> dict[str, Any]:
    """Return what was observed at the last look, of link 0."""
    return {"errors": {PCI: {"0": {name.replace("_", " "): count for name, count in counts.items()}}}}


def grown(text: str, name: str, then: int, now: int, seconds: float = 3600.0) -> Result:
    """Judge NVLinks of which one counter of link 0 grew."""
    old = f"Link 0: {name}: 0"
    assert old in text
    observed = {"errors": {PCI: {"0": {name: then}}}}
    return linked(STATUS, text.replace(old, f"Link 0: {name}: {now}", 1), remembering("nvlink", observed, seconds))


@given(
    name=st.sampled_from(["Replay Errors", "Recovery Errors", "CRC Errors"]),
    growth=st.integers(0, 10**7),
    seconds=st.floats(1, 10**5),
)
def test_errors_are_judged_by_their_rate(name: str, growth: int, seconds: float) -> None:
    """DCGM's limits: a replay or recovery a minute, a hundred CRC errors a second."""
    result = grown(ERRORS, name, 5, 5 + growth, seconds)
    minutes = max(1.0, seconds / 60)
    if not growth:
        assert result.verdict is Verdict.PASS
    elif abs(growth / minutes / PER_MINUTE_MAX[name] - 1) > 1e-6:
        bad = growth / minutes > PER_MINUTE_MAX[name]
        few = {"nvlink.crc": Remedy.RECORD} if name == "CRC Errors" else {"nvlink.errors": Remedy.WATCH}
        assert remedies(result) == ({"nvlink.failing": Remedy.RESET} if bad else few)
        assert result.findings[0].component == f"{GPU} NVLink 0"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Link recovery failed events", {"nvlink.failing": Remedy.RESET}),
        ("Link recovery successful events", {"nvlink.errors": Remedy.WATCH}),
        ("Symbol Errors", {"nvlink.errors": Remedy.WATCH}),
        ("Total link recovery events", {}),
        ("Tx discards", {}),
    ],
)
def test_counters_of_nvlink_5_are_known_by_their_names(name: str, found: dict[str, Remedy]) -> None:
    """A recovery that failed is never well; what FEC corrects and what is sent always moves."""
    assert remedies(grown(ERRORS_5, name, 0, 1)) == found


def test_what_was_counted_before_the_first_look_is_history() -> None:
    """It is kept to tell the next look what grew."""
    errors = ERRORS.replace("Link 0: Replay Errors: 0", "Link 0: Replay Errors: 7", 1)
    result = linked(STATUS, errors)
    assert result.verdict is Verdict.PASS
    assert result.observed["errors"][PCI]["0"] == {"Replay Errors": 7, "Recovery Errors": 0, "CRC Errors": 0}
    assert linked(STATUS, errors, remembering("nvlink", result.observed)).verdict is Verdict.PASS
    assert linked(STATUS, errors, remembering("nvlink", before(CRC_Errors=0))).verdict is Verdict.PASS


@pytest.mark.parametrize("errors", [None, "Unable to talk to the driver\n"])
def test_without_counters_the_links_are_judged_all_the_same(errors: str | None) -> None:
    """They say more, and their lack says nothing."""
    assert linked(STATUS, errors).verdict is Verdict.PASS


def test_counters_of_a_command_that_failed_are_not_believed() -> None:
    """An exit status of one read is not that of another."""
    assert judged("nvlink", HEALTHY["nvlink"], rc=3).verdict is Verdict.UNKNOWN


def test_a_captured_report_of_eight_a100_is_read(samples: Path) -> None:
    """Twelve links each; every GPU but the last is beyond doubt, and the last lists them all."""
    text = (samples / "gpu" / "gpud_nvidia-smi_nvlink_status_a100.txt").read_text(encoding="utf-8")
    uuid = ("GPU-00000000-0000-4000-8000-00000000001b", "GPU-5269b708-678a-b1a8-60f0-c90406537486")
    texts = {"nvidia_smi": bent(uuid), "nvlink_status": text}
    expected = asked("nvlink", links=12, gbytes_per_second=25)
    assert expected.node == NODE
    assert judged("nvlink", texts, expected).message == "1 GPUs have 12 NVLinks each at 25 GB/s"
    assert remedies(judged("nvlink", texts, asked("nvlink", links=18))) == {
        "nvlink.down": Remedy.REBOOT,
        "nvlink.slow": Remedy.REBOOT,
    }
