"""What a changed limit would have done is told only of results that the same evidence still gives."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError, SettingsError
from fleet_runner.core.checks import replay
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Check
from fleet_runner.core.checks.evidence import Expected, Reading
from fleet_runner.core.checks.replay import Again, Left, ReplayCounts, Setting, added, again, overlaid, spread
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.core.lifecycle.spool import Evidence
from fleet_runner.core.lifecycle.states import Stage

PROFILE: dict[str, Any] = {"limits": {"words_max": 3, "other": 1}, "parts": {"gpu": {"count": 2}}}


def judge(readings: Mapping[str, Reading], expected: Expected) -> Result:
    """FAIL for more words than the limit; nothing else is asked."""
    words = readings["dmesg"].text.split()
    if "broken" in words:
        raise KeyError("broken")
    if "garbage" in words:
        raise EvidenceError("it is garbage")
    most = expected.profile["limits"]["words_max"]
    if len(words) <= most:
        return Result("words", Verdict.PASS, f"{len(words)} words")
    remedy = Remedy.RMA if len(words) > 2 * most else Remedy.WATCH
    finding = Finding("words.many", "words", f"{len(words)} words, expected {most}", remedy, "f")
    return Result("words", Verdict.FAIL, finding.message, (finding,))


WORDS = Check(name="words", question="Few?", reads=("dmesg", "uptime"), judge=judge, also=("nvidia_smi",))


@pytest.fixture(autouse=True)
def _known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "CHECKS", {**CHECKS, "words": WORDS})


def stored(verdict: Verdict, *hashes: str, check: str = "words", remedy: Remedy | None = None) -> Stored:
    found = (Finding("words.many", "words", "…", remedy, "f"),) if remedy else ()
    return Stored(7, 3, "gpu-01", Stage.VERIFY, 500.0, Result(check, verdict, "…", found, {}, hashes))


def pieces(**texts: str) -> dict[str, Evidence]:
    """Evidence under its read's name, where the hash is the name as well."""
    return {name: Evidence("", 500.0, name, name, text) for name, text in texts.items()}


def held(profile: Mapping[str, Any], changed: Mapping[str, Any], **more: Any) -> Setting:
    return Setting(Expected("gpu-01", profile, **more), Expected("gpu-01", changed, **more))


def setting(**limits: Any) -> Setting:
    return held(PROFILE, overlaid(PROFILE, {"limits": limits}))


def judged(result: Stored, texts: Mapping[str, Evidence], against: Setting) -> Again:
    found = again(result, texts, against)
    assert isinstance(found, Again), found
    return found


FOUR = pieces(dmesg="a b c d", uptime="x")


def test_a_limit_that_was_raised_lets_a_fault_pass() -> None:
    found = judged(stored(Verdict.FAIL, "dmesg", "uptime", remedy=Remedy.WATCH), FOUR, setting(words_max=4))
    assert (found.before.verdict, found.after.verdict) == (Verdict.FAIL, Verdict.PASS)
    assert found.differs
    assert found.words == "FAIL → PASS"


def test_a_lower_limit_finds_what_passed() -> None:
    three = pieces(dmesg="a b c", uptime="x")
    found = judged(stored(Verdict.PASS, "dmesg", "uptime"), three, setting(words_max=2))
    assert found.words == "PASS → FAIL"
    assert found.after.message == "3 words, expected 2"


def test_the_same_verdict_with_another_remedy_is_a_difference() -> None:
    found = judged(stored(Verdict.FAIL, "dmesg", "uptime", remedy=Remedy.WATCH), FOUR, setting(words_max=1))
    assert found.differs
    assert found.words == "FAIL, other findings"


def test_a_change_of_something_else_changes_nothing() -> None:
    found = judged(stored(Verdict.FAIL, "dmesg", "uptime", remedy=Remedy.WATCH), FOUR, setting(other=9))
    assert not found.differs


def test_what_left_no_text_brought_none() -> None:
    assert not judged(stored(Verdict.PASS), {}, setting()).differs
    assert again(stored(Verdict.PASS, "nvidia_smi"), pieces(nvidia_smi="y"), setting()) is not Left.GONE


