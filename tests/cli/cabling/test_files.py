"""The cabling commands over files: CSV, pictures, declared names, what changed, and why."""

import csv
import io
import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from fleet_runner.cli.cabling import sheets
from fleet_runner.cli.cabling.sheets import CHANGES, FAULTS
from fleet_runner.core.cabling.explain import Fault, Kind, Places
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.plan import Record
from tests.cli.conftest import Said, Type
from tests.core.cabling.discoveries import by_port, plain
from tests.core.cabling.fabrics import rails
from tests.core.checks.catalogue.judging import text_of

E = rails(6, 2)
A, B = E[0], E[2]
CROSSED = [*(each for each in E if each not in (A, B)), link(A.a, B.b), link(B.a, A.b)]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A design, a fabric as designed, and one with two crossed cables."""
    lines = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in E)
    (tmp_path / "cables.csv").write_text(lines, encoding="utf-8")
    seen(tmp_path, E, "as_designed.txt")
    seen(tmp_path, CROSSED)
    return tmp_path


def seen(folder: Path, links: list[Link] | tuple[Link, ...], name: str = "fabric.txt") -> None:
    (folder / name).write_text(by_port(links), encoding="utf-8")


def checked(typed: Type, *more: str) -> Said:
    return typed("cabling", "check", "--expected", "cables.csv", "--observed", "fabric.txt", *more)


def rows(said: Said) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(said.out, newline="")))


def test_csv_has_one_row_for_each_thing_to_do(files: Path, typed: Type) -> None:
    """Lines end as the RFC has them; the port to stand at, where the plug was, and what stays.

    No row plugs into a port that is taken.
    """
    said = checked(typed, "--csv")
    assert (said.code, said.err) == (1, "")
    assert said.out.startswith(",".join(FAULTS) + "\r\n")
    out, first, second = rows(said)
    assert (out["action"], out["device"], out["port"]) == ("unplug", "leaf-1", "1")
    assert (out["from"], out["other_end"]) == ("leaf-1 1", "gpu-02 ib0")
    assert out["step"].startswith("Unplug leaf-1 port 1, where the cable from gpu-02 ib0 sits")
    assert first["step"].startswith("Plug the cable that comes from gpu-01 port ib0 into leaf-1 port 1")
    assert (first["fault"], first["kind"], first["action"]) == ("1", "swap", "move")
    assert (first["device"], first["port"]) == ("leaf-1", "1")
    assert (first["from"], first["to"], first["other_end"]) == ("leaf-1 2", "leaf-1 1", "gpu-01 ib0")
    assert (second["from"], second["to"], second["other_end"]) == ("leaf-1 1", "leaf-1 2", "gpu-02 ib0")
    assert first["key"] == second["key"]


def test_no_cell_of_a_name_becomes_a_formula(files: Path, typed: Type) -> None:
    """A device may call itself anything; a spreadsheet must not compute it."""
    stranger = link(Port("gpu-=cmd|' /C calc'!A0", "ib9"), Port("leaf-1", "40"))
    text = by_port([*E, stranger]).replace("gpu-=cmd|' /C calc'!A0 ib9", '=HYPERLINK("x"), "y" mlx5_0')
    (files / "fabric.txt").write_text(text, encoding="utf-8")
    said = checked(typed, "--csv")
    assert said.code == 1
    cells = [cell for row in rows(said) for cell in row.values()]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_each_kind_of_action_has_its_row(files: Path, typed: Type) -> None:
    """Of a dark server, a missing cable, a cable too many and a slow one."""
    links = [each for each in E if "gpu-04" not in {each.a.device, each.b.device} and each != E[-1]]
    extra = link(Port("leaf-1", "40"), Port("spine-1", "40"))
    text = by_port([*links, extra])
    slow = "\n".join(line.replace("4x NDR", "1x NDR") if "gpu-05 ib1" in line else line for line in text.split("\n"))
    (files / "fabric.txt").write_text(slow, encoding="utf-8")
    found = {row["kind"]: row for row in rows(checked(typed, "--csv"))}
    assert {kind: row["action"] for kind, row in found.items()} == {
        "dark": "restore", "missing": "add", "extra": "remove", "degraded": "reseat",
    }  # fmt: skip
    assert (found["dark"]["device"], found["dark"]["note"]) == ("gpu-04", "2 links")
    assert found["degraded"]["note"].startswith("1x NDR")


def test_exchanged_servers_are_one_row(files: Path, typed: Type) -> None:
    designed = rails(6, 8)
    lines = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in designed)
    (files / "cables.csv").write_text(lines, encoding="utf-8")
    names = {"gpu-01": "gpu-02", "gpu-02": "gpu-01"}
    seen(files, [link(Port(names.get(a.device, a.device), a.interface), b) for a, b in designed])
    (row,) = rows(checked(typed, "--csv"))
    assert (row["kind"], row["action"], row["note"]) == ("exchanged", "exchange", "gpu-01, gpu-02")


def test_a_new_adapter_is_a_row_for_the_source_of_truth(capsys: pytest.CaptureFixture[str]) -> None:
    """With the GUID that it knows and the one that is seen; a fault without any action has a row as well."""
    new = Fault(Kind.REPLACED_HCA, "k", "m", (), (Record("gpu-01", "ib0", "1", "2"),), tuple(A), (A,), (A,))
    bare = Fault(Kind.EXTRA, "other", "m", (), (), tuple(A), (), (A,))
    sheets.faults([("infiniband.hall-1", new), ("", bare)], Places({"gpu-01": "hall-1 rack N1 U1"}, {}, frozenset()))
    first, second = rows(Said(0, capsys.readouterr().out, ""))
    assert (first["device"], first["port"], first["place"]) == ("gpu-01", "ib0", "hall-1 rack N1 U1")
    assert (first["action"], first["from"], first["to"]) == ("record", "1", "2")
    assert (second["fault"], second["action"], second["key"]) == ("2", "", "other")
    assert (first["fabric"], second["fabric"]) == ("infiniband.hall-1", "")


def documented(project: Path) -> list[tuple[str, str]]:
    page = (project / "docs" / "cabling.md").read_text(encoding="utf-8")
    return re.findall(r"<!-- run in docs/examples: ([^\n]*) -->\n```text\n(.*?)```", page, re.DOTALL)


def test_the_document_shows_what_the_commands_print(
    typed: Type, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Word for word, in the folder that it names."""
    shown = documented(project)
    assert len(shown) == 3
    monkeypatch.chdir(project / "docs" / "examples")
    for command, text in shown:
        assert [line.rstrip() for line in typed(*command.split()).out.splitlines()] == text.splitlines()


