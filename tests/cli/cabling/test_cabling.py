"""`fleet-runner cabling check` as a person types it, over files as people have them."""

import itertools
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from tests.commands import Said, entered
from tests.core.cabling.discoveries import by_port, plain
from tests.core.cabling.fabrics import rails
from tests.core.checks.catalogue.judging import text_of

CABLES = rails(6, 2)
HEALTHY = by_port(CABLES)
CSV = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in CABLES)
SWAPPED = HEALTHY.replace("gpu-01 ib0", "\x00").replace("gpu-02 ib0", "gpu-01 ib0").replace("\x00", "gpu-02 ib0")


Start = Callable[..., Said]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Start:
    """Run fleet-runner in a folder, as wide as a terminal is at least."""

    def run(folder: Path, *words: str, **settings: str) -> Said:
        monkeypatch.chdir(folder)
        for name, value in {"COLUMNS": "80", "HOME": str(folder), **settings}.items():
            monkeypatch.setenv(name, value)
        answer = entered(monkeypatch, capsys, *words)
        if "--json" not in words:  # an error is one line however long: a log keeps it whole, a terminal wraps it
            assert all(cell_len(line) <= 80 for line in answer.out.splitlines())
        return answer

    return run


@pytest.fixture
def check(tmp_path: Path, started: Start) -> Start:
    """Write both files, run the command beside them; either may be left out."""

    def run(cables: str | bytes | None = CSV, fabric: str | bytes | None = HEALTHY, *more: str) -> Said:
        for name, text in (("cables.csv", cables), ("fabric.txt", fabric)):
            if text is not None:
                (tmp_path / name).write_bytes(text.encode() if isinstance(text, str) else text)
        words = ["cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt", *more]
        return started(tmp_path, *words)

    return run


def sentence(answer: Said) -> str:
    """Return the one sentence on standard error."""
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    return " ".join(answer.err.split())


@pytest.mark.parametrize("fabric", [HEALTHY, plain(CABLES)], ids=["by-port", "plain"])
@pytest.mark.parametrize(
    "cables",
    [
        CSV,
        f"device,port,device,port\n{CSV}",
        "StartDevice,StartPort,EndDevice,EndPort,LinkType\n" + CSV.replace("\n", ",Data\n"),
        f"\ufeff{CSV}".replace("\n", "\r\n"),
    ],
    ids=["bare", "header", "NDT", "BOM and CRLF"],
)
def test_a_fabric_as_designed_is_done(check: Start, cables: str, fabric: str) -> None:
    answer = check(cables, fabric)
    assert answer == Said(0, "16 of 16 designed links are there; no fault\n", "")


def test_two_exchanged_cables_are_one_entry_with_what_to_do(check: Start) -> None:
    answer = check(fabric=SWAPPED)
    assert (answer.code, answer.err) == (1, "")
    text = " ".join(answer.out.split())
    assert text.startswith(
        "fault 1: swap Two cables are swapped: expected gpu-01 ib0 to leaf-1 1, gpu-02 ib0 to leaf-1 2,"
    )
    assert "1. Unplug leaf-1 port 1" in text
    assert "3. Plug the cable that comes from gpu-02 port ib0" in text
    assert text.endswith("14 of 16 designed links are there; 1 fault to put right")


def test_as_json_standard_output_holds_json_and_nothing_else(tmp_path: Path, check: Start) -> None:
    """Every port of a fault by name; a stranger's link is counted, not told."""
    stranger = "CA 9 1 0x9 4x NDR - SW 8 1 0x8 ( 'x' - 'y' )\nSW 8 1 0x8 4x NDR - CA 9 1 0x9 ( 'y' - 'x' )\n"
    answer = check(CSV, SWAPPED + stranger, "--json")
    assert (answer.code, answer.err) == (1, "")
    found: dict[str, Any] = json.loads(answer.out)
    (fault,) = found["faults"]
    assert fault["kind"] == "swap"
    assert sorted(fault["ports"]) == [["gpu-01", "ib0"], ["gpu-02", "ib0"], ["leaf-1", "1"], ["leaf-1", "2"]]
    assert len(fault["actions"]) == 2
    assert (found["matched"], found["designed"]) == (14, 16)
    assert found["unbound"] == [[["x", "1"], ["y", "1"]]]
    words = " ".join(check(CSV, SWAPPED + stranger).err.split())
    assert words == "1 link between devices that the design does not have is not judged."


