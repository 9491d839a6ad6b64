"""BMCs of other makings, driven to their pins: what each wants to be told, and how it names what it has."""

from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.core.firmware.flash import End
from fleet_runner.lab.redfish import Habits
from tests.firmware.bench import Bench
from tests.firmware.bench import bench as benched
from tests.firmware.scenes import NODE

AMI = Habits(image_types={"BIOS": "BIOS", "*BMC*": "BMC"})


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
