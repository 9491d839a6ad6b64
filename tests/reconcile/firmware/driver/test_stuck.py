"""Tasks that never end, tasks of other clients, and clocks that jump between two visits of the runner."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.catalogue import Catalogue
from fleet_runner.core.firmware.flash import Phase
from fleet_runner.core.firmware.unobserved import unwatched
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.reconcile.firmware.driver import Target
from fleet_runner.reconcile.firmware.driver.look import BmcReadings
from fleet_runner.reconcile.firmware.driver.visit import DriverContext, Visit
from tests.core.firmware.bmc_model import a_flash
from tests.reconcile.firmware.driver import scenes
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.bench import bench as benched
from tests.reconcile.firmware.driver.scenes import NODE
from tests.waiting import until


def test_a_task_that_runs_for_ever_is_told_of_and_never_given_up_by_the_driver(tmp_path: Path) -> None:
    """The stay's deadline ends it, with this sentence; power and other images stay away until a person looks."""
    with benched(tmp_path, ("BIOS",), [{"what": {"stuck": {"at": 40}}}]) as bench:
        # A visit on a busy computer may end before it has sent anything.
        until(lambda: bench.drive(seconds=0.5)["state"] == "working")
        visits = [bench.drive(seconds=0.5) for _ in range(4)]
        assert {visit["state"] for visit in visits} == {"working"}
        assert "The BMC is at it: task Firmware Update at 40 %" in visits[-1]["message"]
        assert "It has had more than the 1 s that it may take: look at the BMC" in visits[-1]["message"]
        assert bench.sent() == ["upload_begun", "accepted"]


def dropped(bench: Bench, monkeypatch: pytest.MonkeyPatch, **task: Any) -> None:
    """Let the BMC show the tasks of its updates otherwise than they are."""
    really = Updates.tasks

    def tasks(self: Updates) -> dict[str, Any]:
        return {
            uri: replace(found, **task) if found.name == "Firmware Update" else found
            for uri, found in really(self).items()
        }

    monkeypatch.setattr(Updates, "tasks", tasks)


@pytest.mark.parametrize("ours", [True, False])
def test_after_a_lost_answer_only_a_task_that_shows_the_request_is_adopted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, ours: bool
) -> None:
    """The BMC took the image and broke the connection; its update fails, and its end is told only if it is proven."""
    rules: list[Mapping[str, Any]] = [
        {"what": "drop_after_body"},
        {"what": {"fail": {"at": 40, "message": "no room in the chip"}}},
    ]
    with benched(tmp_path, ("BIOS",), rules) as bench:
        dropped(bench, monkeypatch, targets=("BIOS",) if ours else ())
        bench.drive()
        with Store.open(bench.store) as store:
            first = store.flashes(NODE)[0]
        assert (bool(first.task), "no room in the chip" in first.detail) == (ours, ours)
        assert ours or "whether the BMC took the image cannot be known" in first.detail


@contextmanager
def visited(store: Store, began: float, run: Run) -> Iterator[Visit]:
    """A visit of the runner's that began at a moment and is to last for a minute."""
    target = Target(NODE, "driver", run=(run.id, run.fence))
    bmc = Bmc("http://127.0.0.1:9", "nobody", "asks")
    visit = Visit(
        target, DriverContext(store, lambda: bmc, Catalogue(()), Path()), None, BmcReadings(bmc), began + 60.0
    )
    visit.began = began
    yield visit


def test_what_lies_between_two_visits_beyond_their_usual_distance_does_not_count(tmp_path: Path) -> None:
    """The clock was set forward by a day, or the runner was away; the flash has been watched for some minutes."""
    with Store.open(scenes.store_in(tmp_path, tmp_path)) as store:
        runs = []
        for at in (1000.0, 1075.0, 1150.0):
            node = store.node(NODE)
            assert node is not None
            [run] = store.apply(node, Decision((OpenRun(Stage.FIRMWARE, "test", batch=f"b-{at}"),), "", at), at)
            store.close_run(run, Outcome.WORKING, "it writes", at + 60.0)
            runs.append(run)
        flash = a_flash(id=1, node=NODE, phase=Phase.SENT, intended_at=1010.0)
        day = 86_400.0
        for began, unseen in ((1225.0, 0.0), (1150.0 + day, day - 180.0)):
            with visited(store, began, runs[-1]) as visit:
                assert unwatched(visit.gaps(flash), flash.intended_at) == unseen
                assert visit.gaps(replace(flash, id=2, intended_at=began)) == ()
        with visited(store, 1225.0 + day, runs[-1]) as visit:
            visit.target = replace(visit.target, run=None)
            assert visit.gaps(flash) == ()


@pytest.mark.parametrize("uri", ["*/Chassis", "*/UpdateService"])
def test_a_bmc_that_never_tells_what_a_plan_needs_ends_a_play_by_hand_and_says_what_it_is(
    tmp_path: Path, uri: str
) -> None:
    """Its versions may be read the same again and again meanwhile; a play by hand has no end of its own."""
    when = {"event": "request", "method": "GET", "uri": uri}
    with benched(tmp_path, ("BIOS",), [{"when": when, "what": {"answer": {"status": 500}}}]) as bench:
        report = bench.drive()
        assert (report["state"], bench.sent()) == ("unread", [])
        assert f"{uri.removeprefix('*')} answered 500" in str(report["message"])
        with Store.open(bench.store) as store:
            assert store.flashes(NODE) == ()
