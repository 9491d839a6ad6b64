"""An emulated iLO: its UpdateService tells of updates, and no task does."""

from pathlib import Path

from fleet_runner.lab.redfish.trees import ROOT
from tests.lab.redfish.talking import Client, emulator, over, wait
from tests.reconcile.firmware.driver import hpe

SERVICE, TASKS = f"{ROOT}/UpdateService", f"{ROOT}/TaskService/Tasks"


def test_the_service_says_how_an_update_goes_and_the_rom_waits_for_a_start(tmp_path: Path) -> None:
    tree = hpe.tree().changed({SERVICE: {"MultipartHttpPushUri": f"{SERVICE}/upload"}})
    rules = [
        {"when": {"event": "update", "nth": 1}, "what": {"stuck": {"at": 40, "seconds": 0.3}}},
        {"when": {"event": "update", "nth": 2}, "what": {"fail": {"message": "InvalidSignature"}}},
    ]
    with emulator(tree, rules=rules) as bmc, Client(bmc) as client:
        assert client.get(SERVICE)["Oem"]["Hpe"]["State"] == "Idle"
        reply = client.update(tmp_path, {"2": "A42 v3.00"})
        assert (reply.status_code, reply.headers.get("Location")) == (200, None)
        said = wait(lambda: bmc.events("update_begun") and client.get(SERVICE)["Oem"]["Hpe"])
        assert (said["State"], said["FlashProgressPercent"] <= 40) == ("Updating", True)
        assert client.get(TASKS)["Members"] == []
        assert over(bmc) == "done"
        assert client.get(SERVICE)["Oem"]["Hpe"]["State"] == "Complete"
        assert (bmc.pending(), bmc.versions()["2"]) == ({"2": "A42 v3.00"}, hpe.HAS["2"][1])
        bmc.start_host()
        assert wait(lambda: bmc.versions()["2"] == "A42 v3.00")
        assert client.update(tmp_path, {"1": "3.00"}).status_code == 200
        assert over(bmc) == "failed"
        assert client.get(SERVICE)["Oem"]["Hpe"]["Result"]["MessageId"] == "iLO.2.14.InvalidSignature"
        assert bmc.events("bmc_reset") == []
