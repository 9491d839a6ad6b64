"""One design of several files."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.parsers import cables_csv
from fleet_runner.core.checks.parsers.cables_sheet import Row, Sheet, whole
from tests.core.cabling.fabrics import matchings

A = link(Port("gpu-01", "ib0"), Port("leaf-1", "1"))


def sheet(name: str, *links: Link) -> Sheet:
    return Sheet(name, tuple(Row(line, each) for line, each in enumerate(links, start=1)))


@given(matchings(), st.randoms())
def test_a_design_in_parts_is_the_design(links: tuple[Link, ...], random: object) -> None:
    """However it is taken apart, and where parts have cables in common."""
    choose = getattr(random, "choice")  # noqa: B009  hypothesis gives a random without saying its type
    parts: list[list[Link]] = [[], [], []]
    for each in links:
        for part in {choose((0, 1, 2)), choose((0, 1, 2))}:
            parts[part].append(each)
    found = whole(sheet(f"{number}.csv", *part) for number, part in enumerate(parts))
    assert sorted(row.link for row in found) == sorted(links)


def test_a_cable_in_two_files_is_one_with_what_both_say() -> None:
    """It is planned only where both say so."""
    one = Row(3, A, roles=(("gpu-01", "server"),), planned=True)
    other = Row(7, A, roles=(("leaf-1", "leaf"),))
    assert whole([Sheet("one", (one,)), Sheet("other", (other,))]) == (
        Row(3, A, roles=(("gpu-01", "server"), ("leaf-1", "leaf"))),
    )
    assert whole([Sheet("one", (one,)), Sheet("other", (one,))])[0].planned


def test_a_port_with_two_cables_names_both_files_and_both_rows() -> None:
    other = link(Port("gpu-02", "ib0"), A.b)
    free = link(Port("gpu-03", "ib0"), Port("leaf-1", "3"))
    with pytest.raises(SourceError) as caught:
        whole([sheet("pod-1.csv", free, A), sheet("spines.topo", other)])
    assert str(caught.value) == (
        "spines.topo:1: leaf-1 1 is used twice, first in pod-1.csv:2; expected one cable a port"
    )


def test_adapters_that_are_written_as_devices_are_told_from_all_files() -> None:
    """Each file has one rail: no file alone says that a node has several."""
    files = [cables_csv.read(f"gpu-01 nic{rail},1,leaf-{rail},1\n", f"rail-{rail}.csv") for rail in (1, 2)]
    assert [row.link.a for row in whole(files)] == [Port("gpu-01", "nic1"), Port("gpu-01", "nic2")]
    assert whole(files[:1])[0].link.a == Port("gpu-01 nic1", "1")


def test_a_device_that_files_spell_in_other_letters_is_one() -> None:
    up = link(Port("LEAF-1", "33"), Port("spine-1", "1"))
    row = Row(1, up, roles=(("LEAF-1", "leaf"), ("spine-1", "spine")))
    found = whole([sheet("hosts", A), Sheet("spines", (row,))])
    assert [each.link for each in found] == [A, link(Port("leaf-1", "33"), Port("spine-1", "1"))]
    assert found[1].roles == (("leaf-1", "leaf"), ("spine-1", "spine"))


def test_devices_of_one_file_that_differ_in_letters_alone_stay_two() -> None:
    two = link(Port("leaf-1", "9"), Port("Leaf-1", "9"))
    assert [row.link for row in whole([sheet("hosts", A), sheet("spines", two)])] == [A, two]
