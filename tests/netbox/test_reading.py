"""A NetBox is read by export templates or through its serializers, and comes out the same."""

import json
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import client
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.netbox.exports import merged
from fleet_runner.adapters.netbox.lists import Lists, everything
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Part, Rack, Termination
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin, serving

QUICK = netbox.Timeouts(connect_seconds=30, read_seconds=60, retries=0)
AWKWARD = """it's "so"\n</script>\\ {{ 1 }} &\u2028é中"""
PORTS = (Interface("ib0", "infiniband-ndr", guid="0002c90300a1b2c3"), Interface(AWKWARD, "1000base-t"))
NODE = Device(
    "gpu-1", "hgx", "gpu-server", AWKWARD, AWKWARD, 1.0, serial=AWKWARD, oob_address="192.0.2.7",
    primary_address="192.0.2.8", tenant=AWKWARD, interfaces=PORTS, context={AWKWARD: {"b": [AWKWARD, 1, None]}},
    face="front", parts=(Part("GPU 1", "gpu", AWKWARD, "G1"), Part(AWKWARD, "hca", "CX7", AWKWARD)),
)  # fmt: skip
LEAF = Device(AWKWARD, "hgx", "leaf", AWKWARD, interfaces=(Interface("ib0", "infiniband-ndr"),))
FLEET = Fleet(
    sites=(AWKWARD,),
    racks={f"{AWKWARD}/{AWKWARD}": Rack(AWKWARD, AWKWARD, 20, location=AWKWARD)},
    device_types={"hgx": DeviceType("hgx", AWKWARD, AWKWARD, 8.5, (Interface("ib0", "infiniband-ndr"),))},
    devices={"gpu-1": NODE, AWKWARD: LEAF},
    cables=(Cable(Termination("gpu-1", "ib0"), Termination(AWKWARD, "ib0"), AWKWARD, "mmf", id=1),),
)


def install(standin: Standin, **changed: str) -> None:
    """Put the export templates into a stand-in, some of them with another code."""
    for object_type, template in netbox.TEMPLATES.items():
        code = changed.get(object_type.partition(".")[2], template.code)
        given = {"name": template.name, "object_types": [object_type], "template_code": code}
        standin.add("extras/export-templates", **given, mime_type="application/json", as_attachment=False)


def test_templates_and_serializers_give_the_same_rows_whatever_names_hold(standin: Standin) -> None:
    put(standin, FLEET)
    install(standin)
    with Client(standin.url, TOKEN, QUICK) as session:
        rendered, serialized = everything(Lists(session)), everything(Lists(session, templates=False))
    assert rendered == serialized
    found = netbox.load(standin.url, TOKEN, QUICK)
    assert replace(found, revision="") == FLEET


def test_each_list_is_one_request_where_the_templates_are(standin: Standin) -> None:
    put(standin, FLEET)
    install(standin)
    found = netbox.snapshot(standin.url, TOKEN, QUICK)
    assert found.requests == 8
    assert all("export=fleet-runner" in asked for asked in standin.asked)


@pytest.mark.parametrize("code", ['{"fleet-runner": "old", "columns": [[1]]}', "[1]", "{}"])
def test_a_template_that_is_another_is_read_past_and_told(standin: Standin, code: str) -> None:
    put(standin, FLEET)
    install(standin, device=code)
    found = netbox.load(standin.url, TOKEN, QUICK)
    assert found.devices == FLEET.devices
    [note] = found.notes
    assert "its export templates of dcim/devices are of another version; run `fleet-runner netbox init`" in note


@pytest.mark.parametrize(
    ("path", "column", "cell"),
    [("sites", 0, [1]), ("sites", 1, None), ("devices", 2, {}), ("devices", 26, ["x"]), ("cables", 7, "1")],
)
def test_a_template_that_somebody_edited_is_read_past_and_told(
    standin: Standin, path: str, column: int, cell: object
) -> None:
    """It still says our version, and what it gives would end the runner."""
    put(standin, FLEET)
    install(standin)

    def edited(answer: Any) -> Any:
        if f"dcim/{path}/?export" not in standin.asked[-1]:
            return answer
        found = json.loads(answer)
        found["columns"][column] = [cell] * len(found["columns"][0])
        return json.dumps(found)

    standin.change = edited
    found = netbox.load(standin.url, TOKEN, QUICK)
    assert found.devices == FLEET.devices
    assert f"its export templates of dcim/{path} are of another version" in found.notes[0]


