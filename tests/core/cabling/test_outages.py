"""What is down as a whole: one fault for a device, a trunk, a panel or a cage."""

from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.explain import Fault, Kind, Places
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Restore
from tests.core.cabling.fabrics import SERVERS, rails
from tests.core.cabling.plugging import NOWHERE, at, judged, without

DESIGN = rails(6, 4)
DOWN = tuple(each for each in DESIGN if each.a.device in SERVERS)
UP = tuple(each for each in DESIGN if each not in DOWN)


def faults(plugged: tuple[Link, ...], **carriers: tuple[Link, ...]) -> tuple[Fault, ...]:
    """Judge with carriers, the finer named first; "_" in a name is a space."""
    names = {joined: [name.replace("_", " ") for name in carriers if joined in carriers[name]] for joined in DESIGN}
    where = Places({}, {}, SERVERS, {joined: tuple(mine) for joined, mine in names.items() if mine})
    return hold(DESIGN, Bound(dict.fromkeys(plugged, "")), where).faults


def less(*gone: Link) -> tuple[Link, ...]:
    """Return the design without some links."""
    return tuple(each for each in DESIGN if each not in gone)


def test_a_trunk_that_is_down_is_one_fault_that_names_it() -> None:
    trunk = DOWN[1:4]
    (fault,) = faults(less(*trunk), trunk_T_12=trunk)
    assert (fault.kind, fault.key) == (Kind.CARRIER, "cabling/carrier/trunk T 12")
    assert fault.actions == (Restore("trunk T 12", tuple(sorted(trunk))),)
    assert fault.message.startswith("Trunk T 12 is down: none of its 3 designed links is up: gpu-01 ib1 to leaf-2 1,")
    assert fault.steps[0].startswith("Look at trunk T 12, all of whose links are down, between gpu-01 and leaf-2,")
    assert fault.subjects == ("gpu-01",)
    assert fault.devices == ("gpu-01", "leaf-2", "leaf-3", "leaf-4")


def test_a_server_that_answers_by_its_name_is_not_dark() -> None:
    """Its adapters have other names, and its cables sit in free ports: what is missing is told cable by cable."""
    mine = [each for each in DOWN if each.a.device == "gpu-03"]
    away = [link(each.a, Port(each.b.device, "60")) for each in mine]
    found = judged(DESIGN, [*less(*mine), *away], called={each.a: f"gpu-03 x{each.a.interface}" for each in away})
    assert [fault.kind for fault in found.faults] == [Kind.MISSING] * len(mine)
    assert judged(DESIGN, less(*mine)).faults[0].key == "cabling/dark/gpu-03"


def test_a_trunk_of_which_one_link_is_up_is_not_down() -> None:
    trunk = DOWN[1:4]
    assert [fault.kind for fault in faults(less(*trunk[1:]), trunk=trunk)] == [Kind.MISSING, Kind.MISSING]


def test_a_trunk_of_which_one_port_holds_another_cable_is_not_down() -> None:
    trunk = DOWN[0:2]
    stray = link(trunk[0].b, Port("leaf-2", "60"))
    kinds = sorted(fault.kind for fault in faults((*less(*trunk), stray), trunk=trunk))
    assert kinds == [Kind.MISSING, Kind.WRONG_SWITCH]


def test_a_trunk_of_one_link_is_a_cable() -> None:
    assert [fault.kind for fault in faults(less(DOWN[0]), trunk=DOWN[:1])] == [Kind.MISSING]


def test_the_smallest_carrier_that_explains_it_is_named() -> None:
    """A trunk in a panel: the panel only where more than the trunk is down."""
    trunk, panel = DOWN[1:3], DOWN[1:8]
    assert [fault.key for fault in faults(less(*trunk), trunk=trunk, panel=panel)] == ["cabling/carrier/trunk"]
    assert [fault.key for fault in faults(less(*trunk), trunk=trunk, panel=trunk)] == ["cabling/carrier/trunk"]
    (whole,) = faults(less(*panel), trunk=trunk, panel=panel)
    assert (whole.key, len(whole.expected)) == ("cabling/carrier/panel", 7)


