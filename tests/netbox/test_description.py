"""Requests are held against what NetBox describes of itself."""

import pytest

from tests.netbox import description
from tests.netbox.description import models, problems


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "said"),
    [
        ("GET", "dcim/devices", {"name": ["gpu-1"], "fields": ["id,name"], "cf_fleet_wish": ["hold"]}, None, []),
        ("GET", "dcim/devices", {"naem": ["gpu-1"]}, None, ["no parameter naem"]),
        ("GET", "dcim/devices", {"fields": ["id,nmae"]}, None, ["fields= names nmae, which is not shown"]),
        ("GET", "dcim/nonsense", {}, None, ["no such path in tests/netbox/openapi.json"]),
        ("GET", "dcim/devices/7", {"fields": ["id"]}, None, []),
        ("PATCH", "dcim/devices", {}, [{"id": 1, "serial": "S", "changelog_message": "why"}], []),
        ("PATCH", "dcim/devices", {"fields": ["id,serial"]}, [{"id": 1}, {"seriel": "S"}], ["no field seriel"]),
        ("PATCH", "dcim/devices/7", {"limit": ["5"]}, {"serial": "S"}, ["no parameter limit"]),
        ("POST", "core/object-changes", {}, {"message": "no"}, ["no such method"]),
        ("DELETE", "dcim/devices", {}, [{"id": 1, "serial": "S"}], ["no field serial"]),
    ],
)
def test_what_netbox_would_not_know_is_named(
    method: str, path: str, query: dict[str, list[str]], body: object, said: list[str]
) -> None:
    found = problems(method, path, query, body)
    assert len(found) == len(said)
    assert all(one in each for one, each in zip(said, found, strict=True))


def test_every_list_has_an_object_type_of_its_own() -> None:
    assert len(description.by_object_type()) == len(models())
    assert models()["dcim/virtual-chassis"].object_type == "dcim.virtualchassis"
    assert models()["ipam/ip-addresses"].object_type == "ipam.ipaddress"
    assert models()["extras/journal-entries"].words == "journal entry"
    assert models()["dcim/mac-addresses"].words == "MAC address"
