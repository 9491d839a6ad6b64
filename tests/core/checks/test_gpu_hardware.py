"""Links, clocks, power and memory of GPUs, as nvidia-smi tells of them."""

import re
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.gpu_pcie import REPLAYS_MAX
from fleet_runner.core.evidence import Expected
from fleet_runner.core.verdicts import Remedy, Result, Verdict
from tests.core.checks.healthy import text_of
from tests.core.checks.judging import DEVICE, HEALTHY, NODE, judged, remedies
from tests.core.checks.looking import GPU, PCI, asked, bent, remembering, seen

BUSY = ("<gpu_util>0 %", "<gpu_util>97 %")


@pytest.mark.parametrize(
    ("swaps", "found"),
    [
        ([("<current_link_width>16x", "<current_link_width>8x")], {"gpu.pcie_width": Remedy.TRIAGE}),
        ([("<max_link_gen>5", "<max_link_gen>4")], {"gpu.pcie_generation_max": Remedy.TRIAGE}),
        ([("<current_link_gen>5", "<current_link_gen>1"), BUSY], {"gpu.pcie_generation": Remedy.REBOOT}),
        ([("<current_link_gen>5", "<current_link_gen>1")], {}),
        ([("<max_link_gen>5", "<max_link_gen>6"), BUSY], {}),
        ([("<max_host_link_gen>N/A", "<max_host_link_gen>4"), BUSY], {}),
        ([("<current_link_gen>5", "<current_link_gen>N/A"), BUSY], {}),
    ],
)
def test_a_link_is_judged_by_lanes_by_what_it_can_reach_and_under_load_by_what_it_runs(
    swaps: list[tuple[str, str]], found: dict[str, Remedy]
) -> None:
    """An idle GPU lowers its generation to save power, and some boards say nonsense of their host."""
    result = seen("gpu_pcie", *swaps)
    assert remedies(result) == found
    assert result.verdict is (Verdict.FAIL if found else Verdict.PASS)


@pytest.mark.parametrize(
    ("swap", "what"),
    [
        (("<current_link_width>16x", "<current_link_width>N/A"), "lanes"),
        (("<max_link_gen>5", "<max_link_gen>[Unknown Error]"), "generation"),
        (("<replay_counter>150", "<replay_counter>N/A"), "replays"),
    ],
)
def test_what_a_link_does_not_tell_is_unknown(swap: tuple[str, str], what: str) -> None:
    """Neither good nor bad."""
    result = seen("gpu_pcie", swap, expected=remembering("gpu_pcie", {"gpus": {PCI: {"replays": 150}}}))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == f"{GPU} does not tell its PCIe {what}"


def before(replays: int, rollovers: int = 0, *, over: bool = False) -> dict[str, Any]:
    """Return what gpu_pcie observed at its last look."""
    return {"gpus": {PCI: {"replays": replays, "rollovers": rollovers, "over": over}}}


@given(replays=st.integers(0, 10**6), more=st.integers(0, 10**6), seconds=st.floats(1, 80_000), over=st.booleans())
def test_replays_are_judged_by_their_rate_over_lanes_and_minutes(
    replays: int, more: int, seconds: float, over: bool
) -> None:
    """At most 1.92 per lane and minute at generation 5; twice in a row is for a person."""
    told = ("<replay_counter>150", f"<replay_counter>{replays + more}")
    expected = remembering("gpu_pcie", before(replays, over=over), seconds)
    since = expected.run["now"] - expected.run["before"]["gpu_pcie"]["at"]
    result = seen("gpu_pcie", told, expected=expected)
    bad = more / 16 / max(1.0, since / 60) > REPLAYS_MAX[5]
    assert remedies(result) == ({"gpu.pcie_replays": Remedy.TRIAGE if over else Remedy.WATCH} if bad else {})
    assert result.observed["gpus"][PCI]["over"] is bad


def test_a_replay_counter_that_fell_began_anew() -> None:
    """150 within an hour is nothing; after a driver reload it is not a million less."""
    assert seen("gpu_pcie", expected=remembering("gpu_pcie", before(10**6))).verdict is Verdict.PASS
    assert seen("gpu_pcie", expected=remembering("gpu_pcie", before(10**6), 60.0)).verdict is Verdict.FAIL


