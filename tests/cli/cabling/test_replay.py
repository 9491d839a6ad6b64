"""fleet-runner replay over what rests on the designed cables: held against those of today, as far as they fit."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
import yaml

from fleet_runner.adapters.source import read
from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import run
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.records import nodes
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.settings import load
from tests.cli.conftest import Type
from tests.core.cabling.discoveries import by_port
from tests.core.cabling.fabrics import rails

FABRIC = "infiniband.hall-1.leaf-1"
SEEN = by_port([each for each in rails(2, 2)[:4] if each.b.device == "leaf-1"])


@pytest.fixture
def store(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, typed: Type) -> Iterator[Store]:
    """The documents' small site, and one sweep of its first fabric as the check really answers it."""
    copytree(project / "docs" / "examples" / "site", tmp_path / "site")
    devices = tmp_path / "site" / "devices.yml"
    devices.write_text(re.sub(r', wwn: "[0-9a-f:]+"', "", devices.read_text(encoding="utf-8")), encoding="utf-8")
    monkeypatch.setenv("FLEET_INVENTORY", str(tmp_path / "inventory" / "fleet.yml"))
    settings = load()
    settings.state_dir.mkdir()
    fleet = read(settings)
    for kind in {each.device_type for each in nodes(fleet)}:
        file = tmp_path / "inventory" / "group_vars" / f"{ansible.group_name('device_type', kind)}.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump({"fleet_profile": {"limits": {"hours": 1}}}), encoding="utf-8")
    with Store.create(settings.store_url) as made:
        made.register([*nodes(fleet), *(fabric.record for fabric in fabrics(fleet))], time.time())
        reading = Reading("ibnetdiscover", ReadEnd.OK, SEEN)
        device = ansible.fabric_hostvars(fleet)[FABRIC]["fleet_device"]
        expected = Expected(FABRIC, {}, device, json.loads(json.dumps(ansible.fabric(fleet))))
        result = run(CHECKS["fabric_cabling"], {"ibnetdiscover": reading}, expected)
        assert result.verdict is Verdict.PASS, result.message
        now = time.time()
        lines = [Evidence(FABRIC, now, "ibnetdiscover", reading.hash, SEEN), Judged(FABRIC, now, result)]
        made.record_by_hand(Stage.FABRIC, "ada", lines, now)
        yield made


@pytest.fixture
def change(tmp_path: Path) -> str:
    """A changed limit that no cable rests on."""
    file = tmp_path / "limits.yml"
    file.write_text("limits: {hours: 2}", encoding="utf-8")
    return str(file)


def test_a_sweep_is_judged_again_with_the_design_of_today(store: Store, typed: Type, change: str) -> None:
    """A limit that it does not rest on changes nothing about it."""
    told = json.loads(typed("replay", "--with", change, "--node", FABRIC, "--json").out)
    assert told == {"reproduced": 1, "left_out": {}, "changes": []}


def test_a_sweep_that_the_design_of_today_contradicts_is_left_out(
    store: Store, typed: Type, change: str, tmp_path: Path
) -> None:
    """Whether a limit or a cable changed the answer could not be told apart."""
    cables = tmp_path / "site" / "cables.yml"
    told = cables.read_text(encoding="utf-8")
    swapped = told.replace("gpu-01", "gpu-00").replace("gpu-02", "gpu-01").replace("gpu-00", "gpu-02")
    assert swapped != told
    cables.write_text(swapped, encoding="utf-8")
    said = typed("replay", "--with", change)
    assert said.code == 0, said.err
    assert "with those of today it is not judged as it was then fabric_cabling 1" in said.words


def test_without_the_source_of_truth_what_rests_on_cables_is_left_out(
    store: Store, typed: Type, change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And that is said of each check."""
    monkeypatch.setenv("FLEET_SOURCE", "nowhere")
    said = typed("replay", "--with", change)
    assert "without designed cables" in said.err
    assert "the source of truth cannot be read now fabric_cabling 1" in said.words
