"""Flashes: one open for a node, written by whoever holds its lease, never back, ended once."""

import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from itertools import product

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.firmware.flash import End, Phase
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Stage
from tests.adapters.store.builders import UrlMaker, device, failing_after, opened
from tests.adapters.store.flashing import DRIVER, flash, intended, leased


def seen(store: Store) -> object:
    """Return all that can be seen of a node's flashes, to compare."""
    return (
        store.open_flashes(),
        store.flashes("gpu-01"),
        store.history("gpu-01"),
        store.power_allowed("gpu-01", 100.0),
    )


def test_a_flash_is_read_as_it_was_intended(stocked: Store) -> None:
    run = opened(stocked, stage=Stage.FIRMWARE)
    undone = stocked.end_flash(intended(stocked).id, DRIVER, End.FAILED, "It stayed old.", 101.0)
    told = flash(
        run=run.id, rolls_back=undone.id, tasks_before=("/t/2", "/t/1"), bmc_reset_before=50.0, by="ada", attempt=2
    )
    made = stocked.intend(told, DRIVER, now=102.0)
    assert made == replace(told, id=made.id, tasks_before=("/t/1", "/t/2"))
    assert stocked.flash(made.id) == stocked.open_flash("gpu-01") == made
    assert stocked.open_flashes() == (made,)
    assert stocked.flashes("gpu-01") == (undone, made)
    assert stocked.open_flash("gpu-02") is None
    assert stocked.flash(99) is None
    said = stocked.history("gpu-01")[-1]
    assert (said.kind, said.by, said.run) == ("firmware", "ada", run.id)
    assert said.sentence == (
        "Flash 2 (BIOS): bios_2.1.bin is about to be sent, attempt 2, to undo flash 1: BIOS from 2.0 to 2.1."
    )


def test_a_second_flash_of_a_node_waits_for_the_end_of_the_first(stocked: Store) -> None:
    intended(stocked)
    before = seen(stocked)
    with pytest.raises(ConflictError, match=r"node gpu-01: one of its flashes is open already"):
        intended(stocked, component="BMC")
    assert seen(stocked) == before
    assert intended(stocked, "gpu-02").node == "gpu-02"


def test_a_flash_from_intent_to_end_is_one_story(stocked: Store) -> None:
    now = intended(stocked)
    steps = [
        {"intended_at": 110.0},
        {"phase": Phase.SENT, "task": "/t/7", "sent_at": 120.0},
        {},
        {"task": "/t/8"},
        {"phase": Phase.UPDATED, "updated_at": 130.0},
        {"phase": Phase.ACTIVATING, "activations": 1, "activated_at": 140.0},
        {"activated": 1},
    ]
    for step in steps:
        noted = stocked.note_flash(replace(now, **step), DRIVER, now=150.0)
        assert noted == replace(now, **step) == stocked.open_flash("gpu-01")
        now = noted
    ended = stocked.end_flash(now.id, DRIVER, End.VERIFIED, "BIOS is at 2.1.", 160.0)
    assert ended == replace(now, ended_at=160.0, end=End.VERIFIED, detail="BIOS is at 2.1.")
    assert stocked.open_flash("gpu-01") is None
    assert [entry.sentence.removeprefix("Flash 1 (BIOS): ") for entry in stocked.history("gpu-01")] == [
        "bios_2.1.bin is about to be sent, attempt 1: BIOS from 2.0 to 2.1.",
        "the BMC never took the image; bios_2.1.bin is about to be sent again.",
        "the BMC took the image (task /t/7).",
        "the BMC continues it (task /t/8).",
        "the BMC has written the image.",
        "a reset of the host is about to be sent, so that it runs (number 1).",
        "the BMC took the reset.",
        "verified: BIOS is at 2.1.",
    ]


def test_nothing_is_noted_that_would_go_back(stocked: Store) -> None:
    now = intended(stocked)
    there = {"phase": Phase.ACTIVATING, "activations": 2, "activated": 1, "activated_at": 140.0, "updated_at": 130.0}
    now = stocked.note_flash(replace(now, **there), DRIVER, now=150.0)
    before = seen(stocked)
    for back in ({"phase": Phase.UPDATED}, {"activations": 1}, {"activated": 0}, {"phase": Phase.INTENDED}):
        with pytest.raises(ConflictError, match="is at activating already"):
            stocked.note_flash(replace(now, **back), DRIVER, now=150.0)
    assert seen(stocked) == before


def test_a_flash_ends_once_and_then_nothing_is_noted(stocked: Store) -> None:
    now = intended(stocked)
    ended = stocked.end_flash(now.id, DRIVER, End.NOT_SENT, "The BMC refused it.", 160.0)
    before = seen(stocked)
    for act in (
        lambda: stocked.end_flash(now.id, DRIVER, End.VERIFIED, "", 170.0),
        lambda: stocked.end_flash(99, DRIVER, End.VERIFIED, "", 170.0),
        lambda: stocked.note_flash(replace(ended, phase=Phase.SENT), DRIVER, now=170.0),
        lambda: stocked.note_flash(replace(ended, id=99), DRIVER, now=170.0),
    ):
        with pytest.raises(ConflictError, match="not open"):
            act()
    assert seen(stocked) == before


