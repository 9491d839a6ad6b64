"""Images sent to an emulated BMC: what is taken, what is refused, what runs after which reset."""

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from fleet_runner.lab.redfish import BmcBehaviour, Emulator, images
from tests.lab.redfish.talking import LONGEST, Client, emulator, over, wait
from tests.pldm import Part, package

FOREVER = [{"what": {"stuck": {"at": 10}}}]


@pytest.fixture
def bmc() -> Iterator[Emulator]:
    """A BMC with the project's own tree."""
    with emulator() as started:
        yield started


@pytest.fixture
def client(bmc: Emulator) -> Iterator[Client]:
    """Somebody who talks with it."""
    with Client(bmc) as talking:
        yield talking


def test_an_image_is_written_and_runs_after_the_reset_of_its_component(
    bmc: Emulator, client: Client, tmp_path: Path
) -> None:
    reply = client.update(tmp_path, {"BIOS": "2.1"}, targets=("BIOS",))
    assert reply.status_code == 202
    task = reply.json()["@odata.id"]
    assert over(bmc) == "done"
    assert client.get(task)["TaskState"] == "Completed"
    assert client.get(reply.headers["Location"])["PercentComplete"] == 100
    assert (bmc.versions()["BIOS"], bmc.pending()) == ("2.0", {"BIOS": "2.1"})
    assert client.power("ForceRestart").status_code == 204
    wait(lambda: bmc.versions()["BIOS"] == "2.1")
    assert client.get(bmc.tree.entries["BIOS"])["Version"] == "2.1"
    assert client.get("/redfish/v1/Systems/1")["BiosVersion"] == "2.1"
    assert bmc.pending() == {}


def test_a_bmc_restarts_by_itself_for_its_own_image(bmc: Emulator, client: Client, tmp_path: Path) -> None:
    client.log_in()
    assert client.update(tmp_path, {"BMC": "1.06"}).status_code == 202
    wait(lambda: bmc.versions()["BMC"] == "1.06")
    wait(lambda: _answers(client))
    assert client.ask("GET", "/redfish/v1/Managers/1").status_code == 401  # sessions do not outlive it
    client.log_in()
    assert client.get("/redfish/v1/Managers/1")["FirmwareVersion"] == "1.06"
    assert client.get(bmc.tree.tasks)["Members"] == []
    kinds = [
        event.kind for event in bmc.log if event.kind in ("accepted", "update_begun", "update_done", "bmc_reset")
    ]
    assert kinds == ["accepted", "update_begun", "update_done", "bmc_reset"]


def test_a_cpld_runs_after_as_many_drains_as_it_takes(tmp_path: Path) -> None:
    with emulator(habits=BmcBehaviour(activation={"CPLD*": ("ac_drain", 2)})) as bmc, Client(bmc) as client:
        client.update(tmp_path, {"CPLD_*": "F2"})
        assert over(bmc) == "done"
        client.power("PowerCycle")
        bmc.drain()
        assert bmc.versions()["CPLD_Motherboard"] == "F1.00.64"
        assert client.ask("POST", "/redfish/v1/Chassis/1/Actions/Chassis.Reset", {"ResetType": "FullPowerCycle"}).ok
        wait(lambda: bmc.versions()["CPLD_Motherboard"] == "F2")


def test_one_image_can_bring_many_and_targets_choose_among_them(
    bmc: Emulator, client: Client, tmp_path: Path
) -> None:
    client.update(tmp_path, {"HGX_FW_*": "97", "PSU_*": "1.4"}, targets=("HGX_FW_GPU_SXM_1", "PSU_1"))
    over(bmc)
    assert bmc.pending() == {"HGX_FW_GPU_SXM_1": "97"}
    assert bmc.versions()["PSU_1"] == "1.4"  # a power supply needs no reset
    assert bmc.versions()["PSU_0"] == "1.3"