def test_a_spine_with_few_cables_is_no_server(files: Path, typed: Type) -> None:
    """The plan works at it as at any switch: two crossed uplinks are exchanged at one device, not at two servers."""
    up = [each for each in E if each.b.device == "spine-1"]
    seen(files, [*(each for each in E if each not in up), link(up[0].a, up[1].b), link(up[1].a, up[0].b)])
    (found,) = json.loads(checked(typed, "--json").out)["faults"]
    assert found["kind"] == "swap"
    assert "at 1 device, at the switches" in explained(typed).words


def test_two_forms_at_once_are_refused(files: Path, typed: Type) -> None:
    said = checked(typed, "--csv", "--json")
    assert (said.code, said.out) == (2, "")
    assert "--json and --csv both want standard output" in " ".join(said.err.split())


def test_the_picture_is_written_and_shows_the_fault(files: Path, typed: Type) -> None:
    said = checked(typed, "--svg", "fault.svg")
    assert (said.code, said.err) == (1, "wrote fault.svg\n")
    root = ET.fromstring((files / "fault.svg").read_text(encoding="utf-8"))  # noqa: S314  our own output
    assert "1. swap" in [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
    refused = checked(typed, "--svg", "nowhere/fault.svg")
    assert refused.code == 2
    assert "nowhere/fault.svg: No such file or directory; name a file that can be written" in refused.err


@pytest.mark.parametrize("form", [by_port(E), plain(E)], ids=["by-port", "plain"])
def test_a_capture_comes_through_a_pipe(files: Path, typed: Type, monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    """`ibnetdiscover -p | fleet-runner cabling check --observed -`."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(form.encode())))
    said = typed("cabling", "check", "--expected", "cables.csv", "--observed", "-")
    assert said == Said(0, "16 of 16 designed links are there; no fault\n", "")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
    assert (
        "standard input: it is empty" in typed("cabling", "check", "--expected", "cables.csv", "--observed", "-").err
    )


@pytest.mark.parametrize("tool", ["ibnetdiscover/by_port.txt", "ibnetdiscover/plain.txt"])
def test_every_form_of_capture_is_taken(files: Path, typed: Type, tool: str) -> None:
    design = (
        "gpu-01,mlx5_0,leaf-1,1\ngpu-01,mlx5_1,leaf-2,1\ngpu-02,mlx5_0,leaf-1,2\ngpu-02,mlx5_1,leaf-2,2\n"
        "leaf-1,33,spine-1,1\nleaf-2,33,spine-1,2\n"
    )
    (files / "cables.csv").write_text(design, encoding="utf-8")
    (files / "fabric.txt").write_text(text_of(tool), encoding="utf-8")
    assert "6 of 6 designed links are there" in checked(typed).out


def test_declared_names_bind_what_a_design_does_not_say(files: Path, typed: Type) -> None:
    """Adapters of every server, a GUID where nothing else is known, and a server that still says its serial."""
    text = by_port(E).replace(" ib0'", " mlx5_0'").replace(" ib1'", " mlx5_1'")
    text = text.replace("'gpu-01 ", "'S1234 ").replace("'gpu-02 mlx5_0'", "'MT4129 ConnectX7'")
    (files / "fabric.txt").write_text(text, encoding="utf-8")
    without = checked(typed)
    assert without.code == 3
    assert "Plug" not in without.out
    assert "the likely reason is the names of adapters" in " ".join(without.out.split())
    guid = next(line.split()[3] for line in text.splitlines() if "( 'MT4129 ConnectX7'" in line)
    (files / "names.csv").write_text(
        f"device,interface,adapter,guid,name\n*,ib0,mlx5_0,,\n*,ib1,mlx5_1,,\ngpu-01,,,,S1234\ngpu-02,ib0,,{guid},\n",
        encoding="utf-8",
    )
    assert checked(typed, "--names", "names.csv") == Said(0, "16 of 16 designed links are there; no fault\n", "")
    (files / "names.csv").write_text("gpu-01,ib0\n", encoding="utf-8")
    refused = checked(typed, "--names", "names.csv")
    assert refused.code == 2
    assert "names.csv:1: found 'gpu-01,ib0', expected column names" in " ".join(refused.err.split())


def test_an_adapter_with_its_factory_name_is_to_be_named_and_not_its_makers(files: Path, typed: Type) -> None:
    """No server has an adapter called "Technologies"."""
    text = by_port(E).replace("'gpu-04 ib0'", "'MT4129 ConnectX7   Mellanox Technologies'")
    (files / "fabric.txt").write_text(text, encoding="utf-8")
    said = checked(typed)
    words = " ".join(said.err.split())
    assert said.code == 3
    assert words.startswith("1 adapter says what the factory called it, not where it is, the first: MT4129 ConnectX7")
    assert "declare the GUID with --names FILE, a CSV such as: device,interface,guid / gpu-04,ib0,0x" in words
    assert "adapters are" not in words
    (files / "names.csv").write_text(f"device,interface,guid\n{words.split(' / ')[1]}\n", encoding="utf-8")
    assert checked(typed, "--names", "names.csv").code == 0


def test_names_that_differ_in_case_only_are_the_designs(files: Path, typed: Type) -> None:
    text = by_port(E).replace("gpu-", "GPU-").replace("leaf-", "Leaf-").replace("spine-", "Spine-")
    (files / "fabric.txt").write_text(text, encoding="utf-8")
    said = checked(typed)
    assert (said.code, said.err) == (0, "")
    assert "as designed" in said.out or f"{len(E)} of {len(E)} designed links are there; no fault" in said.out


@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_design_in_a_file_needs_what_was_seen(files: Path, typed: Type, command: str) -> None:
    """A sweep of nothing is not what was asked for."""
    said = typed("cabling", command, "--expected", "cables.csv")
    assert (said.code, said.out) == (2, "")
    assert "error: --observed is missing: cables.csv is a file" in " ".join(said.err.split())


def test_a_missing_source_of_truth_says_which_setting_names_it(
    files: Path, typed: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its default, the file, or the variable."""
    said = typed("cabling", "check")
    assert said.code == 3
    assert "/site: there is no such folder; it is the setting source, whose default is 'site'" in said.err
    (files / "fleet.toml").write_text('source = "hall"\n', encoding="utf-8")
    assert (
        f"/hall: there is no such folder; it is the setting source, from {files}/fleet.toml;"
        in typed("cabling", "check").err
    )
    monkeypatch.setenv("FLEET_SOURCE", "yard")
    assert "the setting source, from the variable FLEET_SOURCE;" in typed("cabling", "check").err


def test_a_suspect_capture_is_said_first_and_is_trouble(files: Path, typed: Type) -> None:
    """All the faults are listed, and no exit code says that they are sure."""
    far = rails(40, 2)
    lines = "".join(f"{a.device},{a.interface},{b.device},{b.interface}\n" for a, b in far)
    (files / "cables.csv").write_text(lines, encoding="utf-8")
    seen(files, [each for number, each in enumerate(far) if number % 3 or each.b.device.startswith("spine")])
    said = checked(typed)
    assert said.code == 3
    assert said.out.startswith("WARNING ")
    assert "fault 1: " in said.out
    as_json = checked(typed, "--json")
    assert as_json.code == 3
    assert json.loads(as_json.out)["suspect"]
    assert "WARNING" in as_json.err


def test_a_fabric_is_chosen_only_where_a_site_says_which_there_are(files: Path, typed: Type) -> None:
    said = checked(typed, "--fabric", "infiniband.hall-1")
    assert said.code == 2
    assert "no fabric 'infiniband.hall-1' in the design; it has none" in " ".join(said.err.split())


def explained(typed: Type, *words: str) -> Said:
    return typed("cabling", "explain", "--expected", "cables.csv", "--observed", "fabric.txt", *words)


@pytest.mark.parametrize("what", [(), ("leaf-1",), ("gpu-02",), ("gpu-02", "ib0"), ("gpu-02 ib0",)])
def test_explain_says_what_differs_why_what_to_do_and_what_proves_it_done(
    files: Path, typed: Type, what: tuple[str, ...]
) -> None:
    """For any device and port of the fault."""
    said = explained(typed, *what)
    assert (said.code, said.err) == (0, "")
    assert all(len(line) <= 80 for line in said.out.splitlines())
    for words in (
        "gpu-01 ib0 to leaf-1 1 gpu-01 ib0 to leaf-1 2",  # designed beside plugged
        "Two cables have taken each other's ports.",
        "no plan takes fewer than 2 touches, this one takes 2.",
        "1 other plan takes as few;",
        "2. Plug the cable that comes from gpu-01 port ib0",
        "Done when a sweep sees gpu-01 ib0 to leaf-1 1, gpu-02 ib0 to leaf-1 2 and no longer sees",
    ):
        assert words in said.words


def test_explain_takes_the_key_that_json_gives(files: Path, typed: Type) -> None:
    (found,) = json.loads(explained(typed, "--json").out)
    assert found["fault"]["kind"] == "swap"
    assert found["done_when"].startswith("Done when a sweep sees")
    key = found["fault"]["key"]
    assert json.loads(explained(typed, key, "--json").out) == [found]
    assert explained(typed, "gpu-03").words == "no fault at gpu-03 in fabric.txt"
    seen(files, E)
    assert explained(typed, "--svg", "none.svg").words == "no fault in fabric.txt"
    assert "No fault: nothing to draw." in (files / "none.svg").read_text(encoding="utf-8")


def test_explain_says_what_cannot_be_told_and_that_is_trouble(files: Path, typed: Type) -> None:
    """Also beside a fault elsewhere; of a link at whose end something nameless stands, and of all that is silent."""
    text = by_port(CROSSED).replace("'gpu-04 ib0'", "'MT4129 ConnectX7   Mellanox Technologies'")
    (files / "fabric.txt").write_text(text, encoding="utf-8")
    for what in (("gpu-04",), ("gpu-04", "ib0"), ("leaf-1 4",)):
        said = explained(typed, *what)
        assert said.code == 3
        assert said.words.startswith("unknown expected gpu-04 ib0 to leaf-1 4, observed ")
        assert said.words.endswith(f"no fault in what could be judged at {' '.join(what)} in fabric.txt")
    as_json = explained(typed, "gpu-04", "--json")
    assert (as_json.code, json.loads(as_json.out)) == (3, [])
    assert as_json.err.startswith("unknown: expected gpu-04 ib0")
    assert explained(typed, "gpu-04 ib1").words == "no fault at gpu-04 ib1 in fabric.txt"
    beside = explained(typed)
    assert beside.code == 0
    assert "unknown expected gpu-04 ib0" in beside.words


def test_explain_of_a_suspect_capture_is_trouble(files: Path, typed: Type) -> None:
    text = by_port(E).replace("gpu-", "h100-").replace("leaf-", "edge-").replace("spine-", "top-")
    (files / "fabric.txt").write_text(text, encoding="utf-8")
    assert explained(typed).code == 3


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("gpu-03 ib9", "error: no port 'ib9' of gpu-03 in the design; it has 2: ib0, ib1"),
        ("gpu-33", "error: no device 'gpu-33' in the design; name"),
        ("12", "error: 12 is a ticket's number, and tickets are of stored sweeps; leave --observed out"),
    ],
)
def test_explain_refuses_what_is_not_there(files: Path, typed: Type, what: str, said: str) -> None:
    """No fault at a port that does not exist is no answer."""
    refused = explained(typed, what)
    assert (refused.code, refused.out) == (2, "")
    assert " ".join(refused.err.split()).startswith(said)


