"""The ledger: many things to a transaction, durable before they are answered, and open boots known from memory."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot.boots import (
    Boot,
    Claim,
    Heartbeat,
    Identity,
    Milestone,
    PhonedHome,
    Proved,
    Reached,
    Told,
)
from fleet_runner.core.inventory.records import Device
from fleet_runner.services.boot.ledger import Ledger, Pace
from tests.waiting import PATIENCE

HERE = "10.0.0.1"
NODES = 40
BRISK = Pace(look=0.02, reload=0.2, retry=0.02, linger=0.0)
LAZY = Pace(look=600.0, reload=600.0, retry=0.02)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a store that knows some nodes."""
    path = tmp_path / "fleet.db"
    with Store.create(f"sqlite:///{path}") as store:
        store.register([Device(f"gpu-{number:02}", "hgx", "gpu-server", "hall-1") for number in range(NODES)], 1.0)
    return path


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """The store."""
    with Store.open(f"sqlite:///{path}") as opened:
        yield opened


@pytest.fixture
def hurried(path: Path) -> Iterator[Store]:
    """The store, where it waits for nobody's lock."""
    with Store.open(f"sqlite:///{path}", patience=0.01) as opened:
        yield opened


def armed(store: Store, node: str = "gpu-01") -> Boot:
    """Arm a node as a play does, beside the ledger."""
    return store.arm(node, Identity(frozenset({"52:54:00:00:00:01"})), run=None, now=100.0, seconds=600.0)


def stored(store: Store, boot: Boot) -> Boot:
    """Read a boot from the store."""
    found = store.boot(boot.id)
    assert found is not None
    return found


def through(store: Store, use: Callable[[Ledger], Awaitable[None]], pace: Pace = BRISK) -> Ledger:
    """Use a ledger, and let it end in an orderly way."""

    async def run() -> Ledger:
        async with Ledger(store, pace) as ledger:
            await use(ledger)
        return ledger

    return asyncio.run(run())


