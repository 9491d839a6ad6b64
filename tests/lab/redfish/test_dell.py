"""An emulated iDRAC: what it stages, what a start of the host does, and when it takes jobs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.lab.redfish import Emulator
from fleet_runner.lab.redfish.trees import ROOT
from tests.lab.redfish.talking import Client, emulator, over, wait
from tests.reconcile.firmware.driver import dell

IDRAC, BIOS = "Installed-25227-1.05.02__iDRAC.Embedded.1-1", dell.BIOS
JOBS = f"{ROOT}/JobService/Jobs"
STATUS = f"{dell.LIFECYCLE}/Actions/DellLCService.GetRemoteServicesAPIStatus"


@contextmanager
def idrac(*rules: Any) -> Iterator[tuple[Emulator, Client]]:
    """One, and somebody who talks with it."""
    with emulator(dell.tree(), rules=rules) as bmc, Client(bmc) as client:
        yield bmc, client


def job(client: Client, uri: str) -> str:
    """Return what a job says its state is, at both of its addresses the same."""
    told = client.get(f"{JOBS}/{uri.rpartition('/')[2]}")["JobState"]
    reply = client.ask("GET", uri)
    assert reply.status_code in {200, 202}
    assert reply.json()["Oem"]["Dell"]["JobState"] == told
    return str(told)


def staged(bmc: Emulator, client: Client, folder: Path) -> str:
    """Have a BIOS staged; returns its task."""
    reply = client.update(folder, {BIOS: "2.1"})
    assert reply.status_code == 202
    assert wait(lambda: over(bmc) == "staged")
    return str(reply.headers["Location"])


def test_an_image_is_staged_until_the_host_starts_and_is_written_then(tmp_path: Path) -> None:
    with idrac() as (bmc, client):
        uri = staged(bmc, client, tmp_path)
        assert job(client, uri) == "Scheduled"
        said = client.ask("GET", uri)
        assert (said.status_code, said.json()["TaskState"]) == (202, "Starting")
        assert (bmc.versions()[BIOS], bmc.pending()) == ("2.0", {})
        assert client.power("ForceRestart").ok
        assert wait(lambda: over(bmc) == "done")
        assert wait(lambda: bmc.versions()[BIOS] == "2.1")
        assert job(client, uri) == "Completed"
        assert [each["@odata.id"] for each in client.get(JOBS)["Members"]] == [f"{JOBS}/{uri.rpartition('/')[2]}"]


def test_power_that_is_touched_while_a_start_writes_it_ends_the_job(tmp_path: Path) -> None:
    slow = {"when": {"event": "apply"}, "what": {"stuck": {"at": 1.0}}}
    with idrac(slow) as (bmc, client):
        uri = staged(bmc, client, tmp_path)
        bmc.start_host()
        wait(lambda: len(bmc.events("update_begun")) > 1)
        assert job(client, uri) == "Running"
        bmc.start_host()
        assert wait(lambda: over(bmc) == "failed")
        assert job(client, uri) == "Failed"
        assert bmc.versions()[BIOS] == "2.0"


def test_a_job_outlives_a_restart_of_the_bmc_and_its_own_software_needs_no_start(tmp_path: Path) -> None:
    with idrac() as (bmc, client):
        uri = staged(bmc, client, tmp_path)
        bmc.restart()
        wait(lambda: client.ask("POST", STATUS, {}).json()["LCStatus"] == "Ready")
        assert job(client, uri) == "Scheduled"
        assert client.update(tmp_path, {IDRAC: "1.06"}).status_code == 202
        assert wait(lambda: over(bmc) == "done")
        assert wait(lambda: bmc.versions()[IDRAC] == "1.06")
        assert bmc.versions()[BIOS] == "2.0"


def test_a_start_does_what_somebody_else_has_staged_and_two_jobs_one_after_the_other(tmp_path: Path) -> None:
    with idrac() as (bmc, client):
        other = bmc.schedule("ConfigBIOS:BIOS.Setup.1-1")
        uri = staged(bmc, client, tmp_path)
        assert [job(client, each) for each in (other, uri)] == ["Scheduled", "Scheduled"]
        bmc.start_host()
        assert wait(lambda: over(bmc) == "done")
        assert [job(client, each) for each in (other, uri)] == ["Completed", "Completed"]


def test_its_controller_takes_nothing_for_a_while_after_a_start(tmp_path: Path) -> None:
    with idrac() as (bmc, client):
        assert client.ask("POST", STATUS, {}).json()["LCStatus"] == "Ready"
        bmc.unready(600.0)
        said = client.ask("POST", STATUS, {}).json()
        assert (said["LCStatus"], said["Status"]) == ("NotReady", "NotReady")
        refused = client.update(tmp_path, {BIOS: "2.1"})
        assert (refused.status_code, bmc.events("accepted")) == (503, [])
        simple = f"{ROOT}/UpdateService/Actions/UpdateService.SimpleUpdate"
        assert client.ask("POST", simple, {"ImageURI": "http://127.0.0.1:1/x"}).status_code == 503


@pytest.mark.parametrize("fault", ["stays_scheduled", {"controller_unready": {"seconds": 600, "state": "InUse"}}])
def test_faults_of_a_start(tmp_path: Path, fault: Any) -> None:
    with idrac({"when": {"event": "host_reset"}, "what": fault}) as (bmc, client):
        uri = staged(bmc, client, tmp_path)
        bmc.start_host()
        if fault == "stays_scheduled":
            assert job(client, uri) == "Scheduled"
        else:
            assert client.ask("POST", STATUS, {}).json()["LCStatus"] == "InUse"


def test_faults_of_an_update(tmp_path: Path) -> None:
    rules = [
        {"when": {"event": "update", "nth": 1}, "what": "no_percent"},
        {"when": {"event": "update", "nth": 1}, "what": {"controller_waits": {"seconds": 600}}},
    ]
    with idrac(*rules) as (bmc, client):
        uri = client.update(tmp_path, {BIOS: "2.1"}).headers["Location"]
        wait(lambda: job(client, uri) == "New")
        assert "PercentComplete" not in client.ask("GET", uri).json()
        assert bmc.events("staged") == []


@pytest.mark.parametrize("fault", ["restarts_host", "sideband"])
def test_what_is_not_staged_for_long_or_at_all(tmp_path: Path, fault: str) -> None:
    with idrac({"when": {"event": "update"}, "what": fault}) as (bmc, client):
        assert client.update(tmp_path, {BIOS: "2.1"}).status_code == 202
        assert wait(lambda: over(bmc) == "done")
        if fault == "sideband":
            assert (bmc.versions()[BIOS], bmc.events("staged")) == ("2.0", [])
            bmc.start_host()
        assert wait(lambda: bmc.versions()[BIOS] == "2.1")


def test_an_ended_task_is_gone_and_its_job_is_not(tmp_path: Path) -> None:
    with idrac({"when": {"event": "apply"}, "what": "delete_task"}) as (bmc, client):
        uri = staged(bmc, client, tmp_path)
        bmc.start_host()
        assert wait(lambda: over(bmc) == "done")
        assert client.ask("GET", uri).status_code == 404
        assert client.get(f"{JOBS}/{uri.rpartition('/')[2]}")["JobState"] == "Completed"
        assert client.get(f"{ROOT}/TaskService/Tasks")["Members"] == []
