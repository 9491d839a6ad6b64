"""Switches that cannot be read: dark where enough neighbours that were read do not hear them."""

from dataclasses import replace

from fleet_runner.core.cabling.ethernet_design import EthernetDesign
from fleet_runner.core.cabling.ethernet_sweep import SweepVerdicts, judge
from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.names import names
from fleet_runner.core.checks.parsers.lldp import Neighbour
from fleet_runner.core.checks.parsers.neighbours.several import HeardBySwitches
from tests.core.cabling.ethernet_halls import Hall, hall, heard, swept

HALL = hall(servers=8, rails=2, spines=2)
PLACES = Places({}, {}, frozenset(HALL.servers))
SSH = "ssh ended with 255: no route to host"


def told(*dead: str, unread: tuple[str, ...] = (), of: Hall = HALL, cut: tuple[str, ...] = ()) -> SweepVerdicts:
    """Sweep with switches that are off, others that only ssh does not reach, and the ports of some spines cut."""
    gone = {*dead, *unread}
    read = [name for name in of.switches if name not in gone]
    cables = [each for each in of.links if {each.a.device, each.b.device}.isdisjoint({*dead, *cut})]
    return swept(of, heard(cables, read), dict.fromkeys(sorted(gone), SSH))


def test_a_leaf_that_is_off_is_one_fault_with_all_of_its_links() -> None:
    found = told("leaf-0-0")
    (fault,) = found.verdicts.faults
    assert (fault.kind, fault.key, fault.subjects) == (Kind.DARK, "cabling/dark/leaf-0-0", ("leaf-0-0",))
    assert set(fault.expected) == {each for each in HALL.links if "leaf-0-0" in {each.a.device, each.b.device}}
    assert fault.message == (
        f"leaf-0-0 is dark: it was not read ({SSH}), and spine-0, spine-1 hear other switches, but not "
        "this one; missing at its end: swp1, swp2, swp3, swp4, swp33, swp34."
    )
    assert fault.touches == 0
    assert (found.unread, found.mute, found.verdicts.silent) == ({}, frozenset(), ())
    assert found.verdicts.matched + len(fault.expected) == found.verdicts.designed


def test_a_spine_that_is_off_is_one_fault_too() -> None:
    (fault,) = told("spine-1").verdicts.faults
    assert (fault.key, len(fault.expected)) == ("cabling/dark/spine-1", 4)


def test_a_leaf_and_a_spine_that_are_off_share_a_link_and_it_is_told_once() -> None:
    one, other = told("leaf-0-0", "spine-0", of=hall(8, 2, 3)).verdicts.faults
    assert (one.key, other.key) == ("cabling/dark/leaf-0-0", "cabling/dark/spine-0")
    assert not set(one.expected) & set(other.expected)


def test_a_switch_to_which_only_ssh_fails_is_no_fault() -> None:
    found = told(unread=("leaf-0-0",))
    assert (found.verdicts.faults, dict(found.unread)) == ((), {"leaf-0-0": SSH})


def test_one_neighbour_that_hears_it_is_enough_for_a_switch_to_be_up() -> None:
    """The cable to the other spine is gone."""
    cables = [each for each in HALL.links if not {"leaf-0-0", "spine-0"} <= {each.a.device, each.b.device}]
    read = [name for name in HALL.switches if name != "leaf-0-0"]
    assert swept(HALL, heard(cables, read), {"leaf-0-0": SSH}).verdicts.faults == ()


def test_a_neighbour_that_hears_it_where_nobody_knows_the_port_says_that_it_is_up() -> None:
    rows = heard([each for each in HALL.links if "leaf-0-0" not in {each.a.device, each.b.device}], HALL.switches)
    del rows["leaf-0-0"]
    rows["spine-0"].append(Neighbour("mgmt0", "LEAF-0-0.example.org", "whatever", ""))
    assert swept(HALL, rows, {"leaf-0-0": SSH}).verdicts.faults == ()


def test_too_few_witnesses_say_nothing() -> None:
    """One spine alone, or spines that hear no other switch either."""
    alone = told("leaf-0-0", of=hall(8, 2, 1))
    assert (alone.verdicts.faults, set(alone.unread)) == ((), {"leaf-0-0"})
    deaf = told("leaf-0-0", cut=("spine-0", "spine-1"))
    assert (deaf.verdicts.faults, set(deaf.unread)) == ((), {"leaf-0-0"})


def test_where_most_switches_would_be_dark_none_is() -> None:
    """It is the network through which they are asked."""
    large = hall(servers=4, rails=8, spines=3)
    leaves = [name for name in large.switches if name.startswith("leaf")]
    assert told(*leaves[:7], of=large).verdicts.faults == ()
    assert len(told(*leaves[:2], of=large).verdicts.faults) == 2


def test_a_switch_that_is_not_in_service_and_one_whose_cables_are_to_come_are_not_dark() -> None:
    leaf = "leaf-0-0"
    mine = frozenset(each for each in HALL.links if leaf in {each.a.device, each.b.device})
    rows = heard([each for each in HALL.links if each not in mine], [name for name in HALL.switches if name != leaf])
    told = HeardBySwitches({name: tuple(each) for name, each in rows.items()}, {leaf: SSH})
    design = EthernetDesign(HALL.links, names([end for each in HALL.links for end in each], {}, {}), PLACES)
    assert len(judge(design, told).verdicts.faults) == 1
    assert judge(replace(design, idle=frozenset({leaf})), told).verdicts.faults == ()
    assert judge(replace(design, planned=mine), told).verdicts.faults == ()
