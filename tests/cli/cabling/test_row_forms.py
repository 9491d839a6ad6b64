"""Designs that tell several cables in a row or ports in other words: as designed where they are so plugged."""

from pathlib import Path

import pytest

from fleet_runner.core.cabling.links import Port, link
from tests.cli.conftest import Type
from tests.core.cabling.discoveries import plain

HOSTS = [link(Port(f"gpu-0{number}", "mlx5_0"), Port("leaf-01", str(number))) for number in (1, 2, 3, 4)]
TITLES = "Device A,Port A,Device B,Port B"
FORMS = {
    "cages": "\n".join([TITLES, *(f"gpu-0{at},mlx5_0,leaf-01,{(at + 1) // 2}{'ba'[at % 2]}" for at in (1, 2, 3, 4))]),
    "range": f"{TITLES}\nleaf-01,1-4,gpu-[01-04],mlx5_0",
    "list": f'{TITLES}\nleaf-01,"1,2,3,4","gpu-01,gpu-02,gpu-03,gpu-04",mlx5_0',
    "three ends": "Switch,Port,Host 1,HCA 1,Host 2,HCA 2\nleaf-01,1,gpu-01,mlx5_0,gpu-02,mlx5_0\n"
    "leaf-01,2,gpu-03,mlx5_0,gpu-04,mlx5_0",
    "split": "\n".join(
        [f"{TITLES},Cable", *(f"leaf-01,{(at + 1) // 2},gpu-0{at},mlx5_0,1x2" for at in (1, 2, 3, 4))]
    ),
    "labels": "\n".join(
        ["graph {", *(f'"leaf-01" -- "gpu-0{at}" [taillabel=swp{at} headlabel=mlx5_0]' for at in (1, 2, 3, 4)), "}"]
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_leaf_is_as_designed_in_every_form(form: str, tmp_path: Path, typed: Type) -> None:
    (tmp_path / "cables").write_text(f"{FORMS[form]}\n", encoding="utf-8")
    (tmp_path / "fabric.txt").write_text(plain(HOSTS), encoding="utf-8")
    said = typed("cabling", "check", "--expected", "cables", "--observed", "fabric.txt")
    assert (said.code, said.out, said.err) == (0, "4 of 4 designed links are there; no fault\n", "")


def test_the_two_ends_of_a_split_cable_may_be_in_either_lane(tmp_path: Path, typed: Type) -> None:
    turned = [
        link(Port(f"gpu-0{at}", "mlx5_0"), Port("leaf-01", f"{at + (1 if at % 2 else -1)}")) for at in (1, 2, 3, 4)
    ]
    (tmp_path / "cables").write_text(f"{FORMS['split']}\n", encoding="utf-8")
    (tmp_path / "fabric.txt").write_text(plain(turned), encoding="utf-8")
    said = typed("cabling", "check", "--expected", "cables", "--observed", "fabric.txt")
    assert "fault 1" not in said.out
