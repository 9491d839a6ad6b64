"""The cabling commands over LLDP captures: a file a device, named after it."""

import io
import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Said, Type
from tests.core.cabling.discoveries import by_port
from tests.core.cabling.fabrics import rails

End = tuple[str, str]
Cable = tuple[End, End]

CABLES: list[Cable] = [((f"gpu-0{number}", "eth0"), ("tor-1", f"swp{number}")) for number in (1, 2, 3)]
A, B, C = CABLES
CROSSED = [(A[0], B[1]), (B[0], A[1]), C]


def written(cables: Iterable[Cable], form: str) -> dict[str, str]:
    """Return what lldpctl prints on each device, in either of its forms."""
    rows: dict[str, list[tuple[str, str, str]]] = {}
    for one, other in cables:
        for (device, port), (far, far_port) in ((one, other), (other, one)):
            rows.setdefault(device, []).append((port, far, far_port))
    dumped = {device: list(map(_json if form == "json" else _json0, mine)) for device, mine in rows.items()}
    lldp = (lambda each: {"interface": each}) if form == "json" else (lambda each: [{"interface": each}])
    return {device: json.dumps({"lldp": lldp(mine)}) for device, mine in dumped.items()}


def _json(row: tuple[str, str, str]) -> dict[str, Any]:
    near, far, port = row
    return {near: {"chassis": {far: {}}, "port": {"id": {"type": "ifname", "value": port}, "descr": port}}}


def _json0(row: tuple[str, str, str]) -> dict[str, Any]:
    near, far, port = row
    told = {"id": [{"type": "ifname", "value": port}], "descr": [{"value": port}]}
    return {"name": near, "via": "LLDP", "chassis": [{"name": [{"value": far}]}], "port": [told]}


def heard(folder: Path, cables: Iterable[Cable], form: str = "json") -> None:
    """Replace the captures in a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for device, text in written(cables, form).items():
        (folder / f"{device}.json").write_text(text, encoding="utf-8")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A design in CSV, and the captures of cables as designed."""
    rows = "".join(",".join((*a, *b)) + "\n" for a, b in CABLES)
    (tmp_path / "cables.csv").write_text(rows, encoding="utf-8")
    heard(tmp_path / "lldp", CABLES)
    return tmp_path


def checked(typed: Type, *more: str, observed: Iterable[str] = ("lldp",)) -> Said:
    options = [word for name in observed for word in ("--observed", name)]
    return typed("cabling", "check", "--expected", "cables.csv", *options, *more)


@pytest.mark.parametrize("form", ["json", "json0"])
def test_cables_as_designed_are_done_whichever_form_lldpctl_printed(files: Path, typed: Type, form: str) -> None:
    heard(files / "lldp", CABLES, form)
    assert checked(typed) == Said(0, "3 of 3 designed links are there; no fault\n", "")


@pytest.mark.parametrize(
    "devices",
    [("gpu-01", "gpu-02", "gpu-03", "tor-1"), ("tor-1",), ("gpu-01", "gpu-02", "gpu-03")],
    ids=["both ends", "the switch", "the servers"],
)
def test_a_swap_is_one_fault_from_both_ends_and_from_one(files: Path, typed: Type, devices: tuple[str, ...]) -> None:
    """Files are named one by one as well as by their folder."""
    heard(files / "lldp", CROSSED)
    said = checked(typed, "--json", observed=[f"lldp/{device}.json" for device in devices])
    found = json.loads(said.out)
    assert (said.code, said.err) == (1, "")
    assert [fault["kind"] for fault in found["faults"]] == ["swap"]
    assert (found["matched"], found["designed"], found["silent"]) == (1, 3, [])


def test_one_cable_of_a_switch_in_another_port_is_not_told_to_be_moved(files: Path, typed: Type) -> None:
    """The switch may count its ports otherwise than the design: no other cable of it is heard."""
    heard(files / "lldp", [(A[0], B[1])])
    said = checked(typed)
    assert said.code == 3
    words = " ".join(said.out.split())
    assert "the ports of tor-1 are called otherwise than in the design, or its cables are plugged wrong" in words
    assert "leaf-01,IB1/1/1,1" in words
    (files / "names.csv").write_text("device,interface,adapter\ntor-1,swp1,swp2\n", encoding="utf-8")
    assert "1 of 3 designed links are there; no fault" in checked(typed, "--names", "names.csv").out


