"""Leases: one holder at a time, for as long as he said, and only for a run that still is one."""

import threading
import time
from functools import partial

import pytest
from sqlalchemy import update

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.schema.core import nodes
from fleet_runner.core.base.errors import ConflictError, StoreError
from fleet_runner.core.firmware.flash import End
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.firmware.driver import lease as holding
from tests.adapters.store.builders import UrlMaker, device, opened
from tests.adapters.store.flashing import DRIVER, flash, leased


@pytest.mark.usefixtures("given_times")
def test_a_lease_is_taken_where_none_stands_renewed_by_its_holder_and_refused_to_others(stocked: Store) -> None:
    leased(stocked, now=100.0)
    leased(stocked, now=400.0)  # renewed: it lasts until 1,000
    with pytest.raises(ConflictError, match=rf"node gpu-01: {DRIVER} is at its firmware for 1 s more"):
        leased(stocked, holder="another", now=999.0)
    leased(stocked, "gpu-02", "another", now=400.0)
    leased(stocked, holder="another", now=1_000.0)
    with pytest.raises(ConflictError, match="another is at its firmware"):
        leased(stocked, now=1_001.0)


def test_a_lease_is_let_go_by_its_holder_alone(stocked: Store) -> None:
    leased(stocked)
    stocked.unlease("gpu-01", "another")
    with pytest.raises(ConflictError):
        leased(stocked, holder="another")
    stocked.unlease("gpu-01", DRIVER)
    stocked.unlease("gpu-01", DRIVER)
    leased(stocked, holder="another")


@pytest.mark.usefixtures("given_times")
def test_a_clock_that_was_set_back_does_not_let_a_second_driver_in(stocked: Store) -> None:
    leased(stocked, now=10_000.0)
    with pytest.raises(ConflictError):
        leased(stocked, holder="another", now=100.0)
    leased(stocked, now=100.0)  # its holder goes on, by the new clock
    leased(stocked, holder="another", now=700.0)


def test_a_node_that_the_store_does_not_know_has_no_lease(stocked: Store) -> None:
    with pytest.raises(StoreError, match=r"node gpu-99: the store does not know it; .* registers it"):
        leased(stocked, "gpu-99")


@pytest.mark.usefixtures("given_times")
def test_only_an_open_run_with_the_node_s_fence_takes_a_lease(stocked: Store) -> None:
    old = opened(stocked, stage=Stage.FIRMWARE)
    other = opened(stocked, "gpu-02", stage=Stage.FIRMWARE, batch="b-2")
    stocked.lease("gpu-01", DRIVER, run=(old.id, old.fence), now=100.0, seconds=60.0)
    stocked.close_run(old, Outcome.LOST, "", 110.0)
    new = opened(stocked, stage=Stage.FIRMWARE, batch="b-3")
    for run in ((old.id, old.fence), (old.id, new.fence), (new.id, old.fence), (other.id, other.fence), (99, 1)):
        with pytest.raises(ConflictError, match=rf"run {run[0]} is over or was taken over"):
            stocked.lease("gpu-01", DRIVER, run=run, now=120.0, seconds=60.0)
    with pytest.raises(ConflictError, match="is at its firmware"):
        stocked.lease("gpu-01", "runner-2", run=(new.id, new.fence), now=159.0, seconds=60.0)
    stocked.lease("gpu-01", "runner-2", run=(new.id, new.fence), now=160.0, seconds=60.0)
    with stocked._database.write() as connection:
        connection.execute(update(nodes).values(fence=9))
    with pytest.raises(ConflictError, match="was taken over"):
        stocked.lease("gpu-01", "runner-2", run=(new.id, new.fence), now=161.0, seconds=60.0)