@pytest.mark.parametrize(
    ("image", "targets", "why"),
    [
        (("BIOS", "OTHER-*"), (), "board"),
        (("BIOS", ""), ("PSU_0",), "holds nothing for PSU_0"),
        (("XYZ", ""), (), "holds nothing for this machine"),
        (("NVMe_0", ""), (), "cannot be updated"),
        (("BIOS", ""), ("/redfish/v1/Nowhere",), "Nowhere cannot be updated"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(
    client: Client, tmp_path: Path, image: tuple[str, str], targets: Any, why: str
) -> None:
    images.write(tmp_path / "image", {image[0]: "2.1"}, board=image[1])
    reply = client.push(tmp_path / "image", targets)
    assert reply.status_code == 400
    assert why in reply.json()["error"]["message"]
    assert [event["message"] for event in client.bmc.events("refused")] == [reply.json()["error"]["message"]]
    assert client.bmc.updates() == []


def test_anything_that_is_no_image_is_refused(bmc: Emulator, client: Client, tmp_path: Path) -> None:
    (tmp_path / "image").write_bytes(bytes(100_000))
    assert "not one for this machine" in client.push(tmp_path / "image").json()["error"]["message"]


def test_a_second_update_is_refused_while_one_runs_unless_the_bmc_is_a_bad_one(tmp_path: Path) -> None:
    for bad, status in ((False, 409), (True, 202)):
        with emulator(rules=FOREVER, habits=BmcBehaviour(accepts_concurrent=bad)) as bmc, Client(bmc) as client:
            client.update(tmp_path, {"BIOS": "2.1"})
            assert client.update(tmp_path, {"PSU_0": "2"}).status_code == status
            assert [event["concurrent"] for event in bmc.events("accepted")] == [False, True][: 1 + bad]
            assert [event["busy"] for event in bmc.events("refused")] == [True] * (not bad)


def test_a_bare_image_is_taken_for_the_targets_that_were_set_before(
    bmc: Emulator, client: Client, tmp_path: Path
) -> None:
    service = bmc.tree.update_service
    images.write(tmp_path / "image", {"PSU_*": "2"})
    assert client.ask("PATCH", service, {"HttpPushUriTargets": [bmc.tree.entries["PSU_1"]]}).ok
    uri = client.get(service)["HttpPushUri"]
    with (tmp_path / "image").open("rb") as file:
        assert client.http.post(bmc.url + uri, data=file, timeout=LONGEST).status_code == 202
    assert over(bmc) == "done"
    assert (bmc.versions()["PSU_0"], bmc.versions()["PSU_1"]) == ("1.3", "2")


def test_an_image_without_a_known_length_is_taken_as_well(bmc: Emulator, client: Client, tmp_path: Path) -> None:
    images.write(tmp_path / "image", {"PSU_*": "2"}, size=300_000)
    text = (tmp_path / "image").read_bytes()
    chunks = (text[at : at + 7_001] for at in range(0, len(text), 7_001))
    uri = client.get(bmc.tree.update_service)["HttpPushUri"]
    assert client.http.post(bmc.url + uri, data=chunks, timeout=LONGEST).status_code == 202
    assert bmc.events("upload_done")[0]["bytes"] == 300_000


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[str]:
    """A web server with the files of a folder."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *said: Quiet(*said, directory=str(tmp_path))
    ) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def test_an_image_is_fetched_from_an_address(bmc: Emulator, client: Client, tmp_path: Path, shelf: str) -> None:
    sha256 = images.write(tmp_path / "psu.bin", {"PSU_*": "2"}, size=200_000)
    action = f"{bmc.tree.update_service}/Actions/UpdateService.SimpleUpdate"
    said = {"ImageURI": f"{shelf}/psu.bin", "Targets": [bmc.tree.entries["PSU_0"]]}
    assert client.ask("POST", action, said).status_code == 202
    assert over(bmc) == "done"
    assert bmc.versions()["PSU_0"] == "2"
    assert bmc.events("update_begun")[0]["sha256"] == sha256


@pytest.mark.parametrize("path", ["missing.bin", "http://198.51.100.1/far.bin"])
def test_an_image_that_cannot_be_fetched_fails_in_the_task(
    bmc: Emulator, client: Client, shelf: str, path: str
) -> None:
    action = f"{bmc.tree.update_service}/Actions/UpdateService.SimpleUpdate"
    url = path if path.startswith("http") else f"{shelf}/{path}"
    task = client.ask("POST", action, {"ImageURI": url}).json()["@odata.id"]
    assert over(bmc) == "failed"
    assert client.get(task)["TaskState"] == "Exception"


def test_resets_end_the_updates_that_need_what_they_reset(tmp_path: Path) -> None:
    for reset, survives in (("host", False), ("bmc", False), ("drain", False)):
        with emulator(rules=FOREVER) as bmc, Client(bmc) as client:
            client.update(tmp_path, {"BIOS": "2.1"})
            if reset == "host":
                client.power("ForceOff")
            else:
                {"bmc": bmc.restart, "drain": bmc.drain}[reset]()
            assert (over(bmc) == "done") is survives
            assert bmc.pending() == {}


def test_a_client_that_goes_away_in_the_middle_leaves_no_update(bmc: Emulator, client: Client) -> None:
    def half() -> Iterator[bytes]:
        yield b"x" * 100_000
        raise ConnectionAbortedError

    uri = client.get(bmc.tree.update_service)["HttpPushUri"]
    with pytest.raises((ConnectionAbortedError, requests.RequestException)):
        client.http.post(bmc.url + uri, data=half(), timeout=LONGEST)
    client.http.close()
    wait(lambda: bmc.events("upload_cut"))
    assert bmc.updates() == []


def test_a_pldm_package_brings_what_its_software_ids_say(bmc: Emulator, client: Client, tmp_path: Path) -> None:
    ids = {entry: f"0x{number:04X}" for number, entry in enumerate(bmc.tree.entries, start=0x10)}
    with emulator(changes={uri: {"SoftwareId": ids[entry]} for entry, uri in bmc.tree.entries.items()}) as other:
        gpu = [Part(int(ids[f"HGX_FW_GPU_SXM_{number}"], 16), "97", bytes(100_000)) for number in (1, 2)]
        (tmp_path / "image").write_bytes(package(gpu))
        with Client(other) as talking:
            assert talking.push(tmp_path / "image").status_code == 202
            assert over(other) == "done"
            assert other.pending() == {"HGX_FW_GPU_SXM_1": "97", "HGX_FW_GPU_SXM_2": "97"}
            (tmp_path / "image").write_bytes(package(gpu)[:-1])
            assert talking.push(tmp_path / "image").status_code == 400


def test_names_with_versions_in_them_change_with_the_version_and_keep_the_previous(tmp_path: Path) -> None:
    head = "/redfish/v1/UpdateService/FirmwareInventory"
    old, before = "Installed-159-1.1__BIOS.Setup.1-1", "Previous-159-1.0__BIOS.Setup.1-1"
    plain = {name: {"Id": name, "Version": version} for name, version in ((old, "1.1"), (before, "1.0"))}
    changes = {f"{head}/{name}": {"@odata.id": f"{head}/{name}", **body} for name, body in plain.items()}
    members = {head: {"Members": [{"@odata.id": f"{head}/{name}"} for name in plain]}}
    new = "Installed-159-2.0__BIOS.Setup.1-1"
    with emulator(changes={**changes, **members}) as bmc, Client(bmc) as client:
        client.update(tmp_path, {"Installed-159-*": "2.0"}, targets=(f"{head}/{old}",))
        assert over(bmc) == "done"
        assert client.get(f"{head}/{old}")["Version"] == "1.1"
        client.power("ForceRestart")
        wait(lambda: bmc.versions()[old] == "2.0")
        assert client.get(f"{head}/{new}")["Id"] == new
        assert client.ask("GET", f"{head}/{old}").status_code == 404
        ends = [each["@odata.id"].rpartition("/")[2] for each in client.get(head)["Members"]]
        assert ends == [new, "Previous-159-1.1__BIOS.Setup.1-1"]
        assert client.update(tmp_path, {"Installed-159-*": "3.0"}, targets=(f"{head}/{old}",)).status_code == 400
        assert client.update(tmp_path, {"Installed-159-*": "3.1"}, targets=(f"{head}/{new}",)).status_code == 202


def test_older_names_with_versions_at_their_end_change_too(tmp_path: Path) -> None:
    head = "/redfish/v1/UpdateService/FirmwareInventory"
    old, new = f"{head}/Installed-159-1.1", f"{head}/Installed-159-2.0"
    changes = {old: {"@odata.id": old, "Version": "1.1"}, head: {"Members": [{"@odata.id": old}]}}
    with emulator(changes=changes) as bmc, Client(bmc) as client:
        client.update(tmp_path, {"Installed-159-*": "2.0"}, targets=(old,))
        assert over(bmc) == "done"
        client.power("ForceRestart")
        wait(lambda: bmc.versions()["Installed-159-1.1"] == "2.0")
        assert [each["@odata.id"] for each in client.get(head)["Members"]] == [new]
        assert client.get(new)["Version"] == "2.0"


def test_an_image_in_a_form_of_hpes_is_for_all_that_it_holds(tmp_path: Path) -> None:
    images.write(tmp_path / "image.bin", {"PSU_0": "2"})
    with emulator(changes={"/redfish/v1/UpdateService": {"HttpPushUri": "/cgi-bin/uploadFile"}}) as bmc:
        with Client(bmc) as client, (tmp_path / "image.bin").open("rb") as file:
            said, image = {"sessionKey": "x", "parameters": "{}"}, {"file": ("image.bin", file)}
            reply = client.http.post(f"{bmc.url}/cgi-bin/uploadFile", data=said, files=image, timeout=LONGEST)
        assert reply.status_code == 202
        assert over(bmc) == "done"
        assert bmc.versions()["PSU_0"] == "2"


def test_the_oldest_tasks_make_way_for_new_ones(tmp_path: Path) -> None:
    with emulator(habits=BmcBehaviour(most_tasks=3)) as bmc, Client(bmc) as client:
        tasks = []
        for _ in range(5):
            tasks.append(client.update(tmp_path, {"PSU_0": "2"}).json()["@odata.id"])
            over(bmc)
        assert [each["@odata.id"] for each in client.get(bmc.tree.tasks)["Members"]] == tasks[2:]
        assert client.ask("DELETE", tasks[4]).status_code == 204
        assert client.ask("GET", tasks[4]).status_code == 404


@pytest.mark.parametrize(("keeps", "reuses"), [(True, False), (False, False), (False, True)])
def test_tasks_outlive_a_restart_or_begin_anew(tmp_path: Path, *, keeps: bool, reuses: bool) -> None:
    with emulator(habits=BmcBehaviour(keeps_tasks=keeps, reuses_task_ids=reuses)) as bmc, Client(bmc) as client:
        first = client.update(tmp_path, {"PSU_0": "2"}).json()["@odata.id"]
        over(bmc)
        bmc.restart()
        assert client.ask("GET", first).status_code == (200 if keeps else 404)
        second = client.update(tmp_path, {"PSU_0": "3"}).json()["@odata.id"]
        assert (second == first) is reuses


def _answers(client: Client) -> bool:
    try:
        return client.ask("GET", "/redfish/v1/Managers/1").status_code in (200, 401)
    except requests.ConnectionError:
        return False