def test_a_text_that_the_store_keeps_under_another_name_is_found_by_its_place() -> None:
    """Two reads brought the same text: it is stored once, under the name of the first."""
    shared = {"h": Evidence("", 1.0, "something", "h", "a b c d")}
    found = judged(stored(Verdict.FAIL, "h", "h", remedy=Remedy.WATCH), shared, setting(words_max=4))
    assert found.after.verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("result", "texts", "why"),
    [
        (stored(Verdict.PASS, check="nothing"), {}, Left.NO_CHECK),
        (stored(Verdict.PASS, check="cabling_infiniband"), {}, Left.NO_DESIGN),
        (stored(Verdict.PASS, "dmesg"), {}, Left.GONE),
        (stored(Verdict.UNKNOWN), {}, Left.UNREAD),
        (stored(Verdict.UNKNOWN, "dmesg", "uptime"), FOUR, Left.UNREAD),
        (stored(Verdict.PASS, "dmesg", "uptime"), FOUR, Left.OTHERWISE),
        (stored(Verdict.FAIL, "dmesg", "uptime", remedy=Remedy.RMA), FOUR, Left.OTHERWISE),
        (stored(Verdict.SKIPPED), {}, Left.SKIPPED),
    ],
)
def test_what_cannot_be_judged_again_says_why(result: Stored, texts: dict[str, Evidence], why: Left) -> None:
    assert again(result, texts, setting(words_max=9)) is why


def test_a_device_type_without_a_profile_is_left_out() -> None:
    assert again(stored(Verdict.PASS), {}, None) is Left.NO_PROFILE


def test_what_rests_on_the_designed_cables_is_judged_with_those_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as they give what was answered then; else it is said that they may be why."""

    def meets(readings: Mapping[str, Reading], expected: Expected) -> Result:
        as_designed = expected.fabric["links"] == readings["dmesg"].text
        strict = expected.profiles["hgx"].get("strict")
        return Result("words", Verdict.FAIL if strict or not as_designed else Verdict.PASS, "x")

    monkeypatch.setattr(replay, "CHECKS", {**CHECKS, "words": replace(WORDS, judge=meets, needs_fabric=True)})
    looser, stricter = {"profiles": {"hgx": {}}}, {"profiles": {"hgx": {"strict": 1}}}
    today = Expected("ib-a", fabric={"links": "a-b"}, **looser)
    found = judged(stored(Verdict.PASS, "dmesg"), pieces(dmesg="a-b"), Setting(today, replace(today, **stricter)))
    assert found.words == "PASS → FAIL"
    moved = Setting(replace(today, fabric={"links": "a-c"}), today)
    assert again(stored(Verdict.PASS, "dmesg"), pieces(dmesg="a-b"), moved) is Left.DESIGN


def test_what_nobody_asked_then_and_nobody_would_ask_stays_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the check rests on besides."""
    monkeypatch.setattr(replay, "CHECKS", {**CHECKS, "words": replace(WORDS, section="words", needs_fabric=True)})
    assert not judged(stored(Verdict.SKIPPED), {}, setting(words_max=9)).differs


def test_what_was_unknown_for_what_was_read_stays_unknown() -> None:
    garbage = pieces(dmesg="garbage", uptime="x")
    assert not judged(stored(Verdict.UNKNOWN, "dmesg", "uptime"), garbage, setting(words_max=9)).differs


def test_what_a_check_remembered_is_given_to_it_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A counter's growth is judged against another limit."""

    def grown(readings: Mapping[str, Reading], expected: Expected) -> Result:
        before = expected.run.get("before", {}).get("words", {"at": 0.0, "observed": {"count": 0}})
        more = int(readings["dmesg"].text) - before["observed"]["count"]
        verdict = Verdict.FAIL if more > expected.profile["limits"]["words_max"] else Verdict.PASS
        return Result("words", verdict, f"{more} more since {before['at']:g}")

    monkeypatch.setattr(
        replay, "CHECKS", {**CHECKS, "words": replace(WORDS, judge=grown, reads=("dmesg",), remembers=True)}
    )
    ten, now = pieces(dmesg="10"), stored(Verdict.PASS, "dmesg")
    earlier = replace(now, id=1, at=90.0, result=replace(now.result, observed={"count": 8}))
    found = again(now, ten, setting(words_max=1), earlier)
    assert isinstance(found, Again)
    assert (found.words, found.after.message) == ("PASS → FAIL", "2 more since 90")
    assert again(now, ten, setting(words_max=1)) is Left.REMEMBERS


