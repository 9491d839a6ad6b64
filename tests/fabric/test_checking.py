"""`fleet-runner cabling check` on what the real tools print of a simulated fabric, whole and spoilt."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fabric.building import Fabric, deafen, record
from tests.fabric.command import check
from tests.fabric.ibsim import Ibsim, running
from tests.fabric.scenarios import SHELF, gone_wrong, scenarios
from tests.fabric.truth import write_site

FABRIC = Fabric()
SCENARIOS = {scenario.name: scenario for scenario in scenarios(FABRIC)}
AT_ONCE = ("an extra cable", "an end in the wrong port", "two swapped cables", "a trunk that is down", "a slow link")
BY_PORT = pytest.mark.parametrize("options", [(), ("-p",)], ids=["plain", "by-port"])
UNUSABLE, TROUBLE = 2, 3


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ibsim]:
    """The fabric as designed; whatever goes wrong in a test is put back at its end."""
    with running(tmp_path_factory.mktemp("ibsim"), FABRIC.netlist(SHELF)) as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the design, as site files and as a CSV."""
    folder = tmp_path_factory.mktemp("design")
    write_site(FABRIC, folder / "site")
    (folder / "cables.csv").write_text(FABRIC.csv(), encoding="utf-8")
    return folder


@BY_PORT
@pytest.mark.parametrize("expected", ["site", "cables.csv"])
def test_a_fabric_built_as_designed_has_no_fault(
    fabric: Ibsim, site: Path, expected: str, options: tuple[str, ...]
) -> None:
    code, out, err = check(site, fabric.ibnetdiscover(*options), "--json", expected=expected)
    answer = json.loads(out)
    assert (code, err, answer["faults"]) == (0, "", [])
    assert answer["matched"] == answer["designed"] == len(FABRIC.cables())


@BY_PORT
def test_five_faults_at_once_are_five_faults_with_a_plan_each(
    fabric: Ibsim, site: Path, options: tuple[str, ...]
) -> None:
    five = [SCENARIOS[name] for name in AT_ONCE]
    with gone_wrong(fabric, FABRIC, five):
        text = fabric.ibnetdiscover(*options)
    code, out, err = check(site, text, "--json")
    faults: list[dict[str, Any]] = json.loads(out)["faults"]
    assert (code, err) == (1, "")
    assert sorted(fault["kind"] for fault in faults) == sorted(each.kind for each in five)
    assert {fault["kind"]: len(fault["actions"]) for fault in faults} == {
        each.kind: len(each.actions) for each in five
    }


def test_a_technician_reads_which_plug_goes_where(fabric: Ibsim, site: Path) -> None:
    """Both ends of both cables, each with its rack and unit, and what stays."""
    scenario = SCENARIOS["two swapped cables"]
    with gone_wrong(fabric, FABRIC, [scenario]):
        code, out, _ = check(site, fabric.ibnetdiscover())
    assert code == 1
    assert out.count("Two cables are swapped") == 1
    for end in (end for cable in scenario.pulled for end in cable):
        assert f"{end.device} port {end.port} (hall-1 rack " in out
    assert "its other end stays" in out


def test_a_neighbour_that_hangs_is_unknown_on_the_command_line(fabric: Ibsim, site: Path) -> None:
    cable = FABRIC.down(20, 4)
    fabric.console([deafen(record(cable.a))])
    try:
        code, out, err = check(site, fabric.iblinkinfo())
    finally:
        fabric.console([deafen(record(cable.a), 0)])
    assert (code, err) == (TROUBLE, "")
    assert f"unknown no data about 1 designed link, the first: {cable.a} to {cable.b}" in out
    assert "no fault" in out


@BY_PORT
@pytest.mark.parametrize("part", [0.3, 0.9, 0.999])
def test_a_capture_that_was_cut_short_is_refused(
    fabric: Ibsim, site: Path, part: float, options: tuple[str, ...]
) -> None:
    """What the second half would have said is not missing from the fabric."""
    text = fabric.ibnetdiscover(*options)
    code, out, err = check(site, text[: int(len(text) * part)])
    assert (code, out) == (UNUSABLE, "")
    assert "fabric.txt: " in err
    assert "cut short" in err or "not whole" in err


@BY_PORT
def test_an_empty_capture_is_refused(site: Path, options: tuple[str, ...]) -> None:
    code, out, err = check(site, "")
    assert (code, out) == (UNUSABLE, "")
    assert "fabric.txt: " in err


@BY_PORT
def test_the_capture_of_another_site_is_suspect_and_says_so_first(
    fabric: Ibsim, site: Path, options: tuple[str, ...]
) -> None:
    """A few names are the same by chance, as "leaf-01" is everywhere; the GUIDs are others."""
    text = fabric.ibnetdiscover(*options)
    for here, there in (("gpu-", "h100-"), ("spine-", "core-"), ("e41d2d", "b8cef6"), ("fc6a1c", "043f72")):
        text = text.replace(here, there)
    code, out, err = check(site, text)
    assert (code, err) == (TROUBLE, "")
    assert out.startswith("WARNING ")
    assert all(word in out.partition(". ")[0] for word in ("the capture", "the design"))


def test_two_captures_of_different_days_in_one_file_are_refused(fabric: Ibsim, site: Path) -> None:
    before = fabric.ibnetdiscover("-p")
    with gone_wrong(fabric, FABRIC, [SCENARIOS["two swapped cables"]]):
        after = fabric.ibnetdiscover("-p")
    code, out, err = check(site, before + after)
    assert (code, out) == (UNUSABLE, "")
    assert "two" in err


@pytest.mark.parametrize("first", [(), ("-p",)], ids=["plain", "by-port"])
def test_two_captures_of_different_forms_in_one_file_are_refused(
    fabric: Ibsim, site: Path, first: tuple[str, ...]
) -> None:
    forms = [fabric.ibnetdiscover(*options) for options in ((), ("-p",))]
    code, out, err = check(site, "".join(forms if first else reversed(forms)))
    assert (code, out) == (UNUSABLE, "")
    assert "fabric.txt: " in err


def test_faults_beyond_the_set_share_put_the_capture_in_question(fabric: Ibsim, site: Path) -> None:
    """Eleven pulled cables in a fabric of some thousand: each is listed, but first that something larger is wrong."""
    cables = [FABRIC.down(server, server % 8) for server in range(33, 44)]
    fabric.console(f'Unlink "H-{cable.a.device}-{cable.a.port}"[1]' for cable in cables)
    try:
        code, out, err = check(site, fabric.ibnetdiscover())
    finally:
        fabric.console(f'ReLink "H-{cable.a.device}-{cable.a.port}"[1]' for cable in cables)
    assert (code, err) == (TROUBLE, "")
    assert out.startswith("WARNING ")
    assert all(word in out.partition(". ")[0] for word in ("the capture", "the design"))
    assert all(f"{cable.a}" in out for cable in cables)
