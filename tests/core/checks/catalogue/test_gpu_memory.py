"""GPUs' memory: worn, to be repaired, or held by nobody, as nvidia-smi tells."""

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.judging import judged, remedies
from tests.core.checks.catalogue.looking import bent, remembering, seen

BUSY = ("<gpu_util>0 %", "<gpu_util>97 %")


@pytest.mark.parametrize(
    ("swaps", "found"),
    [
        ([("<remapped_row_unc>0", "<remapped_row_unc>513")], {"gpu.remapped_rows", "gpu.worn"}),
        ([("<remapped_row_unc>0", "<remapped_row_unc>512")], {"gpu.worn"}),
        ([("<retired_count>N/A", "<retired_count>32")], {"gpu.retired_pages", "gpu.worn"}),
        ([("<retired_count>N/A", "<retired_count>31")], {"gpu.worn"}),
        ([("histogram_none>0", "histogram_none>1")], {"gpu.no_spare_rows"}),
        ([("histogram_low>0", "histogram_low>1"), ("histogram_partial>0", "histogram_partial>2")], {"gpu.worn"}),
        ([("<sram_l2>0", "<sram_l2>3")], {"gpu.sram_sources"}),
    ],
)
def test_worn_memory_is_recorded_and_beyond_the_limits_looked_at(
    swaps: list[tuple[str, str]], found: set[str]
) -> None:
    """Rows of newer GPUs, pages of older ones, banks without a spare row."""
    result = seen("gpu_retired", *swaps)
    assert set(remedies(result)) == found
    assert result.verdict is (Verdict.PASS if found <= {"gpu.worn", "gpu.sram_sources"} else Verdict.FAIL)


def test_memory_that_tells_neither_rows_nor_pages_is_unknown() -> None:
    """MIG hides both."""
    result = seen("gpu_retired", ("remapped_row_unc>", "x>"))
    assert result.verdict is Verdict.UNKNOWN
    assert seen("gpu_retired", ("remapped_row_unc>", "x>"), ("<retired_count>N/A", "<retired_count>0")).verdict is (
        Verdict.PASS
    )


@pytest.mark.parametrize(
    ("swap", "code", "remedy"),
    [
        (("pending_blacklist>N/A", "pending_blacklist>Yes"), "gpu.retirement_pending", Remedy.RESET),
        (("channel_repair_pending>No", "channel_repair_pending>Yes"), "gpu.repair_pending", Remedy.RESET),
        (("tpc_repair_pending>No", "tpc_repair_pending>Yes"), "gpu.repair_pending", Remedy.RESET),
        (("</channel_repair_pending>", "</channel_repair_pending><unrepairable_memory>Yes</unrepairable_memory>"),
         "gpu.unrepairable", Remedy.RMA),
    ],
)  # fmt: skip
def test_repairs_that_wait_or_failed_are_found_with_the_errors(
    swap: tuple[str, str], code: str, remedy: Remedy
) -> None:
    """gpu_errors asks every node for them, whatever the profile says; a recovery they ask for is the same fault."""
    result = seen("gpu_retired", swap)
    assert result.verdict is Verdict.PASS
    swaps = (swap, ("gpu_recovery_action>None", "gpu_recovery_action>Reset")) if remedy is Remedy.RESET else (swap,)

    assert remedies(judged("gpu_errors", {"nvidia_smi": bent(*swaps)})) == {code: remedy}


HELD = ("<used>1 MiB", "<used>20000 MiB")


def test_memory_that_nobody_uses_is_watched_and_then_reset() -> None:
    """A process that just ended frees its own within seconds."""
    result = seen("gpu_memory_held", HELD)
    assert remedies(result) == {"gpu.memory_held": Remedy.WATCH}
    again = seen("gpu_memory_held", HELD, expected=remembering("gpu_memory_held", result.observed))
    assert remedies(again) == {"gpu.memory_held": Remedy.RESET}


@pytest.mark.parametrize(
    "swap",
    [BUSY, ("<processes>", "<processes><process_info/>"), ("current_mig>Disabled", "current_mig>Enabled")],
)
def test_memory_in_use_is_not_held(swap: tuple[str, str]) -> None:
    """Somebody works there, or might unseen."""
    assert seen("gpu_memory_held", HELD, swap).verdict is Verdict.PASS


def test_memory_that_is_not_told_is_unknown() -> None:
    """N/A is no zero."""
    assert seen("gpu_memory_held", ("<used>1 MiB", "<used>N/A")).verdict is Verdict.UNKNOWN
