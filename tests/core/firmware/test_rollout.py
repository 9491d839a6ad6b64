"""A canary, then waves, and never more than that; whatever happens, and however often somebody looks."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.firmware.rollout import (
    Course,
    Rollout,
    RolloutStatus,
    choose,
    course,
    in_order,
    number,
    refusal,
    size,
    turned,
    unturnable,
)
from fleet_runner.core.firmware.turns import Member, MemberStatus, RolloutStep
from fleet_runner.core.firmware.waves import NO_WAVE, plan, spread
from fleet_runner.core.lifecycle.states import Event, State
from tests.core.firmware.rolling import ENDED, Rolling, a_rollout
from tests.examples import examples
from tests.making import a_node

RACKS = st.dictionaries(
    st.integers(1, 40).map("gpu-{:02}".format), st.sampled_from(["", "hall/A", "hall/B", "hall/C"]), max_size=14
)
PACE = st.tuples(st.integers(1, 3), st.integers(1, 5), st.sampled_from([0.0, 0.1, 0.34, 1.0]))
STORY = st.lists(
    st.one_of(
        st.sampled_from(["tick", "kill", "pause", "resume", "stop"]),
        st.tuples(st.integers(0, 13), st.booleans()),
    ),
    max_size=80,
)


def allowed(rolling: Rolling) -> bool:
    """Whether what failed since it was last resumed is within the share."""
    members = rolling.members.values()
    failed = [
        each for each in members if each.turn is RolloutStep.FAILED and each.changed_at >= rolling.rollout.counts_from
    ]
    done = [each for each in members if each.turn is RolloutStep.DONE]
    return len(failed) <= rolling.rollout.failed_share * (len(failed) + len(done))


def told(rolling: Rolling, chapter: str | tuple[int, bool]) -> None:
    """Let one thing happen."""
    match chapter:
        case "tick":
            rolling.tick()
        case "kill":
            rolling.tick(killed=True)
        case "pause" if rolling.rollout.standing is RolloutStatus.RUNNING:
            rolling.turn(RolloutStatus.PAUSED)
        case "resume":
            rolling.turn(RolloutStatus.RUNNING)
        case "stop":
            rolling.turn(RolloutStatus.STOPPED)
        case (int(at), bool(well)) if rolling.ones:
            rolling.go_on(sorted(rolling.ones)[at % len(rolling.ones)], well=well)
        case _:
            pass


@given(RACKS, PACE, STORY)
@settings(max_examples=examples(150), deadline=None)
def test_no_story_takes_more_than_a_wave_out_or_opens_one_on_failures(
    racks: dict[str, str], pace: tuple[int, int, float], story: list[str | tuple[int, bool]]
) -> None:
    """And who has ended stays so; who is asked belongs to the newest wave, after all of the ones before ended."""
    canary, wave, share = pace
    rolling = Rolling.of(plan(racks, {}, canary, wave), canary=canary, wave=wave, failed_share=share)
    for chapter in story:
        before, newest = dict(rolling.members), max((each.wave for each in rolling.out()), default=0)
        was = rolling.rollout.standing
        told(rolling, chapter)
        asked = [each for each in rolling.out() if before[each.node].turn is not RolloutStep.ASKED]
        assert len(rolling.out()) <= size(rolling.rollout, max((each.wave for each in rolling.out()), default=0))
        assert all(rolling.members[name] == each for name, each in before.items() if each.turn in ENDED)
        if asked:
            assert was is RolloutStatus.RUNNING
            assert allowed(rolling)
            assert {each.wave for each in rolling.out()} == {asked[0].wave}
            assert asked[0].wave >= newest
        if asked and asked[0].wave > 0:
            first = [each for each in rolling.members.values() if each.wave == 0 and each.turn is RolloutStep.DONE]
            assert len(first) >= canary


@given(RACKS, PACE, STORY)
@settings(max_examples=examples(80), deadline=None)
def test_in_the_end_every_node_is_done_failed_or_skipped(
    racks: dict[str, str], pace: tuple[int, int, float], story: list[str | tuple[int, bool]]
) -> None:
    """Where somebody resumes whatever was stopped, and every update comes to an end."""
    canary, wave, share = pace
    rolling = Rolling.of(plan(racks, {}, canary, wave), canary=canary, wave=wave, failed_share=share)
    for chapter in story:
        told(rolling, chapter)
    for _ in range(4 * len(racks) + 4):
        if rolling.rollout.standing in {RolloutStatus.PAUSED, RolloutStatus.STOPPED}:
            rolling.turn(RolloutStatus.RUNNING)
        rolling.tick()
        for name in racks:
            rolling.go_on(name)
    assert rolling.rollout.standing is RolloutStatus.DONE
    assert all(each.turn in ENDED for each in rolling.members.values())
    counts = Counter(each.turn for each in rolling.members.values())
    words = (
        f"{counts[RolloutStep.DONE]} done",
        f"{counts[RolloutStep.FAILED]} failed",
        f"{counts[RolloutStep.SKIPPED]} skipped",
    )
    assert rolling.rollout.detail == ", ".join(words)


@given(RACKS, PACE, STORY)
@settings(max_examples=examples(60), deadline=None)
def test_a_runner_that_dies_before_it_wrote_changes_nothing(
    racks: dict[str, str], pace: tuple[int, int, float], story: list[str | tuple[int, bool]]
) -> None:
    """A story with a runner killed before each chapter ends the same; and a second look does nothing more."""
    canary, wave, share = pace
    once, often = (
        Rolling.of(plan(racks, {}, canary, wave), canary=canary, wave=wave, failed_share=share) for _ in range(2)
    )
    for chapter in story:
        told(once, chapter)
        often.tick(killed=True)
        told(often, chapter)
    turns = [{name: (each.turn, each.wave) for name, each in rolling.members.items()} for rolling in (once, often)]
    assert turns[0] == turns[1]
    for _ in range(2):  # what stops it is seen by the first, what has not begun is given back by the second
        once.tick()
    settled = {name: each.turn for name, each in once.members.items()}
    assert once.tick() == ()
    assert {name: each.turn for name, each in once.members.items()} == settled


@given(RACKS, st.integers(1, 5), st.integers(1, 5))
def test_a_plan_has_every_node_once_and_full_waves(racks: dict[str, str], canary: int, wave: int) -> None:
    """Only the last wave may have fewer."""
    members = plan(racks, {"sick": "it is in rma"}, canary, wave)
    assert sorted(each.node for each in members) == sorted([*racks, "sick"])
    assert members[-1] == Member("sick", NO_WAVE, RolloutStep.SKIPPED, "it is in rma")
    sizes = Counter(each.wave for each in members[:-1])
    for number_, count in sizes.items():
        full = canary if number_ == 0 else wave
        assert count == full or (number_ == max(sizes) and count < full)


@given(RACKS)
def test_neighbours_stand_in_different_racks_where_possible(racks: dict[str, str]) -> None:
    """The first so many nodes, as many as there are racks, stand in as many."""
    order = spread(racks)
    known = set(racks.values())
    assert sorted(order) == sorted(racks)
    assert {racks[node] for node in order[: len(known)]} == known


def test_waves_open_one_after_the_other_once_the_canary_is_back() -> None:
    """One example to read: seven nodes, a canary of one, waves of three."""
    rolling = Rolling.of(plan(dict.fromkeys([f"n{i}" for i in range(7)], ""), {}, 1, 3))
    assert [each.node for each in rolling.tick()] == ["n0"]
    assert rolling.tick() == ()
    for _ in range(3):
        rolling.go_on("n0")
    assert [each.node for each in rolling.tick()] == ["n1", "n2", "n3"]
    for _ in range(3):
        rolling.go_on("n1")
        rolling.go_on("n2")
    assert rolling.tick() == ()
    for _ in range(3):
        rolling.go_on("n3")
    assert [each.node for each in rolling.tick()] == ["n4", "n5", "n6"]


def test_one_failure_of_the_canary_stops_it_and_a_resume_takes_another() -> None:
    """However large a share may fail."""
    rolling = Rolling.of(plan(dict.fromkeys(["n0", "n1"], ""), {}, 1, 3), failed_share=1.0)
    rolling.tick()
    rolling.go_on("n0")
    rolling.go_on("n0", well=False)
    rolling.tick()
    assert rolling.rollout.standing is RolloutStatus.STOPPED
    assert rolling.rollout.detail.startswith("stopped: n0 of the canary failed: it went to firmware_failed: Firmware")
    assert rolling.tick() == ()
    rolling.turn(RolloutStatus.RUNNING)
    assert [(each.node, each.wave) for each in rolling.tick()] == [("n1", 0)]


def test_a_wave_is_stopped_once_it_cannot_end_within_the_share() -> None:
    """Not before: what is out may still make up for a failure, and until then nobody more is asked."""
    rollout = a_rollout(failed_share=0.3)
    done = [Member("c", 0, RolloutStep.DONE), Member("d", 1, RolloutStep.DONE)]
    failed = Member("e", 1, RolloutStep.FAILED, "its BMC is silent", 2000.0)
    out = Member("f", 1, RolloutStep.ASKED)
    left = Member("g", 2)
    hopeful = course(rollout, [*done, failed, out, left])
    assert (hopeful.standing, hopeful.room) == (RolloutStatus.RUNNING, 0)
    stopped = course(rollout, [*done, failed, replace(failed, node="f", changed_at=2001.0, detail="no"), left])
    assert stopped == Course(
        RolloutStatus.STOPPED, "stopped: 2 of 4 nodes failed, more than 30%; the last one, f: no"
    )


def test_failures_before_a_resume_are_forgiven() -> None:
    """They are counted in the end all the same."""
    rollout = a_rollout(failed_share=0.0, counts_from=3000.0)
    old = Member("e", 1, RolloutStep.FAILED, "its BMC is silent", 2000.0)
    going = course(rollout, [Member("c", 0, RolloutStep.DONE), old, Member("g", 2)])
    assert (going.standing, going.wave, going.room) == (RolloutStatus.RUNNING, 1, 3)
    assert course(rollout, [Member("c", 0, RolloutStep.DONE), old]).detail == "1 done, 1 failed, 0 skipped"


def test_a_skipped_canary_is_replaced() -> None:
    """A canary that nobody updated proves nothing."""
    members = [Member("a", 0, RolloutStep.SKIPPED, "it is retired"), Member("b", 1), Member("c", 1)]
    assert course(a_rollout(), members) == Course(RolloutStatus.RUNNING, "", 0, 1)


@pytest.mark.parametrize("standing", [RolloutStatus.PAUSED, RolloutStatus.STOPPED, RolloutStatus.DONE])
def test_nobody_is_asked_unless_it_runs(standing: RolloutStatus) -> None:
    """A paused one whose nodes have all ended is done."""
    rollout = a_rollout(standing=standing, detail="paused by ann: lunch")
    assert course(rollout, [Member("a", 0)]).room == 0
    assert course(rollout, [Member("a", 0, RolloutStep.ASKED)]) == Course(standing, "paused by ann: lunch")
    if standing is RolloutStatus.PAUSED:
        assert course(rollout, [Member("a", 0, RolloutStep.DONE)]).standing is RolloutStatus.DONE


def test_whose_turn_it_is_goes_on_with_the_next_where_one_is_skipped_or_comes_later() -> None:
    """Those that nobody looked at wait."""
    waiting = in_order([Member(name, 0) for name in "edcba"] + [Member("z", 0, RolloutStep.DONE)])
    sights = {
        "a": MemberStatus(a_node(State.TRIAGE)),
        "b": MemberStatus(a_node(State.BURN_IN)),
        "d": MemberStatus(a_node()),
        "e": MemberStatus(a_node()),
    }
    chosen = choose(Course(RolloutStatus.RUNNING, "", 2, 1), waiting, sights)
    assert [(each.node, each.turn, each.wave) for each in chosen] == [
        ("a", RolloutStep.SKIPPED, 0),
        ("d", RolloutStep.ASKED, 2),
    ]
    assert chosen[0].detail == "it is in triage, where a person decides"
    assert choose(Course(RolloutStatus.RUNNING, "", 2, 0), waiting, sights) == ()


@pytest.mark.parametrize(
    ("standing", "begun", "refused"),
    [
        (RolloutStatus.RUNNING, False, False),
        (RolloutStatus.PAUSED, False, True),
        (RolloutStatus.PAUSED, True, True),
        (RolloutStatus.STOPPED, False, True),
        (RolloutStatus.STOPPED, True, False),
        (RolloutStatus.DONE, False, False),
    ],
)
def test_what_may_begin_on_a_node_that_was_asked(standing: RolloutStatus, begun: bool, refused: bool) -> None:
    """Nothing while it is paused; once it is stopped, what has begun is brought to its end."""
    rollout: Rollout = a_rollout(standing=standing, detail=f"{standing} by ann: lunch")
    words = f"rollout 3 is {standing} by ann: lunch" if refused else ""
    assert refusal(rollout, begun=begun) == words


def test_a_rollout_asks_in_its_own_name() -> None:
    """Which no person's is taken for."""
    assert number(a_rollout().name) == 3
    assert [number(by) for by in ("ann", "rollout", "rollout x", "rollout 3 ", "the rollout 3", "")] == [None] * 6


