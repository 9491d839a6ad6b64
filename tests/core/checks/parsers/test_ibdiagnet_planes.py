"""`ibdiagnet2.db_csv` of a fabric with planes: which port of a switch an ASIC's port is of."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.ibdiagnet import parse
from fleet_runner.core.checks.parsers.ibdiagnet_planes import front_ports
from tests.core.checks.healthy import text_of
from tests.examples import examples

TEXT = text_of("ibdiagnet/db_csv_planes.txt")
LINK = FabricLink(FabricPort("gpu-01 mlx5_0", 1, "CA", "a" * 16), FabricPort("leaf-1", 17, "SW", "b" * 16), 1, "XDR")


@settings(max_examples=examples(100), deadline=None)
@given(st.text())
def test_any_section_leaves_links_as_they_are_or_numbers_a_switchs_port(text: str) -> None:
    section = f"\nSTART_PORT_HIERARCHY_INFO\n{text}\nEND_PORT_HIERARCHY_INFO\n"
    (found,) = front_ports([LINK], section)
    assert found.a == LINK.a


def test_ports_of_asics_have_the_number_of_the_port_that_they_are_planes_of() -> None:
    links = parse(TEXT).links
    assert [(each.a.name, each.a.port, each.b.port) for each in links] == [
        ("MF0;leaf-1:Q3400-RA/U1", 1, 1),
        ("MF0;leaf-1:Q3400-RA/U2", 1, 2),
        ("MF0;leaf-1:Q3400-RA/U1", 145, 145),
    ]


def test_a_version_that_tells_no_planes_changes_nothing() -> None:
    title = TEXT.replace("NumOfPlanes", "Planes")
    assert [each.a.port for each in parse(title).links] == [17, 9, 145]
    assert front_ports([LINK], "") == [LINK]


def test_a_row_without_a_guid_is_left_out() -> None:
    rows = "NodeGUID,PortNum,APort,NumOfPlanes\n0xg,17,1,4"
    assert front_ports([LINK], f"\nSTART_PORT_HIERARCHY_INFO\n{rows}\nEND_PORT_HIERARCHY_INFO\n") == [LINK]
