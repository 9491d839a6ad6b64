"""The real `ibnetdiscover` on a simulated fabric of 64 servers with 8 rails each, held against its design."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fabric.building import Fabric, Plug, swap, unplug
from tests.fabric.ibsim import Ibsim, running

FABRIC = Fabric()
FORMS = pytest.mark.parametrize("options", [(), ("-p",)], ids=["plain", "by-port"])


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ibsim]:
    """The fabric as designed; a test that unplugs something plugs it back."""
    with running(tmp_path_factory.mktemp("ibsim"), FABRIC.netlist()) as found:
        yield found


def checked(folder: Path, output: str) -> tuple[int, dict[str, Any]]:
    """Run `fleet-runner cabling check` on what was printed, and return its exit code and its JSON."""
    (folder / "cables.csv").write_text(FABRIC.csv(), encoding="utf-8")
    (folder / "fabric.txt").write_text(output, encoding="utf-8")
    words = ["cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


def told(folder: Path) -> str:
    """Return what the same command says in words, of the files that are there, without its line breaks."""
    words = ["cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt"]
    done = subprocess.run(
        [sys.executable, "-m", "fleet_runner.cli", *words], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    return " ".join(done.stdout.split())


def the_fault(folder: Path, output: str) -> dict[str, Any]:
    """Return the one fault that must be found."""
    code, answer = checked(folder, output)
    assert code == 1
    (fault,) = answer["faults"]
    assert isinstance(fault, dict)
    return fault


def back(*plugs: Plug) -> list[str]:
    """Return the console lines that plug unplugged cables in as designed."""
    return [line for plug in plugs for line in swap(plug, plug)[2:3]]


@FORMS
def test_a_fabric_built_as_designed_has_no_fault(fabric: Ibsim, tmp_path: Path, options: tuple[str, ...]) -> None:
    code, answer = checked(tmp_path, fabric.ibnetdiscover(*options))
    assert code == 0
    assert answer["faults"] == []
    assert answer["matched"] == answer["designed"] == len(FABRIC.cables()) == 1024


@FORMS
def test_two_exchanged_cables_are_one_swap_that_names_both_ports(
    fabric: Ibsim, tmp_path: Path, options: tuple[str, ...]
) -> None:
    one, other = FABRIC.cables()[3], FABRIC.cables()[12]
    fabric.console(swap(one, other))
    try:
        fault = the_fault(tmp_path, fabric.ibnetdiscover(*options))
    finally:
        fabric.console([*unplug(one), *unplug(other), *back(one, other)])
    assert fault["kind"] == "swap"
    assert len(fault["actions"]) == 2
    assert sorted(map(tuple, fault["ports"])) == sorted([*one, *other])
    assert all(any(str(end.device) in step and end.port in step for step in fault["steps"]) for end in (*one, *other))
    said = told(tmp_path)
    assert said.count("Two cables are swapped") == 1
    assert all(f"{end}" in said and f"{end.device} port {end.port}" in said for end in (*one, *other))


@FORMS
def test_two_rails_of_one_server_that_are_exchanged_are_a_wrong_rail(
    fabric: Ibsim, tmp_path: Path, options: tuple[str, ...]
) -> None:
    one, other = FABRIC.cables()[0], FABRIC.cables()[5]
    fabric.console(swap(one, other))
    try:
        fault = the_fault(tmp_path, fabric.ibnetdiscover(*options))
    finally:
        fabric.console([*unplug(one), *unplug(other), *back(one, other)])
    assert (fault["kind"], len(fault["actions"])) == ("wrong_rail", 2)


@FORMS
def test_a_pulled_cable_is_missing(fabric: Ibsim, tmp_path: Path, options: tuple[str, ...]) -> None:
    cable = FABRIC.cables()[77]
    fabric.console(unplug(cable))
    try:
        fault = the_fault(tmp_path, fabric.ibnetdiscover(*options))
    finally:
        fabric.console(back(cable))
    assert fault["kind"] == "missing"
    assert sorted(map(tuple, fault["ports"])) == sorted(cable)


@FORMS
def test_a_server_without_any_link_is_one_dark_device(
    fabric: Ibsim, tmp_path: Path, options: tuple[str, ...]
) -> None:
    cables = [cable for cable in FABRIC.cables() if cable.a.device == "gpu-040"]
    fabric.console([line for cable in cables for line in unplug(cable)])
    try:
        fault = the_fault(tmp_path, fabric.ibnetdiscover(*options))
    finally:
        fabric.console(back(*cables))
    assert fault["kind"] == "dark"
    assert "gpu-040" in fault["message"]


def test_once_everything_is_put_back_nothing_is_left(fabric: Ibsim, tmp_path: Path) -> None:
    """The tests before it share this fabric: what they undid is whole again."""
    assert checked(tmp_path, fabric.ibnetdiscover("-p"))[0] == 0
