"""Are the node's Ethernet interfaces and bonds up, as fast as they should be, and free of errors?"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling.explain import missing_key
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import bonding
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict
from tests.core.checks.catalogue.judging import DEVICE, HEALTHY, NODE, PROFILE, READ_AT, changed, judged, remedies

FILES: dict[str, Any] = json.loads(HEALTHY["nic_ports"]["network_interfaces"])
BOND: str = FILES["/proc/net/bonding/bond0"]
NETWORK = PROFILE["network"]
FAR = {"interface": "eth1", "far_device": "tor-1", "far_interface": "swp3", "far_place": "hall-1 rack A1 U40"}


def nics(expected: Expected | None = None, /, bond: str | None = BOND, **files: Any) -> Result:
    """Judge the interfaces with some of eth1's files changed, and the bond's."""
    bent = {f"/sys/class/net/eth1/{name}": value for name, value in files.items()}
    texts = {"network_interfaces": json.dumps(FILES | bent | {"/proc/net/bonding/bond0": bond})}
    return judged("nic_ports", texts, expected) if expected else judged("nic_ports", texts)


def connected(kind: str = "25gbase-x-sfp28", **network: Any) -> Expected:
    """Return what is expected where the source of truth connects eth1, and the profile names no interface."""
    rows = [
        {"name": "eth1", "kind": kind, "mgmt_only": False},
        {"name": "bmc", "kind": "1000base-t", "mgmt_only": True},
    ]
    return Expected(NODE, PROFILE | {"network": network}, DEVICE | {"interfaces": rows, "links": [FAR, "nonsense"]})


def before(**counts: int) -> Expected:
    """Return what is expected where the last look was an hour ago."""
    known = {f"eth1/{name}": count for name, count in counts.items()}
    look = {"at": READ_AT - 3600, "observed": {"looks": [{"at": READ_AT - 3600, "counts": known}]}}
    return Expected(NODE, PROFILE, DEVICE, run={"before": {"nic_ports": look}})


def test_an_interface_that_is_down_has_the_key_of_its_missing_link() -> None:
    """The cabling's check finds the same fault, and there is one ticket."""
    result = nics(connected(), operstate="down", carrier="0", speed=None)
    (finding,) = result.findings
    assert (finding.code, finding.remedy) == ("nic.down", Remedy.RECABLE)
    assert finding.fault == missing_key(link(Port(NODE, "eth1"), Port("tor-1", "swp3")))
    assert "tor-1 port swp3" in finding.steps[1]
    assert finding.devices == (NODE, "tor-1")


def test_a_carrier_that_is_lost_is_down_whatever_the_state() -> None:
    """Some drivers leave the state at unknown."""
    assert "nic.down" in remedies(nics(operstate="unknown", carrier="0"))
    assert "eth1 is without a carrier, expected up" in nics(operstate=None, carrier="0").message


@pytest.mark.parametrize(
    ("files", "code", "remedy"),
    [
        ({"speed": "10000"}, "nic.slow", Remedy.RECABLE),
        ({"duplex": "half"}, "nic.half_duplex", Remedy.WATCH),
        ({"mtu": "1500"}, "nic.mtu", Remedy.WATCH),
    ],
)
def test_what_is_set_or_negotiated_otherwise_is_found(files: dict[str, str], code: str, remedy: Remedy) -> None:
    """One finding each."""
    assert remedies(nics(**files)) == {code: remedy}


def test_the_source_of_truths_interface_type_says_the_speed() -> None:
    """And the profile needs no line for each interface."""
    assert nics(connected()).verdict is Verdict.PASS
    assert remedies(nics(connected("100gbase-x-qsfp28"))) == {"nic.slow": Remedy.RECABLE}
    assert nics(connected("other"), speed=None).verdict is Verdict.PASS
    assert nics(connected("1000base-t"), speed="1000").verdict is Verdict.PASS
    assert remedies(nics(connected("2.5gbase-t"), speed="1000")) == {"nic.slow": Remedy.RECABLE}


def test_infiniband_is_not_asked_for_here() -> None:
    """Its ports have a check of their own."""
    result = nics(connected("infiniband-ndr"))
    assert (result.verdict, result.message) == (
        Verdict.PASS,
        "no Ethernet interface is connected, and the profile names none",
    )


@pytest.mark.parametrize("files", [{"operstate": None, "carrier": None}, {"speed": "-1"}, {"mtu": None}])
def test_what_is_not_told_is_unknown(files: dict[str, str | None]) -> None:
    """A driver that does not say."""
    assert nics(**files).verdict is Verdict.UNKNOWN


def test_names_that_nobody_knows_are_unknown_and_condemn_nothing() -> None:
    """The source of truth has other names than the kernel: every node of the type would fail."""
    result = nics(changed("network", {"interfaces": {"ens1f0": {}, "ens1f1": None}}))
    assert result.verdict is Verdict.UNKNOWN
    assert "has other names" in result.message


def test_one_interface_of_several_that_is_gone_is_missing() -> None:
    """The others are known by their names, so that the naming is right."""
    result = nics(changed("network", NETWORK | {"interfaces": {"eth1": {"mtu": 9000}, "eth7": {}}}))
    assert remedies(result) == {"nic.missing": Remedy.TRIAGE}