def test_the_answer_is_text_csv_and_a_picture_as_for_a_fabric(files: Path, typed: Type) -> None:
    heard(files / "lldp", CROSSED)
    said = checked(typed, "--svg", "fault.svg")
    assert said.code == 1
    assert "3. Plug the cable that comes from gpu-02 port eth0" in said.words
    assert said.out.endswith("1 of 3 designed links are there; 1 fault to put right\n")
    assert "1. swap" in (files / "fault.svg").read_text(encoding="utf-8")
    rows = checked(typed, "--csv").out.splitlines()
    assert [row.split(",")[:4] for row in rows[1:]] == [
        ["", "1", "swap", each] for each in ("unplug", "move", "move")
    ]


def test_a_link_of_which_no_end_is_heard_is_unknown_and_not_missing(files: Path, typed: Type) -> None:
    heard(files / "lldp", [A, B])
    said = checked(typed)
    assert said.code == 3
    assert "unknown no data about 1 designed link, the first: gpu-03 eth0 to tor-1 swp3" in said.words
    assert said.words.endswith("no fault in what could be compared")
    assert "no fault" in said.words


def test_a_device_that_hears_nobody_is_a_capture_like_any_other(files: Path, typed: Type) -> None:
    for device in ("gpu-01", "tor-1"):
        (files / "lldp" / f"{device}.json").write_text('{"lldp": {}}', encoding="utf-8")
    said = checked(typed, observed=["lldp/gpu-01.json", "lldp/tor-1.json"])
    assert said.code == 3
    assert "no data about 3 designed links" in said.words


def test_a_device_that_the_design_does_not_know_is_reported_and_its_links_judged(files: Path, typed: Type) -> None:
    stranger: Cable = (("storage-9", "eth4"), A[1])
    heard(files / "lldp", [B, C, stranger, (("gpu-01", "eth1"), ("tor-1", "swp9"))])
    said = checked(typed)
    assert said.code == 1
    assert "No Ethernet cable of storage-9 is designed; what its capture says is judged by names." in " ".join(
        said.err.split()
    )
    assert "The design does not know storage-9" in said.words


def test_an_unknown_neighbour_in_place_of_one_that_is_heard_nowhere_is_no_fault(files: Path, typed: Type) -> None:
    """It may be that one by another name, and a names file says so; of most neighbours it is one sentence."""
    called: Cable = (("node1", "eth0"), A[1])
    heard(files / "lldp", [called, B, C])
    said = checked(typed)
    assert said.code == 3
    assert "unknown expected gpu-01 eth0 to tor-1 swp1, observed node1 eth0 to tor-1 swp1" in said.words
    assert "2 of 3 designed links are there; no fault" in said.words
    told = " ".join(said.err.split())
    assert "1 neighbour has a name that the design does not know, the first: node1, where gpu-01 belongs." in told
    assert "a CSV such as: device,name / gpu-01,node1; fleet-runner cabling names proposes such names." in told
    (files / "names.csv").write_text("device,name\ngpu-01,node1\n", encoding="utf-8")
    assert checked(typed, "--names", "names.csv").code == 0
    heard(files / "lldp", [called, (("node2", "eth0"), B[1]), C])
    said = checked(typed)
    assert said.code == 3
    assert said.words.startswith("WARNING 1 of 3 designed links could be matched; the likely reason is the names of")
    assert said.words.endswith("proposes names to give to --names.")


