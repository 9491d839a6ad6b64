"""How many nodes may be out at a time."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.budgets.disruption_budget import (
    RECENT,
    Limits,
    Location,
    Out,
    Scope,
    Usage,
    beside,
    cordons,
    grant,
    measure,
    place,
    scopes,
    take,
    uses,
)
from fleet_runner.core.inventory.records import Device, Fleet, Place, Rack, rack_key
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import Condition, State
from tests.making import a_node, conditions

LOOSE = Limits(share=1.0, rack=1000, domain=1.0, tenant=1.0, small=0)
places = st.builds(
    Location,
    rack=st.sampled_from(["", "hall/A", "hall/B"]),
    domain=st.sampled_from(["", "hall/feed-1", "hall/feed-2"]),
    tenant=st.sampled_from(["", "red", "blue"]),
)
fleets = st.lists(st.tuples(places, st.sampled_from(list(State))), max_size=60)


def described(rows: list[tuple[Location, State]]) -> tuple[Fleet, list[Node]]:
    """A fleet whose nodes are in these places and states."""
    devices = {
        f"n{at}": Device(
            f"n{at}",
            "t",
            "gpu-server",
            "hall",
            rack=where.rack.removeprefix("hall/") or None,
            tenant=where.tenant or None,
            context={"failure_domain": where.domain.removeprefix("hall/")} if where.domain else {},
        )
        for at, (where, _) in enumerate(rows)
    }
    return Fleet(("hall",), {}, {}, devices, (), "1"), [
        a_node(state, name=f"n{at}") for at, (_, state) in enumerate(rows)
    ]


def measured(rows: list[tuple[Location, State]], triaged: int = 0) -> Usage:
    """The usage of such a fleet, of whose nodes in triage so many came there lately."""
    fleet, nodes = described(rows)
    lately = [node.name for node in nodes if node.state is State.TRIAGE][:triaged]
    return measure(nodes, dict.fromkeys(lately, 5.0), fleet)


@given(
    fleets,
    places,
    st.builds(
        Limits,
        share=st.floats(0.01, 1.0),
        rack=st.integers(1, 3),
        domain=st.floats(0.01, 1.0),
        tenant=st.floats(0.01, 1.0),
        small=st.integers(0, 30),
    ),
)
def test_automation_never_takes_out_more_than_any_budget(
    rows: list[tuple[Location, State]], where: Location, limits: Limits
) -> None:
    """Granting until it refuses ends within the rack's, the domain's, the tenant's and the fleet's limit."""
    usage = measured(rows)
    granted = 0
    while granted < 100 and grant(usage, where, limits).allowed:
        usage, granted = take(usage, Out(f"x{granted}", where, "reboot", 9.0)), granted + 1
    if granted:
        assert all(len(use.out) <= use.most for use in uses(usage, limits) if use.out and use.out[-1].place == where)
    assert "is spent" in grant(usage, where, limits).sentence or granted == 100


@given(fleets)
def test_what_is_out_is_what_automation_took_lately(rows: list[tuple[Location, State]]) -> None:
    """Nodes that people work on for long are no disruption any more; those that serve are counted once a scope."""
    usage = measured(rows, triaged=2)
    assert len(usage.out) == sum(state in {State.RESET, State.REBOOT} for _, state in rows) + min(
        2, sum(state is State.TRIAGE for _, state in rows)
    )
    assert usage.serving.get((Scope.FLEET, ""), 0) == sum(state is State.PRODUCTION for _, state in rows)
    assert all(name for scope, name in usage.serving if scope is not Scope.FLEET)


@pytest.mark.parametrize(
    ("where", "told"),
    [
        (Location(rack="hall/A"), "the budget of rack hall/A is spent: 1 of at most 1 node out"),
        (
            Location(domain="hall/feed-1"),
            "the budget of failure domain hall/feed-1 is spent: 1 of at most 1 node out",
        ),
        (Location(tenant="red"), "the budget of tenant red is spent: 1 of at most 1 node out"),
    ],
)
def test_a_refusal_says_which_budget_what_is_out_and_until_when(where: Location, told: str) -> None:
    """And who is elsewhere may go."""
    usage = measured([(where, State.REBOOT), *[(Location(), State.PRODUCTION)] * 100])
    sentence = grant(usage, where, Limits()).sentence
    assert sentence == f"{told} (n0: reboot, until 1970-01-12 15:45 UTC at the latest)"
    assert grant(usage, Location("hall/B", "hall/feed-2", "blue"), Limits()).allowed


def test_a_refusal_names_a_few_and_counts_the_rest() -> None:
    """Those that come back first come first; of a rollout nobody can say when."""
    usage = beside(measured([(Location(), State.REBOOT)] * 4), [Out("gpu-9", Location(), "a rollout", None)])
    sentence = grant(usage, Location(), LOOSE).sentence
    assert sentence.startswith("the fleet's budget is spent: 5 of at most 5 nodes out (n0: reboot, until")
    assert sentence.endswith("and 2 more)")
    alone = beside(measured([]), [Out("gpu-9", Location(), "a rollout", None)])
    assert grant(alone, Location(), LOOSE).sentence.endswith("out (gpu-9: a rollout)")


def test_a_node_that_is_cordoned_for_a_remedy_counts_for_the_next_cordon_and_for_no_leave() -> None:
    """A rack that may give up one node is not cordoned node by node; whoever is idle first still leaves."""
    fleet, nodes = described(
        [(Location("hall/A"), State.PRODUCTION)] * 3 + [(Location("hall/B"), State.PRODUCTION)] * 47
    )
    nodes[0] = replace(nodes[0], conditions=conditions(Condition.PENDING, by="runner", detail="RESET"))
    nodes[1] = replace(nodes[1], conditions=conditions(Condition.PENDING, by="ann", detail="REBOOT"))
    asked = [
        replace(nodes[0], conditions=conditions(Condition.PENDING, by="NodeRemediation a/b (c)", detail="RESET"))
    ]
    assert measure([*asked, *nodes[1:]], {}, fleet).pending == measure(nodes, {}, fleet).pending
    usage = measure(nodes, {}, fleet)
    assert cordons(usage, Location("hall/A"), Limits()).sentence == (
        "not cordoned yet, the budget of rack hall/A is spent: 1 of at most 1 node out (n0: cordoned, RESET pending)"
    )
    assert cordons(usage, Location("hall/B"), Limits()).allowed
    assert grant(usage, Location("hall/A"), Limits()).allowed
    left = take(usage, Out("n0", Location("hall/A"), "reset", 9.0))
    assert (len(left.out), left.pending) == (1, ())


def test_a_small_fleet_gives_up_one_node_at_a_time() -> None:
    """Ten per cent of eight nodes would be none at all; a fault everywhere must not empty it."""
    rows = [(Location("hall/A"), State.PRODUCTION)] * 7 + [(Location("hall/B"), State.TRIAGE)]
    assert grant(measured(rows), Location("hall/A"), Limits()).allowed
    assert "1 of at most 1" in grant(measured(rows, triaged=1), Location("hall/A"), Limits()).sentence


def test_a_large_fleet_stops_at_its_share() -> None:
    """Whatever is with the vendor does not count."""
    rows = [(Location(), State.PRODUCTION)] * 91 + [(Location(), State.RMA)] * 50 + [(Location(), State.REBOOT)] * 9
    assert grant(measured(rows[:-1]), Location(), Limits()).allowed
    rows[0] = (Location(), State.REBOOT)
    assert "10 of at most 10 nodes out" in grant(measured(rows), Location(), Limits()).sentence


def test_where_a_node_belongs_is_what_the_source_says() -> None:
    """Its context names the failure domain, else its rack's location does; racks of two sites are two."""
    racks = {rack_key("hall", "A"): Rack("A", "hall", location="row-1"), rack_key("hall", "B"): Rack("B", "hall")}
    devices = {
        "fed": Device("fed", "t", "gpu-server", "hall", "A", tenant="red", context={"failure_domain": "feed-1"}),
        "rowed": Device("rowed", "t", "gpu-server", "hall", "A", context={"failure_domain": 7}),
        "racked": Device("racked", "t", "gpu-server", "hall", "B"),
        "loose": Device("loose", "t", "gpu-server", "attic"),
    }
    fleet = Fleet(("attic", "hall"), racks, {}, devices, (), "1")
    assert place(fleet, "fed") == Location("hall/A", "hall/feed-1", "red")
    assert place(fleet, "rowed") == Location("hall/A", "hall/row-1", "")
    assert place(fleet, "racked") == Location("hall/B", "", "")
    assert place(fleet, "loose") == place(fleet, "gone") == Location()


