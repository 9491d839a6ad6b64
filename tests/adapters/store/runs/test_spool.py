"""Taking in spools: each stretch once, whatever it holds."""

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine import bounds
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Decoded, Ended, Evidence, Judged, Line, PlayEnd, Progress, encode
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.builders import everything, judged, node, opened, run, told
from tests.examples import UNHURRIED, examples

SHARED = settings(suppress_health_check=UNHURRIED, deadline=None, max_examples=examples(60))


def test_what_a_spool_tells_is_stored(stocked: Store) -> None:
    mine = opened(stocked)
    dmesg = told("NVRM: Xid (PCI:0000:4e:00): 79")
    failed = judged(verdict=Verdict.FAIL)
    lines = [Progress("gpu-01", 201.0, 2, 5, "Read the kernel's log"), dmesg, failed, judged(check="lldp")]
    stocked.ingest("b-1", 0, 700, lines)
    assert stocked.offset("b-1") == 700
    now = run(stocked, mine.id)
    assert (now.done, now.total, now.task) == (2, 5, "Read the kernel's log")
    first, second = stocked.results(mine.id)
    assert (first.result, first.node, first.stage, first.at) == (failed.result, "gpu-01", Stage.VERIFY, 201.0)
    assert second.result.check == "lldp"
    assert stocked.evidence(dmesg.hash) == dmesg.text
    assert stocked.evidence("0" * 64) is None
    assert stocked.stored([second.id, first.id, 999]) == (first, second)
    assert stocked.ended(mine.id) is None


def test_a_replayed_stretch_changes_nothing(stocked: Store) -> None:
    opened(stocked)
    stocked.ingest("b-1", 0, 100, [judged()])
    stocked.ingest("b-1", 100, 200, [judged(check="lldp")])
    before = everything(stocked)
    stocked.ingest("b-1", 0, 100, [judged(verdict=Verdict.FAIL)])
    stocked.ingest("b-1", 100, 200, [judged(check="lldp")])
    assert everything(stocked) == before


@pytest.mark.parametrize("stretch", [(50, 150), (200, 300)], ids=["overlapping", "leaving a gap"])
def test_a_stretch_that_does_not_follow_is_refused(stocked: Store, stretch: tuple[int, int]) -> None:
    opened(stocked)
    stocked.ingest("b-1", 0, 100, [judged()])
    before = everything(stocked)
    with pytest.raises(ConflictError, match="stored up to byte 100"):
        stocked.ingest("b-1", *stretch, [judged()])
    assert everything(stocked) == before


def test_a_batch_the_store_does_not_know_is_refused(stocked: Store) -> None:
    assert stocked.offset("b-9") == 0
    with pytest.raises(ConflictError):
        stocked.ingest("b-9", 0, 10, [judged()])
    assert stocked.offset("b-9") == 0


def test_lines_about_others_are_ignored(stocked: Store) -> None:
    """Another batch's node, an ended run's node, a node nobody knows: none of them may write through this spool."""
    mine, ended = opened(stocked), opened(stocked, "gpu-02")
    stocked.close_run(ended, Outcome.CANCELLED, "", 205.0)
    other = opened(stocked, "gpu-03", batch="b-2")
    foreign = told("forged", "gpu-03")
    lines: list[Line] = [foreign]
    for name in ("gpu-01", "gpu-02", "gpu-03", "gpu-99", ""):
        lines += [Progress(name, 1.0, 9, 9, "x"), judged(name), Ended(name, 1.0, PlayEnd.OK)]
    stocked.ingest("b-1", 0, 100, lines)
    assert [len(stocked.results(which.id)) for which in (mine, ended, other)] == [1, 0, 0]
    assert run(stocked, other.id) == other
    assert stocked.ended(other.id) is None
    assert stocked.evidence(foreign.hash) is None


def test_how_a_play_ended_outlives_the_runner_that_read_it(stocked: Store) -> None:
    mine = opened(stocked)
    stocked.ingest("b-1", 0, 10, [Ended("gpu-01", 203.0, PlayEnd.UNREACHABLE, "No route to host")])
    assert stocked.ended(mine.id) == Ended("gpu-01", 203.0, PlayEnd.UNREACHABLE, "No route to host")


def test_the_newest_result_of_each_check_is_known(stocked: Store) -> None:
    for number, verdict in enumerate((Verdict.FAIL, Verdict.UNKNOWN, Verdict.PASS)):
        mine = opened(stocked, batch=f"b-{number}")
        stocked.ingest(f"b-{number}", 0, 10, [judged(verdict=verdict), judged(verdict=verdict)])
        if verdict is Verdict.FAIL:
            stocked.ingest(f"b-{number}", 10, 20, [judged(check="lldp", verdict=verdict)])
        stocked.close_run(mine, Outcome.UNKNOWN, "", 300.0)
    latest = {stored.result.check: stored.result.verdict for stored in stocked.latest_results("gpu-01")}
    assert latest == {"xid": Verdict.PASS, "lldp": Verdict.FAIL}
    assert stocked.latest_results("gpu-02") == ()