def test_links_of_a_fault_stand_beside_the_ones_that_took_their_ports(files: Path, typed: Type) -> None:
    """One that nothing took its place from, and one that took nobody's place, stand alone."""
    free = link(A.a, Port("leaf-1", "40"))
    seen(files, [free, *E[1:-1], link(Port("leaf-2", "41"), Port("spine-1", "41"))])
    said = explained(typed).words
    assert "gpu-01 ib0 to leaf-1 1 gpu-01 ib0 to leaf-1 40" in said
    assert "- leaf-2 41 to spine-1 41" in said
    assert f"{E[-1].a} to {E[-1].b} -" in said


@pytest.mark.parametrize("design", [(), ("--expected", "cables.csv")])
def test_diff_says_what_hands_did_between_two_captures(files: Path, typed: Type, design: tuple[str, ...]) -> None:
    """With the design's names or the fabric's own."""
    seen(files, [each for each in CROSSED if "gpu-05" not in {each.a.device, each.b.device}])
    said = typed("cabling", "diff", "as_designed.txt", "fabric.txt", *design)
    assert (said.code, said.err) == (1, "")
    assert "as_designed.txt → fabric.txt" in said.out
    assert "from leaf-1 1 to leaf-1 2" in said.words
    assert "device gone" in said.out
    assert said.out.endswith("12 links are as they were\n")
    same = typed("cabling", "diff", "fabric.txt", "fabric.txt", *design)
    assert (same.code, same.out.splitlines()[-1]) == (0, "nothing changed: 14 links")