def test_cables_in_each_others_ports_of_an_unknown_neighbour_are_no_fault(files: Path, typed: Type) -> None:
    """It is gpu-01 by another name, or not: who knows which of two plans is right."""
    more: list[Cable] = [((f"gpu-0{at}", "eth0"), ("tor-1", f"swp{at}")) for at in range(4, 7)]
    rows = "".join(",".join((*a, *b)) + "\n" for a, b in [*CABLES, *more])
    (files / "cables.csv").write_text(rows, encoding="utf-8")
    heard(files / "lldp", [(B[0], A[1]), (("node1", "eth0"), B[1]), C, *more])
    said = checked(typed)
    assert said.code == 3
    assert "4 of 6 designed links are there; no fault" in said.words
    assert "observed gpu-02 eth0 to tor-1 swp1" in said.words
    assert "device,name" not in said.err


def test_names_of_files_and_systems_are_bound_as_anywhere(files: Path, typed: Type) -> None:
    """With a domain, by a declared name, in a file with a byte order mark, with ports called by number."""
    text = written(CABLES, "json")
    (files / "lldp" / "gpu-01.json").rename(files / "lldp" / "gpu-01.hall.example.org")
    (files / "lldp" / "tor-1.json").rename(files / "lldp" / "EX-7.json")
    for device in ("gpu-01.hall.example.org", "gpu-02.json", "gpu-03.json"):
        told = text[device[:6]].replace("tor-1", "EX-7").replace('"swp', '"Ethernet')
        (files / "lldp" / device).write_text(f"\ufeff{told}", encoding="utf-8")
    (files / "names.csv").write_text("device,interface,adapter,guid,name\ntor-1,,,,EX-7\n", encoding="utf-8")
    assert checked(typed, "--names", "names.csv") == Said(0, "3 of 3 designed links are there; no fault\n", "")
    assert "The design does not know" not in checked(typed, "--names", "names.csv").out
    assert checked(typed).code != 0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("notes.txt", "call the vendor", "lldp/notes.txt: found 'call the vendor', expected what lldpctl -f json"),
        ("gpu-04.json", "", "lldp/gpu-04.json: it is empty, expected what lldpctl -f json"),
        (
            "gpu-04.json",
            written(CABLES, "json")["tor-1"][:90],
            "lldp/gpu-04.json: what the device printed is not JSON",
        ),
        ("gpu-04.json", '{"interface": {}}', "lldp/gpu-04.json: found JSON with interface, expected what lldpctl"),
        ("fabric.txt", by_port(rails(2, 2)), 'lldp/fabric.txt: found "CA 7 1 0x'),
        (
            "gpu-01.json0",
            '{"lldp": {}}',
            "lldp/gpu-01.json and lldp/gpu-01.json0 are both of gpu-01",
        ),
        ("gpu-01.example.org", '{"lldp": {}}', "lldp: two captures are of gpu-01, one of them called gpu-01"),
    ],
)
def test_a_file_that_is_no_lldp_capture_is_named(files: Path, typed: Type, name: str, text: str, said: str) -> None:
    (files / "lldp" / name).write_text(text, encoding="utf-8")
    refused = checked(typed)
    assert (refused.code, refused.out) == (2, "")
    assert said in " ".join(refused.err.split())


def test_what_cannot_be_a_capture_of_neighbours_says_what_to_name(
    files: Path, typed: Type, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (files / "empty").mkdir()
    (files / "empty" / ".hidden").write_text("x", encoding="utf-8")
    shutil.copytree(project / "docs" / "examples" / "site", files / "site")
    for expected, words, said in (
        ("cables.csv", ["empty"], "empty: the folder holds no file, expected what lldpctl"),
        ("cables.csv", ["gone", "--observed", "lldp"], "gone: No such file or directory"),
        ("cables.csv", ["-", "--observed", "lldp"], "standard input does not say which device"),
        ("cables.csv", ["-"], "standard input does not say which device"),
        ("site", ["lldp"], "lldp: LLDP is about Ethernet, and the design has no Ethernet cable"),
        ("site", ["lldp", "--fabric", "infiniband.hall-1.leaf-1"], "leave --fabric out"),
    ):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"lldp": {}}')))
        refused = typed("cabling", "check", "--expected", expected, "--observed", *words)
        assert (refused.code, refused.out) == (2, "")
        assert said in " ".join(refused.err.split())


