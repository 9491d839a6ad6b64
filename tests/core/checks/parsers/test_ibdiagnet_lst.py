"""`ibdiagnet2.lst`: what only it has."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.ibdiagnet_lst import parse, whole
from tests.core.checks.catalogue.judging import text_of

TEXT = text_of("ibdiagnet/lst.txt")


def line(near: str, far: str, rest: str = "PHY=4x LOG=ACT SPD=100") -> str:
    return f"{end(near)} {end(far)} {rest}\n"


def end(told: str) -> str:
    """Return an end of which kind, last GUID digit, name and port are told: "CA 1 {gpu-01 mlx5_0} 01"."""
    kind, digit, rest = told.split(" ", 2)
    name, _, port = rest.rpartition(" ")
    own = "0000000000000f0" + digit
    return (
        f"{{ {kind} Ports:41 SystemGUID:{own} NodeGUID:{own} PortGUID:{own[:-1]}9 VenID:000002C9 DevID:D2F2 "
        f"Rev:00000000 {name} LID:000A PN:{port} }}"
    )


CA, SW = "CA 1 {gpu-01 mlx5_0} 01", "SW-SM 2 {leaf-1} 1F"


def test_ports_are_numbered_in_base_16_and_an_adapters_guid_is_its_ports() -> None:
    """The switch that the subnet manager stands on is one like any other."""
    assert whole(parse(line(CA, SW) + line(SW, CA))).links == (
        FabricLink(
            FabricPort("gpu-01 mlx5_0", 1, "CA", "f09".rjust(16, "0")),
            FabricPort("leaf-1", 31, "SW", "f02".rjust(16, "0")),
            4,
            "NDR",
        ),
    )


def test_opensm_writes_the_same_and_calls_routers_rt() -> None:
    text = line("Rt 1 {router} 01", SW) + line(SW, "Rt 1 {router} 01")
    assert parse(text).links[0].a.kind == "RT"


def test_a_link_that_is_down_is_none_and_one_that_comes_up_is_one() -> None:
    both = line(CA, SW) + line(SW, CA)
    down = both.replace("LOG=ACT", "LOG=DWN")
    assert len(parse(both.replace("LOG=ACT", "LOG=INI")).links) == 1
    with pytest.raises(EvidenceError, match="saw no link at all"):
        parse(down)


def test_a_rate_that_is_not_known_is_none() -> None:
    text = (line(CA, SW) + line(SW, CA)).replace("PHY=4x", "PHY=??").replace("SPD=100", "SPD=??")
    assert parse(text).links[0][2:] == (0, "")


def test_nodes_without_a_description_and_with_braces_in_it_are_read() -> None:
    braces, none = CA.replace("gpu-01 mlx5_0", "{a} LID:1 } {b}"), CA.replace("{gpu-01 mlx5_0}", "")
    assert parse(line(braces, SW) + line(SW, braces)).links[0].a.name == "{a} LID:1 } {b}"
    assert parse(line(none, SW) + line(SW, none)).links[0].a.name == ""


def test_a_file_without_its_last_lines_is_refused() -> None:
    """Each link is told from both ends."""
    lines = TEXT.rstrip().split("\n")
    for count in range(5, len(lines) - 1):
        with pytest.raises(EvidenceError, match=r"from one end only|saw no link"):
            whole(parse("\n".join(lines[:count])))


def test_a_line_that_was_cut_is_refused() -> None:
    with pytest.raises(EvidenceError, match=r"line \d+ cannot be read.*was it cut short"):
        whole(parse(TEXT.rstrip()[:-60]))
