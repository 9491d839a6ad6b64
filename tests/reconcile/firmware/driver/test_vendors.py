"""BMCs of other makings, driven to their pins: what each wants to be told, and how it names what it has."""

import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fleet_runner.adapters.redfish import Bmc
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware import inventory
from fleet_runner.core.firmware.flash import End
from fleet_runner.lab.redfish import BmcBehaviour, Durations, Emulator, Tree, images, load
from fleet_runner.lab.redfish.trees import OUR_OWN
from tests.reconcile.firmware.driver import scenes
from tests.reconcile.firmware.driver.bench import Bench
from tests.reconcile.firmware.driver.bench import bench as benched
from tests.reconcile.firmware.driver.scenes import CREDENTIALS, NODE, Scene

INVENTORY = "/redfish/v1/UpdateService/FirmwareInventory"
AMI = BmcBehaviour(image_types={"BIOS": "BIOS", "*BMC*": "BMC"})


def told(bench: Bench, **oem_parameters: str) -> None:
    """Write into the catalogue what its one row has go with its image."""
    [row] = bench.scene.profile["firmware"]["components"]
    row |= {"transport": "multipart", "oem_parameters": oem_parameters}


def test_an_ami_is_told_the_kind_of_an_image_in_a_part_of_its_own(tmp_path: Path) -> None:
    with benched(tmp_path, ("BIOS",), habits=AMI) as bench:
        told(bench, ImageType="BIOS")
        [step] = bench.drive(check=True)["steps"]
        assert step["requests"][0]["body"]["OemParameters"] == {"ImageType": "BIOS"}
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert bench.bmc.versions()["BIOS"] == bench.scene.pins["BIOS"][0]
        assert len(bench.bmc.events("accepted")) == 1


def test_an_ami_that_is_not_told_or_told_another_kind_takes_nothing_and_its_words_are_in_the_report(
    tmp_path: Path,
) -> None:
    with benched(tmp_path, ("BIOS",), habits=AMI) as bench:
        assert "the part OemParameters is missing" in bench.drive()["message"]
    with benched(tmp_path / "another", ("BIOS",), habits=AMI) as bench:
        told(bench, ImageType="BMC")
        report = bench.drive()
        assert (report["state"], bench.bmc.events("accepted")) == ("failed", [])
        assert "the ImageType is not BIOS" in report["message"]
        with Store.open(bench.store) as store:
            assert {flash.end for flash in store.flashes(NODE)} == {End.NOT_SENT}


FIXED = {f"{INVENTORY}/HGX_FW_GPU_SXM_{number}": {"Updateable": False} for number in (1, 2)}
"""GPUs of a GB200, say: their BMC has them updated with the baseboard alone."""


def brought(bench: Bench, *, along: bool) -> None:
    """Have the baseboard's image bring the GPUs along, or only the catalogue say so."""
    hmc, gpu = bench.scene.profile["firmware"]["components"]
    gpus = {gpu["inventory_id"]: gpu["target"]} if along else {}
    sha256 = images.write(bench.scene.images / "hgx.bin", {"HGX_FW_BMC_0": hmc["target"]}, along=gpus)
    hmc["images"] = {hmc["target"]: {"file": "hgx.bin", "sha256": sha256}}
    gpu["brought_by"] = "HMC"
    del gpu["images"]


def test_what_cannot_be_updated_by_itself_comes_with_the_image_that_brings_it(tmp_path: Path) -> None:
    with benched(tmp_path, ("HMC", "GPU"), changes=FIXED) as bench:
        assert "name that in brought_by" in bench.drive()["message"]
        brought(bench, along=True)
        [step] = bench.drive(check=True)["steps"]
        assert step["targets"] == [f"{INVENTORY}/HGX_FW_BMC_0"]
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        assert len(bench.bmc.events("accepted")) == 1
        assert all(bench.bmc.versions()[entry] == pin for entry, (pin,) in bench.scene.pins.items())