@given(fleets, places)
def test_a_record_that_cannot_be_used_frees_nothing(rows: list[tuple[Location, State]], where: Location) -> None:
    """Of whichever nodes the source says nothing today: what is out, and what is granted, is as it was."""
    fleet, nodes = described(rows)
    known = {name: Place("hall", *place(fleet, name)[:3]) for name in fleet.devices}
    kept = dict(list(fleet.devices.items())[::2])
    today = replace(fleet, devices=kept, last_places=known)
    assert measure(nodes, {}, today) == measure(nodes, {}, fleet)
    assert grant(measure(nodes, {}, today), where, Limits()) == grant(measure(nodes, {}, fleet), where, Limits())


def test_every_budget_can_be_shown() -> None:
    """The fleet's first, which there is even of nothing."""
    assert [(use.scope, use.most, use.total) for use in uses(Usage({}, ()), Limits())] == [(Scope.FLEET, 1, 0)]
    rows = [(Location("hall/A", "hall/feed-1", "red"), State.REBOOT), (Location("hall/B"), State.PRODUCTION)]
    shown = [(use.scope, use.name, len(use.out), use.total) for use in uses(measured(rows), Limits())]
    assert shown == [
        (Scope.FLEET, "", 1, 2),
        (Scope.TENANT, "red", 1, 1),
        (Scope.DOMAIN, "hall/feed-1", 1, 1),
        (Scope.RACK, "hall/A", 1, 1),
        (Scope.RACK, "hall/B", 0, 1),
    ]
    assert RECENT == 4 * 3600