@pytest.mark.parametrize(
    ("status", "kind", "notes"), [(500, "application/json", 1), (404, "text/html", 0), (200, "text/csv", 1)]
)
def test_a_template_that_fails_or_gives_no_json_is_read_past(
    standin: Standin, status: int, kind: str, notes: int
) -> None:
    """And told, since NetBox pays for it each time; where there is none, nobody ran `netbox init`."""
    put(standin, FLEET)
    install(standin)
    standin.fail("dcim/racks.*export=", status=status, kind=kind, body=b"name,site")
    found = netbox.load(standin.url, TOKEN, QUICK)
    assert found.racks == FLEET.racks
    assert len([note for note in found.notes if "export templates of dcim/racks are of" in note]) == notes


def test_no_row_is_lost_between_pages(standin: Standin, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is deleted and another made while a list is read: it is as long, and a row slips to the page before."""
    monkeypatch.setattr(client, "PAGE", 3)
    sites = [standin.add("dcim/sites", name=f"hall {number}", slug=f"hall-{number}") for number in range(8)]

    def somebody(answer: Any) -> Any:
        if len(standin.rows("dcim/sites", id=1)) and standin.asked[-1].endswith(("offset=3", "offset=2")):
            standin.remove("dcim/sites", 1)
            standin.add("dcim/sites", name="hall 8", slug="hall-8")
        return answer

    standin.change = somebody
    with Client(standin.url, TOKEN, QUICK) as session:
        found = [row["id"] for row in session.rows("dcim/sites", "id,name")]
    assert sorted(found) == [*sites[1:], 9]


def test_config_contexts_are_merged_as_netbox_does() -> None:
    """What is in a mapping is merged, an empty one or anything else replaces what was there."""
    one, other = {"a": {"b": 1, "c": {"d": 1}}, "e": {"f": 1}, "g": [1]}, {"a": {"c": {"x": 2}}, "e": {}, "g": [2]}
    assert merged([one, None, other]) == {"a": {"b": 1, "c": {"d": 1, "x": 2}}, "e": {}, "g": [2]}


def test_a_netbox_that_is_too_old_is_refused() -> None:
    refused = pytest.raises(SourceError, match=r"found NetBox '4\.1', expected 4\.2 or newer; upgrade it")
    with serving(version="4.1.11") as standin, refused:
        netbox.load(standin.url, TOKEN, QUICK)


@pytest.mark.parametrize("installed", [True, False])
def test_interfaces_of_a_virtual_chassis_are_its_masters(standin: Standin, *, installed: bool) -> None:
    """All but management ports and names that two members use; so are the cables that end there."""
    two = tuple(Interface(name, "1000base-t") for name in ("Eth1/1", "same"))
    other = (Interface("Eth2/1", "1000base-t"), Interface("mgmt0", "1000base-t", mgmt_only=True), two[1])
    master, member = (Device(name, "hgx", "leaf", "hall", interfaces=two) for name in ("sw-1", "sw-2"))
    cable = Cable(Termination("gpu-1", "ib0"), Termination("sw-2", "Eth2/1"))
    devices = {
        "gpu-1": Device("gpu-1", "hgx", "gpu-server", "hall", interfaces=PORTS[:1]),
        "sw-1": master,
        "sw-2": replace(member, interfaces=other),
    }
    types = {"hgx": DeviceType("hgx", "Maker", "HGX", 1.0)}
    put(standin, Fleet(("hall",), {}, types, devices, (cable,)))
    if installed:
        install(standin)
    first, second = (standin.row("dcim/devices", name=name)["id"] for name in ("sw-1", "sw-2"))
    chassis = standin.add("dcim/virtual-chassis", name="sw")
    for at, number in enumerate((first, second), 1):
        standin.edit("dcim/devices", number, virtual_chassis=chassis, vc_position=at)
    standin.edit("dcim/virtual-chassis", chassis, master=first)
    found = netbox.load(standin.url, TOKEN, QUICK)
    assert [each.name for each in found.devices["sw-1"].interfaces] == ["Eth1/1", "Eth2/1", "same"]
    assert [each.name for each in found.devices["sw-2"].interfaces] == ["mgmt0", "same"]
    assert [str(each.b) for each in found.cables] == ["sw-1 Eth2/1"]