def test_of_a_site_the_ethernet_links_are_judged_and_an_address_says_more_than_a_name(
    files: Path, typed: Type, project: Path
) -> None:
    """The InfiniBand cables of the same site are no business of LLDP."""
    site = files / "site"
    shutil.copytree(project / "docs" / "examples" / "site", site)
    with (site / "device_types.yml").open("a", encoding="utf-8") as types:
        types.write("\n- {manufacturer: E, model: T, slug: tor, interfaces: [{name: swp1, type: 1000base-t}]}\n")
    with (site / "devices.yml").open("a", encoding="utf-8") as devices:
        devices.write("\n- {name: tor-1, device_type: tor, role: leaf, site: hall-1, rack: N01, position: 5}\n")
    with (site / "cables.yml").open("a", encoding="utf-8") as cables:
        cables.write("- [gpu-02, eth0, tor-1, swp1]\n")
    heard(files / "lldp", [(("localhost", "02:00:00:00:02:00"), A[1])])
    said = typed("cabling", "check", "--expected", "site", "--observed", "lldp/tor-1.json")
    assert said == Said(0, "1 of 1 designed links are there; no fault\n", "")
    heard(files / "lldp", [A])
    said = typed("cabling", "check", "--expected", "site", "--observed", "lldp")
    assert said.code == 1
    assert "tor-1 port swp1 (hall-1 rack N01 U5)" in said.words


def test_explain_knows_the_devices_and_ports_of_ethernet(files: Path, typed: Type) -> None:
    heard(files / "lldp", CROSSED)
    words = ("cabling", "explain", "--expected", "cables.csv", "--observed", "lldp")
    assert "Two cables have taken each other's ports." in typed(*words, "gpu-02", "eth0").words
    assert typed(*words, "gpu-03").words == "no fault at gpu-03 in lldp"


def test_diff_says_what_changed_between_two_folders(files: Path, typed: Type) -> None:
    """With the design's names, or with the devices' own."""
    heard(files / "later", CROSSED)
    for more in ((), ("--expected", "cables.csv")):
        said = typed("cabling", "diff", "lldp", "later", *more)
        assert said.code == 1
        assert "lldp → later" in said.out
        assert said.out.count("\nmoved ") == 2
        assert typed("cabling", "diff", "lldp", "lldp", *more).out.endswith("nothing changed: 3 links\n")
    (files / "fabric.txt").write_text(by_port(rails(2, 2)), encoding="utf-8")
    refused = typed("cabling", "diff", "lldp", "fabric.txt")
    assert refused.code == 2
    assert "lldp and fabric.txt: one is of InfiniBand, one of Ethernet; compare two of a kind" in refused.err


def test_a_design_of_hosts_cables_is_compared_with_what_its_switches_hear_of_others(files: Path, typed: Type) -> None:
    """Uplinks and the cables between two leaves are not in it: they are neither faults nor a reason to doubt."""
    second = [((device, "eth1"), ("tor-2", port)) for (device, _), (_, port) in CABLES]
    rows = "".join(",".join((*a, *b)) + "\n" for a, b in [*CABLES, *second])
    (files / "cables.csv").write_text(rows, encoding="utf-8")
    up = [
        ((f"tor-{tor}", f"swp{50 + spine}"), (f"spine-{spine}", f"swp{tor}")) for tor in (1, 2) for spine in range(9)
    ]
    peer = [(("tor-1", f"swp{port}"), ("tor-2", f"swp{port}")) for port in (48, 49)]
    other = [(("gpu-91", "eth0"), ("tor-9", "swp1")), (("tor-9", "swp50"), ("spine-1", "swp9"))]
    heard(files / "lldp", [*CABLES, *second, *up, *peer, *other])
    said = checked(typed)
    assert said.code == 0
    assert said.out.endswith("6 of 6 designed links are there; no fault\n")
    assert "swp50 to spine-0 swp1" in said.words
    assert "2 links between switches are not judged: the design has none." in " ".join(said.err.split())
    heard(files / "lldp", [*CROSSED, *second, *up, *peer, *other])
    said = checked(typed)
    assert said.code == 1
    assert "1 fault to put right" in said.out
    assert "swp48" not in said.out
