"""Armed boots: one open at a time, each step once, the document with secrets to exactly one."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot.boots import (
    Claim,
    Identity,
    Leased,
    Milestone,
    PhonedHome,
    Proved,
    Reached,
    Refused,
    Told,
)
from tests.adapters.store.builders import UrlMaker, armed, boot, device, everything, failing_after, opened

HERE = "10.0.0.1"
KEYS = ("ssh-ed25519 AAAA", "ssh-rsa BBBB")


def test_an_armed_boot_is_read_as_it_was_armed(stocked: Store) -> None:
    run = opened(stocked)
    expected = Identity(frozenset({"52:54:00:00:00:02", "52:54:00:00:00:01"}), "S-1", "u-1", frozenset({HERE}))
    made = stocked.arm("gpu-01", expected, run=run.id, now=100.0, seconds=600.0, nonce_hash="ab")
    assert (made.node, made.run, made.expected, made.nonce_hash) == ("gpu-01", run.id, expected, "ab")
    assert (made.armed_at, made.expires_at, made.claimed_at, made.closed_at) == (100.0, 700.0, None, None)
    assert (dict(made.reached), made.host_keys, made.refused, made.proved_by) == ({}, (), 0, "")
    assert stocked.boot(made.id) == made
    assert stocked.open_boots() == stocked.boots("gpu-01") == (made,)
    (told,) = stocked.history("gpu-01")
    assert (told.kind, told.sentence, told.run) == ("boot", f"Boot {made.id} is armed for 600 s", run.id)


def test_arming_anew_closes_the_open_boot_and_only_that(stocked: Store) -> None:
    first, other, second = armed(stocked), armed(stocked, "gpu-02"), armed(stocked, now=200.0)
    closed = boot(stocked, first.id)
    assert (closed.closed_at, closed.closed_because) == (200.0, "armed anew")
    assert stocked.open_boots() == (other, second)
    assert stocked.boots("gpu-01") == (closed, second)
    assert stocked.boots("gpu-01", limit=1) == (second,)


def test_a_node_that_the_store_does_not_know_is_not_armed(stocked: Store) -> None:
    with pytest.raises(StoreError, match=r"node gpu-99: the store does not know it; .* registers it"):
        armed(stocked, "gpu-99")
    assert stocked.boot_events() == ()


def test_a_boot_is_closed_once(stocked: Store) -> None:
    mine = armed(stocked)
    assert stocked.close_boot(mine.id, "it answers ssh", 300.0)
    assert not stocked.close_boot(mine.id, "again", 400.0)
    assert not stocked.close_boot(99, "nobody's", 400.0)
    assert (boot(stocked, mine.id).closed_at, boot(stocked, mine.id).closed_because) == (300.0, "it answers ssh")
    assert [line.kind for line in stocked.boot_events("gpu-01")] == ["armed", "closed"]


def test_every_address_that_a_boot_was_leased_is_kept(stocked: Store) -> None:
    mine = armed(stocked)
    told: list[Told] = [Reached(mine.id, Milestone.DHCP, 101.0, HERE), Leased(mine.id, 102.0, "10.0.0.2"),
                        Leased(mine.id, 103.0, "10.0.0.2"), Leased(mine.id, 104.0, "10.0.0.3")]  # fmt: skip
    assert stocked.tell(told) == (True, True, False, True)
    now = boot(stocked, mine.id)
    assert (sorted(now.leased), now.sources[Milestone.DHCP]) == ([HERE, "10.0.0.2", "10.0.0.3"], HERE)
    assert stocked.boot_events("gpu-01")[-1].sentence == "It was leased another address"


def test_a_boot_from_arming_to_ssh_is_one_story(stocked: Store) -> None:
    mine = armed(stocked)
    story: list[Told] = [
        Reached(mine.id, Milestone.DHCP, 101.0, HERE, "from dnsmasq"),
        Proved(mine.id, 102.0, HERE),
        Reached(mine.id, Milestone.SCRIPT, 103.0, HERE),
        Reached(mine.id, Milestone.KERNEL, 104.0, HERE),
        Reached(mine.id, Milestone.CLOUD_INIT, 105.0, HERE),
        Claim(mine.id, 106.0, HERE),
        PhonedHome(mine.id, 107.0, "10.0.0.2", KEYS),
        Reached(mine.id, Milestone.SSH, 108.0, ""),
    ]
    assert stocked.tell(story) == (True,) * 8
    now = boot(stocked, mine.id)
    assert list(now.reached.items()) == list(zip(Milestone, (101.0, 103.0, 104.0, 105.0, 107.0, 108.0), strict=True))
    assert (now.sources[Milestone.SCRIPT], now.sources[Milestone.PHONE_HOME]) == (HERE, "10.0.0.2")
    assert (now.proved_by, now.claimed_at, now.claimed_by, now.host_keys) == (HERE, 106.0, HERE, KEYS)
    lines = stocked.boot_events("gpu-01")
    kinds = ["armed", "dhcp", "proved", "script", "kernel", "cloud_init", "claimed", "phone_home", "ssh"]
    assert [line.kind for line in lines] == kinds
    assert (lines[1].sentence, lines[1].source) == ("It was leased an address: from dnsmasq", HERE)
    assert [entry.sentence for entry in stocked.history("gpu-01", kind="boot")] == [
        "Boot 1 is armed for 600 s",
        "Boot 1: It was given its document with secrets (10.0.0.1)",
        "Boot 1: Its cloud-init is done (10.0.0.2)",
    ]


def test_what_is_told_again_changes_nothing(stocked: Store) -> None:
    mine = armed(stocked)
    first: list[Told] = [
        Reached(mine.id, Milestone.SCRIPT, 101.0, HERE),
        Proved(mine.id, 101.0, HERE),
        Claim(mine.id, 101.0, HERE),
        PhonedHome(mine.id, 101.0, HERE, KEYS),
    ]
    again: list[Told] = [
        Reached(mine.id, Milestone.SCRIPT, 102.0, "10.9.9.9"),
        Proved(mine.id, 102.0, "10.9.9.9"),
        Claim(mine.id, 102.0, "10.9.9.9"),
        PhonedHome(mine.id, 102.0, "10.9.9.9", ("ssh-ed25519 EVIL",)),
    ]
    assert stocked.tell([*first, *again]) == (True,) * 4 + (False,) * 4
    before = everything(stocked)
    assert stocked.tell(again) == (False,) * 4
    assert everything(stocked) == before
    assert boot(stocked, mine.id).host_keys == KEYS


def test_boots_that_are_closed_or_never_were_take_no_step(stocked: Store) -> None:
    mine = armed(stocked)
    stocked.close_boot(mine.id, "it took too long", 200.0)
    before = everything(stocked)
    for number in (mine.id, 99, 0, -(2**70), 2**70):
        told: list[Told] = [
            Reached(number, Milestone.SCRIPT, 201.0, HERE),
            Proved(number, 201.0, HERE),
            Claim(number, 201.0, HERE),
            PhonedHome(number, 201.0, HERE, KEYS),
        ]
        assert stocked.tell(told) == (False,) * 4
    assert everything(stocked) == before


@pytest.mark.parametrize(("at", "given"), [(699.9, True), (700.0, False), (701.0, False)])
def test_a_claim_must_come_before_the_boot_expires(stocked: Store, at: float, given: bool) -> None:
    mine = armed(stocked)
    assert stocked.tell([Claim(mine.id, at, HERE)]) == (given,)
    assert (boot(stocked, mine.id).claimed_at == at) is given


def test_a_boot_that_expired_can_still_come_to_its_milestones(stocked: Store) -> None:
    """How far it came is the truth, however late."""
    mine = armed(stocked)
    assert stocked.tell([Reached(mine.id, Milestone.PHONE_HOME, 9_000.0, HERE)]) == (True,)


def test_nothing_told_is_nothing(stocked: Store) -> None:
    assert stocked.tell([]) == ()


def test_of_many_claims_at_once_exactly_one_is_given(url: str) -> None:
    """Each from a service of its own; what it tells beside the claim comes in whatever order."""
    with Store.open(url) as store:
        store.register([device(f"gpu-0{number}") for number in range(8)], 1.0)
        numbers = [armed(store, f"gpu-0{number}").id for number in range(8)]
    together, won = threading.Barrier(6), list[tuple[int, int]]()

    def claim(who: int) -> None:
        with Store.open(url) as mine:
            order = numbers if who % 2 else numbers[::-1]
            together.wait()
            for start in (0, 4):
                asked = order[start : start + 4]
                told: list[Told] = [Claim(number, 200.0, f"10.0.0.{who}") for number in asked]
                told += [Refused("gpu-00", "mismatch", "No.", 200.0, f"10.0.0.{who}", number) for number in numbers]
                won.extend((number, who) for number, given in zip(asked, mine.tell(told), strict=False) if given)

    claimants = [threading.Thread(target=claim, args=(who,)) for who in range(6)]
    for claimant in claimants:
        claimant.start()
    for claimant in claimants:
        claimant.join()
    with Store.open(url) as store:
        assert sorted(number for number, _ in won) == numbers
        assert {found.id: found.claimed_by for found in store.open_boots()} == {
            number: f"10.0.0.{who}" for number, who in won
        }
        assert [found.refused for found in store.open_boots()] == [12] * 8


def test_of_many_armings_at_once_one_boot_stays_open(url: str) -> None:
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
    together = threading.Barrier(6)

    def arm() -> None:
        with Store.open(url) as mine:
            together.wait()
            armed(mine)

    arming = [threading.Thread(target=arm) for _ in range(6)]
    for each in arming:
        each.start()
    for each in arming:
        each.join()
    with Store.open(url) as store:
        assert len(store.open_boots()) == 1
        assert len(store.boots("gpu-01")) == 6


def test_an_error_after_any_statement_leaves_nothing(store: Store) -> None:
    """Every statement of an arming and of a telling fails once; each time nothing at all has changed."""
    store.register([device("gpu-01"), device("gpu-02")], 100.0)
    mine = armed(store)
    told: list[Told] = [
        Reached(mine.id, Milestone.SCRIPT, 101.0, HERE),
        Proved(mine.id, 101.0, HERE),
        Claim(mine.id, 101.0, HERE),
        Refused("gpu-02", "unarmed", "It is not armed.", 101.0, HERE),
        PhonedHome(mine.id, 102.0, HERE, KEYS),
    ]
    assert _statements_that_may_fail(store, lambda: store.tell(told)) > 8
    assert _statements_that_may_fail(store, lambda: armed(store, now=200.0)) > 6
    assert boot(store, mine.id).closed_because == "armed anew"


def test_a_claim_outlives_the_service_that_made_it(sqlite_urls: UrlMaker) -> None:
    """Killed right after the store's answer, before the node had its document: nobody else may have it."""
    url = sqlite_urls()
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
        mine = armed(store)
    code = f"""
import os, signal
from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Claim
assert Store.open({url!r}).tell([Claim({mine.id}, 200.0, "10.0.0.1")]) == (True,)
os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", code], check=False, timeout=120, env={**os.environ})
    assert killed.returncode == -signal.SIGKILL
    with Store.open(url) as store:
        assert store.tell([Claim(mine.id, 201.0, "10.0.0.2")]) == (False,)
        assert boot(store, mine.id).claimed_by == "10.0.0.1"


def test_what_machines_say_is_bounded_and_shown_safely(stocked: Store) -> None:
    mine = armed(stocked)
    evil = "\x1b[2J\0\ud800" + "x" * 100_000
    told: list[Told] = [
        Reached(mine.id, Milestone.DHCP, 101.0, evil, evil),
        PhonedHome(mine.id, 102.0, evil, (evil,) * 50),
        Refused(evil, evil, evil, 103.0, evil),
        Refused("gpu-01", evil, evil, 103.0, evil, 2**70),
    ]
    assert stocked.tell(told) == (True,) * 4
    assert len(boot(stocked, mine.id).host_keys) == 20
    shown = repr((stocked.boot_events(), stocked.history("gpu-01"), boot(stocked, mine.id).host_keys[0]))
    assert "\\x1b" not in shown
    assert "\\x00" not in shown
    assert max(len(line.sentence) + len(line.source) for line in stocked.boot_events()) < 21_000


def _statements_that_may_fail(store: Store, act: object) -> int:
    """Let each statement fail in turn until none does; return how many there are."""
    assert callable(act)
    before, fatal = everything(store), 0
    while True:
        fatal += 1
        try:
            with failing_after(store, fatal):
                act()
        except OSError:
            assert everything(store) == before
        else:
            return fatal - 1