def test_pausing_cancels_nothing_that_runs() -> None:
    """A node that was asked goes on to its end, and is judged, while nobody more is asked."""
    rolling = Rolling.of(plan(dict.fromkeys(["n0", "n1"], ""), {}, 1, 3))
    rolling.tick()
    rolling.go_on("n0")
    rolling.turn(RolloutStatus.PAUSED)
    for _ in range(2):
        assert rolling.tick() == ()
        assert rolling.names(RolloutStep.ASKED) == ["n0"]
        rolling.go_on("n0")
    assert rolling.ones["n0"].moves[-1].event is Event.PASSED
    rolling.tick()
    assert rolling.names(RolloutStep.DONE) == ["n0"]
    assert rolling.names(RolloutStep.WAITING) == ["n1"]


def test_a_person_turns_it_only_where_that_means_something() -> None:
    """Whoever resumes a stopped one forgives what failed; whoever resumes a paused one does not."""
    running = a_rollout(counts_from=5.0)
    assert (
        unturnable(running, RolloutStatus.RUNNING)
        == "rollout 3 is running; it must be paused or stopped to be resumed"
    )
    assert unturnable(running, RolloutStatus.PAUSED) == unturnable(running, RolloutStatus.STOPPED) == ""
    done = replace(running, standing=RolloutStatus.DONE)
    assert unturnable(done, RolloutStatus.STOPPED) == "rollout 3 is done; it must be running or paused to be stopped"
    for standing, counts_from in ((RolloutStatus.PAUSED, 5.0), (RolloutStatus.STOPPED, 9.0)):
        here = turned(running, standing, f"{standing} by ann: lunch", 7.0)
        assert (here.standing, here.detail, here.changed_at, here.counts_from) == (
            standing,
            f"{standing} by ann: lunch",
            7.0,
            5.0,
        )
        assert unturnable(here, RolloutStatus.RUNNING) == ""
        assert turned(here, RolloutStatus.RUNNING, "", 9.0).counts_from == counts_from


def test_a_failure_that_is_seen_after_a_resume_counts_though_the_node_was_asked_before_it() -> None:
    """Only what was known to have failed when somebody resumed is forgiven."""
    rolling = Rolling.of(plan(dict.fromkeys(["n0", "n1"], ""), {}, 1, 1))
    rolling.tick()
    rolling.turn(RolloutStatus.STOPPED)
    rolling.turn(RolloutStatus.RUNNING)
    rolling.go_on("n0")
    rolling.go_on("n0", well=False)
    assert rolling.tick() == ()
    assert rolling.rollout.standing is RolloutStatus.STOPPED
