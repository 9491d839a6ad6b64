"""Site files pushed into a NetBox that others hold, and pulled from it: what is there is not written again."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.adapters import netbox, sitefiles
from fleet_runner.core.inventory.records import Fleet
from tests.netbox.live.conftest import Said
from tests.netbox.live.place import Place

Run = Callable[..., Said]
MANY = 500  # devices that are pulled within a test's time


def site(place: Place, folder: Path, guid: str) -> Path:
    """Write a site of our own as files: a node, a leaf, a cable."""
    name = place.prefix
    ports: list[dict[str, Any]] = [{"name": "1", "type": "infiniband-ndr"}, {"name": "2", "type": "infiniband-ndr"}]
    node = {
        "name": f"{name}pushed-1",
        "device_type": f"{name}pushed-server",
        "role": "gpu-server",
        "site": f"{name}pushed",
        "rack": f"{name}P1",
        "position": 1,
        "face": "front",
        "serial": f"{name}S1",
        "interfaces": [{"name": "1", "wwn": guid}],
        "inventory_items": [{"name": "GPU 0", "role": "gpu", "part_id": "H100", "serial": f"{name}G0"}],
        "local_context_data": {"ansible_user": "root"},
    }
    leaf = {
        "name": f"{name}pushed-leaf",
        "device_type": f"{name}pushed-switch",
        "role": "leaf",
        "site": f"{name}pushed",
    }
    a, b = ({"device": each["name"], "interface": "1"} for each in (node, leaf))
    files: dict[str, list[dict[str, Any]]] = {
        "sites": [{"name": f"{name}pushed"}],
        "racks": [{"name": f"{name}P1", "site": f"{name}pushed"}],
        "device_types": [
            {"manufacturer": f"{name}pusher", "model": kind, "slug": kind, "interfaces": ports}
            for kind in (f"{name}pushed-server", f"{name}pushed-switch")
        ],
        "devices": [node, leaf],
        "cables": [{"a": a, "b": b, "label": f"{name}pushed", "type": "mmf-om4", "status": "planned"}],
    }
    folder.mkdir(exist_ok=True)
    for kind, rows in files.items():
        (folder / f"{kind}.yml").write_text(json.dumps(rows), encoding="utf-8")
    return folder


@pytest.fixture
def roles(place: Place, readable: None) -> None:
    """The roles that the site files name: push may make them, and they may be others'."""
    for slug in ("gpu-server", "leaf"):
        place.find_or_make("dcim/device-roles", slug, color="607d8b")
    place.find_or_make("dcim/inventory-item-roles", "gpu", color="4caf50")


def ours(place: Place, fleet: Fleet) -> dict[str, Any]:
    """Return what of a fleet was pushed, without the contexts: a NetBox may have some for every node."""
    pushed = [each for each in fleet.devices.values() if each.site == f"{place.prefix}pushed"]
    devices = {each.name: replace(each, context={}) for each in pushed}
    cables = {
        (each.a, each.b, each.label, each.kind, each.status) for each in fleet.cables if each.a.device in devices
    }
    return {"devices": devices, "cables": cables}


def test_a_site_is_pushed_read_back_and_not_written_again(
    place: Place, roles: None, run: Run, tmp_path: Path
) -> None:
    """With --check nothing is written; then all of it is, as the files say; then there is nothing left."""
    guid = "02:" + ":".join(f"{ord(each):02X}" for each in place.prefix[3:10])
    folder = site(place, tmp_path / "files", guid)
    mark = place.last_change()
    assert run("netbox", "push", str(folder), "--check").code == 1
    assert place.changes_since(mark) == []
    done = run("netbox", "push", str(folder))
    assert done.code == 0, done.words
    there, here = netbox.load(place.url, place.token), sitefiles.load(folder)
    assert ours(place, there) == ours(place, here)
    assert there.devices[f"{place.prefix}pushed-1"].context["ansible_user"] == "root"
    mark = place.last_change()
    again = run("netbox", "push", str(folder))
    assert again.code == 0, again.words
    assert place.changes_since(mark) == []


def test_what_was_pulled_is_read_as_the_netbox_is(place: Place, hall: object, run: Run, tmp_path: Path) -> None:
    """Pulled twice, the files are the same; pushed again, nothing is written."""
    if place.count("dcim/devices") > MANY:
        pytest.skip(f"this NetBox holds over {MANY} devices: pulling all of them takes too long here")
    folder = tmp_path / "pulled"
    said = run("netbox", "pull", str(folder))
    assert said.code == 0, said.words
    there, here = netbox.load(place.url, place.token), sitefiles.load(folder)
    assert here.devices == there.devices
    assert here.racks == there.racks
    before = {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run("netbox", "pull", str(folder)).code == 0
    assert {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    mark = place.last_change()
    pushed = run("netbox", "push", str(folder), "--check")
    assert pushed.code == 0, pushed.words
    assert place.changes_since(mark) == []