def test_a_check_is_told_the_stay_that_it_was_told_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, answers that rest on it would come out otherwise, though the profile is the same."""

    def late(_: Mapping[str, Reading], expected: Expected) -> Result:
        return Result("words", Verdict.FAIL if "since" in expected.run else Verdict.PASS, "x")

    monkeypatch.setattr(replay, "CHECKS", {**CHECKS, "words": replace(WORDS, judge=late)})
    result = replace(stored(Verdict.PASS), result=Result("words", Verdict.FAIL, "x"))
    assert again(result, {}, setting()) is Left.OTHERWISE
    assert isinstance(again(result, {}, setting(), told={"since": 1.0, "opened_at": 2.0}), Again)


def test_a_judge_that_breaks_is_one_result_of_many() -> None:
    broken = pieces(dmesg="broken", uptime="x")
    found = judged(stored(Verdict.UNKNOWN, "dmesg", "uptime"), broken, setting())
    assert found.after.message == "error in the check: KeyError: 'broken'"


def test_a_section_that_is_taken_away_skips_its_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "CHECKS", {**CHECKS, "words": replace(WORDS, section="limits")})
    without = overlaid(PROFILE, {"limits": None})
    assert judged(stored(Verdict.PASS), {}, held(PROFILE, without)).words == "PASS → SKIPPED"
    assert not judged(stored(Verdict.SKIPPED), {}, held(without, without)).differs


def test_a_tally_keeps_what_differs_and_counts_the_rest() -> None:
    tally = ReplayCounts()
    same = judged(stored(Verdict.PASS), {}, setting())
    other = judged(stored(Verdict.FAIL, "dmesg", "uptime", remedy=Remedy.WATCH), FOUR, setting(words_max=9))
    for found in (same, other, Left.GONE, Left.GONE):
        tally.take("words", found)
    assert (tally.seen, tally.reproduced, tally.changes) == (4, 2, [other])
    assert tally.left == {Left.GONE: {"words": 2}}


TREES = st.recursive(st.integers(), lambda below: st.dictionaries(st.sampled_from("abc"), below, max_size=3))
PROFILES = st.dictionaries(st.sampled_from("abc"), TREES, max_size=3)


@given(PROFILES, PROFILES)
def test_a_change_holds_after_it_was_laid_over_and_twice_is_once(
    profile: dict[str, Any], change: dict[str, Any]
) -> None:
    once = overlaid(profile, change)
    assert overlaid(once, change) == once
    assert added(once, change) == []
    assert overlaid(profile, {}) == profile


def test_new_keys_are_named_where_they_stand() -> None:
    change = {"limits": {"words_max": 1, "wrods_max": 2}, "new": {"a": 1}, "parts": {"gpu": 3}}
    assert added(PROFILE, change) == ["limits.wrods_max", "new"]


PROFILES_BY_TYPE = {"hgx": PROFILE, "dgx": {"limits": {"words_max": 5}}}
LIMITS = {"limits": {"words_max": 1}}


@pytest.mark.parametrize(
    ("found", "changes"),
    [
        (LIMITS, {"hgx": LIMITS, "dgx": LIMITS}),
        ({"fleet_profile": LIMITS}, {"hgx": LIMITS, "dgx": LIMITS}),
        ({"hgx": LIMITS}, {"hgx": LIMITS}),
        ({"hgx": {"fleet_profile": LIMITS}, "dgx": {"parts": {}}}, {"hgx": LIMITS, "dgx": {"parts": {}}}),
    ],
)
def test_a_file_holds_a_change_for_all_or_for_each_device_type(found: object, changes: dict[str, Any]) -> None:
    assert spread(found, PROFILES_BY_TYPE) == changes


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (None, "the file: found None, expected a mapping"),
        (["limits"], "expected a mapping"),
        ({1: 2}, "expected a mapping"),
        ({}, "holds nothing"),
        ({"fleet_profile": {}}, "holds nothing"),
        ({"hgx": LIMITS, "hxg": LIMITS}, "hxg is no device type beside hgx; there are: dgx, hgx"),
        ({"hgx": 3}, "hgx: found 3"),
        ({"limtis": {}}, "limtis is in no profile"),
        ({"hgx": {"limtis": {}}}, "limtis is in no profile"),
    ],
)
def test_a_slip_in_the_file_is_named(found: object, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        spread(found, PROFILES_BY_TYPE)


def test_without_device_types_there_is_nothing_to_change() -> None:
    assert spread(LIMITS, {}) == {}
