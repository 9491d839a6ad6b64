"""GPUs' clocks, and what slows them, as nvidia-smi tells."""

import pytest

from fleet_runner.core.checks.verdicts import Remedy, Verdict
from tests.core.checks.catalogue.judging import remedies
from tests.core.checks.catalogue.looking import GPU, PCI, asked, remembering, seen

BUSY = ("<gpu_util>0 %", "<gpu_util>97 %")


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("hw_power_brake_slowdown", "gpu.power_brake"),
        ("hw_slowdown", "gpu.hw_slowdown"),
        ("sw_thermal_slowdown", "gpu.sw_thermal_slowdown"),
    ],
)
def test_a_slowdown_is_watched_and_one_that_lasts_is_for_a_person(reason: str, code: str) -> None:
    """A moment is nobody's fault; two looks are."""
    swap = (f"reason_{reason}>Not Active", f"reason_{reason}>Active")
    result = seen("gpu_clocks", swap)
    assert remedies(result) == {code: Remedy.WATCH}
    assert result.observed["gpus"][PCI]["reasons"] == sorted(["gpu_idle", reason])
    again = seen("gpu_clocks", swap, expected=remembering("gpu_clocks", result.observed))
    assert remedies(again) == {code: Remedy.TRIAGE}
    assert again.findings[0].steps
    old = [(old, new) for old, new in [swap, ("clocks_event_reason", "clocks_throttle_reason")]]
    assert remedies(seen("gpu_clocks", *old)) == {code: Remedy.WATCH}


def test_a_brake_says_more_than_the_word_for_both() -> None:
    """The hardware's slowdown is the sum of heat and brake; heat is gpu_thermals' matter."""
    swaps = [
        (f"reason_{name}>Not Active", f"reason_{name}>Active")
        for name in ("hw_slowdown", "hw_power_brake_slowdown", "hw_thermal_slowdown")
    ]
    assert remedies(seen("gpu_clocks", *swaps)) == {"gpu.power_brake": Remedy.WATCH}
    assert seen("gpu_clocks", swaps[0], swaps[2]).verdict is Verdict.PASS


@pytest.mark.parametrize(("us", "watched"), [(10_000_000, False), (36_000_000, False), (37_000_000, True)])
def test_time_under_heat_counts_as_a_share_of_the_time_between_two_looks(us: int, watched: bool) -> None:
    """One percent of an hour is 36 seconds."""
    name = "counters_hw_therm_slowdown>"
    observed = {"gpus": {PCI: {"slowed_us": {"hw_thermal_slowdown": 0}}}}
    result = seen("gpu_clocks", (f"{name}0 us", f"{name}{us} us"), expected=remembering("gpu_clocks", observed))
    assert remedies(result) == ({"gpu.hw_thermal_slowdown": Remedy.WATCH} if watched else {})


@pytest.mark.parametrize("reason", ["gpu_idle", "applications_clocks_setting", "sw_power_cap"])
def test_harmless_reasons_pass(reason: str) -> None:
    """Idling, somebody's setting, and a load that reaches the limit."""
    swap = (f"reason_{reason}>", f"reason_{reason}>") if reason == "gpu_idle" else (
        f"reason_{reason}>Not Active", f"reason_{reason}>Active")  # fmt: skip
    assert seen("gpu_clocks", swap).verdict is Verdict.PASS


def test_a_power_cap_far_below_the_limit_is_watched_under_load() -> None:
    """Something else than the load holds it back: its module, or its node."""
    cap = ("reason_sw_power_cap>Not Active", "reason_sw_power_cap>Active")
    fast = ("<sm_clock>345", "<sm_clock>1900")
    assert remedies(seen("gpu_clocks", cap, BUSY, fast)) == {"gpu.power_cap": Remedy.WATCH}
    full = ("<average_power_draw>68.57", "<average_power_draw>699.1")
    assert seen("gpu_clocks", cap, BUSY, fast, full).verdict is Verdict.PASS
    untold = ("<average_power_draw>68.57 W", "<average_power_draw>N/A")
    assert seen("gpu_clocks", cap, BUSY, fast, untold).verdict is Verdict.PASS


def test_a_gpu_at_work_must_reach_its_share_of_its_clock() -> None:
    """Where the profile asks; an idle one may sleep."""
    assert remedies(seen("gpu_clocks", BUSY)) == {"gpu.slow_clock": Remedy.WATCH}
    assert seen("gpu_clocks").verdict is Verdict.PASS
    assert seen("gpu_clocks", BUSY, expected=asked("gpu_clocks", busy_share_min=None)).verdict is Verdict.PASS
    assert seen("gpu_clocks", BUSY, ("<sm_clock>345 MHz", "<sm_clock>N/A")).verdict is Verdict.PASS


def test_clocks_that_cannot_reach_the_profiles_are_for_a_person() -> None:
    """Another VBIOS, or another board."""
    result = seen("gpu_clocks", expected=asked("gpu_clocks", memory_mhz=3201))
    assert remedies(result) == {"gpu.clock_max_mem": Remedy.TRIAGE}
    assert "reaches 2619 MHz, expected 3201" in result.message
    assert seen("gpu_clocks", expected=asked("gpu_clocks", memory_mhz=None)).verdict is Verdict.PASS


def test_application_clocks_below_the_default_are_somebodys() -> None:
    """One whose default is below its most is as it was made; it may also tell no clocks that were set."""
    low = ("<applications_clocks>\n\t\t\t<graphics_clock>1980", "<applications_clocks>\n\t\t\t<graphics_clock>1200")
    assert remedies(seen("gpu_clocks", low)) == {"gpu.application_clocks": Remedy.WATCH}
    made = (
        "default_applications_clocks>\n\t\t\t<graphics_clock>1980",
        "default_applications_clocks>\n\t\t\t<graphics_clock>1200",
    )
    assert seen("gpu_clocks", made).verdict is Verdict.PASS
    assert seen("gpu_clocks", ("<applications_clocks>", "<x>"), ("</applications_clocks>", "</x>")).verdict is (
        Verdict.PASS
    )


def test_clocks_and_reasons_that_are_not_told_are_unknown() -> None:
    """A driver may rename them again."""
    result = seen("gpu_clocks", ("clocks_event_reason_", "why_"), ("max_clocks>", "most_clocks>"))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == (
        f"{GPU} does not report what slows it; {GPU} does not report its maximum clocks (graphics, sm, mem)"
    )
