"""What happened at the boot service: refusals counted and bounded, unknown machines, and who was heard of."""

from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import event

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import (
    Claim,
    Discovered,
    Heartbeat,
    Leased,
    Milestone,
    PhonedHome,
    Proved,
    Reached,
    Refused,
    Told,
)
from tests.adapters.store.builders import UrlMaker, armed, boot, device, everything
from tests.examples import UNHURRIED

SHARED = settings(suppress_health_check=UNHURRIED, deadline=None, max_examples=12)


def refused(at: float, name: str = "gpu-01", code: str = "unarmed", source: str = "10.0.0.1") -> Refused:
    """Refuse somebody."""
    return Refused(name, code, f"{name} is {code}.", at, source)


def times(store: Store, name: str | None = "gpu-01") -> list[int]:
    """How often each refusal was counted."""
    return [line.times for line in store.boot_events(name) if line.kind == "refused"]


@pytest.mark.parametrize("together", [True, False])
def test_the_same_refusal_within_a_minute_of_the_last_only_counts_up(stocked: Store, together: bool) -> None:
    told = [refused(at) for at in (200.0, 215.0, 260.0, 320.0, 381.0)]
    answers = stocked.tell(told) if together else tuple(stocked.tell([each])[0] for each in told)
    assert answers == (True, False, False, False, True)
    first, second = stocked.boot_events("gpu-01")
    assert (first.times, first.at, first.last_at, first.code) == (4, 200.0, 320.0, "unarmed")
    assert (second.times, second.at, second.last_at) == (1, 381.0, 381.0)
    assert [entry.at for entry in stocked.history("gpu-01")] == [200.0]
    assert stocked.history("gpu-01")[0].sentence == "Refused 10.0.0.1: gpu-01 is unarmed."


@pytest.mark.parametrize("together", [True, False])
def test_a_history_tells_of_a_reason_once_an_hour_however_often_and_from_wherever_somebody_asks(
    stocked: Store, together: bool
) -> None:
    moments = [200.0 + 61.0 * number for number in range(60)]
    told = [refused(at, source=f"10.0.0.{number % 3}") for number, at in enumerate([*moments, moments[-1] + 3601.0])]
    for each in [told] if together else [[one] for one in told]:
        stocked.tell(each)
    assert [entry.at for entry in stocked.history("gpu-01")] == [200.0, moments[-1] + 3601.0]
    assert times(stocked) == [1] * 61


def test_what_is_kept_of_a_refusal_is_short(stocked: Store) -> None:
    stocked.tell([Refused("gpu-01", "body", "x" * 60_000, 200.0, "10.0.0.1")])
    assert len(stocked.boot_events("gpu-01")[0].sentence) == 300
    assert len(stocked.history("gpu-01")[0].sentence) < 350


def test_refusals_for_another_reason_or_to_another_or_of_another_boot_are_others(stocked: Store) -> None:
    mine = armed(stocked)
    of_boot = Refused("gpu-01", "unarmed", "gpu-01 is unarmed.", 200.0, "10.0.0.1", mine.id)
    told = [refused(200.0), refused(200.0, code="mismatch"), refused(200.0, source="10.0.0.2"), of_boot, of_boot]
    assert stocked.tell(told) == (True, True, True, True, False)
    assert times(stocked) == [1, 1, 1, 2]
    assert boot(stocked, mine.id).refused == 2
    told_to_people = [entry.sentence for entry in stocked.history("gpu-01") if "Refused" in entry.sentence]
    assert told_to_people == ["Refused 10.0.0.1: gpu-01 is unarmed.", "Refused 10.0.0.1: gpu-01 is mismatch."]


def test_who_is_no_node_is_refused_without_a_history(stocked: Store) -> None:
    assert stocked.tell([refused(200.0, ""), refused(200.0, "switch-7")]) == (True, True)
    assert [line.node for line in stocked.boot_events()] == ["", "switch-7"]
    assert stocked.boot_events("") == stocked.boot_events()[:1]


