"""Random small fabrics with 1 to 40 faults at once: the plan restores the design with the fewest touches."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import Kind
from fleet_runner.core.cabling.judge import Verdicts
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Action, Restore, apply
from tests.examples import examples
from tests.fabric.building import Fabric, leaf_name, spine_name
from tests.fabric.judging import judged
from tests.fabric.rendering import Form, ports, rendered
from tests.fabric.truth import design

FABRICS = 600
FAULTS = 40
SPARE_PORTS = 4

FABRIC = st.builds(
    Fabric,
    servers=st.integers(2, 12),
    rails=st.integers(1, 4),
    leaf_servers=st.integers(1, 4),
    spines=st.integers(1, 3),
    ways=st.integers(1, 3),
)
FORM = st.builds(
    Form,
    by_port=st.booleans(),
    crlf=st.booleans(),
    lost_tabs=st.booleans(),
    blank_lines=st.booleans(),
    leading_zeros=st.booleans(),
    aggregation=st.booleans(),
    managed_switches=st.booleans(),
    factory_names=st.booleans(),
    seed=st.integers(0, 2**16),
)
NUMBER = st.integers(0, 2**16)


def pull(cables: set[Link], _: frozenset[Port], one: int, __: int) -> None:
    """A cable comes out."""
    cables.discard(_pick(cables, one))


def stray(cables: set[Link], free: frozenset[Port], one: int, other: int) -> None:
    """A cable that no one designed goes in."""
    a, b = _pick(free, one), _pick(free, other)
    if a != b:
        cables.add(link(a, b))


def move(cables: set[Link], free: frozenset[Port], one: int, other: int) -> None:
    """One end goes somewhere else."""
    cable = _pick(cables, one)
    cables.remove(cable)
    cables.add(link(cable[other % 2], _pick(free, other)))


def swap(cables: set[Link], _: frozenset[Port], one: int, other: int) -> None:
    """Two cables exchange their ends."""
    first, second = _pick(cables, one), _pick(cables, other)
    if first != second:
        cables -= {first, second}
        cables |= {link(first.a, second.b), link(second.a, first.b)}


def darken(cables: set[Link], _: frozenset[Port], one: int, other: int) -> None:
    """A device loses everything."""
    device = _pick(cables, one)[other % 2].device
    cables -= {cable for cable in cables if device in (cable.a.device, cable.b.device)}


def exchange(cables: set[Link], _: frozenset[Port], one: int, other: int) -> None:
    """Two devices of a kind stand in each other's place."""
    devices = sorted({port.device for cable in cables for port in cable})
    first = devices[one % len(devices)]
    alike = [device for device in devices if device.partition("-")[0] == first.partition("-")[0]]
    second = alike[other % len(alike)]
    names = {first: second, second: first}
    turned = {
        link(*(port._replace(device=names.get(port.device, port.device)) for port in cable)) for cable in cables
    }
    cables.clear()
    cables |= turned


Item = TypeVar("Item", Link, Port)
Fault = Callable[[set[Link], frozenset[Port], int, int], None]
FaultAt = tuple[Fault, int, int]


def _faults(*each: Fault, few: tuple[Fault, ...]) -> st.SearchStrategy[list[FaultAt]]:
    """Return 1 to 40 faults, of which at most two of the `few` that leave little of a fabric to go wrong."""
    rare = st.lists(st.tuples(st.sampled_from(few), NUMBER, NUMBER), max_size=2)
    often = st.tuples(st.sampled_from(each), NUMBER, NUMBER)
    several = st.integers(1, FAULTS - 2).flatmap(lambda count: st.lists(often, min_size=count, max_size=count))
    return st.builds(lambda first, others: [*first, *others], rare, several)


PLUGS = _faults(pull, stray, move, move, swap, swap, swap, few=(darken,))
DEVICES = _faults(pull, stray, move, swap, few=(darken, exchange))


def gone_wrong(fabric: Fabric, faults: Iterable[FaultAt]) -> frozenset[Link]:
    """Return what is plugged after the faults, one after the other; at least one switch is still heard."""
    cables = {link(Port(*a), Port(*b)) for a, b in fabric.cables()}
    everywhere = ports(cables) | spare(fabric)
    for fault, one, other in faults:
        assume(cables)
        fault(cables, everywhere - ports(cables), one, other)
    assume(any(not port.device.startswith("gpu-") for port in ports(cables)))
    return frozenset(cables)