def test_a_result_that_was_skipped_hides_none_that_says_something(stocked: Store) -> None:
    """Nor does a test that ran for a while and gave way: what was known before it is known again."""
    working = Result("xid", Verdict.UNKNOWN, "it runs", observed={"working": True})
    skipped = Result("xid", Verdict.SKIPPED, "it gave way", observed={"preempted": True})
    seen = []
    for number, verdict in enumerate((skipped, Verdict.FAIL, skipped, working, skipped, Verdict.UNKNOWN, skipped)):
        mine = opened(stocked, stage=Stage.HEALTH_ACTIVE, batch=f"b-{number}")
        line = judged(verdict=verdict) if isinstance(verdict, Verdict) else Judged("gpu-01", 201.0, verdict)
        stocked.ingest(f"b-{number}", 0, 10, [line])
        stocked.close_run(mine, Outcome.SKIPPED, "", 300.0)
        seen.append([stored.result.verdict.value for stored in stocked.latest_results("gpu-01")])
    assert seen == [["SKIPPED"], ["FAIL"], ["FAIL"], ["UNKNOWN"], ["FAIL"], ["UNKNOWN"], ["UNKNOWN"]]


def test_the_same_evidence_is_kept_once(stocked: Store) -> None:
    opened(stocked)
    opened(stocked, "gpu-02")
    text = "the fabric, as everybody sees it\n" * 10_000
    stocked.ingest("b-1", 0, 10, [told(text), told(text, "gpu-02"), judged()])
    stocked.ingest("b-1", 10, 20, [told(text)])
    assert stocked.evidence(told(text).hash) == text


def test_evidence_that_is_not_what_its_hash_says_is_dropped(stocked: Store) -> None:
    opened(stocked)
    honest = told("all is well")
    lines = [
        Evidence("gpu-01", 1.0, "dmesg", honest.hash, "forged"),
        Evidence("gpu-01", 1.0, "dmesg", "?", "half \ud83d"),
    ]
    stocked.ingest("b-1", 0, 10, [*lines, judged()])
    assert stocked.evidence(honest.hash) is None
    stocked.ingest("b-1", 10, 20, [honest])
    assert stocked.evidence(honest.hash) == "all is well"


def test_evidence_may_hold_any_character(stocked: Store) -> None:
    opened(stocked)
    binary = told("\0\x01 \N{SNOWMAN} \r\n")
    stocked.ingest("b-1", 0, 10, [binary])
    assert stocked.evidence(binary.hash) == binary.text


def test_a_huge_line_is_bounded(stocked: Store) -> None:
    mine = opened(stocked)
    huge = "x" * 3_000_000
    finding = Finding(huge, huge, huge, Remedy.RECORD, huge, (huge, *["n"] * 2_000), (huge,))
    result = Result(huge, Verdict.FAIL, huge, (finding,) * 3, {"log": huge}, (huge,))
    stocked.ingest("b-1", 0, 10, [Judged("gpu-01", math.inf, result), Progress("gpu-01", 1.0, 10**40, -5, huge)])
    (stored,) = stocked.results(mine.id)
    assert (stored.result.verdict, stored.at) == (Verdict.FAIL, 200.0)
    assert len(stored.result.message) < 21_000
    assert len(stored.result.findings[0].nodes) == 1_000
    assert stored.result.observed == {"dropped": "3000011 characters, expected at most 1000000"}
    assert (run(stocked, mine.id).done, run(stocked, mine.id).total) == (2**31 - 1, 0)


@pytest.mark.parametrize("depth", [60, 300, 600, 900, 950, 980, 5_000, 100_000])
@pytest.mark.parametrize("where", ["observed", "message", "check"])
def test_a_heap_of_brackets_is_harmless_however_deep(stocked: Store, depth: int, where: str) -> None:
    mine = opened(stocked)
    heap = "[" * depth + "]" * depth
    parts = {"check": '"xid"', "verdict": '"FAIL"', "message": '""', "findings": "[]", "evidence": "[]"}
    parts |= {"observed": "{}", where: f'{{"a": {heap}}}'}
    result = ", ".join(f'"{name}": {value}' for name, value in parts.items())
    line = f'{{"kind": "result", "node": "gpu-01", "at": 1, "result": {{{result}}}}}\n'
    decoded = Decoded.of(line.encode())
    stocked.ingest("b-1", 0, decoded.used, decoded.lines)
    assert len(stocked.results(mine.id)) + decoded.bad == 1
    assert len(stocked.latest_results("gpu-01")) + decoded.bad == 1


def test_facts_that_are_not_json_are_dropped(stocked: Store) -> None:
    mine = opened(stocked)
    odd = Result("xid", Verdict.PASS, "", (), {"when": {1, 2}})
    stocked.ingest("b-1", 0, 1, [Judged("gpu-01", 1.0, odd)])
    assert stocked.results(mine.id)[0].result.observed == {"dropped": "not plain JSON"}


