"""A check by hand and the sweep that the runner judges say the same of a fabric."""

import json
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters import sitefiles
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.inventory import ansible
from tests.cli.conftest import Type
from tests.core.cabling.discoveries import by_port
from tests.core.checks.catalogue.judging import judged
from tests.fabric.building import Fabric
from tests.fabric.truth import write_site

FABRIC = Fabric(servers=6, rails=2, leaf_servers=3, spines=2, ways=1, radix=16)
LINKS = [link(Port(*a), Port(*b)) for a, b in FABRIC.cables()]
A, B, C = (next(each for each in LINKS if str(each.a) == f"gpu-00{number} mlx5_0") for number in (1, 2, 3))
EXCHANGED = {"leaf-01": "leaf-02", "leaf-02": "leaf-01"}


def renamed(port: Port) -> Port:
    return Port(EXCHANGED.get(port.device, port.device), port.interface)


PLUGGED = {
    "as designed": LINKS,
    "two swapped cables": [*(each for each in LINKS if each not in {A, B}), link(A.a, B.b), link(B.a, A.b)],
    "a missing and an extra cable": [*(each for each in LINKS if each != C), link(C.b, Port("spine-01", "15"))],
    "a dark server": [each for each in LINKS if "gpu-004" not in {each.a.device, each.b.device}],
    "an exchanged leaf": [link(renamed(each.a), renamed(each.b)) for each in LINKS],
    "a stranger": [*LINKS, link(Port("gpu-9", "mlx5_0"), Port("leaf-01", "15"))],
}


def written(site: Path, file: str, changes: dict[str, Any]) -> None:
    """Change rows of a site's file, by a word that stands in them."""
    rows = json.loads((site / file).read_text(encoding="utf-8"))
    for word, changed in changes.items():
        found = [row for row in rows if f'"{word}"' in json.dumps(row)]
        assert found
        for row in found:
            row.update(changed)
    (site / file).write_text(json.dumps(rows), encoding="utf-8")


def swept(site: Path, text: str) -> Result:
    """Judge a capture as a sweep of the site's one fabric does."""
    fleet = sitefiles.load(site)
    (fabric,) = fabrics(fleet)
    device = {"name": fabric.name, "switches": sorted(fabric.switches)}
    expected = Expected(fabric.name, device=device, fabric=ansible.fabric(fleet))
    return judged("fabric_cabling", {"ibnetdiscover": text}, expected)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site with one fabric, which knows no GUIDs."""
    folder = tmp_path / "site"
    write_site(FABRIC, folder)
    devices = json.loads((folder / "devices.yml").read_text(encoding="utf-8"))
    for device in devices:
        for port in device["interfaces"]:
            port.pop("wwn", None)
    (folder / "devices.yml").write_text(json.dumps(devices), encoding="utf-8")
    return folder


@pytest.mark.parametrize("plugged", PLUGGED.values(), ids=PLUGGED)
def test_both_find_the_same_faults_and_count_the_same_links(site: Path, typed: Type, plugged: list[Link]) -> None:
    agree(site, typed, plugged)


@pytest.mark.parametrize("plugged", [PLUGGED["a dark server"], LINKS], ids=["unseen", "seen"])
def test_both_leave_out_what_need_not_be_there_yet(site: Path, typed: Type, plugged: list[Link]) -> None:
    """Of a device that is not in service, or by a cable that is planned, only what is plugged is judged."""
    written(site, "devices.yml", {"gpu-004": {"status": "planned"}})
    err = agree(site, typed, plugged)
    away = "2 of devices that are not in service were not checked"
    assert (away in err) == (plugged is not LINKS)
    written(site, "devices.yml", {"gpu-004": {"status": "active"}})
    written(site, "cables.yml", {"gpu-004": {"status": "planned"}})
    err = agree(site, typed, plugged)
    assert ("2 planned cables are not in place yet" in err) == (plugged is not LINKS)


def agree(site: Path, typed: Type, plugged: list[Link]) -> str:
    """Judge in both ways; return what the command says beside its answer, as text."""
    text = by_port(plugged)
    (site.parent / "fabric.txt").write_text(text, encoding="utf-8")
    words = ("cabling", "check", "--expected", "site", "--observed", "fabric.txt", "--fabric", "infiniband.hall-1")
    said = typed(*words, "--json")
    by_hand = json.loads(said.out)
    sweep = swept(site, text)
    assert {fault["key"] for fault in by_hand["faults"]} == {finding.fault for finding in sweep.findings}
    assert {tuple(fault["steps"]) for fault in by_hand["faults"]} == {finding.steps for finding in sweep.findings}
    assert (by_hand["matched"], by_hand["designed"]) == (sweep.observed["matched"], sweep.observed["designed"])
    assert said.code == (1 if sweep.findings else 0)
    return " ".join(typed(*words).err.split())