def test_diff_speaks_json_and_csv(files: Path, typed: Type) -> None:
    text = (files / "fabric.txt").read_text(encoding="utf-8")
    slow = "\n".join(line.replace("4x NDR", "2x NDR") if "gpu-05 ib1" in line else line for line in text.split("\n"))
    new = by_port([link(Port("gpu-09", "ib0"), Port("leaf-1", "40"))])
    (files / "fabric.txt").write_text(slow.rstrip("\n") + "\n" + new, encoding="utf-8")
    words = ["cabling", "diff", "as_designed.txt", "fabric.txt", "--expected", "cables.csv"]
    found = json.loads(typed(*words, "--json").out)["changes"]
    assert found["same"] == 14
    assert len(found["moved"]) == 2
    assert found["rerated"][0]["after"] == "2x NDR"
    said = typed(*words, "--csv")
    assert said.out.startswith(",".join(CHANGES) + "\r\n")
    assert [row["change"] for row in rows(said)] == ["come", "moved", "moved", "rate", "new device"]
    back = typed("cabling", "diff", "fabric.txt", "as_designed.txt", "--csv", "--expected", "cables.csv")
    assert {"gone", "device gone"} <= {row["change"] for row in rows(back)}
    told = typed(*words).words
    assert "rate gpu-05 ib1 to leaf-2 5: 2x NDR, was 4x NDR" in told


def test_diff_of_a_capture_that_cannot_be_read_names_it(files: Path, typed: Type) -> None:
    (files / "cut.txt").write_text(by_port(E)[:1000], encoding="utf-8")
    said = typed("cabling", "diff", "as_designed.txt", "cut.txt")
    assert said.code == 2
    assert said.err.startswith("error: cut.txt: ")
