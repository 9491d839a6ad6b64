"""Each fault class, made on a simulated fabric of 64 servers with 8 rails and read by the real tool."""

from collections.abc import Callable, Iterator

import pytest

from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.roles import servers
from fleet_runner.core.checks.parsers import cables_csv
from tests.fabric.building import Fabric, Plug, deafen, join, record, relink, unlink
from tests.fabric.ibsim import Ibsim, running
from tests.fabric.judging import FORMS, by_hand, hold_clean, hold_followable, hold_right, judged
from tests.fabric.scenarios import BLANK, SHELF, Scenario, gone_wrong, scenarios
from tests.fabric.truth import Design, design

FABRIC = Fabric()
SCENARIOS = {scenario.name: scenario for scenario in scenarios(FABRIC)}
DESIGN = design(FABRIC)
OTHER_PLANE = 4
"""Servers with a port in another plane, which the real fabric has beside this one."""

AT_ONCE = (
    "a missing cable",
    "an end in the wrong switch",
    "two swapped cables",
    "a dark server",
    "a rotation of three",
)


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ibsim]:
    """The fabric as designed; whatever goes wrong in a test is put back at its end."""
    netlist = Fabric(plane=OTHER_PLANE).netlist(SHELF)
    with running(tmp_path_factory.mktemp("ibsim"), netlist) as found:
        yield found


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)
def test_one_physical_fault_is_one_fault_with_the_one_right_plan(fabric: Ibsim, scenario: Scenario) -> None:
    with gone_wrong(fabric, FABRIC, [scenario]):
        first, *others = [judged(form(fabric), DESIGN) for form in FORMS]
    hold_right(first.faults, [scenario])
    hold_followable(first.faults[0], DESIGN.places)
    assert first.doubts == first.silent == ()
    assert not first.suspect
    assert [other.faults for other in others] == [first.faults] * len(others)


def test_a_csv_of_the_same_cables_says_as_much(fabric: Ibsim) -> None:
    """It has no roles, racks, trunks and GUIDs: whatever needs none of them is found all the same."""
    rows = cables_csv.parse(FABRIC.csv(), "cables.csv")
    links = tuple(row.link for row in rows)
    sheet = Design(
        links, names((port for each in links for port in each), {}, {}), Places({}, {}, servers(links, {}))
    )
    assert sheet.places.servers == DESIGN.places.servers
    needing = {Kind.CARRIER, Kind.REPLACED_HCA, Kind.REPLACED_SWITCH}
    for scenario in (each for each in SCENARIOS.values() if each.kind not in needing):
        with gone_wrong(fabric, FABRIC, [scenario]):
            verdicts = judged(fabric.ibnetdiscover("-p"), sheet)
        hold_right(verdicts.faults, [scenario])
        assert (verdicts.doubts, verdicts.silent) == ((), ()), scenario.name
        assert not verdicts.suspect


def test_every_kind_of_fault_has_a_scenario() -> None:
    assert {scenario.kind for scenario in SCENARIOS.values()} == set(Kind)


@pytest.mark.parametrize("form", FORMS)
def test_a_fabric_built_as_designed_is_clean(fabric: Ibsim, form: Callable[[Ibsim], str]) -> None:
    hold_clean(judged(form(fabric), DESIGN))


def test_five_faults_at_once_are_five_faults_with_five_plans(fabric: Ibsim) -> None:
    five = [SCENARIOS[name] for name in AT_ONCE]
    with gone_wrong(fabric, FABRIC, five):
        verdicts = judged(fabric.ibnetdiscover(), DESIGN)
    hold_right(verdicts.faults, five)
    assert not verdicts.suspect


def test_a_plan_carried_out_by_hand_leaves_a_clean_fabric_that_routes(fabric: Ibsim) -> None:
    """The second capture is a real one: nothing is only calculated."""
    five = [SCENARIOS[name] for name in AT_ONCE]
    assert fabric.opensm() == len(FABRIC.cables())
    fabric.console(line for each in five for line in each.break_it())
    faults = judged(fabric.ibnetdiscover("-p"), DESIGN).faults
    assert len(faults) == len(five)
    assert fabric.opensm() < len(FABRIC.cables())
    fabric.console(line for fault in faults for line in by_hand(fault.actions))
    hold_clean(judged(fabric.ibnetdiscover("-p"), DESIGN))
    assert fabric.opensm() == len(FABRIC.cables())


