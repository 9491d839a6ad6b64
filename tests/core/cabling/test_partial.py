"""Designs of a part of a fabric: what they say nothing of is not judged, and what they say is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.plan import Remove
from tests.core.cabling.fabrics import Story, places, rails, stories
from tests.core.cabling.plugging import at, seen, swapped, without

WHOLE = rails(8, 4)
HOSTS = WHOLE[:32]
STRANGER = link(Port("gpu-777", "ib0"), Port("leaf-1", "60"))


def pod(number: int) -> tuple[Link, ...]:
    """Return another pod as large as the whole, behind the same spines."""

    def other(port: Port) -> Port:
        if port.device.startswith("spine"):
            return Port(port.device, str(int(port.interface) + 10 * number))
        return Port(f"{port.device}-{number}", port.interface)

    return tuple(link(*map(other, each)) for each in WHOLE)


MORE = (*WHOLE, *pod(1), *pod(2), *pod(3))


def held(designed: tuple[Link, ...], plugged: tuple[Link, ...], *, one_fabric: bool = True) -> Verdicts:
    """Hold a design in files against what a fabric tells."""
    ports = [port for each in designed for port in each]
    told = bind(seen(plugged, {}, {}), names(ports, {}, {}, designed))
    return hold(designed, told, places(designed), one_fabric=one_fabric)


PARTS = {
    "hosts": HOSTS,
    "one rail": tuple(each for each in HOSTS if each.b.device == "leaf-1"),
    "half of a pod's hosts": tuple(each for each in HOSTS if each.a.device < "gpu-05"),
    "one pod with its spines": WHOLE,
}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_a_fabric_is_as_designed(part: str) -> None:
    """Whatever else the capture shows: it is not another fabric's."""
    design = PARTS[part]
    verdicts = held(design, MORE)
    assert (verdicts.faults, verdicts.suspect, verdicts.silent) == ((), "", ())
    assert (verdicts.matched, verdicts.designed) == (len(design), len(design))
    assert len(verdicts.unbound) == len(MORE) - len(design)


@pytest.mark.parametrize("part", PARTS)
def test_what_is_wrong_in_a_part_is_told(part: str) -> None:
    design = PARTS[part]
    one, other, gone = design[0], at(design, "leaf-1")[1], at(design, "leaf-1")[-1]
    plugged = swapped((each for each in MORE if each != gone), one, other)
    verdicts = held(design, plugged)
    assert sorted(fault.kind for fault in verdicts.faults) == [Kind.MISSING, Kind.SWAP]
    assert verdicts.suspect == ""


@pytest.mark.parametrize("part", PARTS)
def test_nobody_unplugs_what_a_part_does_not_know(part: str) -> None:
    """A cable on a free port, and one between two leaves, are listed at the devices that the design has."""
    verdicts = held(PARTS[part], (*MORE, STRANGER))
    assert verdicts.faults == ()
    assert (STRANGER.b, STRANGER.a) in verdicts.beside
    across = link(Port("leaf-1", "61"), Port("leaf-2", "61"))
    verdicts = held(PARTS[part], (*MORE, across))
    assert (across in verdicts.unbound) == (part != "one pod with its spines")


@given(stories(), st.sampled_from(["gpu-01", "leaf-1"]))
def test_a_part_tells_no_more_than_the_whole_and_takes_nothing_out(story: Story, kept: str) -> None:
    """Of a server's cables, or a leaf's: no fault that the whole design does not tell of these ports."""
    part = tuple(each for each in at(story.designed, kept) if not each.b.device.startswith("spine"))
    verdicts = held(part, (*story.observed, *pod(1)))
    known = {port for each in part for port in each}
    whole = {port for fault in held(story.designed, story.observed).faults for port in fault.ports}
    for fault in verdicts.faults:
        assert known.intersection(fault.ports) <= whole
        removed = [action.cable for action in fault.actions if isinstance(action, Remove)]
        assert all(known.intersection(cable) for cable in removed)


def test_links_are_sorted_by_what_the_design_knows_of_their_ends() -> None:
    verdicts = held(HOSTS, (*MORE, STRANGER))
    assert verdicts.beside == ((STRANGER.b, STRANGER.a),)
    assert set(verdicts.uplinks) == set(WHOLE[32:])
    outside = set(verdicts.unbound) - {STRANGER, *verdicts.uplinks}
    assert outside == set(MORE) - set(WHOLE)


