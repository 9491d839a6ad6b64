"""How a check is run over what was read."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.check import NO_PROFILE, Check, Readings, run, wanted
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Result, Verdict


def judge(readings: Readings, expected: Expected) -> Result:
    """Pass unless the text is "refuse"."""
    if readings["one"].text == "refuse":
        raise EvidenceError("it cannot be read")
    return Result("another name", Verdict.PASS, f"{expected.node} is well")


CHECK = Check("mine", "Is it well?", ("one",), judge)


def test_a_result_carries_the_checks_name_and_the_evidence_behind_it() -> None:
    """Whatever the judge wrote, and only of the check's own reads."""
    one, other = Reading("one", ReadEnd.OK, "text"), Reading("other", ReadEnd.OK, "x")
    result = run(CHECK, {"one": one, "other": other}, Expected("gpu-01"))
    assert (result.check, result.verdict, result.message) == ("mine", Verdict.PASS, "gpu-01 is well")
    assert result.evidence == (one.hash,)


@pytest.mark.parametrize("end", ReadEnd)
def test_a_read_that_only_says_more_is_used_where_it_ended_well(end: ReadEnd) -> None:
    """Without it the check answers as well."""
    check = Check("mine", "Is it well?", ("one",), judge, also=("more", "never"))
    one, more = Reading("one", ReadEnd.OK, "text"), Reading("more", end, "x")
    result = run(check, {"one": one, "more": more}, Expected("gpu-01"))
    assert result.verdict is Verdict.PASS
    assert result.evidence == ((one.hash, more.hash) if end is ReadEnd.OK else (one.hash,))


def test_a_read_that_is_missing_makes_the_check_unknown() -> None:
    """Nobody asked."""
    assert run(CHECK, {}, Expected("gpu-01")).message == "one was not read"


@pytest.mark.parametrize("end", [end for end in ReadEnd if end is not ReadEnd.OK])
def test_a_read_that_did_not_end_well_makes_the_check_unknown(end: ReadEnd) -> None:
    """With the reason, or at least with how it ended."""
    said = run(CHECK, {"one": Reading("one", end, error="after 20 s")}, Expected("gpu-01"))
    assert (said.verdict, said.message) == (Verdict.UNKNOWN, "one: after 20 s")
    assert run(CHECK, {"one": Reading("one", end)}, Expected("gpu-01")).message == f"one: {end.value}"


def test_evidence_that_cannot_be_read_makes_the_check_unknown_and_is_kept() -> None:
    """A person may want to see it."""
    one = Reading("one", ReadEnd.OK, "refuse")
    result = run(CHECK, {"one": one}, Expected("gpu-01"))
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, "it cannot be read")
    assert result.evidence == (one.hash,)


def test_what_the_profile_does_not_ask_for_is_skipped() -> None:
    """Nothing was read, and nothing is known."""
    check = Check("mine", "Is it well?", ("one",), judge, section="parts.nvme")
    for healthy in ({"disks": {}}, {"parts": {}}, {"parts": {"nvme": None}}):
        assert not wanted(check, healthy)
        result = run(check, {}, Expected("gpu-01", healthy))
        assert (result.verdict, result.message) == (
            Verdict.SKIPPED, "the device type's profile has no parts.nvme",
        )  # fmt: skip


def test_a_device_type_without_any_profile_is_unknown_not_unasked() -> None:
    """Its file was renamed, say: what was found before must stay known."""
    check = Check("mine", "Is it well?", ("one",), judge, section="parts.nvme")
    result = run(check, {}, Expected("gpu-01"))
    assert (result.verdict, result.message) == (Verdict.UNKNOWN, NO_PROFILE)


@pytest.mark.parametrize("healthy", [{"parts": {"nvme": {}}}, {"parts": {"nvme": False}}, {"parts": "x"}])
def test_what_the_profile_says_wrongly_is_for_the_judge_to_tell(healthy: dict[str, object]) -> None:
    """A slip of the pen must not silence a check."""
    assert wanted(Check("mine", "Is it well?", ("one",), judge, section="parts.nvme"), healthy)
