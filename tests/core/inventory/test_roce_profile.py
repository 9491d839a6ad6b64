"""What a device type's profile wants of its RoCE ports."""

from typing import Any

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.reads import roce_interfaces
from fleet_runner.core.inventory.roce import interfaces, roce

WHOLE: dict[str, Any] = {
    "interfaces": {"mlx5_2": "eth1"},
    "mtu": 9000,
    "pfc": [3],
    "trust": "DSCP",
    "dscp": {26: 3, "48": 6},
    "ecn": [4, 3, 3],
    "fec": "RS",
}


def test_a_whole_section_is_read() -> None:
    found = roce({"roce": WHOLE})
    assert (found.interfaces, found.mtu, found.pfc, found.trust) == ({"mlx5_2": "eth1"}, 9000, frozenset({3}), "dscp")
    assert (found.dscp, found.ecn, found.fec) == ({26: 3, 48: 6}, (3, 4), ("rs",))


def test_an_empty_section_asks_for_nothing_and_takes_the_adapters_of_the_profile() -> None:
    found = roce({"roce": {}, "hca_interfaces": {"mlx5_0": "eth0"}})
    assert (found.interfaces, found.mtu, found.pfc, found.trust) == ({"mlx5_0": "eth0"}, None, None, "")
    assert (found.dscp, found.ecn, found.fec) == ({}, (), ())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("interfaces", ["eth1"]),
        ("interfaces", {"mlx5_0": ""}),
        ("mtu", "jumbo"),
        ("pfc", 3),
        ("pfc", [8]),
        ("pfc", [True]),
        ("ecn", ["3"]),
        ("trust", 5),
        ("dscp", [26]),
        ("dscp", {"AF31": 3}),
        ("dscp", {64: 3}),
        ("dscp", {26: 8}),
        ("fec", {}),
    ],
)
def test_a_value_that_cannot_be_read_is_named(name: str, value: object) -> None:
    """The reads ask nobody then, and the check says why."""
    with pytest.raises(EvidenceError, match=rf"fleet_profile\.roce\.{name}: found .*expected .*inventory/group_vars"):
        roce({"roce": WHOLE | {name: value}})


def test_interfaces_are_asked_where_the_profile_names_them() -> None:
    assert interfaces({"roce": WHOLE}) == {"mlx5_2": "eth1"}
    assert roce_interfaces({"roce": WHOLE}) == ("eth1",)
    assert roce_interfaces({}) == roce_interfaces({"roce": {"interfaces": 5}}) == ()