GARBAGE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _line(kind: str, **parts: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    node_or_not = st.sampled_from(["gpu-01", "gpu-02", "gpu-99", "\0", "\ud800"])
    at = st.floats() | st.integers() | st.just("1")
    return st.fixed_dictionaries({"kind": st.just(kind), "node": node_or_not, "at": at, **parts})


FINDING = st.fixed_dictionaries(
    dict.fromkeys(("code", "component", "message", "fault"), GARBAGE)
    | {
        "remedy": st.sampled_from(Remedy),
        "nodes": st.lists(GARBAGE, max_size=2),
        "steps": st.lists(GARBAGE, max_size=2),
    }
)
RESULT = st.fixed_dictionaries(
    {
        "check": GARBAGE,
        "verdict": st.sampled_from(Verdict),
        "message": GARBAGE,
        "findings": st.lists(FINDING, max_size=2),
        "observed": GARBAGE,
        "evidence": st.lists(GARBAGE, max_size=2) | st.text(max_size=3),
    }
)
HOSTILE = (
    _line("progress", done=st.integers(), total=st.integers(), task=GARBAGE)
    | _line("result", result=RESULT)
    | _line("evidence", read=GARBAGE, hash=GARBAGE, text=GARBAGE)
    | _line("end", end=st.sampled_from(PlayEnd), message=GARBAGE)
)


@SHARED
@given(lines=st.lists(HOSTILE, max_size=6))
def test_no_line_a_node_can_write_breaks_the_store(stocked: Store, lines: list[dict[str, Any]]) -> None:
    """Whatever gets through the decoder is stored and can be read again."""
    mine = next(iter(stocked.open_runs()), None) or opened(stocked)
    decoded = Decoded.of("".join(json.dumps(line) + "\n" for line in lines).encode())
    before = stocked.offset("b-1")
    stocked.ingest("b-1", before, before + max(1, decoded.used), decoded.lines)
    stocked.record_by_hand(Stage.VERIFY, "ada", decoded.lines, 500.0)
    for stored in (*stocked.results(mine.id), *stocked.latest_results("gpu-01")):
        assert bounds.result(stored.result) == stored.result
        encode(Judged(stored.node, stored.at, stored.result))
    stocked.runs("gpu-01")
    stocked.history("gpu-01")


@given(st.text(max_size=900) | st.integers(0, 3).map(lambda extra: "x" * (bounds.KEY_CHARS + extra)))
def test_a_bounded_key_is_bounded_and_stays_as_it_is(text: str) -> None:
    key = bounds.key(text)
    assert len(key) <= bounds.KEY_CHARS
    assert bounds.key(key) == key


def test_a_play_by_hand_is_an_ended_run_with_its_results(stocked: Store) -> None:
    dmesg = told("quiet")
    lines = [
        Progress("gpu-01", 400.0, 3, 3, "Done"),
        dmesg,
        judged(at=410.0),
        Ended("gpu-01", 411.0, PlayEnd.OK, "All well."),
        judged("gpu-02", verdict=Verdict.FAIL, at=405.0),
        judged("leaf-1"),
        judged("gpu-99"),
    ]
    assert stocked.record_by_hand(Stage.VERIFY, "ada", lines, 420.0) == ("gpu-99", "leaf-1")
    (first,) = stocked.runs("gpu-01")
    assert (first.opened_at, first.ended_at, first.outcome) == (201.0, 420.0, Outcome.PASSED)
    assert (first.by, first.fence, first.batch, first.done, first.detail) == ("ada", 0, "", 3, "All well.")
    (second,) = stocked.runs("gpu-02")
    assert second.outcome is Outcome.FAILED
    assert stocked.results(second.id)[0].result.verdict is Verdict.FAIL
    assert stocked.evidence(dmesg.hash) == "quiet"
    assert stocked.history("gpu-01")[-1].sentence == "Verify: passed (Started by hand); All well."
    assert (node(stocked).wake_at, node(stocked).version) == (0.0, 2)


@pytest.mark.parametrize(
    "lines",
    [
        [judged(), Ended("gpu-01", 1.0, PlayEnd.FAILED, "A task failed")],
        [Ended("gpu-01", 1.0, PlayEnd.UNREACHABLE, "No route to host")],
        [Progress("gpu-01", 1.0, 0, 1, "x")],
    ],
    ids=["a failed task after a pass", "unreachable", "nothing judged"],
)
def test_a_play_by_hand_without_a_verdict_is_unknown(stocked: Store, lines: list[Line]) -> None:
    stocked.record_by_hand(Stage.VERIFY, "ada", lines, 420.0)
    assert stocked.runs("gpu-01")[0].outcome is Outcome.UNKNOWN


def test_a_play_by_hand_leaves_an_open_run_alone(stocked: Store) -> None:
    mine = opened(stocked)
    stocked.record_by_hand(Stage.VERIFY, "ada", [judged()], 420.0)
    assert stocked.open_runs() == (mine,)
    stocked.close_run(mine, Outcome.PASSED, "", 430.0)
