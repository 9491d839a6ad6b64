"""XDR cables, of which each plane is seen by itself."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.cabling.explain import Kind, Places
from fleet_runner.core.cabling.judge import Verdicts, judge
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.names import names
from fleet_runner.core.cabling.planes import planes_of, whole_cables
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from tests.core.cabling.fabrics import SERVERS, rails
from tests.examples import examples

PLANES = (1, 2, 3, 4)
DESIGNED = rails(6, 2)


def asic(port: Port, plane: int) -> FabricPort:
    return FabricPort(f"MF0;{port.device}:Q3400-RA/U{plane}", int(port.interface), "SW", f"{port.device}u{plane}")


def adapter(port: Port, plane: int) -> FabricPort:
    return FabricPort(f"{port.device} {port.interface}", plane, "CA", f"{port.device}{port.interface}")


def end(port: Port, plane: int) -> FabricPort:
    return (adapter if port.device in SERVERS else asic)(port, plane)


def planar(links: Iterable[Link], speed: str = "XDR") -> list[FabricLink]:
    return [FabricLink(end(each.a, plane), end(each.b, plane), 1, speed) for each in links for plane in PLANES]


def judged(seen: Iterable[FabricLink], guids: dict[str, Port] | None = None) -> Verdicts:
    known = names([port for each in DESIGNED for port in each], guids or {}, {}, DESIGNED)
    return judge(DESIGNED, seen, known, Places({}, {}, SERVERS))


def test_a_designed_cable_is_one_link_with_its_planes() -> None:
    """ASICs of one switch are joined inside it, by no cable."""
    inside = FabricLink(asic(Port("leaf-1", "145"), 1), asic(Port("leaf-1", "145"), 2), 1, "XDR")
    verdicts = judged([*planar(DESIGNED), inside])
    assert (verdicts.faults, verdicts.matched, verdicts.unbound, verdicts.doubts) == ((), len(DESIGNED), (), ())


@settings(max_examples=examples(100), deadline=None)
@given(st.data())
def test_a_missing_plane_is_a_fault_of_its_link(drawn: st.DataObject) -> None:
    cable, plane = drawn.draw(st.sampled_from(DESIGNED)), drawn.draw(st.sampled_from(PLANES))
    seen = [each for each in planar(DESIGNED) if each[:2] != (end(cable.a, plane), end(cable.b, plane))]
    (fault,) = judged(drawn.draw(st.permutations(seen))).faults
    assert (fault.kind, fault.expected) == (Kind.DEGRADED, (cable,))
    assert f"has 3 of 4 planes; plane {plane} is not seen: it runs at 3x XDR, most run at 4x XDR" in fault.message


def test_a_plane_that_is_slow_is_told_with_its_rate() -> None:
    slow = planar(DESIGNED)
    slow[2] = slow[2]._replace(speed="NDR")
    (fault,) = judged(slow).faults
    assert "has 4 of 4 planes: it runs at 3x XDR + 1x NDR, most run at 4x XDR." in fault.message


def test_a_swap_of_cables_is_one_fault_and_not_one_for_each_plane() -> None:
    one, other = DESIGNED[0], DESIGNED[2]
    plugged = {*DESIGNED} - {one, other} | {link(one.a, other.b), link(other.a, one.b)}
    (fault,) = judged(planar(plugged)).faults
    assert (fault.kind, fault.touches) == (Kind.SWAP, 2)


def test_a_cable_that_is_gone_is_missing() -> None:
    (fault,) = judged(planar(DESIGNED[1:])).faults
    assert (fault.kind, fault.expected) == (Kind.MISSING, DESIGNED[:1])


@pytest.mark.parametrize("plane", PLANES)
def test_the_guid_of_any_asic_is_the_switchs(plane: int) -> None:
    known = {f"{name}u{plane}": Port(name, "") for name in ("leaf-1", "leaf-2", "spine-1", "spine-2")}
    seen = [each._replace(a=each.b, b=each.a) if at % 2 else each for at, each in enumerate(planar(DESIGNED))]
    verdicts = judged(seen, known)
    assert (verdicts.faults, verdicts.matched) == ((), len(DESIGNED))


def test_planes_that_do_not_agree_on_a_port_move_nothing() -> None:
    """The port's number in each ASIC is the vendor's affair."""
    seen = [
        each._replace(b=each.b._replace(port=99 - each.b.port)) if each.b.name.endswith("U3") else each
        for each in planar(DESIGNED)
    ]
    verdicts = judged(seen)
    assert not verdicts.faults
    assert {*verdicts.unmapped} == {*DESIGNED}


def test_planes_in_one_asic_tell_no_port() -> None:
    """A switch that carries all planes of a cable in one ASIC has four ports for each designed one."""
    hosts = [each for each in DESIGNED if each.a.device in SERVERS]

    def port(end: Port, plane: int) -> FabricPort:
        if end.device in SERVERS:
            return adapter(end, plane)
        return asic(end, 1)._replace(port=4 * int(end.interface) - 4 + plane)

    seen = [FabricLink(port(each.a, plane), port(each.b, plane), 1, "XDR") for each in hosts for plane in PLANES]
    verdicts = judged(seen)
    assert not verdicts.faults
    assert {*hosts} <= {*verdicts.unmapped}


def test_a_fabric_without_planes_is_as_it_was() -> None:
    links = tuple(FabricLink(end(each.a, 1), end(each.b, 1), 4, "NDR") for each in DESIGNED)
    assert whole_cables(links) == (links, ())


def test_a_rate_tells_its_planes() -> None:
    assert planes_of("3x XDR in planes 1+2+4") == {1, 2, 4}
    assert planes_of("4x NDR") == frozenset()


def test_cables_without_planes_stand_beside_those_with_planes() -> None:
    other = FabricLink(FabricPort("MF0;leaf-9:MQM9700/U1", 1, "SW", "9" * 16), adapter(Port("x", "ib0"), 1), 4, "NDR")
    found = whole_cables((other, *planar(DESIGNED[:1])))
    assert found.links[0] == other
    assert len(found.links) == len(found.doubted) + 2


def test_planes_whose_rates_nobody_tells_have_none() -> None:
    (joined,) = whole_cables(tuple(each._replace(width=0, speed="") for each in planar(DESIGNED[:1]))).links
    assert joined[2:] == (0, "")


def test_planes_that_are_told_by_one_number_are_one_cable() -> None:
    """A switch with one ASIC, whose ports a form tells by the number in front."""
    ends = [(adapter(DESIGNED[0].a, plane), asic(Port("leaf-1", "1"), 1)) for plane in PLANES]
    up = [(asic(Port("leaf-1", "9"), 1), asic(Port("spine-1", "9"), 1))] * len(PLANES)
    found = whole_cables(tuple(FabricLink(*pair, 1, "XDR") for pair in (*ends, *up)))
    assert [each[2:] for each in found.links] == [(4, "XDR in planes 1+2+3+4")] * 2
