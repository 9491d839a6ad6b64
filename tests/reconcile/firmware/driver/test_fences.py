"""Right before anything is sent to a BMC the store is asked whether the run still holds its node."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import RunOverError, StoreError
from fleet_runner.core.lifecycle.actions import OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.firmware.driver import power_guard
from fleet_runner.reconcile.firmware.driver.lease import Lease, Target
from tests.adapters.store.builders import decision, device, node


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with gpu-01."""
    with Store.create(f"sqlite:///{tmp_path / 'fleet.db'}") as opened:
        opened.register([device("gpu-01")], 1.0)
        yield opened


def opened(store: Store) -> Run:
    """Open a run of the node."""
    (run,) = store.apply(node(store), decision(OpenRun(Stage.REBOOT, "It is time.", batch="b-1")), time.time())
    return run


def over(store: Store, run: Run) -> None:
    """Have nobody see the run's end, and another run have the node."""
    store.close_run(run, Outcome.LOST, "nobody saw its end", time.time())
    opened(store)


def test_no_power_action_follows_once_the_run_was_taken_over(store: Store) -> None:
    """The play was frozen between two actions for less than any lease of firmware lasts."""
    run = opened(store)
    with power_guard.power(store, "gpu-01", run=(run.id, run.fence)) as alive:
        alive()
        over(store, run)
        with pytest.raises(RunOverError, match=f"run {run.id} is over or was taken over"):
            alive()


def test_a_run_that_is_over_sends_no_power_action_at_all(store: Store) -> None:
    run = opened(store)
    over(store, run)
    with pytest.raises(RunOverError), power_guard.power(store, "gpu-01", run=(run.id, run.fence)):
        raise AssertionError


def test_a_persons_leave_does_not_bring_a_run_back(store: Store) -> None:
    """It was given for the node's firmware, not for who has the node."""
    run = opened(store)
    store.allow_power("gpu-01", "ada", "the vendor asks for it", time.time(), 3600.0)
    with power_guard.power(store, "gpu-01", run=(run.id, run.fence)) as alive:
        over(store, run)
        with pytest.raises(RunOverError):
            alive()


def test_nothing_is_sent_by_a_driver_whose_run_is_over_though_its_lease_is_fresh(store: Store) -> None:
    """A look does not ask for each request; what is sent does."""
    run = opened(store)
    lease = Lease(store, Target("gpu-01", "driver", (run.id, run.fence)), 60.0)
    lease.take()
    over(store, run)
    lease.alive()
    with pytest.raises(RunOverError):
        lease.confirm()


def test_nothing_is_sent_while_the_store_cannot_be_asked(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = opened(store)
    lease = Lease(store, Target("gpu-01", "driver", (run.id, run.fence)), 60.0)
    lease.take()
    monkeypatch.setattr("fleet_runner.reconcile.firmware.driver.lease.PATIENCE", 0.0)

    def away(*_: object, **__: object) -> None:
        raise StoreError("the store is away")

    monkeypatch.setattr(Store, "lease", away)
    with pytest.raises(StoreError, match="the store is away"):
        lease.confirm()
