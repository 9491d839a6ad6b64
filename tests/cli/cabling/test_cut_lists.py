"""A list of cables that was cut within its last name moves no cable."""

import json
from pathlib import Path

import pytest

from fleet_runner.core.cabling.links import Link
from tests.cli.conftest import Type
from tests.core.cabling.discoveries import by_port
from tests.core.cabling.fabrics import rails

E = sorted(rails(12, 1), key=lambda each: (len(each.b.interface), each))
"""Its last cables are at ports with two digits."""


def listed(links: list[Link]) -> str:
    return "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in links)


@pytest.mark.parametrize("observed", [E, [*E[:-1]]])
def test_a_list_that_is_cut_anywhere_in_its_last_line_plans_nothing_for_that_cable(
    tmp_path: Path, typed: Type, observed: list[Link]
) -> None:
    """Whether the cable is there or not."""
    (tmp_path / "fabric.txt").write_text(by_port(observed), encoding="utf-8")
    text = listed([each for each in E if each.b.interface != "1"])  # that port is free in the list
    begin = text.rindex("\n", 0, -1) + 1
    answers = set[int]()
    for end in range(begin, len(text) - 1):
        (tmp_path / "cables.csv").write_text(text[:end], encoding="utf-8")
        said = typed("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt", "--json")
        answers.add(said.code)
        if said.code != 2:
            assert not json.loads(said.out)["faults"]
    assert answers == {0, 2}
    (tmp_path / "cables.csv").write_text(text[:-1], encoding="utf-8")  # "10", "11", "12": nothing is cut
    said = typed("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt", "--json")
    assert len(json.loads(said.out)["faults"]) == len(E) - len(observed)


def test_a_cable_that_is_not_compared_for_that_is_said_with_its_line(tmp_path: Path, typed: Type) -> None:
    (tmp_path / "fabric.txt").write_text(by_port(E), encoding="utf-8")
    (tmp_path / "cables.csv").write_text(listed([*E[1:]])[:-2], encoding="utf-8")
    said = typed("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt")
    assert said.words == "12 of 12 designed links are there; no fault"
    words = " ".join(said.err.split())
    assert words.startswith(
        "1 cable is not compared (line 13, gpu-12 ib0 to leaf-1 1): the list of cables ends there"
    )
    assert words.endswith("or end its last line if that is right")
