"""What a node's log of one try proves."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.lifecycle.wipe import reports
from fleet_runner.core.lifecycle.wipe.methods import Method
from fleet_runner.core.lifecycle.wipe.reports import Command, TryStatus, failure, proof
from tests.core.lifecycle.wipe.looks import evidence, report

SAMPLE = st.sampled_from(["00", "ff", "aa", "bb", "error: Input/output error"])
SAMPLES = st.lists(SAMPLE, min_size=1, max_size=6)


def command(rc: int = 0, output: str = "") -> Command:
    """Return a command that was run."""
    return Command(("nvme", "format"), rc, output, 1.0, 2.0)


@given(SAMPLES, SAMPLES)
def test_a_block_that_still_holds_what_it_held_is_no_erase(before: list[str], after: list[str]) -> None:
    """Nor is one that cannot be read after it, or a disk of which nothing could be read before."""
    why = failure(report(before=tuple(before), after=tuple(after)))
    same = [was for was, now in zip(before, after, strict=False) if was == now and was in {"aa", "bb"}]
    unread = any(each.startswith("error") for each in after) or all(each.startswith("error") for each in before)
    assert bool(why) is (len(before) != len(after) or bool(same) or unread)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"error": "in use"}, "in use"),
        ({"commands": ()}, "nothing was done"),
        ({"commands": (command(1, "a\nNVMe status: no\n"),)}, "nvme format exited with 1: NVMe status: no"),
        ({"commands": (command(), command(2))}, "nvme format exited with 2"),
        ({"after": ()}, "4 blocks were sampled before and 0 after"),
        ({"after": ("aa", "00", "00", "00")}, "1 of 4 sampled blocks are unchanged"),
        ({"after": ("00", "error: Input/output error", "00", "00")}, "1 of 4 sampled blocks cannot be read after it"),
        ({"method": Method.OVERWRITE, "after": ("error: x",) * 4}, "4 of 4 sampled blocks cannot be read after"),
        ({"before": ("error: Input/output error",) * 4}, "none of 4 sampled blocks could be read before it"),
        ({"method": Method.OVERWRITE, "after": ("00", "00", "bb", "00")}, "not every sampled block reads as zero"),
        ({"method": Method.TPM_CLEAR, "after": ("error: no", "bb", "cc", "error: no")}, "the TPM makes no key"),
    ],
)
def test_whatever_went_wrong_is_no_erase(change: dict[str, Any], why: str) -> None:
    assert why in failure(replace(report(), **change))


@pytest.mark.parametrize(
    ("log", "why"), [("done", ""), ("failed", "FAILED"), ("in_progress", "RUNNING"), ("never", "NEVER")]
)
def test_a_sanitize_is_proven_by_the_devices_own_log(log: str, why: str) -> None:
    last = command(output=evidence(f"nvme/sanitize_{log}.json"))
    found = failure(report(method=Method.SANITIZE_BLOCK, commands=(command(), last)))
    assert bool(found) is bool(why)
    assert why in found


def test_a_sanitize_log_does_not_stand_for_blocks_that_cannot_be_read() -> None:
    assert "4 of 4 sampled" in failure(report(method=Method.SANITIZE_BLOCK, after=("error: Input/output error",) * 4))


def test_a_sanitize_log_that_cannot_be_read_proves_nothing() -> None:
    assert "not JSON" in failure(report(method=Method.SANITIZE_BLOCK, commands=(command(output="?"),)))


@pytest.mark.parametrize("method", [Method.SANITIZE_CRYPTO, Method.OVERWRITE])
def test_what_proves_itself_needs_no_block_that_was_read_before(method: Method) -> None:
    """A sanitize has the drive's own log, and what was written over reads as zero."""
    done = report(method=method, before=("error: Input/output error",) * 4)
    assert failure(done) == ""
    assert "4 of 4 could not be read before it" in proof(done)


def test_a_proof_says_what_was_seen() -> None:
    assert proof(report()) == "all 4 sampled blocks that held data changed, 4 of 4 read as zero"
    blank = report(before=("00",) * 4, method=Method.SANITIZE_CRYPTO)
    assert proof(blank).startswith("no sampled block had held data, 4 of 4 read as zero; its log says")
    assert proof(report("tpm", Method.TPM_CLEAR, before=("aa",), after=("bb",))).endswith("another key than before")
    assert proof(report("tpm", Method.TPM_CLEAR, before=("error: x",), after=("bb",))).endswith("makes a key again")


RAW: dict[str, Any] = {
    "key": "disk-S1", "number": 1, "stand": "ended", "method": "format_erase", "started": 1.0, "ended": 3.0,
    "commands": [{"argv": ["nvme", "format"], "rc": 0, "output": "ok", "started": 1.0, "ended": 2.0}],
    "before": ["aa"], "after": ["00"], "error": "",
}  # fmt: skip


def test_a_report_is_read_as_the_module_gives_it() -> None:
    found = reports.read(RAW)
    assert (found.key, found.stand, found.method, found.touched) == (
        "disk-S1",
        TryStatus.ENDED,
        Method.FORMAT_ERASE,
        True,
    )
    assert (found.before, found.after, failure(found)) == (("aa",), ("00",), "")
    assert not reports.read(RAW | {"commands": None, "before": None}).touched


@given(st.sampled_from(sorted(RAW)), st.none() | st.integers() | st.text() | st.lists(st.integers()) | st.just({}))
def test_any_other_report_is_read_or_refused(name: str, value: object) -> None:
    with suppress(EvidenceError):
        reports.read(RAW | {name: value})


def test_what_is_no_report_at_all_is_refused() -> None:
    with pytest.raises(EvidenceError, match="expected a report"):
        reports.read("well")
