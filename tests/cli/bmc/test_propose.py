"""fleet-runner profile propose: its file lies where others do, and what reads profiles reads it."""

import gzip
import json
from pathlib import Path

import pytest
import yaml

from fleet_runner.adapters.files import catalogues
from fleet_runner.cli.base.session import Exit
from fleet_runner.core.checks.catalogue import firmware_pins
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Verdict
from tests.adapters.redfish.replay import PASSWORD, USER, replayed
from tests.adapters.redfish.test_survey import INVENTORY, SYSTEM, captured
from tests.cli.bmc.test_look_command import SAMPLES
from tests.cli.conftest import Type


def test_the_proposal_of_a_bmc_passes_firmware_check(
    typed: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLEET_BMC_USERNAME", USER)
    monkeypatch.setenv("FLEET_BMC_PASSWORD", PASSWORD)
    with replayed(captured()) as server:
        said = typed("profile", "propose", server.url)
    assert (said.code, said.err) == (Exit.OK, "")
    assert {verb for verb, uri, _, _ in server.asked if "/Sessions" not in uri} == {"GET"}
    file = tmp_path / "inventory" / "group_vars" / "device_type_sys_821ge_tnhr.yml"
    assert f"inventory/group_vars/{file.name};" in said.out
    file.parent.mkdir(parents=True)
    file.write_text(said.out)
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory" / "fleet.yml"))
    checked = typed("firmware", "check")
    assert (checked.code, checked.out) == (Exit.OK, "1 device type, 0 images: nothing is wrong\n")


def test_what_could_not_be_read_is_a_warning_and_nodes_are_compared(typed: Type, tmp_path: Path) -> None:
    one, other = captured(), captured()
    other[SYSTEM]["SerialNumber"] = "S2"
    other[f"{INVENTORY}/BMC"]["Version"] = "12"
    other[f"{INVENTORY}/BIOS"] = None
    for name, tree in (("a", one), ("b", other)):
        (tmp_path / f"{name}.json").write_text(json.dumps(tree))
    said = typed("profile", "propose", "a.json", "b.json")
    assert said.err.startswith(f"warning: b.json: not read: {INVENTORY}/BIOS: it could not be read when")
    assert "# firmware BMC is not pinned: 11.01.01 on S900000X0000001; 12 on S2" in said.out


def test_nodes_of_two_models_and_an_inventory_that_contradicts_itself_are_unusable(
    typed: Type, tmp_path: Path
) -> None:
    one, other = captured(), captured()
    other[SYSTEM]["Model"] = "X"
    twice = captured()
    names = ("Installed-0-1__BIOS.1", "Installed-0-2__BIOS.1")
    twice[INVENTORY]["Members"] = [{"@odata.id": f"{INVENTORY}/{name}"} for name in names]
    twice.update({f"{INVENTORY}/{name}": {"Version": "1"} for name in names})
    for name, tree in (("a", one), ("b", other), ("c", twice)):
        (tmp_path / f"{name}.json").write_text(json.dumps(tree))
    models, inventory = typed("profile", "propose", "a.json", "b.json"), typed("profile", "propose", "c.json")
    assert (models.code, inventory.code) == (Exit.USAGE, Exit.USAGE)
    assert "these are of 2 models" in models.err
    assert inventory.err.startswith("error: c.json: the BMC's firmware inventory has")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_real_bmc_has_the_firmware_that_is_proposed_from_it(
    samples: Path, typed: Type, tmp_path: Path, name: str
) -> None:
    path = samples / "redfish" / f"{name}.json.gz"
    file = tmp_path / "device_type_x.yml"
    file.write_text(typed("profile", "propose", str(path)).out)
    assert catalogues.check_file(file) == []
    profile = yaml.safe_load(file.read_text())["fleet_profile"]
    tree = json.loads(gzip.decompress(path.read_bytes()))
    entries = {uri: body for uri, body in tree.items() if uri.startswith(f"{INVENTORY}/") and "Version" in body}
    readings = {"redfish_firmware": Reading("redfish_firmware", ReadEnd.OK, json.dumps(entries))}
    assert firmware_pins.judge(readings, Expected("node", profile)).verdict is Verdict.PASS