@pytest.mark.parametrize("generation", [1, 2, 3, 4, 5, 6, 7])
def test_every_generation_has_a_limit(generation: int) -> None:
    """Those before the first and after the last take theirs."""
    swaps = (("<max_link_gen>5", f"<max_link_gen>{generation}"), ("<replay_counter>150", "<replay_counter>100000"))
    result = seen("gpu_pcie", *swaps, expected=remembering("gpu_pcie", before(0)))
    limit = REPLAYS_MAX[min(max(generation, 3), 6)]
    assert f"expected at most {limit:g}" in result.message


def test_a_link_that_was_trained_anew_is_watched() -> None:
    """Its packets were sent again in vain."""
    swap = ("<replay_rollover_counter>0", "<replay_rollover_counter>2")
    result = seen("gpu_pcie", swap, expected=remembering("gpu_pcie", before(150, 1)))
    assert remedies(result) == {"gpu.pcie_rollovers": Remedy.WATCH}


@pytest.mark.parametrize(
    "run",
    [
        {},
        {"before": {"gpu_pcie": {"at": 5.0, "observed": {}}}},
        {"before": {"gpu_pcie": {"at": 9.0, "observed": before(0)}}, "now": 8.0},
        {"before": {"gpu_pcie": {"at": 1.0, "observed": "none"}}, "now": 8.0},
        {"before": {"gpu_pcie": {"at": 1.0, "observed": {"gpus": []}}}, "now": 8.0},
    ],
)
def test_without_a_look_before_nothing_grew(run: dict[str, Any]) -> None:
    """The first look, one from the future, and one that cannot be read."""
    expected = asked()
    assert seen("gpu_pcie", expected=type(expected)(NODE, expected.profile, run=run)).verdict is Verdict.PASS


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
        f"{GPU} does not tell what slows it; {GPU} does not tell how high its clocks reach (graphics, sm, mem)"
    )


POWER = "<current_power_limit>700.00 W"


@pytest.mark.parametrize(
    ("swaps", "values", "found"),
    [
        ([(POWER, "<current_power_limit>500.00 W")], {}, {"gpu.power_limit": Remedy.REBOOT}),
        ([(POWER, "<current_power_limit>500.00 W")], {"limit_watts": None}, {"gpu.power_limit": Remedy.REBOOT}),
        ([(POWER, "<current_power_limit>500.00 W")], {"limit_watts": 500}, {}),
        ([], {"limit_watts": 750}, {"gpu.power_limit": Remedy.REBOOT, "gpu.power_default": Remedy.TRIAGE}),
        ([("<default_power_limit>700.00 W", "<default_power_limit>N/A")], {"limit_watts": None}, {}),
        (
            [("<current_power_limit>N/A", "<current_power_limit>2500.00 W")],
            {"module_watts": 2900},
            {"gpu.module_limit": Remedy.REBOOT},
        ),
        ([("<current_power_limit>N/A", "<current_power_limit>2900.00 W")], {"module_watts": 2900}, {}),
        (
            [("gpu_power_readings", "power_readings"), ("average_power", "power"), ("current_power", "power")],
            {},
            {},
        ),
    ],
)
def test_a_gpu_may_draw_what_the_profile_says_or_what_it_was_made_for(
    swaps: list[tuple[str, str]], values: dict[str, Any], found: dict[str, Remedy]
) -> None:
    """By the names of new drivers and of old ones."""
    result = seen("gpu_power", *swaps, expected=asked("gpu_power", **values))
    assert remedies(result) == found
    assert result.verdict is (Verdict.FAIL if found else Verdict.PASS)


def test_a_power_that_cannot_be_read_is_unknown() -> None:
    """A sensor that fails is no limit that was lowered."""
    swaps = ((POWER, "<current_power_limit>ERR!"), ("<average_power_draw>68.57 W", "<average_power_draw>[N/A]"))
    result = seen("gpu_power", *swaps, expected=asked("gpu_power", module_watts=1))
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == f"{GPU} does not tell its power limit, power draw, module's power limit"


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


VOLTA: dict[str, dict[str, Any]] = {
    "pcie": {"gpu": {"generation": 3, "width": 16}},
    "gpu_clocks": {"graphics_mhz": 1530, "memory_mhz": 877, "busy_share_min": 0.5},
    "gpu_power": {"limit_watts": 300},
    "gpu_settings": {"drivers": ["460.73.01"], "persistence": True, "ecc": True},
}


