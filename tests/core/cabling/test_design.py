"""The designed fabric from its plain form."""

from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.design import designed, guids, infiniband, macs, places, planned
from fleet_runner.core.cabling.links import Port, link

FABRIC: dict[str, Any] = {
    "links": [
        ["leaf-1", "1", "gpu-01", "ib0", "infiniband-ndr", ["trunk T-1", "panel PP-A"]],
        ["gpu-01", "eth0", "mgmt-1", "1", "1000base-t", []],
    ],
    "devices": {
        "gpu-01": {"site": "hall", "rack": "A1", "unit": 4.0, "role": "gpu-server", "guids": {"ib0": "00AB"}},
        "leaf-1": {"site": "hall", "rack": "N1", "unit": None, "role": "leaf", "guids": {}},
        "mgmt-1": {"site": "hall", "rack": None, "unit": None, "role": "management-switch"},
    },
}


def test_only_links_of_the_wanted_kind_are_designed() -> None:
    assert designed(FABRIC, infiniband) == (link(Port("gpu-01", "ib0"), Port("leaf-1", "1")),)
    assert designed(FABRIC, lambda kind: not infiniband(kind)) == (link(Port("gpu-01", "eth0"), Port("mgmt-1", "1")),)
    assert designed({}, infiniband) == ()


def test_the_links_of_planned_cables_are_told_apart() -> None:
    ends = ["leaf-1", "1", "gpu-01", "ib0"]
    assert planned(FABRIC | {"planned": [ends]}) == {link(Port("gpu-01", "ib0"), Port("leaf-1", "1"))}
    assert planned(FABRIC) == frozenset()


@pytest.mark.parametrize(
    "links",
    [
        [["a", "1", "b"]],
        7,
        [7],
        [["a", "1", "b", "c", "infiniband"]],
        [["a", 1, "b", "c", "infiniband", []]],
        [[[], "", "", "", "", []]],
        [["a", "1", "b", "c", "infiniband", "trunk T"]],
        [["a", "1", "b", "c", "infiniband", [1]]],
    ],
)
def test_a_design_of_another_shape_is_refused(links: object) -> None:
    """Rows of five texts and a list of texts; nothing else may look like a design."""
    with pytest.raises(EvidenceError, match="device, port, device, port, type, carriers"):
        designed({"links": links}, infiniband)


def test_places_are_said_as_far_as_they_are_known() -> None:
    found = places(FABRIC)
    assert found.words == {
        "gpu-01": "hall rack A1 U4",
        "leaf-1": "hall rack N1 U unknown",
        "mgmt-1": "hall rack unknown U unknown",
    }
    assert found.racks == {"gpu-01": "hall/A1", "leaf-1": "hall/N1"}
    assert found.servers == {"gpu-01"}
    assert found.carriers == {link(Port("gpu-01", "ib0"), Port("leaf-1", "1")): ("trunk T-1", "panel PP-A")}
    assert found.kinds == {link(Port("gpu-01", "ib0"), Port("leaf-1", "1")): "infiniband-ndr"}
    assert found.port(Port("x", "1")) == "x port 1 (place unknown)"


def test_guids_are_known_in_lower_case() -> None:
    assert guids(FABRIC) == {"00ab": Port("gpu-01", "ib0")}
    assert guids({}) == {}


def test_an_address_binds_only_the_one_port_that_has_it() -> None:
    devices = {
        "gpu-01": {"macs": {"eth0": "02:00:00:00:00:0A", "eth1": "02:00:00:00:00:0b", "eth2": "02:00:00:00:00:0b"}},
        "gpu-02": {},
    }
    assert macs({"devices": devices}) == {"02:00:00:00:00:0a": Port("gpu-01", "eth0")}
    assert macs({}) == {}
