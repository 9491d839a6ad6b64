"""A batch whose carrier lives keeps its lease, whatever else the store or its computer is busy with."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import create_engine, text
from structlog.testing import capture_logs

from fleet_runner.adapters.plays import batch_folder, lease, lease_holder
from fleet_runner.adapters.plays.lease_renewal import Renewal
from fleet_runner.core.lifecycle.spool import Ended, PlayEnd, encode
from tests.carrying.conftest import Hall
from tests.taking import take
from tests.waiting import until

SHORT = 12.0
"""Seconds of a lease of which half may pass while one statement is under way."""

SLOW = """
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep({seconds}); RETURN NEW; END';
CREATE TRIGGER slow BEFORE UPDATE OF spool_offset ON batches FOR EACH ROW EXECUTE FUNCTION slow();
"""


@contextmanager
def carried(hall: Hall) -> Iterator[lease_holder.LeaseHolder]:
    """Take a batch as a supervisor does, and begin it."""
    mine = hall.settings("r1", lease_seconds=SHORT)
    (run,) = hall.offer(hall.batch)
    at = lease.ticks()
    take(hall.store, "r1")
    folder = hall.folder(mine, hall.batch)
    folder.mkdir(parents=True)
    told = {"seconds": SHORT, "at": at}
    carrier = lease_holder.LeaseHolder(folder, {"batch": hall.batch, "lease": told}, hall.url)
    assert carrier.start({run.node: {}}) == {run.node: {}}
    yield carrier
    carrier.deliver(0, "", 60.0)


def test_a_statement_that_takes_longer_than_half_a_lease_costs_no_play(hall: Hall) -> None:
    """The store writes what one play said, and takes its time: its lease is renewed beside that."""
    engine = create_engine(hall.url)
    with engine.begin() as connection:
        connection.execute(text(SLOW.format(seconds=0.75 * SHORT)))
    engine.dispose()
    with carried(hall) as carrier:
        folder = hall.site.folder / "r1" / "batches" / hall.batch
        (folder / batch_folder.SPOOL).write_text(encode(Ended("gpu-01", 100.0, PlayEnd.OK)), encoding="utf-8")
        until(lambda: carrier.over() or hall.store.offset(hall.batch) > 0)  # asked every second beside a play, too
        assert carrier.over() == ""
        hall.store.lapse_parcels()
        assert hall.parcel(hall.batch).ended_at is None
    assert hall.parcel(hall.batch).rc == 0


def test_a_lease_that_is_renewed_late_is_said_and_one_that_is_not_says_why(hall: Hall) -> None:
    """Its computer gave it no turn for a while, or the store none: whoever reads the log sees which."""
    with carried(hall) as carrier:
        known = Renewal(hall.site.folder, hall.batch, {"seconds": SHORT, "at": lease.ticks()}, hall.url)
        with capture_logs() as logged:
            assert known.renew(hall.store)
        assert logged == []
        known._renewed = lease.ticks() - 0.4 * SHORT
        with capture_logs() as logged:
            assert known.renew(hall.store)
        (late,) = [line["after"] for line in logged if "renewed late" in line["event"]]
        assert round(0.4 * SHORT, 1) <= late < SHORT  # and what the store took to renew it
        assert known.over() == carrier.over() == ""
        known._renewed, known._trouble = lease.ticks() - 0.6 * SHORT, "store: away"
        assert known.over().endswith("it was ended. (store: away)")


def test_nobody_renews_a_lease_that_is_another_ones(hall: Hall) -> None:
    """Its runner was frozen for too long: whatever it renews when it wakes is refused, and nothing is written."""
    with carried(hall) as carrier:
        hall.store.drop_parcel(hall.batch)
        hall.store.lapse_parcels()
        before = hall.parcel(hall.batch)
        until(carrier.over, seconds=SHORT)
        assert "is over" in carrier.over()
        assert hall.parcel(hall.batch).ended_at == before.ended_at
    assert hall.parcel(hall.batch).rc is None