def test_a_cable_that_is_plugged_back_in_is_a_fault_no_more(fabric: Ibsim) -> None:
    cable = FABRIC.down(50, 3)
    fabric.console([unlink(cable)])
    assert len(judged(fabric.ibnetdiscover(), DESIGN).faults) == 1
    fabric.console([relink(cable.a)])
    hold_clean(judged(fabric.ibnetdiscover(), DESIGN))


def test_a_plane_that_the_observer_is_not_plugged_into_is_unknown_and_not_missing(fabric: Ibsim) -> None:
    verdicts = judged(fabric.ibnetdiscover(), design(Fabric(plane=OTHER_PLANE)))
    assert verdicts.faults == ()
    assert len(verdicts.silent) == OTHER_PLANE
    assert {port.device for cable in verdicts.silent for port in cable} >= {"plane-2"}


def test_an_observer_in_the_other_plane_condemns_nothing_in_this_one(fabric: Ibsim) -> None:
    text = fabric.ibnetdiscover("-p", at="H-gpu-001-mlx5_8")
    verdicts = judged(text, design(Fabric(plane=OTHER_PLANE)))
    assert verdicts.faults == ()
    assert (verdicts.matched, len(verdicts.silent)) == (OTHER_PLANE, len(FABRIC.cables()))


def test_a_nameless_neighbour_whose_number_nobody_knows_is_unknown_and_not_missing(fabric: Ibsim) -> None:
    """Where the source of truth knows no GUIDs, an adapter without a name may be the designed one or not."""
    cable = FABRIC.down(10, 2)
    replaced = SCENARIOS["a replaced adapter that nobody named"]
    with gone_wrong(fabric, FABRIC, [replaced]):
        verdicts = judged(fabric.ibnetdiscover(), design(FABRIC, numbered=False))
    assert verdicts.faults == ()
    assert [doubt.designed for doubt in verdicts.doubts] == [link(Port(*cable.a), Port(*cable.b))]


@pytest.mark.parametrize("what", ["an adapter", "a switch"])
def test_a_neighbour_that_hangs_is_unknown_and_not_missing(fabric: Ibsim, what: str) -> None:
    """Where the form tells a port's state: ibnetdiscover does not. A cable that is gone elsewhere is told as ever."""
    cables = [FABRIC.down(44, 4)] if what == "an adapter" else FABRIC.of("leaf-12")
    name = record(cables[0].a) if what == "an adapter" else "S-leaf-12"
    missing = SCENARIOS["a missing cable"]
    with gone_wrong(fabric, FABRIC, [missing]):
        fabric.console([deafen(name)])
        try:
            plain, by_port, *others = [judged(form(fabric), DESIGN) for form in FORMS]
        finally:
            fabric.console([deafen(name, 0)])
    assert len(others) == 2
    for verdicts in others:
        hold_right(verdicts.faults, [missing])
        assert set(verdicts.silent) == {link(Port(*a), Port(*b)) for a, b in cables}
        assert len(verdicts.absent) == 1
    assert by_port == plain
    assert (len(plain.faults), plain.silent, plain.matched) == (2, (), others[0].matched)


def test_a_stranger_in_another_ones_port_is_no_silent_replacement(fabric: Ibsim) -> None:
    """The designed adapter is still there, only elsewhere: this is no replaced adapter."""
    cable = FABRIC.down(10, 2)
    shelf = next(each for each in SCENARIOS["a replaced adapter that nobody named"].pulled if each.a == BLANK.end)
    elsewhere, taken = Plug(cable.a, FABRIC.free(cable.b.device, 6)), Plug(BLANK.end, cable.b)
    fabric.console([*map(unlink, (cable, shelf)), *map(join, (elsewhere, taken))])
    try:
        verdicts = judged(fabric.ibnetdiscover(), DESIGN)
    finally:
        fabric.console([*map(unlink, (elsewhere, taken)), *map(join, (cable, shelf))])
    (fault,) = verdicts.faults
    assert fault.kind is not Kind.REPLACED_HCA
    assert set(cable) <= {(port.device, port.interface) for port in fault.ports}