@pytest.mark.usefixtures("given_times")
def test_only_the_lease_s_holder_writes_and_only_while_it_lasts(stocked: Store) -> None:
    now = intended(stocked)
    stocked.end_flash(intended(stocked, "gpu-02").id, DRIVER, End.VERIFIED, "", 101.0)
    stocked.unlease("gpu-02", DRIVER)
    before = seen(stocked)
    sent = replace(now, phase=Phase.SENT)
    for holder, at in (("another", 200.0), (DRIVER, 700.0), (DRIVER, 9_000.0)):
        with pytest.raises(ConflictError, match="does not hold the lease"):
            stocked.note_flash(sent, holder, now=at)
        with pytest.raises(ConflictError, match="does not hold the lease"):
            stocked.end_flash(now.id, holder, End.FAILED, "", at)
    with pytest.raises(ConflictError, match="does not hold the lease"):
        stocked.intend(flash("gpu-02"), DRIVER, now=200.0)
    with pytest.raises(StoreError, match="node gpu-99: the store does not know it"):
        stocked.intend(flash("gpu-99"), DRIVER, now=200.0)
    assert seen(stocked) == before
    assert stocked.note_flash(sent, DRIVER, now=699.9).phase is Phase.SENT


def test_a_run_that_is_over_begins_no_flash_but_may_tell_what_became_of_one(stocked: Store) -> None:
    """What the BMC answered is worth knowing whoever asked; nobody else drives the node while the lease lasts."""
    run = opened(stocked, stage=Stage.FIRMWARE)
    stocked.lease("gpu-01", DRIVER, run=(run.id, run.fence), now=100.0, seconds=600.0)
    now = stocked.intend(flash(run=run.id), DRIVER, now=100.0)
    stocked.close_run(run, Outcome.LOST, "", 150.0)
    now = stocked.note_flash(replace(now, phase=Phase.SENT, task="/t/7"), DRIVER, now=160.0)
    stocked.end_flash(now.id, DRIVER, End.FAILED, "It stayed old.", 170.0)
    with pytest.raises(ConflictError, match=f"run {run.id} is over or was taken over"):
        stocked.intend(flash(run=run.id), DRIVER, now=180.0)
    assert stocked.open_flash("gpu-01") is None


def test_flashes_of_a_node_are_the_newest_and_the_open_one_oldest_first(stocked: Store) -> None:
    leased(stocked)
    for number in range(4):
        made = stocked.intend(flash(intended_at=100.0 + number), DRIVER, now=100.0)
        if number < 3:
            stocked.end_flash(made.id, DRIVER, End.FAILED, "", 101.0)
    assert [found.intended_at for found in stocked.flashes("gpu-01", limit=2)] == [102.0, 103.0]
    assert [found.intended_at for found in stocked.flashes("gpu-01", since=102.0)] == [102.0, 103.0]
    assert [found.intended_at for found in stocked.flashes("gpu-01", since=500.0)] == [103.0]
    assert stocked.flashes("gpu-02") == ()


@pytest.mark.usefixtures("given_times")
def test_a_person_settles_a_flash_that_nobody_drives(stocked: Store) -> None:
    now = intended(stocked)
    with pytest.raises(ConflictError, match=rf"{DRIVER} is at its firmware for 500 s more"):
        stocked.settle_flash("gpu-01", "ada", "It runs 2.1, I looked", 200.0)
    assert stocked.settle_flash("gpu-01", "ada", "It runs 2.1, I looked", 700.0)
    assert not stocked.settle_flash("gpu-01", "ada", "Again", 701.0)
    assert not stocked.settle_flash("gpu-02", "ada", "None is open", 701.0)
    with pytest.raises(StoreError, match="does not know it"):
        stocked.settle_flash("gpu-99", "ada", "", 701.0)
    settled = stocked.flash(now.id)
    assert settled == replace(now, ended_at=700.0, end=End.SETTLED, detail="ada looked: It runs 2.1, I looked")
    said = stocked.history("gpu-01")[-1]
    assert (said.sentence, said.by) == ("Flash 1 (BIOS): settled: ada looked: It runs 2.1, I looked.", "ada")


def test_power_is_allowed_by_a_person_for_a_while(stocked: Store) -> None:
    assert stocked.power_allowed("gpu-01", 100.0) == ""
    stocked.allow_power("gpu-01", "ada", "The vendor asks for it", 100.0, 3600.0)
    stocked.allow_power("gpu-01", "bo", "Again", 200.0, 60.0)
    assert [stocked.power_allowed("gpu-01", now) for now in (199.0, 200.0, 259.9, 260.0)] == [
        "",
        *["bo: Again"] * 2,
        "",
    ]
    assert stocked.power_allowed("gpu-02", 100.0) == ""
    with pytest.raises(StoreError, match="does not know it"):
        stocked.allow_power("gpu-99", "ada", "", 100.0, 60.0)
    said = stocked.history("gpu-01")[0]
    assert (said.kind, said.by) == ("firmware", "ada")
    assert said.sentence == (
        "ada allows power actions for 3600 s whatever its firmware is at (The vendor asks for it)."
    )