def test_an_image_that_did_not_bring_what_it_should_has_failed_and_is_not_sent_again(tmp_path: Path) -> None:
    """The baseboard is on its pin, so nothing is wrong with that; only the look afterwards tells."""
    with benched(tmp_path, ("HMC", "GPU"), changes=FIXED) as bench:
        brought(bench, along=False)
        report = bench.drive()
        assert report["state"] == "failed"
        assert "HGX_FW_GPU_SXM_1 (GPU) is at 0.9" in report["message"]
        assert "only HMC brings it, of which no image is to be sent" in report["message"]
        assert len(bench.bmc.events("accepted")) == 1
        assert bench.bmc.versions()["HGX_FW_BMC_0"] == bench.scene.pins["HGX_FW_BMC_0"][0]
        with Store.open(bench.store) as store:
            assert [flash.end for flash in store.flashes(NODE)] == [End.FAILED]


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder's files as whoever sets firmware_url does; where."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("way", ["push", "simple"])
def test_a_bmc_that_takes_images_in_no_form_comes_to_its_pins_all_the_same(tmp_path: Path, way: str) -> None:
    """Bare, or fetched by itself; with each reset that its components need, and nothing sent twice."""
    gone = {"MultipartHttpPushUri": None, **({"HttpPushUri": None} if way == "simple" else {})}
    parts = ("BMC", "BIOS", "PSU", "CPLD")
    with (
        benched(tmp_path, parts, changes={"/redfish/v1/UpdateService": gone}) as bench,
        served(tmp_path / "images") as url,
    ):
        report = bench.drive(images_url=url if way == "simple" else "")
        assert report["state"] == "done", report["message"]
        assert all(bench.bmc.versions()[entry] == pin for entry, (pin,) in bench.scene.pins.items())
        begun = [str(event["uri"]) for event in bench.bmc.events("upload_begun")]
        assert len(begun) == len(bench.bmc.events("accepted")) == len(bench.scene.pins)
        assert all(each.startswith("http://") for each in begun) is (way == "simple")


def digest(version: str) -> str:
    """An OpenBMC's id of an image."""
    return hashlib.sha512(version.encode()).hexdigest()[:8]


def openbmc(runs: str, beside: str) -> Tree:
    """The shipped machine with the ids of an OpenBMC, of which one image runs and the one from before stands by."""
    shipped = load(OUR_OWN)
    like = {**shipped.get(f"{INVENTORY}/BMC"), "RelatedItem": [{"@odata.id": "/redfish/v1/Managers/bmc"}]}
    made = {}
    for version, state in ((runs, "Enabled"), (beside, "StandbySpare")):
        uri = f"{INVENTORY}/{digest(version)}"
        mine = {"@odata.id": uri, "Id": digest(version), "Version": version, "Status": {"State": state}}
        made[uri] = {**like, **mine}
    members = [each for each in shipped.get(INVENTORY)["Members"] if each["@odata.id"] != f"{INVENTORY}/BMC"]
    listed = {"Members": [*members, *({"@odata.id": uri} for uri in made)]}
    return shipped.changed({f"{INVENTORY}/BMC": None, INVENTORY: listed, **made})


def test_an_openbmcs_new_image_has_another_id_and_the_one_from_before_is_no_drift(tmp_path: Path) -> None:
    """The flash is followed by the id that stays; both entries have changed their names by its end."""
    tree, entry = openbmc("1.05.02", "1.04.00"), digest("1.05.02")
    (tmp_path / "images").mkdir()
    sha256 = images.write(tmp_path / "images" / "bmc.bin", {entry: "1.06.00"})
    row = {
        "component": "BMC",
        "inventory_id": "bmc",
        "target": "1.06.00",
        "images": {"1.06.00": {"file": "bmc.bin", "sha256": sha256}},
        "seconds": 1,
    }
    scene = Scene({"firmware": {"components": [row]}}, tmp_path / "images", {}, {})
    habits = BmcBehaviour(activation={entry: "self"})
    with Emulator(tree, credentials=CREDENTIALS, pace=Durations.quick(), habits=habits) as bmc:
        bench = Bench(bmc, scene, scenes.store_in(tmp_path, tmp_path))
        [step] = bench.drive(check=True)["steps"]
        assert (step["versions"], step["targets"]) == ({"bmc": ["1.05.02", "1.06.00"]}, [f"{INVENTORY}/{entry}"])
        report = bench.drive()
        assert report["state"] == "done", report["message"]
        with Bmc(bmc.url, *CREDENTIALS) as seen:
            found = inventory.entries(Updates(seen).inventory())
        assert {found[name].segment for name in ("bmc", entry)} == {digest("1.06.00"), entry}
        assert (found["bmc"].version, found[entry].version, found[entry].spare) == ("1.06.00", "1.05.02", True)
        assert bench.drive()["state"] == "done"
        assert len(bmc.events("accepted")) == 1
