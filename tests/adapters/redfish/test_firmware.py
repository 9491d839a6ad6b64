"""What is read of a BMC's firmware and tasks: all of it or nothing, from wherever the BMC says that it is."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.core.base.errors import BmcError
from fleet_runner.core.firmware.flash import TaskEnd
from fleet_runner.core.firmware.inventory import entries, running
from tests.adapters.redfish.replay import replayed, talk, updating

HERE = "/redfish/v1/UpdateService"
INVENTORY = f"{HERE}/FirmwareInventory"
TASKS = "/redfish/v1/TaskService/Tasks"
CAPTURED = ("dgx_h100", "supermicro_hgx_h100")


def captured(samples: Path, name: str) -> dict[str, Any]:
    """Return a captured tree."""
    tree: dict[str, Any] = json.loads(gzip.decompress((samples / "redfish" / f"{name}.json.gz").read_bytes()))
    return tree


def under(tree: dict[str, Any], collection: str) -> dict[str, Any]:
    """Return the members of a collection."""
    return {member["@odata.id"]: tree[member["@odata.id"]] for member in tree[collection]["Members"]}


@pytest.mark.parametrize("name", CAPTURED)
@pytest.mark.parametrize("expands", [False, True])
def test_every_firmware_of_a_real_machine_is_read_as_it_is(samples: Path, name: str, *, expands: bool) -> None:
    """One by one, or in one request where the BMC keeps its word that it can do that."""
    tree = captured(samples, name)
    with replayed(tree) as server, talk(server) as bmc:
        server.expands = expands
        assert Updates(bmc).inventory() == under(tree, INVENTORY)
        asked = [uri for uri, _ in server.said("GET") if uri.startswith(f"{INVENTORY}/")]
    assert len(asked) == (0 if expands else len(tree[INVENTORY]["Members"]))


@pytest.mark.parametrize("status", [404, 500, 503])
@pytest.mark.parametrize("expands", [False, True])
def test_half_an_inventory_is_none(samples: Path, status: int, *, expands: bool) -> None:
    """The GPU side answers 503 while the computer is off; a 404 is a BMC that has only begun to look."""
    tree = captured(samples, "dgx_h100")
    missing = f"{INVENTORY}/HGX_FW_GPU_SXM_1"
    with replayed(tree) as server, talk(server) as bmc:
        server.expands = expands
        tree[missing] = {"@odata.id": missing}  # what an expanded collection shows of one that it cannot read
        server.statuses["GET", missing] = [status] * 9
        with pytest.raises(BmcError, match=rf"HGX_FW_GPU_SXM_1 answered {status}"):
            Updates(bmc).inventory()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda server: server.statuses.update({("GET", f"{INVENTORY}?$expand=.($levels=1)"): [500]}),
        lambda server: server.tree[INVENTORY].update({"Members@odata.count": 67}),
        lambda server: server.raw.update({f"{INVENTORY}?$expand=.($levels=1)": b"<html>"}),
    ],
    ids=["error", "short", "nonsense"],
)
def test_an_expanded_collection_that_is_not_whole_is_read_one_by_one(samples: Path, spoil: Any) -> None:
    tree = captured(samples, "dgx_h100")
    expected = under(tree, INVENTORY)
    with replayed(tree) as server, talk(server) as bmc:
        server.expands = True
        spoil(server)
        updates = Updates(bmc)
        assert updates.inventory() == expected
        assert updates.inventory() == expected
        tried = [uri for uri, _ in server.said("GET") if "expand" in uri]
    assert len(tried) == 1, "what does not work is not tried again"


def test_a_collection_that_shows_links_though_it_says_that_it_expands_is_followed(samples: Path) -> None:
    tree = captured(samples, "supermicro_hgx_h100")
    with replayed(tree) as server, talk(server) as bmc:
        server.raw[f"{INVENTORY}?$expand=.($levels=1)"] = json.dumps(tree[INVENTORY]).encode()
        assert Updates(bmc).inventory() == under(tree, INVENTORY)


def test_the_boards_of_a_real_machine_are_its_models_and_part_numbers(samples: Path) -> None:
    with replayed(captured(samples, "supermicro_hgx_h100")) as server, talk(server) as bmc:
        found = Updates(bmc).boards()
    assert {"SYS-821GE-TNHR", "X13DEG-OAD", "935-24287-0000-000"} <= set(found)
    with replayed(captured(samples, "dgx_h100")) as server, talk(server) as bmc:
        found = Updates(bmc).boards()
    assert {"DGXH100", "965-24387-0002-000", "NVIDIA HGX H100 8-GPU"} <= set(found)
    assert len(found) == len(set(found))
    assert all(name == name.strip() != "" for name in found)


def test_the_tasks_of_a_dgx_are_all_there_in_our_time(samples: Path) -> None:
    tree = captured(samples, "dgx_h100")
    with replayed(tree) as server, talk(server) as bmc:
        server.ahead = -3600.0
        found = Updates(bmc).tasks()
    assert list(found) == list(under(tree, TASKS))
    ends = [task.state for task in found.values()]
    assert (ends.count(TaskEnd.DONE), ends.count(TaskEnd.FAILED)) == (4, 5)
    ninth = found[f"{TASKS}/9"]
    assert ninth.started_at == pytest.approx(1715484147 + 3600, abs=120)
    assert "power state of chassis did not change" in ninth.messages[0]


def test_a_bmc_without_a_list_of_tasks_is_no_bmc_without_tasks() -> None:
    tree = updating()
    del tree["/redfish/v1"]["Tasks"]
    with replayed(tree) as server, talk(server) as bmc, pytest.raises(BmcError, match="has no list of tasks"):
        Updates(bmc).tasks()


def test_jobs_stand_in_for_tasks_where_there_are_none() -> None:
    tree = updating()
    jobs = "/redfish/v1/JobService/Jobs"
    del tree["/redfish/v1"]["Tasks"]
    tree["/redfish/v1"]["JobService"] = {"@odata.id": "/redfish/v1/JobService"}
    tree["/redfish/v1/JobService"] = {"@odata.id": "/redfish/v1/JobService", "Jobs": {"@odata.id": jobs}}
    tree[jobs] = {"@odata.id": jobs, "Members": [{"@odata.id": f"{jobs}/1"}]}
    tree[f"{jobs}/1"] = {"@odata.id": f"{jobs}/1", "@odata.type": "#Job.v1_2_0.Job", "JobState": "Running"}
    with replayed(tree) as server, talk(server) as bmc:
        assert Updates(bmc).tasks()[f"{jobs}/1"].state is TaskEnd.RUNNING


def test_a_task_that_is_gone_is_told_from_one_that_cannot_be_read() -> None:
    monitor = "/redfish/v1/TaskService/TaskMonitors/7"
    with replayed(updating()) as server, talk(server) as bmc:
        updates = Updates(bmc)
        assert updates.task(f"{TASKS}/7") is None
        server.statuses["GET", f"{TASKS}/7"] = [410]
        assert updates.task(f"{TASKS}/7") is None
        for status in (400, 403, 500):
            server.statuses["GET", f"{TASKS}/7"] = [status]
            with pytest.raises(BmcError, match=f"answered {status}; what becomes of the task is unknown"):
                updates.task(f"{TASKS}/7")
        for status, state in ((202, TaskEnd.RUNNING), (204, TaskEnd.DONE), (400, TaskEnd.FAILED)):
            server.statuses["GET", monitor] = [status]
            found = updates.task(monitor)
            assert found is not None
            assert found.state is state
        server.statuses["GET", monitor] = [403]
        with pytest.raises(BmcError, match="what becomes of the task is unknown"):
            updates.task(monitor)
        with pytest.raises(BmcError, match="not its own"):
            updates.task("https://elsewhere.example/redfish/v1/TaskService/Tasks/7")


@pytest.mark.parametrize(
    ("service", "busy"),
    [
        ({}, False),
        ({"Status": {"State": "Enabled"}, "Oem": {"Ami": {"UpdateStatus": None, "FlashPercentage": None}}}, False),
        ({"Oem": {"Ami": {"UpdateStatus": "Flashing"}}}, True),
        ({"Oem": {"Hpe": {"State": "Idle"}}}, False),
        ({"Oem": {"Hpe": {"State": "Updating"}}}, True),
        ({"Oem": {"Hpe": {"State": "Complete"}}}, False),
        ({"Status": {"State": "Updating"}}, True),
        ({"Status": "Updating", "Oem": ["odd"]}, False),
    ],
)
def test_an_update_that_only_the_service_knows_of_is_seen(service: dict[str, Any], *, busy: bool) -> None:
    with replayed(updating(**service)) as server, talk(server) as bmc:
        assert Updates(bmc).updating() is busy


@pytest.mark.parametrize(
    ("service", "failure"),
    [
        (
            {"Oem": {"Hpe": {"State": "Error", "Result": {"MessageId": "iLO.2.14.UpdateFailed"}}}},
            "iLO.2.14.UpdateFailed",
        ),
        ({"Oem": {"Hpe": {"State": "Error", "Result": {"MessageId": 7}}}}, "Error"),
        ({"Oem": {"Hpe": {"State": "ERROR", "Result": []}}}, "Error"),
        ({"Oem": {"Hpe": {"State": "Complete", "Result": {"MessageId": "iLO.2.14.Success"}}}}, ""),
        ({"Oem": {"Hpe": []}}, ""),
        ({"Oem": {"Ami": {"State": "Error"}}}, ""),
        ({}, ""),
    ],
)
def test_why_an_update_without_a_task_failed_is_read_where_hpe_says_it(service: dict[str, Any], failure: str) -> None:
    with replayed(updating(**service)) as server, talk(server) as bmc:
        assert Updates(bmc).said() == (False, failure)


@pytest.mark.parametrize("named", [{"@odata.id": f"{INVENTORY}/4e9a7908"}, [{"@odata.id": f"{INVENTORY}/4e9a7908"}]])
def test_which_image_of_an_openbmc_runs_is_asked_of_the_part_that_it_is_for(named: object) -> None:
    """All that it keeps of the part are Enabled; by whoever reads the inventory, and only where ids are hashes."""
    manager = "/redfish/v1/Managers/bmc"
    images = {
        f"{INVENTORY}/{name}": {
            "@odata.id": f"{INVENTORY}/{name}",
            "@odata.type": "#SoftwareInventory.v1_1_0.SoftwareInventory",
            "Version": version,
            "RelatedItem": [{"@odata.id": manager}],
            "Status": {"State": "Enabled"},
        }
        for name, version in (("52d25a1b", "2.8"), ("4e9a7908", "2.9"))
    }
    tree = updating(FirmwareInventory={"@odata.id": INVENTORY}) | images
    tree[INVENTORY] = {"@odata.id": INVENTORY, "Members": [{"@odata.id": uri} for uri in images]}
    tree[manager] = {"@odata.id": manager, "Links": {"ActiveSoftwareImage": named}}
    with replayed(tree) as server, talk(server) as bmc:
        for found in (Updates(bmc).inventory(), bmc.read(f"{INVENTORY}/*")):
            assert {uri.rpartition("/")[2]: body["Active"] for uri, body in found.items()} == {
                "52d25a1b": False,
                "4e9a7908": True,
            }
            assert {name: entry.version for name, entry in running(entries(found)).items()} == {"bmc": "2.9"}
        assert [uri for uri, _ in server.said("GET")].count(manager) == 2
        del tree[manager]["Links"]
        assert Updates(bmc).inventory() == images
        del tree[manager]
        assert Updates(bmc).inventory() == images
