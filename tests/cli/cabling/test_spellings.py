"""Designs and captures in the spellings of real ones: nothing that is right is told to be moved."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner.core.cabling.links import Port, link
from tests.cli.conftest import Said, Type
from tests.core.cabling.discoveries import plain

HOSTS = [link(Port(f"gpu-0{number}", "mlx5_0"), Port("leaf-01", str(number))) for number in (1, 2, 3, 4)]
AS_DESIGNED = "4 of 4 designed links are there; no fault\n"


@pytest.fixture
def checked(tmp_path: Path, typed: Type) -> Callable[..., Said]:
    """Compare a design of four servers at a leaf, whose ports are called so, with a capture."""

    def check(*ports: str, text: str = plain(HOSTS), more: str = "", leaf: str = "leaf-01") -> Said:
        rows = [f"gpu-0{number},mlx5_0,{leaf},{port}" for number, port in enumerate(ports, start=1)]
        (tmp_path / "cables.csv").write_text("\n".join([*rows, more]), encoding="utf-8")
        (tmp_path / "fabric.txt").write_text(text, encoding="utf-8", newline="")
        return typed("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt")

    return check


@pytest.mark.parametrize(
    "ports",
    [
        ("IB1/1/1", "IB1/1/2", "IB1/2/1", "IB1/2/2"),
        ("P0.0", "P0.1", "P1.0", "P1.1"),
        ("sw1p1", "sw1p2", "sw2p1", "sw2p2"),
        ("1/1/1", "1/1/2", "1/2/1", "1/2/2"),
        ("Port 1", "Port 2", "Port 3", "Port 4"),
        ("Port 0", "Port 1", "Port 2", "Port 3"),
    ],
)
def test_a_leafs_ports_are_found_in_any_spelling(checked: Callable[..., Said], ports: tuple[str, ...]) -> None:
    said = checked(*ports)
    assert (said.code, said.out, said.err) == (0, AS_DESIGNED, "")
    assert checked(*ports, leaf="LEAF-01").code == 0


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("=~=~= PuTTY log 2026.06.15 12:06:05 =~=~=\n", ""),
        ("ibwarn: [565044] mad_rpc: _do_madrpc failed; dport (DR path slid 0; dlid 0; 0,1)\n", ""),
        ("Non-Chassis Nodes\n", ""),
        ("", "admin@ufm-01 (config) # "),
    ],
)
def test_what_a_terminal_adds_is_skipped_and_counted(checked: Callable[..., Said], before: str, after: str) -> None:
    said = checked("1", "2", "3", "4", text=before + plain(HOSTS) + after)
    assert (said.code, said.out) == (0, AS_DESIGNED)
    assert " ".join(said.err.split()).startswith("1 line skipped that can be no record, the first: line ")


def test_lines_that_end_more_than_once_are_lines(checked: Callable[..., Said]) -> None:
    said = checked("1", "2", "3", "4", text=plain(HOSTS).replace("\n", "\r\r\n"))
    assert (said.code, said.out, said.err) == (0, AS_DESIGNED, "")


@pytest.mark.parametrize("cut", ['[1]\t"H-b85', "Swi", "[1](02", "vend"])
def test_a_capture_that_was_cut_is_refused(checked: Callable[..., Said], cut: str) -> None:
    said = checked("1", "2", "3", "4", text=plain(HOSTS) + cut)
    assert said.code == 2
    assert "was it cut short?" in " ".join(said.err.split())


def test_a_leaf_that_is_dark_is_told_where_only_hosts_cables_are_designed(checked: Callable[..., Said]) -> None:
    """Its servers are heard on another rail; who names a file of cables says that they are of one fabric."""
    more = "\n".join(f"gpu-0{number},mlx5_1,leaf-02,{number}" for number in (1, 2, 3, 4))
    said = checked("1", "2", "3", "4", more=more)
    assert said.code == 1
    assert "leaf-02 is dark: none of its designed links is up" in said.out
    assert "4 of 8 designed links are there; 1 fault to put right" in said.out


def test_a_leaf_whose_servers_are_not_heard_either_may_be_of_another_fabric(checked: Callable[..., Said]) -> None:
    more = "\n".join(f"gpu-1{number},mlx5_1,leaf-02,{number}" for number in (1, 2, 3, 4))
    said = checked("1", "2", "3", "4", more=more)
    assert said.code == 3
    assert "no data about 4 designed links" in " ".join(said.out.split())


def test_ports_that_nothing_numbers_are_not_compared(
    checked: Callable[..., Said], tmp_path: Path, typed: Type
) -> None:
    """Until they are declared; then they are compared as ever."""
    said = checked("left", "right", "top", "down")
    words = " ".join(said.out.split())
    assert said.code == 3
    assert "Plug" not in words
    assert "0 of 4 designed links could be matched; the likely reason is the names of switch ports" in words
    assert "proposes names to give to --names" in words
    rows = [f"leaf-01,{port},{number}" for number, port in enumerate(("left", "right", "top", "down"), start=1)]
    (tmp_path / "names.csv").write_text("\n".join(["device,interface,adapter", *rows]), encoding="utf-8")
    files = ("--expected", "cables.csv", "--observed", "fabric.txt", "--names", "names.csv")
    assert typed("cabling", "check", *files).code == 0
    assert typed("cabling", "explain", *files).code == 0


def test_what_changed_is_told_though_the_second_look_alone_tells_no_numbers(tmp_path: Path, typed: Type) -> None:
    """One half of each cage is designed, and half of the cables were moved: the first look tells how to count."""
    rows = [f"gpu-{number:02d},mlx5_0,leaf-01,sw{number}p1\n" for number in range(1, 11)]
    (tmp_path / "cables.csv").write_text("".join(rows), encoding="utf-8")
    for name, moved in (("before", 0), ("after", 5)):
        links = [
            link(Port(f"gpu-{number:02d}", "mlx5_0"), Port("leaf-01", str(2 * number - (number > moved))))
            for number in range(1, 11)
        ]
        (tmp_path / f"{name}.txt").write_text(plain(links), encoding="utf-8")
    said = typed("cabling", "diff", "before.txt", "after.txt", "--expected", "cables.csv", "--json")
    found = json.loads(said.out)["changes"]
    assert (len(found["moved"]), found["same"]) == (5, 5)


CAPTURED = [
    ("ib1-cage.csv", "cage.txt", "4 of 4 designed links are there; no fault"),
    ("netbox-qm9700.csv", "cage.txt", "4 of 4 designed links are there; no fault"),
    ("case.csv", "clean.txt", "2 of 2 designed links are there; no fault"),
    *(
        ("samecase.csv", f"{name}.txt", "2 of 2 designed links are there; no fault")
        for name in ("putty", "crcrlf", "prompt", "ibwarn", "grouping")
    ),
    ("hostonly.csv", "cage.txt", "leaf-02 is dark"),
    ("ciscoshort.csv", "ciscoshort", "1 of 1 designed links are there; no fault"),
    ("sonicdescr.csv", "sonicdescr", "1 of 1 designed links are there; no fault"),
]


@pytest.mark.parametrize(("expected", "observed", "right"), CAPTURED)
def test_inputs_that_were_answered_wrongly_are_answered_rightly(
    samples: Path, typed: Type, expected: str, observed: str, right: str
) -> None:
    folder = samples / "cabling_inputs"
    said = typed("cabling", "check", "--expected", str(folder / expected), "--observed", str(folder / observed))
    assert right in said.out
    assert "Plug" not in said.out
