"""fleet-runner cabling names: names to look through, which `cabling check` then takes."""

import json
from pathlib import Path

import pytest

from tests.cli.cabling.fabric_forms import eos
from tests.cli.conftest import Type
from tests.core.cabling.discoveries import plain
from tests.core.cabling.fabrics import rails

DESIGN = [each for each in rails(6, 4) if each.a.device.startswith("gpu")]
FILES = ("--expected", "cables.csv", "--observed", "fabric.txt")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Six servers at four leaves, whose adapters and servers are called otherwise in the capture."""
    rows = [f"{a.device},{a.interface},{b.device},IB1/{b.interface}" for a, b in DESIGN]
    (tmp_path / "cables.csv").write_text("\n".join(rows), encoding="utf-8")
    text = plain(DESIGN).replace("gpu-0", "node").replace(" ib", " mlx5_")
    (tmp_path / "fabric.txt").write_text(text, encoding="utf-8")
    return tmp_path


def test_what_is_proposed_makes_the_fabric_as_designed(folder: Path, typed: Type) -> None:
    before = typed("cabling", "check", *FILES)
    assert before.code == 3
    assert "the likely reason is the names of devices: the design says 'gpu-0" in " ".join(before.out.split())
    assert "fleet-runner cabling names" in " ".join(before.out.split())
    said = typed("cabling", "names", *FILES, "-o", "names.csv")
    assert (said.code, said.out) == (0, "")
    words = " ".join(said.err.split())
    assert "0 of 24 designed links are there without these names, 24 with them" in words
    after = typed("cabling", "check", *FILES, "--names", "names.csv")
    assert (after.code, after.out) == (0, "24 of 24 designed links are there; no fault\n")
    sheet = (folder / "names.csv").read_text(encoding="utf-8")
    assert sheet.startswith(
        "device,interface,adapter,guid,name\n# devices of gpu-0*: 24 of 24 cables are as designed"
    )
    assert "\ngpu-01,,,,node1\n" in sheet
    assert "\ngpu-0*,ib0,mlx5_0,,\n" in sheet
    assert typed("cabling", "names", *FILES).out == sheet
    assert typed("cabling", "names", *FILES, "--names", "names.csv").out == ""


def test_json_has_rules_and_counts(folder: Path, typed: Type) -> None:
    assert folder.is_dir()
    found = json.loads(typed("cabling", "names", *FILES, "--json").out)
    assert [(rule["sort"], rule["links"], rule["cables"]) for rule in found["rules"]] == [
        ("devices", 24, 24),
        ("adapters", 24, 24),
    ]
    assert (found["before"], found["after"], found["designed"], found["untold"]) == (0, 24, 24, [])


def test_what_cannot_be_told_is_said_and_no_file_is_written(folder: Path, typed: Type) -> None:
    text = (folder / "fabric.txt").read_text(encoding="utf-8")
    (folder / "fabric.txt").write_text(text.replace("node1 ", "n7 ").replace("node2 ", "x y2 "), encoding="utf-8")
    assert typed("cabling", "names", *FILES).code in {0, 3}
    rows = (folder / "cables.csv").read_text(encoding="utf-8").replace("IB1/", "port-x")
    (folder / "cables.csv").write_text(rows.replace("gpu-", "server"), encoding="utf-8")
    lone = [each for each in DESIGN if each.a.device == "gpu-01"]
    (folder / "fabric.txt").write_text(plain(lone).replace("gpu-01 ib", "a mlx5_"), encoding="utf-8")
    said = typed("cabling", "names", *FILES, "-o", "names.csv")
    assert "No names are proposed: 0 of 24 designed links" in " ".join(said.err.split())
    assert not (folder / "names.csv").exists()


def test_a_file_that_cannot_be_written_is_refused(folder: Path, typed: Type) -> None:
    assert folder.is_dir()
    said = typed("cabling", "names", *FILES, "-o", "no/such/names.csv")
    assert said.code == 2
    assert "no/such/names.csv: No such file or directory; name a file that can be written" in " ".join(
        said.err.split()
    )


def lldp(cables: list[tuple[str, str, str]]) -> str:
    """Return what a switch hears, as EOS prints it: its port, the neighbour, and that one's port."""
    return eos([(near, far, port, "") for near, far, port in cables])


def test_names_are_proposed_for_what_devices_hear_over_lldp(tmp_path: Path, typed: Type) -> None:
    """The design counts fronts, the leaf counts lanes; neighbours are called node1, node2 and so on."""
    rows = [f"gpu-{at:02d},eth0,leaf-1,Ethernet{at}" for at in range(1, 5)]
    (tmp_path / "cables.csv").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "lldp").mkdir()
    heard = [(f"Ethernet{4 * at - 4}", f"node{at}", "enp26s0np0") for at in range(1, 5)]
    (tmp_path / "lldp" / "leaf-1.json").write_text(lldp(heard), encoding="utf-8")
    files = ("--expected", "cables.csv", "--observed", "lldp")
    before = typed("cabling", "check", *files)
    assert before.code == 3
    said = typed("cabling", "names", *files, "-o", "names.csv")
    assert (said.code, said.out) == (0, "")
    assert "0 of 4 designed links are there without these names, 4 with them" in " ".join(said.err.split())
    sheet = (tmp_path / "names.csv").read_text(encoding="utf-8")
    assert "\ngpu-01,,,,node1\n" in sheet
    assert "\ngpu-0*,eth0,enp26s0np0,,\n" in sheet
    assert "# switch ports of leaf-1: 4 of 4 cables are as designed by these names\n" in sheet
    assert "\nleaf-1,Ethernet2,Ethernet4,,\n" in sheet
    after = typed("cabling", "check", *files, "--names", "names.csv")
    assert (after.code, after.out) == (0, "4 of 4 designed links are there; no fault\n")
    crossed = [(near, f"node{at}", "enp26s0np0") for at, (near, _, _) in zip((2, 1, 3, 4), heard, strict=True)]
    (tmp_path / "lldp" / "leaf-1.json").write_text(lldp(crossed), encoding="utf-8")
    assert "fault 1: swap" in typed("cabling", "check", *files, "--names", "names.csv").out
