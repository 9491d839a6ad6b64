"""`ibdiagnet2.net_dump`: what only it has."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.discovery import FabricPort
from fleet_runner.core.checks.parsers.ibdiagnet_net_dump import parse, whole
from tests.core.checks.catalogue.judging import text_of

TEXT = text_of("ibdiagnet/net_dump.txt")
TITLES = (
    "# : IB# : Sta : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid : N# : NLID : Neighbor Description"
)


def switch(name: str, guid: str, *rows: str, titles: str = TITLES) -> str:
    return "\n".join([f'"{name}", Mellanox, 0x{guid}, LID 5', titles, *rows, ""])


def row(label: str, port: int, guid: str, far: str, name: str) -> str:
    return f'{label} : {port} : ACT : LINK UP : 5 : 4x : 100 : RS : NO-RTR : 0x{guid} : {far} : 7 : "{name}"'


def down(port: int) -> str:
    return f"{port} : {port} : DOWN : POLLING : N/A : N/A : N/A : N/A : N/A : : : :"


def said(text: str) -> str:
    """Why a text is refused."""
    with pytest.raises(EvidenceError) as caught:
        whole(parse(text))
    return str(caught.value)


def test_what_is_printed_beside_a_far_port_is_found_below_its_own_switch() -> None:
    """Here "1/2/1" of one switch is joined to "sw9p1" of the other: 3 and 17."""
    text = switch("leaf-1", "a1", row("1/2/1", 3, "b1", "sw9p1", "spine-1")) + switch(
        "spine-1", "b1", row("sw9p1", 17, "a1", "1/2/1", "leaf-1")
    )
    (found,) = whole(parse(text)).links
    assert {found.a, found.b} == {
        FabricPort("leaf-1", 3, "SW", "a1".rjust(16, "0")),
        FabricPort("spine-1", 17, "SW", "b1".rjust(16, "0")),
    }


def test_an_adapter_has_no_heading_and_its_links_are_told_once() -> None:
    (found,) = whole(parse(switch("leaf-1", "a1", row("1", 1, "c1", "1", "gpu-01 mlx5_0")))).links
    assert found.b == FabricPort("gpu-01 mlx5_0", 1, "CA", "c1".rjust(16, "0"))


def test_the_second_port_of_an_adapter_is_not_taken_for_its_first_by_the_nodes_guid() -> None:
    found = whole(parse(switch("leaf-1", "a1", row("1", 1, "c1", "2", "gpu-01 mlx5_0"))))
    assert found.links[0].b == FabricPort("gpu-01 mlx5_0", 2, "CA", "c1".rjust(16, "0") + "/2")
    assert not found.identified


def test_an_adapter_at_two_ports_of_switches_is_refused() -> None:
    rows = (row("1", 1, "c1", "1", "gpu-01 mlx5_0"), row("2", 2, "c1", "1", "gpu-01 mlx5_0"))
    assert "'gpu-01 mlx5_0' port 1 is listed twice" in said(switch("leaf-1", "a1", *rows))


def test_columns_are_found_by_their_titles() -> None:
    """Versions have other columns, in another order."""
    titles = "# : IB# : Sta : PhysSta : LWA : LSA : N# : Neighbor Guid : Temp : Neighbor Description"
    text = switch("leaf-1", "a1", '1 : 2 : INI : LINK_UP : 2x : 50 : 1 : 0xc1 : 41 : "a: b:c"', titles=titles)
    (found,) = whole(parse(text)).links
    assert (found.a.port, found.b.name, found.width, found.speed) == (2, "a: b:c", 2, "HDR")
    lost = "found no column 'Neighbor Guid'"
    assert lost in said(switch("leaf-1", "a1", titles=titles.replace("Neighbor Guid", "Guid")))


def test_a_port_that_is_up_with_nobody_at_its_end_is_unanswered() -> None:
    silent = "7 : 7 : INI : LINK UP : 5 : 4x : 100 : RS : NO-RTR : N/A : N/A : : N/A"
    found = parse(switch("leaf-1", "a1", row("1", 1, "c1", "1", "gpu-01 mlx5_0"), silent, down(8)))
    assert found.unanswered == (FabricPort("leaf-1", 7, "SW", "a1".rjust(16, "0")),)


@pytest.mark.parametrize("far", ["40", "MF0;leaf-2:MQM9700/U1", "leaf-2:Q3400_RA/U4"])
def test_a_switch_that_only_others_name_is_missing_from_the_file(far: str) -> None:
    """It is one by its name, or by a port's number that no adapter has."""
    port, name = (far, "leaf-2") if far.isdecimal() else ("1", far)
    assert "expected that switch's own ports in the file" in said(
        switch("spine-1", "b1", row("1", 1, "a2", port, name))
    )


def test_a_far_port_that_nothing_numbers_is_refused() -> None:
    assert "found 'mlx' as the port of 'gpu-01 mlx5_0'" in said(
        switch("leaf-1", "a1", row("1", 1, "c1", "mlx", "gpu-01 mlx5_0"))
    )