@pytest.mark.parametrize(
    ("name", "value"),
    [("interfaces", [1]), ("bonds", "bond0"), ("bonds", {"bond0": "two"}), ("interfaces", {"eth1": {"mtu": "big"}})],
)
def test_a_slip_in_the_profile_is_unknown_and_named(name: str, value: Any) -> None:
    """Nobody's hardware is at fault."""
    result = nics(changed("network", NETWORK | {name: value}))
    assert result.verdict is Verdict.UNKNOWN
    assert "fleet_profile.network" in result.message


def test_interfaces_of_the_source_of_truth_that_are_no_list_are_unknown() -> None:
    """Likewise."""
    result = nics(Expected(NODE, PROFILE, {"interfaces": 7}))
    assert "fleet_device.interfaces" in result.message


@given(errors=st.integers(0, 1000), packets=st.integers(0, 10**10))
def test_errors_count_from_a_hundred_and_one_in_a_million(errors: int, packets: int) -> None:
    """A link within its bit error rate loses far fewer."""
    counts = {"statistics/rx_crc_errors": str(5 + errors), "statistics/rx_packets": str(7 + packets)}
    result = nics(before(rx_crc_errors=5, rx_packets=7), **counts)
    assert (result.verdict is Verdict.FAIL) is (errors > max(100, packets / 1e6))


def test_the_first_look_only_remembers() -> None:
    """Counts since the boot are no news."""
    assert nics(**{"statistics/rx_errors": "99999"}).verdict is Verdict.PASS


@pytest.mark.parametrize(("changes", "found"), [(9, {}), (10, {"nic.carrier_changes": Remedy.RECORD})])
def test_a_carrier_that_comes_and_goes_is_recorded(changes: int, found: dict[str, Remedy]) -> None:
    """`link_flaps` knows when, and judges."""
    result = nics(before(carrier_changes=3), carrier_changes=str(3 + changes))
    assert (result.verdict, remedies(result)) == (Verdict.PASS, found)


def test_a_bond_without_one_of_its_interfaces_needs_hands() -> None:
    """Its own count, for interfaces that nobody names."""
    expected = changed("network", {"bonds": {"bond0": 2}})
    half = BOND.replace("Slave Interface: eth2\nMII Status: up", "Slave Interface: eth2\nMII Status: down")
    result = nics(expected, half)
    assert remedies(result) == {"nic.bond_member": Remedy.RECABLE}
    assert "1 of 2 interfaces of bond0 are up; down: eth2" in result.message


def test_a_member_whose_link_is_found_down_is_not_found_twice() -> None:
    """One fault, one ticket."""
    half = BOND.replace("Slave Interface: eth1\nMII Status: up", "Slave Interface: eth1\nMII Status: down")
    assert remedies(nics(None, half, operstate="down", carrier="0")) == {"nic.down": Remedy.RECABLE}


def test_a_member_that_was_taken_out_of_its_bond_is_missed() -> None:
    """Both links are up, and one carries nothing."""
    assert remedies(nics(None, BOND[: BOND.index("Slave Interface: eth2")])) == {"nic.bond_member": Remedy.RECABLE}


@pytest.mark.parametrize("old", ["Aggregator ID: 1\nActor Churn State: none", "Partner Churn State: none"])
def test_a_member_that_takes_no_part_in_lacp_is_found_though_its_link_is_up(old: str) -> None:
    """The switch's port is in no channel, or in another."""
    new = {"P": "Partner Churn State: churned"}.get(old[0], old.replace("ID: 1", "ID: 2"))
    result = nics(None, BOND.replace(old, new, 1))
    assert remedies(result) == {"nic.lacp": Remedy.RECABLE}
    assert "eth1 of bond0" in result.message


def test_without_a_word_of_the_group_in_use_the_first_members_counts() -> None:
    """The kernel tells the group to root alone."""
    told = BOND.replace("\tAggregator ID: 1\n", "")
    assert nics(None, told).verdict is Verdict.PASS
    second = told[::-1].replace("Aggregator ID: 1"[::-1], "Aggregator ID: 2"[::-1], 1)[::-1]
    assert remedies(nics(None, second)) == {"nic.lacp": Remedy.RECABLE}


def test_other_modes_know_no_group() -> None:
    """Active-backup has no LACP."""
    plain = BOND.replace("IEEE 802.3ad Dynamic link aggregation", "fault-tolerance (active-backup)")
    assert (
        nics(None, plain.replace("Partner Churn State: none", "Partner Churn State: churned")).verdict is Verdict.PASS
    )


def test_a_bond_that_is_not_there_is_missing() -> None:
    """The image did not set it up."""
    left = {path: text for path, text in FILES.items() if "bonding" not in path}
    result = judged("nic_ports", {"network_interfaces": json.dumps(left)})
    assert remedies(result) == {"nic.missing": Remedy.TRIAGE}


def test_a_bond_that_does_not_tell_of_a_member_is_unknown() -> None:
    """Cut short, or another kernel's."""
    assert nics(None, BOND.replace("Slave Interface: eth2\nMII Status: up", "Slave Interface: eth2")).verdict is (
        Verdict.UNKNOWN
    )


def test_no_interface_at_all_is_unknown() -> None:
    """Every kernel has its loopback."""
    assert "expected at least the loopback" in judged("nic_ports", {"network_interfaces": "{}"}).message


@pytest.mark.parametrize("text", ["", "Slave Interface: x", "Bonding Mode\n", "\n" * 6000])
def test_what_is_no_bond_is_refused(text: str) -> None:
    """EvidenceError, nothing else."""
    with pytest.raises(EvidenceError):
        bonding.parse(text)