def test_endless_refusals_push_out_old_ones_and_never_the_steps_of_an_open_boot(stocked: Store) -> None:
    old = armed(stocked)
    stocked.tell([Reached(old.id, Milestone.SCRIPT, 101.0, "10.0.0.1"), refused(102.0, "gpu-02")])
    mine = armed(stocked, now=110.0)
    stocked.tell([Reached(mine.id, Milestone.SCRIPT, 111.0, "10.0.0.1"), Claim(mine.id, 111.0, "10.0.0.1")])
    for start in (0, 300):
        stocked.tell([refused(200.0, source=f"10.0.{start}.{number}") for number in range(300)])
    lines = stocked.boot_events("gpu-01", limit=10_000)
    assert [line.kind for line in lines[:3]] == ["armed", "script", "claimed"]
    assert [line.source for line in lines[3:]] == [
        f"10.0.{start}.{number}" for start in (0, 300) for number in range(300)
    ][-500:]
    assert list(boot(stocked, mine.id).reached) == [Milestone.SCRIPT]
    assert len(stocked.boot_events("gpu-02")) == 1
    assert len([entry for entry in stocked.history("gpu-01") if "Refused" in entry.sentence]) == 1


def test_the_newest_lines_are_shown_oldest_first(stocked: Store) -> None:
    stocked.tell([refused(200.0 + number, source=f"10.0.0.{number}") for number in range(5)])
    assert [line.at for line in stocked.boot_events(limit=2)] == [203.0, 204.0]


def test_an_unknown_machine_is_written_down_once_with_what_it_said_last(store: Store) -> None:
    said = Discovered("52:54:00:AA:BB:CC", 100.0, "10.0.0.7", "S-7", "u-7", "QEMU", "Standard PC")
    assert store.tell([said, said, Discovered("52:54:00:aa:bb:dd", 90.0, "10.0.0.8")]) == (True, False, True)
    moved = Discovered("52:54:00:aa:bb:cc", 130.0, "10.0.0.9", "S-7", "u-7", "QEMU", "Standard PC")
    assert store.tell([moved]) == (True,)
    first, second = store.discovered()
    assert (first.mac, first.source, first.serial) == ("52:54:00:aa:bb:cc", "10.0.0.9", "S-7")
    assert (first.first_at, first.at, first.times) == (100.0, 130.0, 3)
    assert (second.mac, second.serial, second.times) == ("52:54:00:aa:bb:dd", "", 1)


def test_an_unknown_machine_can_be_forgotten(store: Store) -> None:
    store.tell([Discovered("52:54:00:aa:bb:cc", 100.0, "10.0.0.7")])
    assert store.forget("52:54:00:AA:BB:CC")
    assert not store.forget("52:54:00:aa:bb:cc")
    assert store.discovered() == ()


def test_made_up_machines_push_out_the_oldest(store: Store) -> None:
    told = [Discovered(f"52:54:{number:04x}", float(number), "10.0.0.7") for number in range(10_050)]
    for start in range(0, len(told), 2_010):
        store.tell(told[start : start + 2_010])
    assert [found.at for found in store.discovered()] == [float(number) for number in range(10_049, 49, -1)]


def test_of_beats_the_last_is_kept_so_that_a_clock_which_was_ahead_is_forgotten(store: Store) -> None:
    told = [Heartbeat("boot", 5.0), Heartbeat("boot", 86_405.0), Heartbeat("dhcp", 1.0), Heartbeat("boot", 6.0)]
    assert store.tell(told) == (True, True, True, True)
    assert store.tell([Heartbeat("boot", 6.0)]) == (False,)
    assert store.beats() == {"boot": 6.0, "dhcp": 1.0}


def test_boots_that_others_changed_are_found_by_their_steps(stocked: Store) -> None:
    first, second = armed(stocked), armed(stocked, "gpu-02")
    line, found = stocked.boots_after(None)
    assert found == (first, second)
    assert stocked.boots_after(line) == (line, ())
    told: list[Told] = [Claim(number, 200.0, "10.0.0.1") for number in (first.id, second.id)]
    stocked.tell([*told, refused(200.0)])
    newer, found = stocked.boots_after(line, {(first.id, "claimed")})
    assert newer > line
    assert found == (boot(stocked, second.id),)
    stocked.close_boot(first.id, "it answers ssh", 300.0)
    assert stocked.boots_after(newer)[1] == (boot(stocked, first.id),)
    assert stocked.boots_after(None)[1] == (boot(stocked, second.id),)


NODES = ("gpu-01", "gpu-02")
SOURCES = st.sampled_from(["10.0.0.1", "10.0.0.2"])
TIMES = st.floats(150.0, 1_000.0)
OFFSETS = st.integers(0, 3)