def test_a_stranger_of_a_whole_design_is_a_fault_as_ever() -> None:
    for one_fabric in (True, False):
        (fault,) = held(WHOLE, (*WHOLE, STRANGER), one_fabric=one_fabric).faults
        assert (fault.kind, fault.key) == (Kind.UNPLANNED, "cabling/unplanned/gpu-777")
    (fault,) = held(HOSTS, (*HOSTS, STRANGER)).faults
    assert fault.kind is Kind.UNPLANNED


def test_a_stranger_of_a_site_is_a_fault_beside_another_fabric_too() -> None:
    """A site is a source of truth: what it leaves out does not belong there."""
    (fault,) = held(WHOLE, (*WHOLE, *pod(1)[:8], STRANGER), one_fabric=False).faults
    assert fault.kind is Kind.UNPLANNED


def test_a_stranger_at_a_designed_port_is_a_fault_of_a_part() -> None:
    """The design knows that port; the stranger's cables elsewhere are none of it."""
    wrong, free = link(Port("gpu-777", "ib0"), HOSTS[0].b), link(Port("gpu-777", "ib1"), Port("leaf-2", "60"))
    (fault,) = held(HOSTS, (*(each for each in MORE if each != HOSTS[0]), wrong, free)).faults
    assert fault.kind is Kind.UNPLANNED
    assert fault.observed == (wrong,)


def test_hosts_at_a_design_of_uplinks_alone_are_listed() -> None:
    """Nobody unplugs them: of hosts that design says nothing, also where it cannot tell who is a switch."""
    uplinks = tuple(each for each in WHOLE if each not in HOSTS)
    verdicts = held(uplinks, (*uplinks, *HOSTS[:8]))
    assert (verdicts.faults, verdicts.matched, len(verdicts.beside)) == ((), len(uplinks), 8)


def test_a_capture_of_another_fabric_is_suspect_for_a_part_as_well() -> None:
    """Its switches are not seen, which other names may be the reason of, or no link of it is there."""
    other = without(pod(1), "spine-1", "spine-2")
    verdicts = held(HOSTS, (*other, HOSTS[0]))
    assert verdicts.suspect.startswith("1 of 32 designed links could be matched; the likely reason is the names")
    assert verdicts.faults == ()
    strangers = tuple(link(Port(f"gpu-{number}", "ib0"), Port("leaf-1", str(number))) for number in range(50, 90))
    verdicts = held(HOSTS, strangers)
    assert verdicts.suspect.startswith("40 observed links are not in the design, 0 are;")


def test_more_strangers_at_a_whole_designs_devices_than_cables_are_suspect() -> None:
    strangers = [link(Port(f"gpu-{number}", "ib0"), Port("leaf-1", str(number))) for number in range(100, 141)]
    verdicts = held(WHOLE, (*WHOLE, *strangers))
    assert verdicts.suspect.startswith("41 observed links are not in the design, 40 are;")
    assert held(HOSTS, (*HOSTS, *strangers)).suspect == ""


CORES = tuple(
    link(Port(f"spine-{spine}", str(50 + core)), Port(f"core-{core}", str(spine)))
    for core in (1, 2)
    for spine in (1, 2)
)


def test_core_switches_that_a_pods_design_leaves_out_are_beside_it() -> None:
    """A stranger at a free port is a fault as ever, and so is a switch that is plugged into one device."""
    verdicts = held(WHOLE, (*WHOLE, *CORES))
    assert (verdicts.faults, verdicts.suspect, verdicts.matched) == ((), "", len(WHOLE))
    assert {far.device for _, far in verdicts.beside} == {"core-1", "core-2"}
    (fault,) = held(WHOLE, (*WHOLE, *CORES, STRANGER)).faults
    assert fault.key == "cabling/unplanned/gpu-777"
    (fault,) = held(WHOLE, (*WHOLE, *CORES[:2], CORES[2])).faults
    assert fault.key == "cabling/unplanned/core-2"


def test_many_links_to_core_switches_do_not_make_a_capture_suspect() -> None:
    cores = [link(Port(f"spine-{n % 2 + 1}", str(50 + n)), Port(f"core-{n // 2}", str(n))) for n in range(60)]
    assert held(WHOLE, (*WHOLE, *cores)).suspect == ""


def test_core_switches_of_a_site_are_unplanned() -> None:
    """A site is a source of truth."""
    faults = held(WHOLE, (*WHOLE, *CORES), one_fabric=False).faults
    assert [fault.key for fault in faults] == ["cabling/unplanned/core-1", "cabling/unplanned/core-2"]
