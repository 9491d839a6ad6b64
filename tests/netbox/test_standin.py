"""The stand-in does what NetBox 4.7 was seen to do; tests/netbox/test_exchanges.py holds it against recordings."""

import json
import urllib.error
import urllib.request
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings

from fleet_runner.adapters import netbox
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Part, Rack, Termination
from tests.fleets import fleets
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin, serving

PORTS = (
    Interface("ib0", "infiniband-ndr", guid="0002c90300a1b2c3"),
    Interface("mgmt", "1000base-t", "02:00:00:00:00:01"),
)
TYPE = DeviceType("hgx", "Maker", "HGX", 8.0, (Interface("ib0", "infiniband-ndr"),))
NODE = Device(
    "gpu-1", "hgx", "gpu-server", "hall", "A1", 1.0, serial="S1", oob_address="192.0.2.7",
    primary_address="192.0.2.8", tenant="Acme", interfaces=PORTS, context={"a": {"b": 1}}, face="front",
    parts=(Part("GPU 1", "gpu", "H100", "G1"), Part("HCA 1", "hca", "CX7", "C1")),
)  # fmt: skip
LEAF = Device("leaf-1", "hgx", "leaf", "hall", interfaces=(Interface("ib0", "infiniband-ndr"),))
FLEET = Fleet(
    sites=("hall",),
    racks={"hall/A1": Rack("A1", "hall", 20, location="Row A")},
    device_types={"hgx": TYPE},
    devices={"gpu-1": NODE, "leaf-1": LEAF},
    cables=(Cable(Termination("gpu-1", "ib0"), Termination("leaf-1", "ib0"), "C1", "mmf", status="planned", id=1),),
)


def ask(standin: Standin, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Ask the stand-in as any client would."""
    data = None if body is None else json.dumps(body).encode()
    told = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json", **headers}
    request = urllib.request.Request(f"{standin.url}/api/{path}", data, told, method=method)  # noqa: S310  loopback
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310  the address is the stand-in's
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def test_a_fleet_that_is_put_into_it_is_read_back(standin: Standin) -> None:
    put(standin, FLEET)
    found = netbox.load(standin.url, TOKEN)
    assert found.devices == FLEET.devices
    assert (found.racks, found.device_types, found.cables) == (FLEET.racks, FLEET.device_types, FLEET.cables)


def test_each_change_is_noted_with_who_and_what_was_before(standin: Standin) -> None:
    put(standin, FLEET)
    standin.edit("dcim/devices", 1, by="maria", custom_fields={"fleet_wish": "hold"})
    last = standin.rows("core/object-changes")[-1]
    assert (last["user_name"], last["action"]["value"], last["changed_object_id"]) == ("maria", "update", 1)
    assert last["prechange_data"]["custom_fields"].get("fleet_wish") is None
    assert last["postchange_data"]["custom_fields"]["fleet_wish"] == "hold"


def test_a_bulk_change_is_all_or_nothing(standin: Standin) -> None:
    put(standin, FLEET)
    rows = [{"id": 1, "serial": "X", "changelog_message": "why"}]
    for wrong in ({"id": 2, "status": "nonsense"}, {"id": 99, "serial": "Y"}, {"id": 1, "serial": "Z"}):
        status, said = ask(standin, "PATCH", "dcim/devices/", [*rows, wrong])
        assert (status, [each["id"] for each in said["errors"]]) == (400, [wrong["id"]])
    assert standin.row("dcim/devices", id=1)["serial"] == "S1"
    assert ask(standin, "PATCH", "dcim/devices/?fields=id,serial", rows) == (200, [{"id": 1, "serial": "X"}])
    assert standin.rows("core/object-changes")[-1]["message"] == "why"


def test_a_stale_entity_tag_keeps_all_rows_from_being_changed(standin: Standin) -> None:
    put(standin, FLEET)
    body = [{"id": 1, "status": "connected"}]
    assert ask(standin, "PATCH", "dcim/cables/", body, **{"If-Match": 'W/"2020-01-01T00:00:00+00:00"'})[0] == 412
    assert standin.row("dcim/cables", id=1)["status"]["value"] == "planned"


def test_what_netbox_would_not_know_is_named(standin: Standin) -> None:
    put(standin, FLEET)
    ask(standin, "GET", "dcim/devices/?naem=gpu-1")
    ask(standin, "PATCH", "dcim/devices/1/", {"seriel": "X"})
    assert [one.rpartition(": ")[2] for one in standin.problems()] == [
        "no parameter naem",
        "no field seriel in what it takes",
    ]
    standin.known.append("no ")


def test_a_token_may_do_what_its_user_may(standin: Standin) -> None:
    put(standin, FLEET)
    may = {"dcim.device": (("view",), {"name": "leaf-1"})}
    for version, word in ((1, "Token"), (2, "Bearer")):
        token = standin.token_of(f"user {version}", may, version)
        told = {"Authorization": f"{word} {token}"}
        assert [row["name"] for row in ask(standin, "GET", "dcim/devices/", **told)[1]["results"]] == ["leaf-1"]
        assert ask(standin, "PATCH", "dcim/devices/", [{"id": 2, "serial": "X"}], **told)[0] == 403
        assert ask(standin, "GET", "dcim/sites/", **told)[0] == 403
    assert ask(standin, "GET", "dcim/sites/", Authorization="Token wrong")[0] == 403


def test_an_export_template_is_rendered_over_the_rows_that_are_asked_for(standin: Standin) -> None:
    put(standin, FLEET)
    code = "{% for d in queryset %}{{ d.name }} {{ d.site.name }} {{ d.cf.fleet_management }};{% endfor %}"
    standin.add("extras/export-templates", name="mine", object_types=["dcim.device"], template_code=code)
    url = f"{standin.url}/api/dcim/devices/?export=mine&id=1"
    request = urllib.request.Request(url, headers={"Authorization": f"Token {TOKEN}"})  # noqa: S310  loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310  the address is the stand-in's
        assert answer.read() == b"gpu-1 hall full;"
    assert ask(standin, "GET", "dcim/devices/?export=other")[0] == 404


def test_a_used_interface_cannot_be_cabled_again(standin: Standin) -> None:
    put(standin, FLEET)
    end = {"object_type": "dcim.interface", "object_id": 1}
    other = {"object_type": "dcim.interface", "object_id": 2}
    status, said = ask(standin, "POST", "dcim/cables/", {"a_terminations": [end], "b_terminations": [other]})
    assert status == 400
    assert "Duplicate termination found" in str(said)
    assert ask(standin, "POST", "dcim/cables/", {"a_terminations": [other]})[0] == 400


@pytest.mark.parametrize("how", [{"status": 503}, {"dropped": True}, {"lost": True}])
def test_what_goes_wrong_once_is_tried_again(standin: Standin, how: dict[str, Any]) -> None:
    put(standin, FLEET)
    standin.fail(r"^GET /api/dcim/devices/", **how)
    assert len(netbox.load(standin.url, TOKEN, netbox.Timeouts(2, 5, 2, 0.01)).devices) == 2


@given(fleet=fleets())
@settings(max_examples=15, deadline=None)
def test_any_fleet_that_a_netbox_can_hold_is_read_back(fleet: Fleet) -> None:
    with serving() as standin:
        put(standin, fleet)
        found = netbox.load(standin.url, TOKEN)
        assert standin.problems() == []
    cables = tuple(replace(cable, id=None) for cable in found.cables)
    assert replace(found, revision="", cables=cables) == fleet
