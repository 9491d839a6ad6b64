"""Flashes that went wrong for others, by maker, and what becomes of them here: pins, or a true word why not."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fleet_runner.lab.redfish import Durations
from tests.reconcile.firmware.driver.bench import bench as benched
from tests.reconcile.firmware.driver.test_makers import INVENTORY, LENOVO, ROOT, bluefield, to_dpu_os
from tests.reconcile.firmware.driver.test_vendors import served


class Report(NamedTuple):
    """Where it was reported, the rule that makes it happen, what comes of it, and words of the report then."""

    where: str
    rule: Mapping[str, Any]
    state: str = "done"
    words: str = ""
    sent: int = 1  # images that the BMC took


def once(what: object, **when: Any) -> dict[str, Any]:
    return {"when": {"times": 1, **when}, "what": what}


FETCH = "could not fetch the image. Check and restart server's web service"
UNKNOWN = "Verification of image 'upload_file' at 'Unknown' failed"
ALWAYS_LIE: dict[str, Any] = {"when": {"event": "update"}, "what": "lie"}

BLUEFIELD = [
    Report("dpu-update #92: the BMC restarts amid a bundle", once({"restart": {"at": 60, "survives": True}})),
    Report("dpu-update #3: the file server could not be reached", once({"fail": {"message": FETCH}}), sent=2),
    Report("dpu-update #95: a success that changed nothing", once("lie", event="update"), sent=2),
    Report("dpu-update #95: one that never changes anything", ALWAYS_LIE, "failed", "DPU_OS", 2),
    Report("dpu-update #91: other versions than the bundle's", once({"wrong_version": {"version": "old"}}), sent=2),
    Report("dpu-update: another update is in progress", once("busy")),
    Report("infra-controller #3667: the installation does not end", once({"stuck": {"seconds": 0.2}})),
    Report("dpu-update: host and path alone are fetched", {"what": "bare_address"}),
]

GB200 = {ROOT: {"Vendor": "NVIDIA", "Product": "GB200 NVL"}}
NVIDIA = [
    Report("infra-controller #5030: an older version needs force", {"what": "needs_force"}, "failed", "downgrade", 0),
    Report("infra-controller #1584: the inventory is slow", once({"delay": {"seconds": 0.3}}, uri=f"{INVENTORY}*")),
    Report("fwupd #10803: a task is gone once it is done", once({"lose_task": {"at": 90}})),
    Report("libredfish #39: Targets are refused", {"what": "no_targets"}, "failed", "Targets is invalid", 0),
    Report("ocp-diag-ctam #73: parameters that look like a file", {"what": "plain_parameters"}),
    Report("ocp-diag-ctam #45: ForceUpdate is unknown", {"what": "known_parameters"}),
    Report("infra-controller #5030: the task fails", {"what": {"fail": {"message": "downgrade"}}}, "failed", "", 2),
    Report("nvfwupd: the new version shows late", once({"stale_inventory": {"reads": 2}}, event="update")),
]

XCC = [
    Report("python-redfish-lenovo #195: 503 for a task", once({"answer": {"status": 503}}, uri="*/Tasks/*")),
    Report("confluent: the image cannot be verified", once({"fail": {"message": UNKNOWN}}), sent=2),
    Report("XCC: another push is under way", once("busy")),
    Report("XCC: too large", {"what": "too_large"}, "failed", "answered 413", 0),
    Report("fwupd #6879: the task is deleted amid the update", once({"lose_task": {"at": 50}})),
    Report("fwupd #6954: the transfer failed", once({"fail": {"message": "Transfer of image failed"}}), sent=2),
    Report("fwupd #7593: the update waits long", once({"slow": {"times": 5}})),
    Report("confluent: another bank was written", once("lie", event="update"), sent=2),
]


def played(report: Report, folder: Path, changes: Mapping[str, Any], *, bfb: bool) -> None:
    """Drive one machine with the rule, and compare what came of it with what is expected, and with the machine."""
    pace = Durations.quick()
    with (
        benched(folder, ("PSU",) if not bfb else ("BIOS",), [report.rule], pace=pace, changes=changes) as bench,
        served(folder / "images") as url,
    ):
        if bfb:
            to_dpu_os(bench)
        else:
            row = bench.scene.profile["firmware"]["components"][0]
            row |= {"inventory_id": "PSU_0"}
        [row] = bench.scene.profile["firmware"]["components"]
        found = bench.drive(images_url=url if bfb else "")
        assert found["state"] == report.state, found["message"]
        assert report.words in found["message"]
        assert len(bench.bmc.events("accepted")) == report.sent
        right = bench.bmc.versions()[row["inventory_id"]] == row["target"]
        assert right is (report.state == "done")


@pytest.mark.parametrize("report", BLUEFIELD, ids=lambda report: report.where)
def test_a_bluefields(tmp_path: Path, report: Report) -> None:
    played(report, tmp_path, bluefield(), bfb=True)


@pytest.mark.parametrize("report", NVIDIA, ids=lambda report: report.where)
def test_a_gb200s(tmp_path: Path, report: Report) -> None:
    played(report, tmp_path, GB200, bfb=False)


@pytest.mark.parametrize("report", XCC, ids=lambda report: report.where)
def test_an_xccs(tmp_path: Path, report: Report) -> None:
    played(report, tmp_path, LENOVO, bfb=False)