def test_a_slow_link_is_no_but_no_fault(check: Start) -> None:
    slow = "\n".join(
        line.replace("4x NDR", "1x NDR") if "gpu-03 ib1" in line else line for line in HEALTHY.split("\n")
    )
    answer = check(fabric=slow)
    assert answer.code == 1
    said = " ".join(answer.out.split())
    assert "degraded The link gpu-03 ib1 to leaf-2 3 runs at 1x NDR, most run at 4x NDR" in said


def test_an_end_that_does_not_say_what_it_is_is_trouble_and_no_fault(check: Start) -> None:
    answer = check(fabric=HEALTHY.replace("gpu-03 ib1", "MT4129 ConnectX7"))
    assert answer.code == 3
    assert "unknown expected gpu-03 ib1 to leaf-2 3, observed MT4129 ConnectX7" in answer.out


@pytest.mark.parametrize(
    ("cables", "said"),
    [
        ("", "cables.csv: it is empty"),
        ("device,port,device,port\n", "it has a header and no cable"),
        ("gpu-01,ib0,leaf-1\n", "cables.csv:1: found 'gpu-01,ib0,leaf-1', expected device, port, device, port"),
        (f"{CSV}gpu-77,ib0,leaf-1,1\n", "cables.csv:17: leaf-1 1 is used twice, first in line 1"),
        (b"\xff\xfe\x00g", "cables.csv:1: "),
        (None, "cables.csv: No such file or directory; name a file that can be read"),
    ],
)
def test_a_design_that_cannot_be_used_is_named(check: Start, cables: str | bytes | None, said: str) -> None:
    answer = check(cables)
    assert said in sentence(answer)
    assert answer.code == 2


@pytest.mark.parametrize(
    ("fabric", "said"),
    [
        ("", "fabric.txt: it is empty; expected the output of ibnetdiscover"),
        ("garbage\n", "fabric.txt: line 1: found 'garbage'; expected the output of ibnetdiscover"),
        (b"\x00\xff\x7fELF", "fabric.txt: line 1: found "),
        (HEALTHY[:1000], "was it cut short?"),
        ("".join(HEALTHY.splitlines(keepends=True)[:5]), "5 links from one end only"),
        (None, "fabric.txt: No such file or directory; name a file that can be read"),
    ],
)
def test_a_fabric_that_cannot_be_read_is_named(check: Start, fabric: str | bytes | None, said: str) -> None:
    """Half of a capture is no fabric with half of its cables."""
    answer = check(CSV, fabric)
    assert said in sentence(answer)
    assert answer.code == 2


def test_without_its_options_it_asks_the_source_of_truth(started: Start, tmp_path: Path) -> None:
    """And says where that should be."""
    answer = started(tmp_path, "cabling", "check")
    assert answer.code == 3
    assert f"{tmp_path.name}/site: there is no such folder; it is the setting source" in sentence(answer)


@pytest.fixture
def site(tmp_path: Path, project: Path) -> Path:
    """The small site of the documents: two servers, two leaves, four cables. What is plugged has other GUIDs."""
    shutil.copytree(project / "docs" / "examples" / "site", tmp_path / "site")
    devices = tmp_path / "site" / "devices.yml"
    devices.write_text(re.sub(r', wwn: "[0-9a-f:]+"', "", devices.read_text(encoding="utf-8")), encoding="utf-8")
    return tmp_path / "site"


SITE = rails(2, 2)[:4]


def test_a_site_is_a_design_and_says_where_things_stand(started: Start, site: Path) -> None:
    (site.parent / "fabric.txt").write_text(by_port(SITE), encoding="utf-8")
    words = ["cabling", "check", "--expected", "site", "--observed", "fabric.txt"]
    assert started(site.parent, *words) == Said(0, "4 of 4 designed links are there; no fault\n", "")
    crossed = by_port(SITE).replace("gpu-01 ib0", "\x00").replace("gpu-02 ib0", "gpu-01 ib0")
    (site.parent / "fabric.txt").write_text(crossed.replace("\x00", "gpu-02 ib0"), encoding="utf-8")
    answer = started(site.parent, *words)
    assert answer.code == 1
    assert "leaf-1 port 1 (hall-1 rack N01 U1)" in " ".join(answer.out.split())


