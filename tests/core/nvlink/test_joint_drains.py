"""Trays that drain as one: what the budget asks for, and what the others say."""

from fleet_runner.core.budgets.disruption_budget import (
    Limits,
    Out,
    Scope,
    Usage,
    beside,
    cordons,
    grant,
    measure,
    place,
    take,
    use_of,
)
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.core.nvlink.domains import Domain, domains
from fleet_runner.core.nvlink.joint_drains import told
from tests.core.nvlink.racks import fleet, tray
from tests.making import a_node, conditions

PLENTY = Limits(share=1.0, rack=1, domain=1.0, tenant=1.0, small=0)


def rack_of(rack: str = "A03", drain: str = "domain", count: int = 6) -> list[Device]:
    """A rack of trays in two partitions that drain as one."""
    return [tray(at, rack, nvlink_partition="ab"[at % 2], nvlink_drain=drain) for at in range(1, count + 1)]


def rows(source: Fleet, **states: State) -> list[Node]:
    """The nodes of a source: they serve, but for those that are named ("a03_tray_1")."""
    known = {name.replace("_", "-"): state for name, state in states.items()}
    return [a_node(known.get(name, State.PRODUCTION), name=name) for name in source.devices]


def asked(source: Fleet, usage: Usage, name: str, limits: Limits) -> str:
    """Why a tray may not leave; "" where it may."""
    return grant(usage, place(source, name), limits).sentence


def test_a_tray_leaves_only_where_the_budget_covers_all_that_drains_as_one_with_it() -> None:
    """The rack's own budget counts the one tray, as ever: the rack is what drains."""
    source = fleet(*rack_of(), *rack_of("A04", drain="tray", count=14))
    usage = measure(rows(source), {}, source)
    assert asked(source, usage, "a03-tray-1", PLENTY) == ""
    few = Limits(share=0.2, rack=1, small=0)
    assert asked(source, usage, "a03-tray-1", few) == (
        "the fleet's budget does not cover NVLink domain hall-1/A03, which drains as one: 6 of at most 4 nodes"
    )
    assert asked(source, usage, "a04-tray-1", few) == ""
    assert cordons(usage, place(source, "a03-tray-1"), few).sentence.startswith("not cordoned yet, the fleet's")


def test_a_partition_takes_its_own_trays_alone() -> None:
    """Those of the other one are spared, and not counted."""
    source = fleet(*rack_of(drain="partition"), *rack_of("A04", drain="tray", count=14))
    usage = measure(rows(source), {}, source)
    assert asked(source, usage, "a03-tray-1", Limits(share=0.15, rack=1, small=0)) == ""
    two = Limits(share=0.1, rack=1, small=0)
    assert asked(source, usage, "a03-tray-1", two) == (
        "the fleet's budget does not cover NVLink domain hall-1/A03, partition b, which drains as one:"
        " 3 of at most 2 nodes"
    )
    out = measure(rows(source, a04_tray_1=State.REBOOT), {}, source)
    assert asked(source, out, "a03-tray-1", two).endswith("3 of at most 2 nodes, 1 out (a04-tray-1: reboot, until"
        " 1970-01-12 15:45 UTC at the latest)")  # fmt: skip


def test_the_trays_that_drain_with_one_that_is_out_count_as_out_for_everybody() -> None:
    """And cost nothing more when a second one of them leaves, but for the rack's budget."""
    source = fleet(*rack_of(), *rack_of("A04", drain="tray", count=14))
    usage = measure(rows(source, a03_tray_1=State.REBOOT), {}, source)
    limits = Limits(share=0.3, rack=2, small=0)
    use = use_of(usage, Scope.FLEET, "", limits)
    assert (len(use.out), use.total, use.most) == (6, 20, 6)
    assert asked(source, usage, "a04-tray-1", limits).startswith("the fleet's budget is spent: 6 of at most 6 nodes")
    assert asked(source, usage, "a03-tray-2", limits) == ""
    assert "the budget of rack hall-1/A03 is spent" in asked(source, usage, "a03-tray-2", PLENTY)
    after = take(usage, Out("a03-tray-2", place(source, "a03-tray-2"), "leaves now", 9.0))
    assert len(use_of(after, Scope.FLEET, "", limits).out) == 6
    rolled = beside(measure(rows(source), {}, source), [Out("a03-tray-3", place(source, "a03-tray-3"), "a", None)])
    assert len(use_of(rolled, Scope.FLEET, "", limits).out) == 6


def test_a_tray_whose_domain_nobody_counted_counts_itself() -> None:
    """As where it does not serve yet."""
    source = fleet(*rack_of(), tray(1, "A04"))
    usage = measure(rows(source)[6:], {}, source)
    assert asked(source, usage, "a03-tray-1", Limits()) == ""
    gone = measure(rows(source, **{f"a03_tray_{at}": State.REBOOT for at in range(1, 7)})[:6], {}, source)
    assert gone.trays == {}


def design(drain: str) -> tuple[Domain, dict[str, Node]]:
    """A domain whose third tray is in reboot, with its rows."""
    (domain,) = domains(source := fleet(*rack_of(drain=drain)))
    return domain, {row.name: row for row in rows(source, a03_tray_3=State.REBOOT)}


def test_the_others_say_that_their_domain_drains_as_one() -> None:
    """Whoever is out, or about to be, says so itself."""
    domain, known = design("domain")
    pending = conditions(Condition.PENDING, by="runner", detail="RESET")
    known["a03-tray-5"] = a_node(State.PRODUCTION, name="a03-tray-5", conditions=pending)
    del known["a03-tray-6"]
    said = told(domain, known)
    words = "its NVLink domain drains as one (nvlink_drain), and a tray of it is out:"
    sentence = f"{words} a03-tray-3 (reboot), a03-tray-5 (RESET pending)"
    assert said == dict.fromkeys(("a03-tray-1", "a03-tray-2", "a03-tray-4"), sentence)


def test_a_spared_partition_says_that_it_is() -> None:
    """Its trays go on serving."""
    said = told(*design("partition"))
    assert said["a03-tray-1"].startswith("its NVLink domain drains as one")
    assert said["a03-tray-2"] == (
        "its partition is spared (nvlink_drain) while a tray of another one is out: a03-tray-3 (reboot)"
    )


def test_nobody_is_told_where_each_tray_drains_alone_or_all_serve() -> None:
    """As it is without the key."""
    assert told(*design("tray")) == {}
    domain, known = design("domain")
    known["a03-tray-3"] = a_node(State.PRODUCTION, name="a03-tray-3")
    assert told(domain, known) == {}


def test_a_partition_beside_trays_of_none_names_nobody() -> None:
    """A tray whose own partition is not designed is no part of another's."""
    (domain,) = domains(source := fleet(tray(1, nvlink_partition="a", nvlink_drain="partition"), tray(2)))
    said = told(domain, {row.name: row for row in rows(source, a03_tray_1=State.REBOOT)})
    assert set(said) == {"a03-tray-2"}
    assert "spared" in said["a03-tray-2"]
