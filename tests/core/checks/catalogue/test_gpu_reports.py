"""Reports of nvidia-smi that tell less, or in other words, than those of today's GPUs."""

import re
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, judged, remedies
from tests.core.checks.catalogue.looking import PCI, asked, bent, remembering, seen
from tests.core.checks.healthy import text_of

BEFORE: dict[str, Any] = {"gpus": {PCI: {"replays": 0, "rollovers": 0, "over": False}}}
"""What was seen at the last look."""

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
        result = judged(name, HEALTHY[name] | {"nvidia_smi": text}, remembering(name, BEFORE))
        assert result.verdict is not Verdict.FAIL, f"{name}: {result.message}"


@given(word=st.text(min_size=1, max_size=20), at=st.integers(0, len(VALUES) - 1))
def test_a_value_that_is_nonsense_is_read_or_refused(word: str, at: int) -> None:
    """No judge raises anything, whatever stands in a field."""
    tag, value = VALUES[at]
    text = bent().replace(f"<{tag}>{value}</", f"<{tag}>{escape(word)}</")
    for name in FROM_SMI:
        judged(name, HEALTHY[name] | {"nvidia_smi": text}, remembering(name, BEFORE))
