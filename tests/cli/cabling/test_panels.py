"""Patch panels and breakouts in NetBox's list of cables: what cannot be told is not compared, and never moved."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fleet_runner.core.cabling.links import Link, Port, link
from tests.cli.conftest import Said, Type
from tests.core.cabling.discoveries import plain

TITLES = "Device A,Termination A,Device B,Termination B"
STRAIGHT = ["gpu-03,ib0,leaf-01,3", "gpu-04,ib0,leaf-01,4"]
PANELED = ["gpu-01,ib0,PP-1,{}", "PP-1,{},leaf-01,1", "gpu-02,ib0,PP-1,{}", "PP-1,{},leaf-01,2"]
SIDES = [("F1", "R1", "F2", "R2"), ("1", "1", "2", "2"), ("7", "25", "8", "26")]

Check = Callable[..., Said]


def host(number: int, port: str) -> Link:
    """Return a link of a server's to the leaf."""
    return link(Port(f"gpu-{number:02}", "ib0"), Port("leaf-01", port))


@pytest.fixture
def checked(tmp_path: Path, typed: Type) -> Check:
    """Compare rows of a list of cables with the links that are seen."""

    def check(rows: list[str], *links: Link, titles: str = TITLES) -> Said:
        (tmp_path / "cables.csv").write_text("\n".join([titles, *rows]), encoding="utf-8")
        (tmp_path / "fabric.txt").write_text(plain(list(links)), encoding="utf-8")
        return typed("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt")

    return check


@pytest.mark.parametrize("sides", SIDES)
@pytest.mark.parametrize("ways", [("1", "2"), ("2", "1")])
def test_no_plug_behind_a_patch_panel_is_told_to_be_moved(
    checked: Check, sides: tuple[str, ...], ways: tuple[str, str]
) -> None:
    """The list does not say which front port leads to which rear port, so either way may be right."""
    rows = [row.format(side) for row, side in zip(PANELED, sides, strict=True)]
    said = checked([*rows, *STRAIGHT], host(1, ways[0]), host(2, ways[1]), host(3, "3"), host(4, "4"))
    assert (said.code, said.out) == (0, "2 of 2 designed links are there; no fault\n")
    assert "4 cables end at patch panels (PP-1) and are not compared" in " ".join(said.err.split())


def test_two_panels_with_a_trunk_between_them_are_not_compared_either(checked: Check) -> None:
    rows = ["gpu-01,ib0,PP-1,F1", "PP-1,R1,PP-2,R1", "PP-2,F1,leaf-01,1"]
    said = checked([*rows, *STRAIGHT], host(1, "1"), host(3, "3"), host(4, "4"))
    assert (said.code, said.out) == (0, "2 of 2 designed links are there; no fault\n")
    assert "3 cables end at patch panels (PP-1, PP-2)" in " ".join(said.err.split())


def test_what_is_cabled_straight_is_compared_beside_a_panel(checked: Check) -> None:
    rows = [row.format(side) for row, side in zip(PANELED, SIDES[0], strict=True)]
    said = checked([*rows, *STRAIGHT], host(1, "1"), host(2, "2"), host(3, "4"), host(4, "3"))
    assert said.code == 1
    assert "gpu-01" not in said.out
    assert "gpu-03" in said.out


def test_a_dark_switch_is_no_panel(checked: Check) -> None:
    rows = ["gpu-01,ib0,leaf-09,1", "gpu-02,ib0,leaf-09,2", "gpu-01,ib1,leaf-01,1", "gpu-02,ib1,leaf-01,2"]
    seen = [link(Port(f"gpu-0{number}", "ib1"), Port("leaf-01", str(number))) for number in (1, 2)]
    said = checked(rows, *seen)
    assert said.code == 1
    assert "leaf-09 is dark" in said.out


def test_netboxs_types_of_ports_name_a_panel_even_where_nothing_is_seen_through_it(checked: Check) -> None:
    titles = "side_a_device,side_a_type,side_a_name,side_b_device,side_b_type,side_b_name"
    rows = [
        "gpu-01,dcim.interface,ib0,PP-1,dcim.frontport,1",
        "PP-1,dcim.rearport,1,leaf-01,dcim.interface,1",
        *("{},dcim.interface,{},{},dcim.interface,{}".format(*row.split(",")) for row in STRAIGHT),
    ]
    said = checked(rows, host(3, "3"), host(4, "4"), titles=titles)
    assert (said.code, said.out) == (0, "2 of 2 designed links are there; no fault\n")


def test_a_device_that_is_seen_is_no_panel_and_two_devices_of_one_name_are_said(checked: Check) -> None:
    rows = [*STRAIGHT, "gpu-01,ib0,leaf-01,3"]
    said = checked(rows, host(3, "3"), host(4, "4"))
    assert said.code == 2
    assert "leaf-01 has two cables at one port in the list of cables" in " ".join(said.err.split())


BREAKOUT = 'leaf-01,1,"gpu-01,gpu-02","ib0,ib0"'


def test_a_lane_that_is_not_there_is_missing(checked: Check) -> None:
    said = checked([BREAKOUT, *STRAIGHT], host(1, "1"), host(3, "3"), host(4, "4"))
    assert said.code == 1
    assert "3 of 4 designed links are there" in said.out
    assert "leaf-01 1 (the lane to gpu-02 ib0)" in said.out


def test_a_lane_that_the_fabric_calls_otherwise_is_not_moved_but_said(checked: Check) -> None:
    said = checked([BREAKOUT, *STRAIGHT], host(1, "11"), host(2, "12"), host(3, "3"), host(4, "4"))
    assert said.code == 3
    assert "ove the" not in said.out
    assert "2 of 4 designed links are there" in said.out
    assert "gpu-01 ib0" in said.out


@pytest.mark.parametrize("lanes", [("swp1s0", "swp1s1"), ("swp1s1", "swp1s0")])
def test_a_breakout_is_as_designed_whichever_lane_leads_to_which_server(
    tmp_path: Path, typed: Type, lanes: tuple[str, str]
) -> None:
    (tmp_path / "cables.csv").write_text(f'{TITLES}\ntor-1,swp1,"gpu-01,gpu-02","eth0,eth0"\n', encoding="utf-8")
    heard = {
        "lldp": {"interface": [_heard(lane, f"gpu-0{number}", "eth0") for number, lane in enumerate(lanes, start=1)]}
    }
    (tmp_path / "tor-1.json").write_text(json.dumps(heard), encoding="utf-8")
    said = typed("cabling", "check", "--expected", "cables.csv", "--observed", "tor-1.json")
    assert (said.code, said.out) == (0, "2 of 2 designed links are there; no fault\n"), said.err


def _heard(near: str, system: str, port: str) -> dict[str, Any]:
    return {near: {"chassis": {system: {}}, "port": {"id": {"type": "ifname", "value": port}}}}