def spare(fabric: Fabric) -> frozenset[Port]:
    """Return ports of switches that no designed cable uses."""
    switches = [*map(leaf_name, range(fabric.leaves)), *map(spine_name, range(fabric.spines))]
    used = {port.device: 0 for port in ports(link(Port(*a), Port(*b)) for a, b in fabric.cables())}
    for a, b in fabric.cables():
        for device, interface in (a, b):
            used[device] = max(used[device], int(interface.removeprefix("mlx5_")))
    return frozenset(Port(each, str(used[each] + more)) for each in switches for more in range(1, SPARE_PORTS + 1))


@pytest.mark.nightly
@settings(max_examples=examples(FABRICS), deadline=None)
@given(FABRIC, PLUGS, FORM)
def test_the_plan_restores_the_design_with_the_fewest_touches(
    fabric: Fabric, faults: list[FaultAt], form: Form
) -> None:
    """However the capture was written. Where two devices are said to be exchanged, fewer hands do."""
    plugged = gone_wrong(fabric, faults)
    known = design(fabric)
    verdicts = judged(rendered(plugged, dict(fabric.guids()), form), known)
    actions = [action for fault in verdicts.faults for action in fault.actions]
    designed = frozenset(known.links)
    assert restored(verdicts, plugged, designed)
    bound = fewest(designed, plugged)
    exchanged = any(fault.kind is Kind.EXCHANGED for fault in verdicts.faults)
    assert touches(actions) <= bound if exchanged else touches(actions) == bound
    assert verdicts.matched == len(designed & plugged)
    assert all(fault.steps for fault in verdicts.faults)


@pytest.mark.nightly
@settings(max_examples=examples(FABRICS // 3), deadline=None)
@given(FABRIC, DEVICES, FORM)
def test_the_plan_restores_the_design_where_devices_were_exchanged_too(
    fabric: Fabric, faults: list[FaultAt], form: Form
) -> None:
    plugged = gone_wrong(fabric, faults)
    known = design(fabric)
    verdicts = judged(rendered(plugged, dict(fabric.guids()), form), known)
    actions = [action for fault in verdicts.faults for action in fault.actions]
    assert restored(verdicts, plugged, frozenset(known.links))
    assert touches(actions) <= fewest(frozenset(known.links), plugged)


@settings(max_examples=examples(FABRICS // 6), deadline=None)
@given(FABRIC, DEVICES, FORM, FORM)
def test_how_a_capture_is_written_changes_no_fault(
    fabric: Fabric, faults: list[FaultAt], one: Form, other: Form
) -> None:
    plugged = gone_wrong(fabric, faults)
    known, numbers = design(fabric), dict(fabric.guids())
    first, second = (judged(rendered(plugged, numbers, form), known) for form in (one, other))
    assert first.faults == second.faults
    assert (first.doubts, first.silent, first.matched) == (second.doubts, second.silent, second.matched)


def restored(verdicts: Verdicts, plugged: frozenset[Link], designed: frozenset[Link]) -> bool:
    """Whether all plans restore the design, but for devices that may be exchanged or not: these have none."""
    undecided = [fault for fault in verdicts.faults if fault.kind is Kind.EXCHANGED and not fault.actions]
    wrong = {each for fault in undecided for each in fault.observed}
    absent = {each for fault in undecided for each in fault.expected}
    actions = [action for fault in verdicts.faults for action in fault.actions]
    return apply(actions, plugged) - wrong == designed - absent


def touches(actions: Iterable[Action]) -> int:
    """Return how often somebody must handle a cable; a carrier that comes back brings each of its cables back."""
    return sum(len(action.links) if isinstance(action, Restore) else 1 for action in actions)


def fewest(designed: frozenset[Link], plugged: frozenset[Link]) -> int:
    """Return the lower bound: each touch makes at most one designed cable, or takes at most one wrong one out.

    Cables that share ports belong together; among them, the larger number of the two is needed.
    """
    groups: list[tuple[set[Port], int, int]] = []
    for cable in designed ^ plugged:
        mine, missing, wrong = set(cable), int(cable in designed), int(cable in plugged)
        apart = []
        for group in groups:
            if group[0] & mine:
                mine, missing, wrong = mine | group[0], missing + group[1], wrong + group[2]
            else:
                apart.append(group)
        groups = [*apart, (mine, missing, wrong)]
    return sum(max(missing, wrong) for _, missing, wrong in groups)


def _pick(items: Iterable[Item], which: int) -> Item:
    ordered = sorted(items)
    return ordered[which % len(ordered)]
