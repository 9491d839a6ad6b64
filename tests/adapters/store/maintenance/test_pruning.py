"""Retention over a store and its folders: what goes, what stays, and that both stay bounded over a long life."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle.actions import Move, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Stored
from fleet_runner.core.lifecycle.spool import Evidence, Judged, Line
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.core.tickets.rma_cases import Case
from fleet_runner.reconcile.schedules.retention import prune, pruned
from fleet_runner.settings import Settings, load
from tests.adapters.store.builders import decision, node, swap, told

START = 10_000 * DAY
NAMES = ("gpu-01", "gpu-02", "gpu-03")


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """Settings with a state folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    return load(state_dir=tmp_path / "state")


def sweep(
    store: Store,
    now: float,
    *,
    name: str = "gpu-01",
    verdict: Verdict = Verdict.PASS,
    text: str = "",
    stage: Stage = Stage.HEALTH_PASSIVE,
) -> str:
    """Sweep a node once: a run with two results and a piece of evidence; return the evidence's hash."""
    batch = f"b-{name}-{now}"
    (run,) = store.apply(node(store, name), decision(OpenRun(stage, "It is time.", batch=batch)), now)
    said = told(text or f"at {now} on {name}", name)
    evidence: Evidence = replace(said, at=now)
    finding = Finding("xid.79", "GPU 3", "It fell off.", Remedy.REBOOT, f"xid.79:{name}:3", (name,))
    findings = (finding,) if verdict is Verdict.FAIL else ()
    results = [
        Result("xid", verdict, "What it saw.", findings, {"count": 1}, (evidence.hash,)),
        Result("gpus", Verdict.PASS, "All are there.", (), {"count": 8}, (evidence.hash,)),
    ]
    lines: list[Line] = [evidence, *(Judged(name, now, result) for result in results)]
    store.ingest(batch, 0, 100, lines)
    store.close_run(run, Outcome.FAILED if findings else Outcome.PASSED, "", now + 5)
    return evidence.hash


def move(
    store: Store, name: str, events: list[tuple[State, Event]], now: float, results: tuple[int, ...] = ()
) -> None:
    """Take a node along its lifecycle."""
    for state, event in events:
        store.apply(node(store, name), decision(Move(TRANSITIONS[state, event], "runner", "", results)), now)


def test_old_evidence_goes_and_results_stay(stocked: Store, settings: Settings) -> None:
    old = sweep(stocked, START)
    newest = sweep(stocked, START + DAY)
    now = START + 40 * DAY
    assert prune(settings, stocked, now).startswith("1 pieces of evidence")
    assert stocked.evidence(old) is None
    assert stocked.evidence(newest) is not None, "the newest results rest on it"
    assert {each.result.evidence for each in stocked.results(1)} == {(old,)}
    assert prune(settings, stocked, now) == "nothing went"


def test_evidence_that_is_told_again_is_kept_from_then_on(stocked: Store, settings: Settings) -> None:
    same = sweep(stocked, START, text="the same")
    sweep(stocked, START + 20 * DAY, text="the same")
    sweep(stocked, START + 21 * DAY)
    prune(settings, stocked, START + 40 * DAY)
    assert stocked.evidence(same) is not None
    prune(settings, stocked, START + 51 * DAY)
    assert stocked.evidence(same) is None