async def until(true: Callable[[], bool]) -> None:
    """Wait until something is so."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110  what is waited for is another process's, or a thread's
            await asyncio.sleep(0.005)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock for writing, as another process would."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.execute("ROLLBACK")
        other.close()


@contextmanager
def away(path: Path) -> Iterator[None]:
    """Let a file be missing for a while."""
    kept = path.rename(path.with_name("kept"))
    try:
        yield
    finally:
        kept.rename(path)


def test_what_is_told_is_in_the_store_when_it_is_answered(store: Store) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        assert await ledger.tell(Claim(mine.id, 200.0, HERE))
        assert stored(store, mine).claimed_by == HERE
        assert not await ledger.tell(Claim(mine.id, 201.0, "10.0.0.2"))

    through(store, use)
    assert stored(store, mine).claimed_by == HERE


def test_of_many_claims_at_once_exactly_one_is_answered_yes(store: Store) -> None:
    """In two services that share the store."""
    mine = armed(store)
    answers: list[bool] = []

    async def use(ledger: Ledger) -> None:
        async with Ledger(store, BRISK) as other:
            claims = [Claim(mine.id, 200.0, f"10.0.0.{number}") for number in range(50)]
            told = [(ledger, other)[number % 2].tell(claim) for number, claim in enumerate(claims)]
            answers.extend(await asyncio.gather(*told))

    through(store, use)
    assert sorted(answers) == [False] * 49 + [True]
    assert stored(store, mine).claimed_by == f"10.0.0.{answers.index(True)}"


def test_what_comes_while_the_store_writes_goes_into_one_transaction(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    boots = [armed(store, f"gpu-{number:02}") for number in range(NODES)]
    batches: list[int] = []
    tell = store.tell

    def count(told: Sequence[Told]) -> tuple[bool, ...]:
        batches.append(len(told))
        return tell(told)

    monkeypatch.setattr(store, "tell", count)

    async def use(ledger: Ledger) -> None:
        tolds = [Reached(boot.id, milestone, 200.0, HERE) for boot in boots for milestone in Milestone]
        assert all(await asyncio.gather(*map(ledger.tell, tolds)))

    through(store, use, replace(BRISK, batch=100))
    assert sum(batches) == NODES * len(Milestone)
    assert batches == [100, 100, 40]


def test_open_boots_are_known_and_what_was_told_is_seen_at_once(store: Store) -> None:
    mine, other = armed(store), armed(store, "gpu-02")

    async def use(ledger: Ledger) -> None:
        assert ledger.open == {"gpu-01": mine, "gpu-02": other}
        assert await ledger.tell(Reached(mine.id, Milestone.SCRIPT, 200.0, HERE))
        assert await ledger.tell(Proved(mine.id, 200.0, HERE))
        assert await ledger.tell(Claim(mine.id, 201.0, HERE))
        assert await ledger.tell(PhonedHome(mine.id, 202.0, HERE, ("ssh-ed25519 AAAA",)))
        assert ledger.boot(mine.id) == ledger.open["gpu-01"] == stored(store, mine)
        assert ledger.boot(other.id) == other

    through(store, use, LAZY)


def test_a_boot_armed_a_moment_ago_is_found_when_it_is_asked_for(store: Store) -> None:
    async def use(ledger: Ledger) -> None:
        assert await ledger.boot_of("gpu-01") is None
        mine = armed(store)
        assert await ledger.boot_of("gpu-01") == mine
        assert await asyncio.gather(*(ledger.boot_of(f"gpu-{number:02}") for number in range(3))) == [
            None,
            mine,
            None,
        ]

    through(store, use, LAZY)


def test_what_others_change_is_seen_without_asking(store: Store) -> None:
    first, second = armed(store), armed(store, "gpu-02")

    async def use(ledger: Ledger) -> None:
        store.close_boot(first.id, "it answers ssh", 300.0)
        anew = armed(store, "gpu-02")
        store.tell([Claim(anew.id, 200.0, HERE)])
        await until(lambda: "gpu-01" not in ledger.open and ledger.open["gpu-02"] == stored(store, anew))
        assert ledger.boot(first.id) is ledger.boot(second.id) is None
        assert await ledger.read(first.id) == stored(store, first)
        assert await ledger.read(99) is None

    through(store, use, replace(BRISK, reload=600.0))


def test_a_whole_look_finds_what_a_look_at_the_changes_missed(store: Store) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        ledger._boots.line = 10_000  # as if a line had come in later than a newer one
        store.close_boot(mine.id, "it answers ssh", 300.0)
        await until(lambda: not ledger.open)

    through(store, use)


def test_notes_are_written_before_the_ledger_lets_go(store: Store) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        for milestone in Milestone:
            ledger.note(Reached(mine.id, milestone, 200.0, HERE))

    assert through(store, use, LAZY).dropped == 0
    assert list(stored(store, mine).reached) == list(Milestone)


def test_a_store_that_cannot_be_written_fails_whoever_waits_and_keeps_the_notes(
    store: Store, hurried: Store, path: Path
) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        with locked(path):
            ledger.note(Reached(mine.id, Milestone.SCRIPT, 200.0, HERE))
            told = [ledger.tell(Claim(mine.id, 200.0 + number, HERE)) for number in range(3)]
            answers = await asyncio.gather(*told, return_exceptions=True)
            assert [type(answer) for answer in answers] == [StoreError] * 3
            assert "another process holds its lock" in ledger.trouble
            assert (await ledger.boot_of("gpu-01")) == mine
        await until(lambda: Milestone.SCRIPT in stored(store, mine).reached)
        assert await ledger.tell(Claim(mine.id, 300.0, HERE))
        assert ledger.trouble == ""
        assert ledger.boot(mine.id) == stored(store, mine)

    assert through(hurried, use, LAZY).dropped == 0


def test_what_the_store_refuses_until_the_end_is_counted_as_lost(store: Store, hurried: Store, path: Path) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        ledger.note(Reached(mine.id, Milestone.SCRIPT, 200.0, HERE))

    with locked(path):
        assert through(hurried, use).dropped == 1
    assert stored(store, mine).reached == {}


def test_a_store_that_cannot_be_read_fails_only_who_must_ask_it(store: Store, path: Path) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        store._database.engine.dispose()
        with away(path):
            assert await ledger.boot_of("gpu-01") == mine
            with pytest.raises(StoreError, match="cannot be opened"):
                await ledger.boot_of("gpu-02")
            with pytest.raises(StoreError, match="cannot be opened"):
                await ledger.read(mine.id)
            assert "cannot be opened" in ledger.trouble
        assert await ledger.boot_of("gpu-02") is None
        assert ledger.trouble == ""

    through(store, use, LAZY)


def test_what_can_never_be_written_stops_neither_the_ledger_nor_other_notes(store: Store) -> None:
    mine = armed(store)
    never = Heartbeat("boot", float("nan"))

    async def use(ledger: Ledger) -> None:
        with pytest.raises(StoreError, match="please report this"):
            await ledger.tell(never)
        ledger.note(never)
        ledger.note(Heartbeat("dhcp", 200.0))
        await until(lambda: len(ledger._late) == 2)
        assert await ledger.tell(Claim(mine.id, 200.0, HERE))
        await until(lambda: store.beats() == {"dhcp": 200.0})

    assert through(store, use, LAZY).dropped == 1


def test_an_error_that_nobody_foresaw_is_answered_too(store: Store) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        with pytest.raises(StoreError, match=r"KeyError.*please report this"):
            await ledger.tell(cast("Any", mine))  # nothing that can be told
        assert await ledger.tell(Claim(mine.id, 200.0, HERE))

    through(store, use, LAZY)


def test_too_much_at_once_is_refused_and_counted(store: Store) -> None:
    mine = armed(store)

    async def use(ledger: Ledger) -> None:
        for number in range(12):
            ledger.note(Heartbeat("dhcp", 200.0 + number))
        assert ledger.dropped == 2
        with pytest.raises(StoreError, match="10 things wait"):
            await ledger.tell(Claim(mine.id, 200.0, HERE))
        await until(lambda: store.beats() == {"dhcp": 209.0})
        assert await ledger.tell(Claim(mine.id, 200.0, HERE))

    through(store, use, replace(LAZY, kept=10))


def test_a_ledger_that_stopped_takes_nothing_more(store: Store) -> None:
    mine = armed(store)

    async def nothing(ledger: Ledger) -> None:
        assert ledger.open

    ledger = through(store, nothing)
    with pytest.raises(StoreError, match="is stopping"):
        asyncio.run(ledger.tell(Claim(mine.id, 200.0, HERE)))
    with pytest.raises(StoreError, match="is stopping"):
        asyncio.run(ledger.boot_of("gpu-07"))
    ledger.note(Claim(mine.id, 200.0, HERE))
    assert ledger.dropped == 1
    assert stored(store, mine).claimed_at is None


def test_whoever_stops_waiting_harms_nobody(store: Store) -> None:
    mine, other = armed(store), armed(store, "gpu-02")

    async def use(ledger: Ledger) -> None:
        gone = asyncio.create_task(ledger.tell(Reached(mine.id, Milestone.SCRIPT, 200.0, HERE)))
        asked = asyncio.create_task(ledger.boot_of("gpu-03"))
        await asyncio.sleep(0)
        gone.cancel()
        asked.cancel()
        assert await ledger.tell(Claim(other.id, 200.0, HERE))
        assert await ledger.boot_of("gpu-03") is None

    through(store, use, LAZY)
    assert Milestone.SCRIPT in stored(store, mine).reached


def test_the_event_loop_goes_on_while_the_store_makes_it_wait(path: Path) -> None:
    """For a second, another process holds the lock: nothing else on the loop may feel it."""
    with Store.open(f"sqlite:///{path}", patience=1.0) as store:
        mine = armed(store)

        async def use(ledger: Ledger) -> None:
            with locked(path):
                told, pauses = asyncio.create_task(ledger.tell(Claim(mine.id, 200.0, HERE))), 0
                while not told.done():
                    await asyncio.sleep(0.001)
                    pauses += 1
            assert pauses > 5  # one, if the loop had waited as well
            with pytest.raises(StoreError):
                await told

        through(store, use, LAZY)