def stories(numbers: list[int]) -> st.SearchStrategy[list[Told]]:
    """Things a boot service may tell of some boots, in any order."""
    boots = st.sampled_from(numbers)
    told: st.SearchStrategy[Told] = st.one_of(
        st.builds(Reached, boots, st.sampled_from(Milestone), TIMES, SOURCES, st.sampled_from(["", "more"])),
        st.builds(Leased, boots, TIMES, SOURCES),
        st.builds(Proved, boots, TIMES, SOURCES),
        st.builds(Claim, boots, TIMES, SOURCES),
        st.builds(PhonedHome, boots, TIMES, SOURCES, st.just(("ssh-ed25519 AAAA",))),
        st.builds(refused, TIMES, st.sampled_from([*NODES, ""]), st.sampled_from(["unarmed", "mismatch"]), SOURCES),
        st.builds(Discovered, st.sampled_from(["aa", "bb"]), TIMES, SOURCES, st.sampled_from(["", "S-1"])),
        st.builds(Heartbeat, st.sampled_from(["boot", "dhcp"]), TIMES),
    )
    return st.lists(told, max_size=12)


def test_many_at_once_are_what_each_by_itself_would_be(urls: UrlMaker) -> None:
    """Whatever is told in whatever order, and however it is cut into transactions."""
    with Store.open(urls()) as one, Store.open(urls()) as other:
        for store in (one, other):
            store.register([device(name) for name in NODES], 1.0)
        rounds = count(1)

        @SHARED
        @given(st.data())
        def same(data: st.DataObject) -> None:
            begun = 2_000.0 * next(rounds)
            numbers = [armed(store, name, now=begun, seconds=500.0).id for store in (one, other) for name in NODES]
            told = data.draw(stories([*numbers[: len(NODES)], 99_999]))
            assert one.tell(told) == tuple(other.tell([each])[0] for each in told)
            assert everything(one) == everything(other)

        same()


def test_five_hundred_things_cost_few_statements(store: Store) -> None:
    """None of them for each thing: that is what makes telling cheap."""
    names = [f"gpu-{number:02}" for number in range(50)]
    store.register([device(name) for name in names], 1.0)
    numbers = [armed(store, name).id for name in names]
    asked: list[str] = []
    event.listen(store._database.engine, "before_cursor_execute", lambda *args: asked.append(args[2]))
    told: list[Told] = [Reached(boot, milestone, 200.0, "10.0.0.1") for boot in numbers for milestone in Milestone]
    told += [step for boot in numbers for step in (Claim(boot, 201.0, "10.0.0.1"), Proved(boot, 201.0, "10.0.0.1"))]
    told += [refused(202.0, name) for name in names]
    told += [Discovered(f"52:54:00:00:00:{number:02x}", 203.0, "10.0.0.1") for number in range(50)]
    assert store.tell(told) == (True,) * 500
    assert len([line for line in asked if not line.startswith("BEGIN")]) <= 20


def test_sqlite_reads_no_table_as_a_whole(sqlite_urls: UrlMaker) -> None:
    """However many boots there were."""
    with Store.open(sqlite_urls()) as store:
        store.register([device("gpu-01")], 1.0)
        mine, asked = armed(store), list[tuple[str, object]]()
        event.listen(store._database.engine, "before_cursor_execute", lambda *args: asked.append((args[2], args[3])))
        store.open_boots()
        store.boots("gpu-01")
        store.boots_after(1)
        store.boot_events("gpu-01")
        store.boot_events()
        armed(store, now=150.0)
        store.tell([Reached(mine.id + 1, Milestone.SCRIPT, 200.0, "10.0.0.1"), Claim(mine.id + 1, 200.0, "10.0.0.1")])
        store.tell([refused(200.0), refused(200.0, ""), Discovered("aa", 200.0, "10.0.0.1")])
        store.close_boot(mine.id + 1, "done", 300.0)
        raw = store._database.engine.raw_connection()
        plans = [
            (statement, row[3])
            for statement, values in dict(asked).items()
            if not statement.startswith("BEGIN")
            for row in raw.execute(
                f"EXPLAIN QUERY PLAN {statement}", values[0] if isinstance(values, list) else values
            )
        ]
        raw.close()
    whole = [
        (statement, line)
        for statement, line in plans
        if line.startswith("SCAN ") and "boots_one_open" not in line and "CONSTANT" not in line
    ]
    newest = [line for line in whole if "LIMIT" in line[0] or "OFFSET" in line[0]]
    assert whole == newest, "only what is cut off after the newest lines may walk a table"