def test_of_many_drivers_at_once_one_begins_a_flash(url: str) -> None:
    """Each tries to take the lease and to begin, over and over; no two flashes of a node are ever open."""
    names = ("gpu-01", "gpu-02", "gpu-03")
    with Store.open(url) as store:
        store.register([device(name) for name in names], 1.0)
    together, begun = threading.Barrier(6), list[tuple[str, str]]()

    def drive(who: str) -> None:
        with Store.open(url) as mine:
            together.wait()
            for name in names:
                try:
                    leased(mine, name, who)
                    mine.intend(flash(name), who, now=100.0)
                    begun.append((name, who))
                except ConflictError:
                    pass

    drivers = [threading.Thread(target=drive, args=(f"driver-{number}",)) for number in range(6)]
    for driver in drivers:
        driver.start()
    for driver in drivers:
        driver.join()
    assert sorted(name for name, _ in begun) == sorted(names)
    with Store.open(url) as store:
        assert sorted(found.node for found in store.open_flashes()) == sorted(names)
        for name, who in product(names, {who for _, who in begun}):
            if (name, who) not in begun:
                with pytest.raises(ConflictError, match="is at its firmware"):
                    leased(store, name, who)


def test_of_many_who_end_a_flash_at_once_one_does(url: str) -> None:
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
        number = intended(store).id
    together, ends = threading.Barrier(6), list[str]()

    def end(how: End) -> None:
        with Store.open(url) as mine:
            together.wait()
            try:
                ends.append(mine.end_flash(number, DRIVER, how, how.value, 200.0).detail)
            except ConflictError:
                ends.append("")

    enders = [threading.Thread(target=end, args=(how,)) for how in [*End, *End][:6]]
    for ender in enders:
        ender.start()
    for ender in enders:
        ender.join()
    (won,) = filter(None, ends)
    with Store.open(url) as store:
        found = store.flash(number)
    assert found is not None
    assert found.detail == won


def test_an_error_after_any_statement_leaves_nothing(stocked: Store) -> None:
    leased(stocked)
    before, fatal = seen(stocked), 0
    while True:
        fatal += 1
        try:
            with failing_after(stocked, fatal):
                stocked.intend(flash(), DRIVER, now=100.0)
        except OSError:
            assert seen(stocked) == before
        else:
            break
    assert fatal > 3
    assert stocked.open_flash("gpu-01") is not None


def test_an_intent_outlives_the_driver_that_wrote_it(sqlite_urls: UrlMaker) -> None:
    """Killed right after the store's answer, before a byte went to the BMC: the next one finds the flash."""
    url = sqlite_urls()
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
    code = f"""
import os, signal
from fleet_runner.adapters.store import Store
from tests.adapters.store.flashing import intended
intended(Store.open({url!r}))
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False, timeout=120, env={**os.environ})
    assert killed.returncode == -signal.SIGKILL
    with Store.open(url) as store:
        found = store.open_flash("gpu-01")
        assert found == flash(id=1)
        with pytest.raises(ConflictError, match="is at its firmware"):
            leased(store, holder="runner-2:7", now=699.9)
        leased(store, holder="runner-2:7", now=700.0)


def test_what_bmcs_say_is_bounded_and_shown_safely(stocked: Store) -> None:
    evil = "\x1b[2J\0\ud800" + "x" * 100_000
    now = intended(stocked, component=evil, image=evil, before={evil: evil}, targets={evil: evil})
    now = stocked.note_flash(replace(now, phase=Phase.SENT, task=evil), DRIVER, now=110.0)
    stocked.end_flash(now.id, DRIVER, End.FAILED, evil, 120.0)
    said = stocked.history("gpu-01")
    assert max(len(entry.sentence) for entry in said) < 21_000
    assert not {"\x1b", "\0"} & set("".join(entry.sentence for entry in said))


def test_no_image_is_sent_while_power_is_allowed(stocked: Store) -> None:
    """The leave was not given for it; of a flash that is open already the rest is written down."""
    first = intended(stocked)
    stocked.allow_power("gpu-01", "ann", "the board is dead", 150.0, 60.0)
    refused = r"power actions are allowed until 00:03:30 UTC by ann: the board is dead; nothing is flashed until then"
    with pytest.raises(ConflictError, match=refused):
        stocked.note_flash(replace(first, intended_at=160.0), DRIVER, now=160.0)
    stocked.note_flash(replace(first, phase=Phase.SENT, sent_at=160.0), DRIVER, now=160.0)
    stocked.end_flash(first.id, DRIVER, End.FAILED, "It stayed old.", 170.0)
    with pytest.raises(ConflictError, match=refused):
        stocked.intend(flash(), DRIVER, now=209.0)
    assert stocked.intend(flash(), DRIVER, now=210.0).id == 2
    again = stocked.note_flash(replace(first, id=2, intended_at=220.0), DRIVER, now=220.0)
    assert again.intended_at == 220.0