def test_an_nvlink_domain_has_a_budget_of_its_own_where_somebody_gave_it_one() -> None:
    """It may span racks, each of which could lose a tray; without a limit it only counts."""
    first, second = (Location(f"hall/{rack}", nvlink="hall/twin") for rack in "AB")
    usage = Usage(Counter(scopes(second)), (Out("gpu-1", first, "reboot", None),))
    loose = Limits(small=0, share=1.0)
    assert grant(usage, second, loose).allowed
    assert not any(use.scope is Scope.NVLINK for use in uses(usage, loose))
    refused = grant(usage, second, replace(loose, nvlink=1))
    assert refused.sentence == (
        "the budget of NVLink domain hall/twin is spent: 1 of at most 1 node out (gpu-1: reboot)"
    )
    assert grant(usage, second, replace(loose, nvlink=2)).allowed
    [use] = [use for use in uses(usage, replace(loose, nvlink=1)) if use.scope is Scope.NVLINK]
    assert (use.name, len(use.out), use.most, use.total) == ("hall/twin", 1, 1, 2)


def test_a_tray_that_the_source_lost_counts_in_the_domain_of_its_rack() -> None:
    """Its budget is not freed; what is no tray of a domain counts in none."""

    def device(name: str, rack: str, role: str = "gpu-server", **context: str) -> Device:
        return Device(name, "t", role, "hall", rack, context=context)

    devices = [
        device("tray", "A03", nvlink_domain="rack"),
        device("named", "A03", nvlink_domain="twin"),
        device("switch", "A03", "nvlink-switch", nvlink_domain="rack"),
        device("plain", "A04"),
    ]
    places = {"lost": Place("hall", "hall/A03"), "other": Place("hall", "hall/A04"), "loose": Place("hall")}
    fleet = Fleet(("hall",), {}, {}, {each.name: each for each in devices}, (), "1", last_places=places)
    names = ("tray", "named", "switch", "plain", "lost", "other", "loose")
    assert {name: place(fleet, name).nvlink for name in names} == {
        "tray": "hall/A03", "named": "hall/twin", "switch": "", "plain": "", "lost": "hall/A03", "other": "",
        "loose": "",
    }  # fmt: skip