def test_a_dark_device_explains_a_trunk_that_leads_only_to_it() -> None:
    """Its power is looked at first."""
    trunk = at(DESIGN, "gpu-02")
    for carrier in (trunk, trunk[:2]):
        (fault,) = faults(without(DESIGN, "gpu-02"), trunk=carrier)
        assert (fault.kind, fault.subjects) == (Kind.DARK, ("gpu-02",))


def test_a_carrier_that_explains_several_dark_devices_comes_before_them() -> None:
    panel = tuple({*at(DESIGN, "leaf-1"), *at(DESIGN, "leaf-2")})
    (fault,) = faults(without(DESIGN, "leaf-1", "leaf-2"), panel=panel)
    assert fault.key == "cabling/carrier/panel"
    assert fault.subjects == ()


def test_what_a_dark_device_leaves_of_a_trunk_is_the_trunks_if_it_is_several() -> None:
    trunk = (*at(DESIGN, "gpu-02")[:2], *at(DESIGN, "gpu-03")[:2])
    plugged = tuple(each for each in without(DESIGN, "gpu-02") if each not in trunk)
    assert [fault.key for fault in faults(plugged, trunk=trunk)] == ["cabling/carrier/trunk", "cabling/dark/gpu-02"]
    plugged = tuple(each for each in without(DESIGN, "gpu-02") if each not in trunk[:3])
    found = {fault.kind: fault for fault in faults(plugged, trunk=trunk[:3])}
    assert found.keys() == {Kind.DARK, Kind.MISSING}


def test_a_row_of_dark_leaves_is_not_told_as_all_of_its_servers() -> None:
    """Nothing of the servers is seen either."""
    leaves = ("leaf-1", "leaf-2", "leaf-3")
    kinds = [(fault.kind, fault.subjects) for fault in faults(without(DESIGN, *leaves))]
    assert kinds == [(Kind.DARK, (leaf,)) for leaf in leaves]
    small = rails(6, 3)
    verdicts = hold(small, Bound({link(Port("spine-1", "60"), Port("spine-2", "60")): ""}), NOWHERE)
    assert [fault.key for fault in verdicts.faults if fault.kind is Kind.DARK] == [
        f"cabling/dark/{leaf}" for leaf in leaves
    ]


def test_a_dark_server_and_a_dark_leaf_that_explain_one_cable_are_both_dark() -> None:
    dark = [fault for fault in faults(without(DESIGN, "gpu-01", "leaf-1")) if fault.kind is Kind.DARK]
    assert [(fault.key, len(fault.expected)) for fault in dark] == [
        ("cabling/dark/gpu-01", 3),
        ("cabling/dark/leaf-1", 8),
    ]
    assert not set(dark[0].expected) & set(dark[1].expected)


def test_a_dark_leaf_of_which_one_undesigned_link_is_up_is_dark_all_the_same() -> None:
    """Somebody plugged a cable into a free port of it: only designed links say that it stands where it should."""
    spare = link(Port("leaf-1", "60"), Port("leaf-2", "60"))
    found = faults((*without(DESIGN, "leaf-1"), spare))
    assert [(fault.kind, fault.subjects) for fault in found] == [
        (Kind.DARK, ("leaf-1",)),
        (Kind.EXTRA, ("leaf-1", "leaf-2")),
    ]


def test_a_device_whose_other_cables_are_plugged_elsewhere_is_not_dark() -> None:
    """As many are up as are missing: it has power, and its cables are to be looked at one by one."""
    first, second, *rest = at(DESIGN, "gpu-02")
    moved = [link(each.a, Port(each.b.device, "60")) for each in rest]
    found = faults((*without(DESIGN, "gpu-02"), *moved))
    assert sorted(fault.kind for fault in found) == [Kind.MISSING, Kind.MISSING, Kind.MOVED, Kind.MOVED]
    assert {each for fault in found if fault.kind is Kind.MISSING for each in fault.expected} == {first, second}
