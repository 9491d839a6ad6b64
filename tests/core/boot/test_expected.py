"""Who is expected to boot: what the source of truth and the BMC know."""

from typing import Any

import pytest

from fleet_runner.core.boot.boots import Identity
from fleet_runner.core.boot.expected import expected, nobody

UUID = "4C4C4544-0051-3410-8057-B4C04F4E3233"
DEVICE: dict[str, Any] = {
    "serial": "S123",
    "primary_address": "10.0.0.9/24",
    "interfaces": [
        {"name": "eth0", "kind": "1000base-t", "mac": "b8:3f:d2:00:00:01"},
        {"name": "eth1", "kind": "100gbase-x-qsfp28", "mac": "B8:3F:D2:00:00:02"},
        {"name": "eth2", "kind": "1000base-t", "mac": None},
        {"name": "ib0", "kind": "infiniband-ndr", "mac": "b8:3f:d2:00:00:03"},
        {"name": "odd", "kind": "other", "mac": "not a mac"},
        {"name": "bmc", "kind": "1000base-t", "mac": "b8:3f:d2:00:00:04", "mgmt_only": True},
    ],
}


def test_a_node_is_known_by_its_ethernet_its_serial_its_uuid_and_its_address() -> None:
    """Not by its BMC, which asks for leases and boots nothing."""
    found = expected(DEVICE, {"SerialNumber": "S999", "UUID": UUID})
    macs = frozenset({"b8:3f:d2:00:00:01", "b8:3f:d2:00:00:02"})
    assert found == Identity(macs, "S123", UUID.lower(), frozenset({"10.0.0.9"}))


@pytest.mark.parametrize(("ours", "theirs", "serial"), [
    (None, "S999", "S999"), ("To be filled by O.E.M.", " S999 ", "S999"), ("", "Default string", ""),
])  # fmt: skip
def test_the_bmcs_serial_number_counts_where_the_source_has_none(ours: str | None, theirs: str, serial: str) -> None:
    assert expected(DEVICE | {"serial": ours}, {"SerialNumber": theirs}).serial == serial


@pytest.mark.parametrize("told", [{}, {"UUID": None, "SerialNumber": None}, {"UUID": "x", "SerialNumber": 0}])
def test_without_anything_to_tell_it_by_a_node_is_nobody(told: dict[str, Any]) -> None:
    """An address alone is given to whoever asks for it."""
    assert nobody(expected({"primary_address": "10.0.0.9/24", "interfaces": None}, told))
    assert not nobody(expected(DEVICE, told))


def test_an_address_is_expected_as_a_machine_that_asks_from_it_shows_it() -> None:
    assert expected({**DEVICE, "primary_address": "2001:DB8:0::5/64"}, {}).addresses == {"2001:db8::5"}
