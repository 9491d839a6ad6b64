"""The catalogue of reads."""

import json
from dataclasses import replace

from fleet_runner.core.checks.evidence import ReadEnd, Reading, ReadKind
from fleet_runner.core.checks.reads import READS, SUPPLIED, again, apart, gathered, modules, spread


def test_every_read_says_what_it_reads_and_for_how_long() -> None:
    """A command without argv or a resource without URI could never be read."""
    for name, read in READS.items():
        assert read.name == name
        assert bool(read.argv) is not bool(read.path)
        assert bool(read.argv) or read.kind in {ReadKind.FILE, ReadKind.REDFISH}
        if read.kind is ReadKind.REDFISH:
            assert all(each.startswith("/redfish/v1/") for each in read.argv or (read.path,))
        assert read.seconds > 0
        assert read.max_bytes > 0


def test_what_a_role_brings_itself_is_not_read_twice() -> None:
    """A name stands for one thing."""
    assert not SUPPLIED & set(READS)


def test_a_read_for_each_adapter_is_one_command_for_each_and_one_reading_again() -> None:
    """Two ports of one adapter are two modules."""
    asked = spread(READS["mlxlink"], ["mlx5_0", "mlx5_1/2"])
    assert [(each.name, each.argv) for each in asked] == [
        ("mlxlink mlx5_0", ("mlxlink", "-d", "mlx5_0", "-m", "--json")),
        ("mlxlink mlx5_1/2", ("mlxlink", "-d", "mlx5_1", "-m", "--json", "-p", "2")),
    ]
    found = {
        "mlxlink mlx5_0": Reading("mlxlink mlx5_0", ReadEnd.OK, "{}", at=5.0),
        "mlxlink mlx5_1/2": Reading("mlxlink mlx5_1/2", ReadEnd.MISSING, error="no such tool", rc=-1, at=7.0),
        "uptime": Reading("uptime", ReadEnd.OK, "x"),
    }
    one = gathered(READS["mlxlink"], found)
    assert (one.name, one.end, one.rc, one.at) == ("mlxlink", ReadEnd.OK, 0, 7.0)
    assert json.loads(one.text) == {
        "mlx5_0": {"end": "ok", "rc": 0, "error": "", "text": "{}"},
        "mlx5_1/2": {"end": "missing", "rc": -1, "error": "no such tool", "text": ""},
    }


def test_a_read_for_each_interface_is_one_command_for_each() -> None:
    asked = spread(READS["mlnx_qos"], ["mlx5_0"], (), ("eth1", "eth2"))
    assert [(each.name, each.argv) for each in asked] == [
        ("mlnx_qos eth1", ("mlnx_qos", "-i", "eth1")),
        ("mlnx_qos eth2", ("mlnx_qos", "-i", "eth2")),
    ]
    assert spread(READS["mlnx_qos"], ["mlx5_0"]) == ()


def test_any_other_read_is_asked_as_it_stands() -> None:
    uptime = Reading("uptime", ReadEnd.OK, "x")
    assert spread(READS["uptime"], ["mlx5_0"]) == (READS["uptime"],)
    assert gathered(READS["uptime"], {"uptime": uptime}) is uptime


def test_a_fabric_is_read_through_one_adapter_of_each_that_the_node_has_ports_in() -> None:
    """Through the first, and where that one fails through the last; what nothing is known of is not asked."""
    read, eyes = READS["ibnetdiscover"], (("mlx5_0", "mlx5_1", "mlx5_2"), ("mlx5_9/2",), ())
    asked = spread(read, (), eyes)
    assert [(each.name, each.argv) for each in asked] == [
        ("ibnetdiscover mlx5_0", ("ibnetdiscover", "-p", "-C", "mlx5_0", "-P", "1")),
        ("ibnetdiscover mlx5_9/2", ("ibnetdiscover", "-p", "-C", "mlx5_9", "-P", "2")),
    ]
    assert spread(read, (), ()) == spread(read, (), ((), ())) == (read,)
    found = {each.name: Reading(each.name, ReadEnd.OK, "down", rc=1) for each in asked}
    (more,) = again(read, eyes, found)
    assert more.name == "ibnetdiscover mlx5_2"
    found[more.name] = Reading(more.name, ReadEnd.OK, "seen")
    assert again(READS["uptime"], eyes, found) == ()
    assert again(read, eyes, {name: replace(each, rc=0) for name, each in found.items()}) == ()
    one = gathered(read, found)
    said = apart(one)
    assert {adapter: (each.name, each.text, each.rc) for adapter, each in said.items()} == {
        "mlx5_0": ("ibnetdiscover", "down", 1),
        "mlx5_2": ("ibnetdiscover", "seen", 0),
        "mlx5_9/2": ("ibnetdiscover", "down", 1),
    }
    assert apart(Reading("ibnetdiscover", ReadEnd.OK, "CA 1")) == {}


def test_without_adapters_nothing_is_asked_and_the_reading_says_so() -> None:
    assert spread(READS["mlxlink"], []) == ()
    assert gathered(READS["mlxlink"], {}).text == "{}"


def test_modules_are_read_where_the_profile_wants_them() -> None:
    """What cannot be read of a profile is the check's to say."""
    adapters = {"mlx5_0": "ib0", "mlx5_1": "ib1"}
    limits = {"celsius_max": 70, "celsius_change_max": 10}
    assert modules({"hca_interfaces": adapters, "optics": limits}) == ("mlx5_0", "mlx5_1")
    assert modules({"hca_interfaces": adapters}) == ()
    assert modules({"hca_interfaces": 7, "optics": limits}) == ()
    assert modules({"hca_interfaces": adapters, "optics": None}) == ()