def test_a_site_knows_adapters_by_their_guids(started: Start, site: Path, project: Path) -> None:
    """Whatever they are called."""
    shutil.copy(project / "docs" / "examples" / "site" / "devices.yml", site / "devices.yml")
    text = by_port(SITE)
    for number, rail in itertools.product((1, 2), (0, 1)):
        old = next(line.split()[3] for line in text.splitlines() if f"( 'gpu-0{number} ib{rail}'" in line)
        text = text.replace(old, f"0x0200000000000{number}0{rail}")
        text = text.replace(f"gpu-0{number} ib{rail}", "MT4129 ConnectX7")
    (site.parent / "fabric.txt").write_text(text, encoding="utf-8")
    assert started(site.parent, "cabling", "check", "--expected", "site", "--observed", "fabric.txt").code == 0


@pytest.mark.parametrize(
    ("profile", "code", "said"),
    [
        ("fleet_profile: {hca_interfaces: {mlx5_0: ib0, mlx5_1: ib1}}", 0, "4 of 4 designed links are there"),
        (
            "fleet_profile: {hca_interfaces: {mlx5_0: ib0}}",
            3,
            "the design says 'gpu-01 ib1', the capture 'gpu-01 mlx5_1'",
        ),
        ("fleet_profile: {parts: {}}", 3, "the design says 'gpu-01 ib0', the capture 'gpu-01 mlx5_0'"),
        ("fleet_profile:", 3, "the design says 'gpu-01 ib0', the capture 'gpu-01 mlx5_0'"),
        ("fleet_profile: {hca_interfaces: 7}", 2, "fleet_profile.hca_interfaces: found 7, expected a mapping"),
        ("fleet_profile: 7", 2, "device_type_example_hgx_h100.yml: found no mapping"),
        ("fleet_profile: {", 2, "device_type_example_hgx_h100.yml: it is not YAML"),
    ],
)
def test_a_sites_profile_says_which_interface_an_adapter_is(
    started: Start, site: Path, profile: str, code: int, said: str
) -> None:
    """Where it does not, nobody can tell; where it cannot be read, it is named."""
    variables = site.parent / "inventory" / "group_vars" / "device_type_example_hgx_h100.yml"
    variables.parent.mkdir(parents=True)
    variables.write_text(f"---\n{profile}\n", encoding="utf-8")
    text = by_port(SITE).replace(" ib0'", " mlx5_0'").replace(" ib1'", " mlx5_1'")
    (site.parent / "fabric.txt").write_text(text, encoding="utf-8")
    words = ["cabling", "check", "--expected", "site", "--observed", "fabric.txt"]
    answer = started(site.parent, *words, FLEET_INVENTORY=str(site.parent / "inventory" / "fleet.yml"))
    assert answer.code == code
    assert said in " ".join((answer.out + answer.err).split())


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("cables.yml", "---\n- [gpu-01, ib0]\n", "cables.yml:2"),
        ("cables.yml", '---\n- [gpu-01, ib0, leaf-1, "1"]\n- [gpu-02, ib0, leaf-1, "1"]\n', "cables.yml:3"),
        ("devices.yml", "---\n- {name: x, device_type: nothing, role: leaf, site: hall-1}\n", "devices.yml:2"),
        ("racks.yml", "---\n- {", "racks.yml"),
    ],
)
def test_a_site_that_contradicts_itself_is_trouble(
    started: Start, site: Path, file: str, text: str, said: str
) -> None:
    (site / file).write_text(text, encoding="utf-8")
    (site.parent / "fabric.txt").write_text(by_port(SITE), encoding="utf-8")
    answer = started(site.parent, "cabling", "check", "--expected", "site", "--observed", "fabric.txt")
    assert said in sentence(answer)
    assert answer.code == 3


def test_the_hand_written_evidence_is_checked_as_it_stands(check: Start) -> None:
    """An example to read: two servers, two leaves, a spine, and what is not in the design beside them."""
    design = (
        "gpu-01,mlx5_0,leaf-1,1\ngpu-01,mlx5_1,leaf-2,1\ngpu-02,mlx5_0,leaf-1,2\ngpu-02,mlx5_1,leaf-2,2\n"
        "leaf-1,33,spine-1,1\nleaf-2,33,spine-1,2\n"
    )
    for form in ("plain", "by_port"):
        answer = check(design, text_of(f"ibnetdiscover/{form}.txt"))
        assert answer.code == 1
        assert 'The design does not know o\'brien; "rack:7":' in answer.out
        assert answer.out.endswith("6 of 6 designed links are there; 1 fault to put right\n")
