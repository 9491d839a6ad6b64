"""What others do to a BMC while a driver is at it, and what it cannot do just then: nothing is sent twice for it."""

from pathlib import Path

import pytest

from fleet_runner.adapters.redfish import resets
from fleet_runner.adapters.redfish.bmc import Bmc
from fleet_runner.adapters.redfish.exchange import UnreachedError
from fleet_runner.adapters.store import Store
from fleet_runner.core.errors import NoWayError
from fleet_runner.core.firmware.flash import End, Flash
from tests.firmware.bench import Bench
from tests.firmware.bench import bench as benched
from tests.firmware.scenes import NODE

BUSY = {"answer": {"status": 503}}


def flashes(bench: Bench) -> tuple[Flash, ...]:
    with Store.open(bench.store) as store:
        return store.flashes(NODE)


@pytest.mark.parametrize(("part", "uri", "times"), [("BIOS", "*ComputerSystem.Reset", 3), ("CPLD", "*Reset*", 1)])
def test_a_reset_that_the_bmc_refuses_for_a_moment_is_asked_for_again(
    tmp_path: Path, part: str, uri: str, times: int
) -> None:
    rules = [{"when": {"event": "request", "uri": uri, "method": "POST", "times": times}, "what": BUSY}]
    with benched(tmp_path, (part,), rules) as bench:
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert len(bench.bmc.events("accepted")) == 1
        assert [flash.end for flash in flashes(bench)] == [End.VERIFIED]


@pytest.mark.parametrize(("part", "reset"), [("BIOS", "host"), ("CPLD", "ac_drain")])
def test_a_bmc_that_is_not_reached_when_a_reset_is_due_is_no_end(
    tmp_path: Path, part: str, reset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that restarts by itself, after its own update."""
    done, asked = getattr(resets, reset), []

    def unreached_once(*given: object) -> None:
        asked.append(given)
        if len(asked) == 1:
            raise UnreachedError("connection refused")
        done(*given)

    monkeypatch.setattr(resets, reset, unreached_once)
    with benched(tmp_path, (part,)) as bench:
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert len(bench.bmc.events("accepted")) == 1


@pytest.mark.parametrize(("part", "how"), [("NIC", "bmc_reset"), ("CPLD", "ac_drain")])
def test_what_only_a_person_can_make_run_is_not_written_again(
    tmp_path: Path, part: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_way(of: Bmc) -> None:
        raise NoWayError(f"{of.url} offers no way")

    monkeypatch.setattr(resets, "ac_drain", no_way)
    monkeypatch.setattr(resets, "bmc", no_way)
    with benched(tmp_path, (part,)) as bench:
        bench.scene.profile["firmware"]["components"][0]["activate"]["how"] = how
        for _ in range(2):
            report = bench.drive()
            assert report["state"] == "failed"
            by_hand = "restart it by hand" if how == "bmc_reset" else "pull every power cord"
            assert f"offers no way; {by_hand}" in str(report["message"])
        assert len(bench.bmc.events("accepted")) == 1