def volta(name: str, *swaps: tuple[str, str]) -> Result:
    """Judge a check over the report of a GPU at work, from before Ampere, by a driver of its time."""
    expected = Expected(NODE, {**asked().profile, **VOLTA}, DEVICE)
    return judged(name, {"nvidia_smi": bent(*swaps, text=text_of("nvidia_smi/v100_one.xml"))}, expected)


@pytest.mark.parametrize(
    "name",
    ["gpu_pcie", "gpu_clocks", "gpu_power", "gpu_settings", "gpu_retired", "gpu_memory_held", "gpu_errors",
     "gpu_thermals", "gpu_usage"],
)  # fmt: skip
def test_a_gpu_from_before_ampere_passes_by_the_names_of_its_time(name: str) -> None:
    """It has pages to retire and no rows to remap: that it does not tell of any is no gap."""
    result = volta(name)
    assert result.verdict is Verdict.PASS, result.message


def test_a_gpu_from_before_ampere_is_judged_by_its_pages_and_its_double_bit_errors() -> None:
    """Pages that wait need a reset; what they were retired for is on record."""
    two = ("</texture_memory>\n\t\t\t\t\t<total>0", "</texture_memory>\n\t\t\t\t\t<total>2")
    assert remedies(volta("gpu_errors", two)) == {"gpu.uncorrectable": Remedy.RECORD}
    waits = ("pending_retirement>No", "pending_retirement>Yes")
    assert remedies(volta("gpu_errors", waits)) == {"gpu.retirement_pending": Remedy.RESET}
    many = ("<retired_count>1<", "<retired_count>64<")
    assert remedies(volta("gpu_retired", many)) == {
        "gpu.retired_pages": Remedy.TRIAGE,
        "gpu.worn": Remedy.RECORD,
    }


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


SECTIONS = {
    "gpu_pcie": "pcie",
    "gpu_power": "gpu_power",
    "gpu_clocks": "gpu_clocks",
    "gpu_retired": "gpu_retired",
    "gpu_memory_held": "gpu_memory_held",
    "gpu_settings": "gpu_settings",
    "gpu_fabric": "gpu_fabric",
    "nvlink": "nvlink",
    "fabric_manager": "fabric_manager",
}


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_a_profile_that_asks_for_nothing_skips_and_a_wrong_one_is_unknown(name: str) -> None:
    """A slip in a device type's file must not take out every node of that type."""
    expected = asked()
    bare = {key: value for key, value in expected.profile.items() if key != SECTIONS[name]}
    assert seen(name, expected=type(expected)(NODE, bare)).verdict is Verdict.SKIPPED
    wrong = seen(name, expected=type(expected)(NODE, bare | {SECTIONS[name]: "x"}))
    assert wrong.verdict is Verdict.UNKNOWN
    assert "fleet_profile." in wrong.message


VALUES = [(found.group(1), found.group(2)) for found in re.finditer(r"<(\w+)>([^<\n]+)</", bent())]

ABSENT = ["N/A", "[N/A]", "[Not Supported]", "[Unknown Error]", "ERR!", "[Insufficient Permissions]", ""]

FROM_SMI = (*sorted(SECTIONS), "gpu_errors", "gpu_thermals", "gpu_usage")


@given(data=st.data())
def test_a_value_that_is_not_told_never_fails_a_node(data: st.DataObject) -> None:
    """Any of them, and any number of them: nvidia-smi says N/A everywhere."""
    chosen = data.draw(st.lists(st.sampled_from(VALUES), unique=True))
    text = bent()
    for tag, value in chosen:
        text = text.replace(f"<{tag}>{value}</", f"<{tag}>{data.draw(st.sampled_from(ABSENT))}</")
    for name in FROM_SMI:
        result = judged(name, HEALTHY[name] | {"nvidia_smi": text}, remembering(name, before(0)))
        assert result.verdict is not Verdict.FAIL, f"{name}: {result.message}"


@given(word=st.text(min_size=1, max_size=20), at=st.integers(0, len(VALUES) - 1))
def test_a_value_that_is_nonsense_is_read_or_refused(word: str, at: int) -> None:
    """No judge raises anything, whatever stands in a field."""
    tag, value = VALUES[at]
    text = bent().replace(f"<{tag}>{value}</", f"<{tag}>{escape(word)}</")
    for name in FROM_SMI:
        judged(name, HEALTHY[name] | {"nvidia_smi": text}, remembering(name, before(0)))
