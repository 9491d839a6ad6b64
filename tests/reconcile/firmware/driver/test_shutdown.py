"""A driver that is asked to end while it writes: the write is whole, the lease is given back, and it ends."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner.adapters.store import Store
from fleet_runner.reconcile.firmware.driver.lease import Lease, Target, written
from fleet_runner.reconcile.firmware.driver.shutdown import ended_gently
from tests.reconcile.firmware.driver import scenes
from tests.reconcile.firmware.driver.scenes import NODE

AS_ALWAYS, WENT_ON = 3, 4


def ends(work: Callable[[], None]) -> int:
    """Do something in a process of its own, as a worker of Ansible's does, and return how that ended."""
    child = os.fork()
    if child == 0:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: os._exit(AS_ALWAYS))
        try:
            with ended_gently():
                work()
        finally:
            os._exit(WENT_ON)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_write_comes_to_its_end_and_nothing_comes_after_it(tmp_path: Path, number: signal.Signals) -> None:
    url, after = scenes.store_in(tmp_path, tmp_path), tmp_path / "after"

    def work() -> None:
        with Store.open(url) as store:
            lease = Lease(store, Target(NODE, "driver"), 60.0)

            def asked() -> None:
                os.kill(os.getpid(), number)
                store.lease(NODE, "driver", run=None, now=time.time(), seconds=60.0, bmc="")
                assert store.firmware_holder(NODE, now=time.time())

            try:
                written(asked, 1.0)
                lease.alive()
                after.touch()
            finally:
                (tmp_path / "held").write_text(str(store.firmware_holder(NODE, now=time.time())))
                lease.leave()

    assert ends(work) == AS_ALWAYS
    assert "driver" in (tmp_path / "held").read_text()
    assert not after.exists()
    with Store.open(url) as store:
        assert store.firmware_holder(NODE, now=time.time()) is None


@pytest.mark.parametrize("way", ["written", "alive"])
def test_an_end_that_was_asked_for_where_no_exception_comes_through_is_heeded_next(tmp_path: Path, way: str) -> None:
    """What a garbage collector runs, for one, prints its exceptions and goes on."""
    url, after = scenes.store_in(tmp_path, tmp_path), tmp_path / "after"

    class Deaf:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    def work() -> None:
        with Store.open(url) as store:
            lease = Lease(store, Target(NODE, "driver"), 60.0)
            lease.take()
            try:
                Deaf()
                (tmp_path / "deaf").touch()
                if way == "alive":
                    lease.alive()
                else:
                    written(after.touch, 1.0)
                after.touch()
            finally:
                lease.leave()

    assert ends(work) == AS_ALWAYS
    assert (tmp_path / "deaf").exists()
    assert not after.exists()
    with Store.open(url) as store:
        assert store.firmware_holder(NODE, now=time.time()) is None


def test_what_is_not_writing_ends_at_once(tmp_path: Path) -> None:
    after = tmp_path / "after"

    def work() -> None:
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        time.sleep(5.0)
        after.touch()

    assert ends(work) == AS_ALWAYS
    assert not after.exists()