def test_a_file_that_ends_before_the_last_ports_of_its_last_switch_is_refused() -> None:
    """Every port has a row: the last switch has as many as the others of its model."""
    first = [row("1", 1, "c1", "1", "gpu-01 mlx5_0"), *map(down, range(2, 65))]
    other = [row("1", 1, "c2", "1", "gpu-02 mlx5_0"), *map(down, range(2, 65))]
    text = switch("MF0;leaf-1:MQM9700/U1", "a1", *first)
    assert len(whole(parse(text + switch("MF0;leaf-2:MQM9700/U1", "a2", *other))).links) == 2
    for count in (0, 1, 63):
        why = said(text + switch("MF0;leaf-2:MQM9700/U1", "a2", *other[:count]))
        assert f"'MF0;leaf-2:MQM9700/U1', ends with port {count}, expected 64" in why
    for model, rows in (("MQM8700", first), ("MQM9700", first[:10]), ("MQM9700", [*first[:9], *first[10:]])):
        trimmed = switch("MF0;leaf-1:MQM9700/U1", "a1", *rows)
        assert len(whole(parse(trimmed + switch(f"MF0;leaf-2:{model}/U1", "a2", *other[:3]))).links) == 2
    bare = switch("leaf-1", "a1", *first[:1]) + switch("leaf-2", "a2")
    assert len(whole(parse(bare)).links) == 1


@pytest.mark.parametrize(
    "bad",
    [
        "1 : 1 : ACT : LINK UP",
        row("1", 1, "c1", "1", "gpu-01 mlx5_0")[:-1],
        row("1", 1, "c1", "1", "gpu-01 mlx5_0").replace(" 1 : ACT", " one : ACT"),
        "0x",
        '"leaf-9", Mell',
    ],
)
def test_a_row_that_cannot_be_read_is_named_by_its_line(bad: str) -> None:
    assert "line 4 cannot be read" in said(switch("leaf-1", "a1", row("9", 9, "c9", "1", "gpu-09 mlx5_0"), bad))


def test_rows_without_titles_above_them_are_refused() -> None:
    text = switch("leaf-1", "a1", row("1", 1, "c1", "1", "gpu-01 mlx5_0"), titles="")
    assert "line 3: expected a record of a fabric" in said(text)


def test_no_link_at_all_is_refused() -> None:
    assert "saw no link at all" in said(switch("leaf-1", "a1", down(1)))


def listed(name: str, guid: str, *rows: str) -> str:
    """Write a switch that has a row for each of its 64 ports."""
    there = {int(each.split(" : ")[1]) for each in rows}
    every = [*rows, *(down(port) for port in range(1, 65) if port not in there)]
    return switch(f"MF0;{name}:MQM9700/U1", guid, *sorted(every, key=lambda each: int(each.split(" : ")[1])))


WHOLE = (
    listed(
        "leaf-1",
        "a1",
        row("1/1/1", 1, "c1", "1", "gpu-01 mlx5_0"),
        row("1/1/2", 2, "b1", "1/9/1", "MF0;spine-1:MQM9700/U1"),
    )
    + listed(
        "spine-1",
        "b1",
        row("1/1/1", 1, "c2", "1", "gpu-02 mlx5_0"),
        row("1/9/1", 17, "a1", "1/1/2", "MF0;leaf-1:MQM9700/U1"),
    )
    + listed(
        "spine-2", "b2", row("1/9/1", 17, "c3", "1", "gpu-03 mlx5_0"), row("1/1/2", 2, "c4", "1", "gpu-04 mlx5_0")
    )
)


def test_without_any_one_row_a_link_is_known_from_its_other_end_or_its_port_is_not_judged() -> None:
    """No cable is called missing because a line of the file is; that it is missing is said."""
    links = set(whole(parse(WHOLE)).links)
    lines = WHOLE.split("\n")
    for at, line in enumerate(lines):
        if not line or line[0] not in "123456789" or " : 64 : " in line:
            continue
        found = whole(parse("\n".join([*lines[:at], *lines[at + 1 :]])))
        alone = {(port.name, port.port) for port in found.unanswered}
        gone = {each for each in links if frozenset(each[:2]) not in {frozenset(one[:2]) for one in found.links}}
        assert all((each.a.name, each.a.port) in alone or (each.b.name, each.b.port) in alone for each in gone)
        assert bool(gone) == ("gpu" in line)
        assert len(found.lacks) == 1
    assert not whole(parse(WHOLE)).lacks


def test_what_is_missing_is_said() -> None:
    lines = WHOLE.split("\n")
    spine = next(line for line in lines if "leaf-1" in line and line.startswith("1/9"))
    host = next(line for line in lines if "gpu-01" in line)
    (why,) = parse(WHOLE.replace(f"{spine}\n", "")).lacks
    assert why == (
        "ibdiagnet2.net_dump: 1 row is missing among others, the first that of 'MF0;spine-1:MQM9700/U1' port 17; the"
        " far ends show what is plugged there. Run ibdiagnet again."
    )
    (why,) = parse(WHOLE.replace(f"{host}\n", "").replace(f"{spine}\n", "")).lacks
    assert why.startswith("ibdiagnet2.net_dump: 2 rows are missing among others, the first that of 'MF0;leaf-1:")
    assert why.endswith(
        "of 1 of these ports nothing is known, the first: 'MF0;leaf-1:MQM9700/U1' port 1. Run ibdiagnet again."
    )
    (why,) = parse(WHOLE.replace(f"{down(5)}\n", "")).lacks
    assert "; of 3 of these ports nothing is known, the first: 'MF0;leaf-1:MQM9700/U1' port 5." in why


def test_a_file_without_rows_of_ports_that_are_down_says_nothing_by_a_number_without_a_row() -> None:
    up = "\n".join(line for line in WHOLE.split("\n") if " : DOWN : " not in line)
    assert not parse(up).lacks
    assert not parse(up).unanswered