@pytest.mark.usefixtures("given_times")
def test_of_many_drivers_at_once_one_has_the_lease(urls: UrlMaker) -> None:
    """Round after round, each when the lease before has run out."""
    url = urls()
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
    rounds, together, won = 4, threading.Barrier(6), list[float]()

    def take(who: str) -> None:
        with Store.open(url) as mine:
            for number in range(rounds):
                together.wait()
                try:
                    mine.lease("gpu-01", f"{who}-{number}", run=None, now=100.0 * number, seconds=100.0)
                    won.append(number)
                except ConflictError:
                    pass

    takers = [threading.Thread(target=take, args=(f"driver-{number}",)) for number in range(6)]
    for taker in takers:
        taker.start()
    for taker in takers:
        taker.join()
    assert sorted(won) == list(range(rounds))


def test_a_driver_whose_run_is_over_does_not_wait_for_the_lease(
    stocked: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = opened(stocked, stage=Stage.FIRMWARE)
    stocked.close_run(run, Outcome.LOST, "", 110.0)
    monkeypatch.setattr(holding, "WAIT", 3600.0)  # a test that waits does not end
    lease = holding.Lease(stocked, holding.Target("gpu-01", DRIVER, (run.id, run.fence)), 10_000.0)
    assert "is over or was taken over" in lease.wait(float("inf"))


def test_one_bmc_is_driven_under_one_name(stocked: Store) -> None:
    """A node was renamed, or two have one address: what is open under the other name is not repeated."""
    url = "https://bmc-01.example/"
    take = partial(stocked.lease, run=None, seconds=60.0)
    take("gpu-01", DRIVER, now=100.0, bmc=url)
    with pytest.raises(
        ConflictError, match=rf"{DRIVER} is at the firmware of gpu-01, at the same BMC, https://bmc-01"
    ):
        take("gpu-02", "another", now=101.0, bmc="HTTPS://bmc-01.example")
    stocked.intend(flash(), DRIVER, now=102.0)
    take("gpu-01", DRIVER, now=110.0, bmc=url)
    stocked.unlease("gpu-01", DRIVER)
    for now in (120.0, 9_999.0):
        with pytest.raises(ConflictError, match=r"flash 1 of gpu-01 is open at the same BMC.*firmware settle gpu-01"):
            take("gpu-02", "another", now=now, bmc=url)
    take("gpu-02", "another", now=120.0, bmc="https://bmc-02.example/")
    assert stocked.settle_flash("gpu-01", "ann", "it is called gpu-02 now", 130.0)
    take("gpu-02", "another", now=131.0, bmc=url)


def test_a_machine_whose_clock_is_ahead_takes_nothing_from_another(postgresql_urls: UrlMaker) -> None:
    """Machines that share a PostgreSQL go by its clock: by their own ones the lease would be over, or not begun."""
    now, url = time.time(), "https://bmc-01.example/"
    with Store.open(postgresql_urls()) as store:
        store.register([device("gpu-01"), device("gpu-02")], 1.0)
        take = partial(store.lease, run=None, seconds=60.0, bmc=url)
        take("gpu-01", DRIVER, now=now)
        for ahead in (600.0, -600.0):
            with pytest.raises(ConflictError, match=rf"{DRIVER} is at its firmware for [56]\d s more"):
                take("gpu-01", "another", now=now + ahead)
            with pytest.raises(ConflictError, match=r"at the firmware of gpu-01, .* for [56]\d s more"):
                take("gpu-02", "another", now=now + ahead)
            held = store.firmware_holder("gpu-01", now + ahead)
            assert held is not None
            assert held == (DRIVER, pytest.approx(now + ahead + 60.0, abs=5.0))
        begun = store.intend(flash(), DRIVER, now=now + 600.0)
        assert store.note_flash(begun, DRIVER, now=now - 600.0).id == begun.id
        assert store.end_flash(begun.id, DRIVER, End.VERIFIED, "", now + 600.0).end is End.VERIFIED
        store.lease(
            "gpu-01", DRIVER, run=None, now=now, seconds=0.0
        )  # over at once, whatever its holder's clock says
        with pytest.raises(ConflictError, match="does not hold the lease"):
            store.intend(flash(), DRIVER, now=now - 600.0)
        take("gpu-02", "another", now=now - 600.0)
