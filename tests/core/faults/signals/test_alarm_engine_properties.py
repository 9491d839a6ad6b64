"""A desk does what a slow model does, whatever arrives in whatever order."""

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.clock import LATE
from fleet_runner.core.faults.signals.kernel import Line, read
from fleet_runner.core.faults.signals.memory import Outcome
from fleet_runner.core.faults.signals.node_alarms import BURST, PER_SECOND
from fleet_runner.core.faults.signals.signal import Signal
from tests.core.faults.signals.model import Model
from tests.core.faults.signals.telling import NOW, Rules, signal
from tests.examples import examples

CODES = ("xid.1", "xid.2", "sxid.3")

LAST = 120

XID = "NVRM: Xid (PCI:0000:9b:00): {}, pid={}, name=python3"

rules = st.builds(
    Following,
    repeats=st.integers(1, 3),
    within=st.integers(1, 60).map(float),
    beside=st.sampled_from(((), (), ("sxid.*",), ("xid.2", "sxid.9"))),
    hold=st.sampled_from((0.0, 0.0, 5.0, 20.0)),
    quiet=st.integers(1, 60).map(float),
)

followed = st.builds(
    lambda one, two, three: Rules(xid_1=one, xid_2=two, sxid_3=three), rules, rules, rules
)  # fmt: skip

told = st.builds(
    lambda at, node, code, ended, words: signal(at, node, code, "part", words, ended=ended),
    st.integers(0, LAST),
    st.sampled_from(("gpu-01", "gpu-02")),
    st.sampled_from(CODES),
    st.sampled_from((False, False, False, True)),
    st.sampled_from(("a", "b")),
)

arrivals = st.lists(st.tuples(told, st.integers(0, 40)), max_size=25)
"""Signals, and the seconds after which each arrives."""


def by_second(arriving: Iterable[tuple[Signal, int]]) -> dict[int, list[Signal]]:
    """Return what arrives in each second."""
    found: dict[int, list[Signal]] = {}
    for each, delay in arriving:
        found.setdefault(int(each.at - NOW) + delay, []).append(each)
    return found


def standing(stored: dict[tuple[str, str, str], Alarm]) -> dict[tuple[str, str, str], bool]:
    """Return whether each stored alarm that stands counts."""
    return {fault: each.raised_at is not None for fault, each in stored.items() if each.cleared_at is None}


@settings(max_examples=examples(150))
@given(followed, arrivals, st.lists(st.integers(0, 24), max_size=6))
def test_a_desk_does_what_a_slow_model_does(
    following: Rules, arriving: list[tuple[Signal, int]], twice: list[int]
) -> None:
    """Second by second: what is stored stands, counts and clears just as it does there; at the end nothing stands."""
    arriving = arriving + [(arriving[each][0], arriving[each][1] + 7) for each in twice if each < len(arriving)]
    desk, model = AlarmEngine(following), Model(following)
    stored: dict[tuple[str, str, str], Alarm] = {}
    seconds = by_second(arriving)
    for second in range(LAST + 150):
        now = NOW + second
        changed = list(desk.due(now))
        model.look(now)
        for each in seconds.get(second, ()):
            changed += desk.hear([each], now).changed
            model.hear(each, now)
        stored |= {(each.node, each.code, each.component): each for each in changed}
        assert standing(stored) == model.standing()
        assert len(desk) == len(model.standing())
    assert standing(stored) == {}


@given(followed, st.lists(told, max_size=25), st.sets(st.integers(0, LAST), max_size=4))
def test_a_restart_loses_nothing_and_doubles_nothing(
    following: Rules, signals: list[Signal], restarts: set[int]
) -> None:
    """With a desk that begins again from what was stored, alarms are as without.

    Of an alarm the first and the last signal are stored, so nothing here has to happen more than twice, nor to last.
    """
    for code, each in following.codes.items():
        following.codes[code] = replace(each, repeats=min(2, each.repeats), hold=0.0)
    seconds = by_second((each, 0) for each in signals)
    kept: list[dict[tuple[str, str, str], Alarm]] = []
    for stops in (set[int](), restarts):
        desk = AlarmEngine(following)
        stored: dict[tuple[str, str, str], Alarm] = {}
        for second in range(LAST + 150):
            now = NOW + second
            changed = [*desk.due(now), *desk.hear(seconds.get(second, ()), now).changed]
            changed += desk.unstored(now) if second in stops else ()
            stored |= {(each.node, each.code, each.component): each for each in changed}
            if second in stops:
                desk = AlarmEngine.of(stored.values(), following)
                assert desk.hear([each for each in seconds.get(second, ()) if not each.ended], now).changed == ()
        kept.append(stored)
    assert kept[0].keys() == kept[1].keys()
    assert standing(kept[1]) == {}
    for fault, alarm in kept[0].items():
        other = kept[1][fault]
        assert (alarm.cleared_at, alarm.last_at, alarm.raised_at is None) == (
            other.cleared_at, other.last_at, other.raised_at is None,
        )  # fmt: skip


@given(st.lists(st.integers(0, 3), min_size=1, max_size=8), st.integers(0, 60))
def test_a_flood_from_one_node_costs_no_other_a_signal(quiet_ones: list[int], second: int) -> None:
    """However much it tells, of however many kinds: the others' signals are all taken, and their alarms stand."""
    desk = AlarmEngine(Rules())
    flood = [signal(each / 100, "gpu-66", f"alert.{each % 300}", "part") for each in range(2000)]
    others = [signal(second + each, f"gpu-{each:02}", "xid.79") for each in dict.fromkeys(quiet_ones)]
    heard = desk.hear([*flood, *others, *flood], NOW + second)
    assert {each.node for each in heard.changed} >= {each.node for each in others}
    assert heard.refused.keys() == {"gpu-66"}
    assert heard.outcomes[Outcome.TAKEN] <= BURST + 60 * PER_SECOND + len(others)
    assert sum(heard.outcomes.values()) == 4000 + len(others)


OFF = st.sampled_from((0.0, -30.0, 290.0, 299.5, 3600.0, -3600.0, -LATE + 100, -LATE - 100, -1e9, 1e9))
"""Seconds by which a node's clock is off: within what is believed, at its edges, and far beyond."""


@given(
    rules, st.lists(st.tuples(st.integers(0, LAST), st.sampled_from((31, 79)), st.integers(0, 9)), max_size=20), OFF
)
def test_a_wrong_clock_hides_nothing_and_invents_nothing(
    rule: Following, happened: list[tuple[int, int, int]], off: float
) -> None:
    """Lines of a kernel, some of them sent twice: the same alarms open, count and clear as with a right clock."""
    following = Rules(replace(rule, beside=()))
    kept: list[list[tuple[str, float | None, float | None]]] = []
    for wrong in (0.0, off):
        desk, changed = AlarmEngine(following), list[Alarm]()
        for second in range(LAST + 150):
            now = NOW + second
            at = [(each, code) for each, code, late in happened if second in {each, each + late}]
            lines = [Line("gpu-01", XID.format(code, each), NOW + each + wrong, f"{each}") for each, code in at]
            changed += [*desk.due(now), *desk.hear(read(lines, now), now).changed]
        kept.append([(each.code, each.raised_at, each.cleared_at) for each in changed if each.cleared_at is not None])
        assert len(desk) == 0
    assert kept[0] == kept[1]