def test_too_much_evidence_goes_the_oldest_first_but_never_of_the_last_day(
    stocked: Store, settings: Settings
) -> None:
    old = [sweep(stocked, START + hour * 3600.0) for hour in range(6)]
    fresh = [sweep(stocked, START + 2 * DAY + hour * 3600.0) for hour in range(3)]
    small = settings.model_copy(update={"keep_evidence_bytes": stocked.bytes_of_evidence() * 2 // 3 + 10})
    prune(small, stocked, START + 2 * DAY + 4 * 3600.0)
    assert [stocked.evidence(each) is None for each in old] == [True, True, True, False, False, False]
    tiny = settings.model_copy(update={"keep_evidence_bytes": 1})
    prune(tiny, stocked, START + 2 * DAY + 4 * 3600.0)
    assert [stocked.evidence(each) is not None for each in fresh] == [True, True, True]


def test_what_an_open_ticket_rests_on_stays_until_it_is_closed(stocked: Store, settings: Settings) -> None:
    seen = sweep(stocked, START, verdict=Verdict.FAIL)
    other = sweep(stocked, START + 10, name="gpu-02", verdict=Verdict.FAIL)
    action = replace(swap("gpu-01", fault="xid.79:gpu-01:3"), check="xid")
    stocked.apply(node(stocked, "gpu-01"), decision(action), START + 60)
    for name in ("gpu-01", "gpu-02"):
        sweep(stocked, START + DAY, name=name)
    now = START + 40 * DAY
    prune(settings, stocked, now)
    assert stocked.evidence(seen) is not None
    assert stocked.evidence(other) is None, "that is another node's fault"
    assert stocked.close_ticket(1, "Mended.", "ada", now)
    prune(settings, stocked, now + 1)
    assert stocked.evidence(seen) is None


def test_what_an_open_case_rests_on_stays_until_it_ends(stocked: Store, settings: Settings) -> None:
    seen = sweep(stocked, START, verdict=Verdict.FAIL)
    sweep(stocked, START + DAY)
    case = Case(0, "gpu-01", "Vendor", "C-1", "ada", START + 2 * DAY, ())
    number = stocked.open_case(case)
    now = START + 60 * DAY
    prune(settings, stocked, now)
    assert stocked.evidence(seen) is not None
    stocked.end_case(replace(case, id=number), "It is back.", "ada", now)
    prune(settings, stocked, now + 1)
    assert stocked.evidence(seen) is None


def test_what_brought_a_node_to_its_state_stays(stocked: Store, settings: Settings) -> None:
    seen = sweep(stocked, START, verdict=Verdict.UNKNOWN)
    move(stocked, "gpu-01", [(State.REGISTERED, Event.START)], START + 10, results=(1,))
    sweep(stocked, START + DAY)
    prune(settings, stocked, START + 60 * DAY)
    assert stocked.evidence(seen) is not None


def test_nothing_of_an_open_run_goes(stocked: Store, settings: Settings) -> None:
    run = OpenRun(Stage.BURN_IN, "It is time.", batch="b-1")
    stocked.apply(node(stocked, "gpu-01"), decision(run), START)
    evidence = replace(told("long ago"), at=START)
    passed = Result("xid", Verdict.PASS, "What it saw.", (), {}, (evidence.hash,))
    stocked.ingest("b-1", 0, 9, [evidence, Judged("gpu-01", START, passed)])
    again = Result("xid", Verdict.PASS, "What it saw.", (), {}, ())
    stocked.ingest("b-1", 9, 12, [Judged("gpu-01", START + 1, again)])
    folder = _folder(settings.batches_dir / "b-1", START)
    prune(settings, stocked, START + 60 * DAY)
    assert stocked.evidence(evidence.hash) is not None
    assert folder.is_dir()


def test_of_old_sweeps_one_good_result_a_day_stays_and_every_fault(stocked: Store, settings: Settings) -> None:
    verdicts = [Verdict.PASS] * 4 + [Verdict.FAIL] + [Verdict.PASS] * 4
    for day in range(2):
        for hour, verdict in enumerate(verdicts):
            sweep(stocked, START + day * DAY + hour * 3600.0, verdict=verdict)
    sweep(stocked, START + 39 * DAY)
    before = stocked.history("gpu-01")
    done = pruned(settings, stocked, START + 40 * DAY)
    assert (done.results, done.runs) == (26, 10), "4 of 9 answers of xid stay (first, fault, both beside it)"
    left = [each.result.verdict for each in _results(stocked) if each.result.check == "xid"]
    assert left == [Verdict.PASS, Verdict.PASS, Verdict.FAIL, Verdict.PASS] * 2 + [Verdict.PASS]
    assert stocked.history("gpu-01") == before
    assert pruned(settings, stocked, START + 40 * DAY).results == 0


def test_runs_that_people_or_the_history_know_stay(stocked: Store, settings: Settings) -> None:
    """The first sweep is told in the history; what people ran, and other stages, are not thinned."""
    for hour in range(4):
        sweep(stocked, START + hour * 3600.0, stage=Stage.VERIFY)
    assert pruned(settings, stocked, START + 40 * DAY).results == 0


def test_a_dry_run_says_what_would_go_and_takes_nothing(stocked: Store, settings: Settings) -> None:
    for hour in range(5):
        sweep(stocked, START + hour * 3600.0)
    _folder(settings.batches_dir / "b-9", START)
    now = START + 40 * DAY
    would = pruned(settings, stocked, now, dry=True)
    assert would == pruned(settings, stocked, now, dry=True)
    assert (would.evidence, would.results, would.folders) == (4, 6, 1)
    done = pruned(settings, stocked, now)
    assert (done.evidence, done.results, done.folders) == (4, 6, 1)


def test_a_call_ends_after_its_seconds_and_the_next_goes_on(stocked: Store, settings: Settings) -> None:
    for day in range(3):
        for hour in range(5):
            sweep(stocked, START + day * DAY + hour * 3600.0)
    calls = 0
    while pruned(settings, stocked, START + 60 * DAY, seconds=0.0).more:
        calls += 1
        assert calls < 50
    assert calls >= 3
    assert pruned(settings, stocked, START + 60 * DAY).sentence() == "nothing went"


def test_folders_go_by_age_but_not_those_that_are_needed(stocked: Store, settings: Settings) -> None:
    old, new = START, START + 35 * DAY
    lost, fresh = _folder(settings.batches_dir / "b-lost", old), _folder(settings.batches_dir / "b-new", new)
    half = _folder(settings.batches_dir / ".b-half", old)
    above = settings.state_dir / "bundles"
    stays = [_folder(above / "gpu-01" / f"{number}", old) for number in (1, 2)]
    serving = _folder(above / "gpu-02" / "1", old)
    way = [
        (State.REGISTERED, Event.START),
        (State.PROVISION, Event.PASSED),
        (State.ONBOARD, Event.CERTIFIED),
        (State.VERIFY, Event.PASSED),
        (State.FIRMWARE, Event.PASSED),
        (State.BURN_IN, Event.PASSED),
    ]
    move(stocked, "gpu-02", way, START)
    assert node(stocked, "gpu-02").state is State.PRODUCTION
    prune(settings, stocked, START + 40 * DAY)
    there = [path.is_dir() for path in (lost, half, fresh, stays[0], stays[1], serving)]
    assert there == [False, False, True, False, True, False]


def test_a_store_and_its_folders_stay_bounded_over_a_long_life(stocked: Store, settings: Settings) -> None:
    """Twenty-four days of sweeps, kept for six: after those nothing grows but by a result of a check a day."""
    keep: dict[str, float] = dict.fromkeys(("keep_evidence_days", "keep_sweeps_days", "keep_artifacts_days"), 6.0)
    short = settings.model_copy(update=keep)
    rows: list[int] = []
    for day in range(24):
        at = START + day * DAY
        for name in NAMES:
            for hour in (1, 9, 17):
                sweep(stocked, at + hour * 3600.0, name=name)
        _folder(settings.batches_dir / f"b-{day}", at)
        prune(short, stocked, at + DAY)
        kinds = {kind.name: kind.rows for kind in stocked.weighed(0.0).kinds}
        rows.append(kinds["evidence"])
        thinned, whole = max(0, day - 5), min(day + 1, 6)
        assert kinds["results"] == 3 * (2 * thinned + 6 * whole)
        assert kinds["runs"] == 3 * (thinned + 3 * whole)
        assert len(list(settings.batches_dir.iterdir())) <= 7
    assert max(rows[6:]) == max(rows[6:12]) <= 6 * 9


def _results(store: Store) -> Iterator[Stored]:
    return (each for number in range(1, 100) for each in store.results(number))


def _folder(path: Path, at: float) -> Path:
    """Make a folder with a log that was written at a moment."""
    path.mkdir(parents=True)
    (path / "log").write_text("It ended.\n")
    for each in (path / "log", path):
        os.utime(each, (at, at))
    return path


def test_years_without_runs_cost_nothing(stocked: Store, settings: Settings) -> None:
    """A store that slept, or whose clock was wrong once: the next day with runs follows at once."""
    for day in (0, 9_000):
        for hour in range(4):
            sweep(stocked, START + day * DAY + hour * 3600.0)
    assert stocked.unthinned(START + 9_002 * DAY) == (START, NAMES)
    assert pruned(settings, stocked, START + 9_040 * DAY).results == 10, "but for the newest of each check"
    stocked.thinned_until(START + DAY)
    assert stocked.unthinned(START + 9_002 * DAY) == (START + 9_000 * DAY, NAMES)
    assert stocked.unthinned(START + 9_000 * DAY) is None
