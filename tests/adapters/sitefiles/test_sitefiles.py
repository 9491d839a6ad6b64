"""A folder of site files: what people may write, and that every fault names its file and line."""

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.sitefiles import folder as site_folder
from fleet_runner.adapters.sitefiles import tree, writing
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.consistency import Problem
from fleet_runner.core.inventory.records import Cable, Fleet, Interface, Management, Part, Termination, nodes
from tests.adapters.sitefiles.faults import FAULTS, SITE, Fault
from tests.adapters.sitefiles.writer import write_site
from tests.examples import examples
from tests.fleets import fleets


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A small site folder without a fault."""
    for name, text in SITE.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def problems_of(folder: Path) -> list[str]:
    """The problems of a folder that is refused."""
    with pytest.raises(SourceError) as caught:
        sitefiles.load(folder)
    first, *rest = str(caught.value).splitlines()
    assert "nothing was changed" in first
    return [line.strip() for line in rest]


def test_a_small_site(site: Path) -> None:
    found = sitefiles.load(site)
    node = found.devices["gpu-1"]
    assert node.serial == "0012"
    assert node.oob_address == "10.0.0.1"
    assert node.primary_address == "10.1.0.1"
    assert node.management is Management.CUSTOMER
    assert node.interfaces == (
        Interface("eth0", "1000base-t", mac="02:aa:00:00:00:01"),
        Interface("ib0", "infiniband-ndr", guid="00000000000000aa"),
        Interface("ib1", "infiniband-ndr"),
    )
    assert node.parts == (Part("GPU 0", "gpu", "H100", "1E5"),)
    assert node.context == {"yes_means_true": True, "list": [1, 16, 1.5, "2020-01-01", "1", None]}
    assert found.racks["hall-1/A03"].location == "row-a"
    assert found.cables == (
        Cable(
            Termination("gpu-1", "ib0"),
            Termination("gpu-2", "ib0"),
            "C1",
            "aoc",
            ("trunk T-12", "panel PP-A", "panel 012", "cage gpu-1 left"),
        ),
        Cable(Termination("gpu-1", "ib1"), Termination("gpu-2", "ib1")),
    )


def test_the_example_in_the_documentation_loads(project: Path) -> None:
    found = sitefiles.load(project / "docs" / "examples" / "site")
    assert [node.name for node in nodes(found)] == ["gpu-01", "gpu-02"]
    assert len(found.cables) == 4
    assert sum("trunk T-1" in cable.carriers for cable in found.cables) == 2
    assert all(node.parts and node.serial and node.oob_address for node in nodes(found))


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_names_its_file_and_line_and_what_was_expected(site: Path, fault: Fault) -> None:
    name, edit, where, said = fault
    (site / name).write_text(edit(SITE[name]), "utf-8")
    told = problems_of(site)
    assert told[0].startswith(f"{where}: ")
    assert said in told[0]


@given(data=st.data(), fleet=fleets())
@settings(max_examples=examples(40), deadline=None)
def test_a_fault_is_found_in_any_site(data: st.DataObject, fleet: Fleet) -> None:
    """One wrong line in a generated site: the first problem names that line."""
    fields = ("device_type", "role", "site", "position", "serial", "oob_ip")
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_site(fleet, folder)
        path = folder / "devices.yml"
        path.write_text(yaml.safe_dump(writing.rows(fleet)["devices"], sort_keys=False), "utf-8")  # a key a line
        lines = path.read_text("utf-8").splitlines()
        top = [number for number, line in enumerate(lines) if line[2:].split(":")[0] in fields and line[:2] == "  "]
        if top:
            number = data.draw(st.sampled_from(top))
            lines[number] = lines[number].split(":")[0] + ": [nowhere]"
            path.write_text("\n".join(lines), "utf-8")
            assert problems_of(folder)[0].startswith(f"devices.yml:{number + 1}: ")


@given(data=st.data(), fleet=fleets())
@settings(max_examples=examples(80), deadline=None)
def test_a_damaged_site_is_read_or_refused_and_nothing_else(data: st.DataObject, fleet: Fleet) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_site(fleet, folder)
        path = data.draw(st.sampled_from(sorted(folder.iterdir())))
        text = bytearray(path.read_bytes())
        for _ in range(data.draw(st.integers(1, 4))):
            at = data.draw(st.integers(0, len(text)))
            junk = data.draw(
                st.binary(max_size=4) | st.sampled_from([b"\t", b"&a ", b"*a", b"- ", b": ", b"\n", b"{[", b"!!"])
            )
            text[at : at + data.draw(st.integers(0, 6))] = junk
        path.write_bytes(text)
        try:
            sitefiles.load(folder)
        except SourceError:
            return


@given(fleet=fleets(), data=st.data())
@settings(max_examples=examples(20), deadline=None)
def test_records_may_be_split_over_files_and_forms(fleet: Fleet, data: st.DataObject) -> None:
    rows = writing.rows(fleet)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for kind in ("sites", "locations", "racks"):
            (folder / f"{kind}.yaml").write_text(yaml.safe_dump({kind: rows[kind]}), "utf-8")
        for number, row in enumerate(rows["device_types"]):
            path = folder / "device-types" / "Maker" / f"{number}.yml"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(yaml.safe_dump(row), "utf-8")
        cut = data.draw(st.integers(0, len(rows["devices"])))
        for number, some in enumerate((rows["devices"][:cut], rows["devices"][cut:])):
            (folder / "devices").mkdir(exist_ok=True)
            (folder / "devices" / f"{number}.yml").write_text(yaml.safe_dump(some), "utf-8")
        long = [
            {"a_terminations": [cable.a._asdict()], "b_terminations": [cable.b._asdict()], "label": cable.label}
            for cable in fleet.cables
        ]
        (folder / "cables.yml").write_text(yaml.safe_dump(long), "utf-8")
        found = sitefiles.load(folder)
    assert replace(found, revision="", cables=()) == replace(fleet, cables=())
    assert [(cable.a, cable.b, cable.label) for cable in found.cables] == [
        (cable.a, cable.b, cable.label) for cable in fleet.cables
    ]


def test_roles_of_their_own(site: Path) -> None:
    (site / "roles.yml").write_text("- {name: Tape library, slug: tape}\n- {name: robot}\n")
    text = SITE["devices.yml"].replace("gpu-server", "tape", 1)
    (site / "devices.yml").write_text(text)
    assert sitefiles.load(site).devices["gpu-1"].role == "tape"


def test_files_of_the_device_type_library_load_as_they_are(site: Path) -> None:
    (site / "device-types").mkdir()
    (site / "device-types" / "QM9700.yaml").write_text(
        "---\nmanufacturer: NVIDIA\nmodel: QM9700\nslug: qm9700\npart_number: X\nu_height: 1\nis_full_depth: true\n"
        "airflow: side-to-rear\nweight: 13.6\nweight_unit: kg\ncomments: |\n  A switch.\n  Really.\n"
        "power-ports:\n  - name: PS1\n    type: iec-60320-c14\n"
        "interfaces:\n  - name: mgmt0\n    type: 1000base-t\n    mgmt_only: true\n"
    )
    assert sitefiles.load(site).device_types["qm9700"].interfaces == (
        Interface("mgmt0", "1000base-t", mgmt_only=True),
    )


def test_defaults_can_be_merged_and_a_device_overrules_them(site: Path) -> None:
    (site / "devices.yml").write_text(
        "- &d {name: gpu-1, device_type: hgx, role: gpu-server, site: hall-1, status: planned}\n"
        "- {<<: *d, name: gpu-2, status: active}\n- {<<: [*d, {serial: S3}], name: gpu-3}\n"
    )
    found = sitefiles.load(site).devices
    assert [device.status for device in found.values()] == ["planned", "active", "planned"]
    assert found["gpu-3"].serial == "S3"


def test_a_cable_may_be_planned(site: Path) -> None:
    (site / "cables.yml").write_text(SITE["cables.yml"].replace("type: aoc", "status: planned"))
    assert [cable.status for cable in sitefiles.load(site).cables] == ["planned", "connected"]


def test_empty_carriers_are_none(site: Path) -> None:
    text = SITE["cables.yml"].replace('[PP-A, "012"]', "").replace("T-12", "~").replace("gpu-1 left", "''")
    (site / "cables.yml").write_text(text)
    assert sitefiles.load(site).cables[0].carriers == ()


def test_a_cable_that_is_designed_no_more_is_not_read(site: Path) -> None:
    (site / "cables.yml").write_text(SITE["cables.yml"].replace("type: aoc", "status: decommissioning"))
    assert len(sitefiles.load(site).cables) == 1


def test_a_breakout_is_several_cables(site: Path) -> None:
    end = "{device: gpu-1, interface: ib0}"
    (site / "cables.yml").write_text(
        f"- a_terminations: [{end}]\n  b_terminations:\n"
        "    - {device: gpu-2, interface: ib0}\n    - {device: gpu-2, interface: ib1}\n"
    )
    assert len(sitefiles.load(site).cables) == 2


def test_an_empty_file_says_nothing(site: Path) -> None:
    (site / "cables.yml").write_text("# none yet\n")
    assert sitefiles.load(site).cables == ()


def test_a_bomb_is_refused_before_it_goes_off(site: Path) -> None:
    lines = ["- &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"- &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    (site / "sites.yml").write_text("\n".join(lines))
    assert "aliases repeat more than" in problems_of(site)[0]


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000])
def test_endless_nesting_is_refused(site: Path, text: str) -> None:
    (site / "sites.yml").write_text(text)
    assert "nested more than" in problems_of(site)[0]


def test_nesting_through_aliases_is_counted_too(site: Path) -> None:
    (site / "sites.yml").write_text("- &a0 [x]\n" + "".join(f"- &a{n} [*a{n - 1}]\n" for n in range(1, 60)))
    assert problems_of(site)[0].startswith("sites.yml:41: values are nested more than")


def test_numbers_beyond_json_stay_text(site: Path) -> None:
    big = "9" * 5000
    (site / "devices.yml").write_text(
        SITE["devices.yml"].replace("yes_means_true: yes", f"inf: .inf\n    big: {big}")
    )
    assert sitefiles.load(site).devices["gpu-1"].context | {"list": 0} == {"inf": ".inf", "big": big, "list": 0}


def test_a_file_with_another_name_is_not_overlooked(site: Path) -> None:
    (site / "device.yml").write_text("[]")
    assert problems_of(site) == [
        "device.yml: found 'device.yml', which is no kind of site file; did you mean 'devices'?"
    ]


def test_other_files_and_hidden_ones_are_let_be(site: Path) -> None:
    (site / ".git").mkdir()
    (site / ".git" / "x.yml").write_text("{")
    (site / "README.md").write_text("{")
    assert sitefiles.load(site)


def test_a_link_out_of_the_folder_is_refused(site: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.yml"
    outside.write_text("[]")
    (site / "cables.yml").unlink()
    (site / "cables.yml").symlink_to(outside)
    assert "outside the site folder" in problems_of(site)[0]
    (site / "cables.yml").unlink()
    (site / "cables.yml").symlink_to("cables.yml")
    assert problems_of(site)[0].startswith("cables.yml: cannot be read")


def test_a_link_inside_the_folder_is_followed(site: Path) -> None:
    (site / "cables.yml").rename(site / "cables.txt")
    (site / "cables.yml").symlink_to("cables.txt")
    assert len(sitefiles.load(site).cables) == 2


def test_what_is_no_file_is_refused(site: Path) -> None:
    (site / "cables.yml").unlink()
    os.mkfifo(site / "cables.yml")
    assert problems_of(site) == ["cables.yml: is not a file; expected YAML"]


def test_a_huge_file_is_refused(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_folder, "MAX_BYTES", 100)
    assert any("larger than" in line for line in problems_of(site))


def test_text_that_is_not_utf8_names_its_line(site: Path) -> None:
    (site / "sites.yml").write_bytes(b"- name: hall-1\n- name: \xff\n")
    assert problems_of(site) == ["sites.yml:2: is not UTF-8 text; save it as UTF-8"]


@pytest.mark.parametrize("make", [shutil.rmtree, lambda folder: [path.unlink() for path in folder.iterdir()]])
def test_no_folder_or_an_empty_one_says_what_is_expected(site: Path, make: Callable[[Path], object]) -> None:
    make(site)
    with pytest.raises(SourceError, match=r"site folder|expected sites\.yml"):
        sitefiles.load(site)


def test_a_file_instead_of_a_folder_is_refused(site: Path) -> None:
    with pytest.raises(SourceError, match="is not a folder"):
        sitefiles.load(site / "sites.yml")


def test_it_reads_the_same_without_the_fast_yaml_reader(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fast = sitefiles.load(site)
    monkeypatch.setattr(tree, "LOADER", yaml.SafeLoader)
    assert sitefiles.load(site) == fast
    (site / "sites.yml").write_text("- name: [\n")
    assert problems_of(site)[0].startswith("sites.yml:2: invalid YAML")


@given(st.text(max_size=30))
@settings(max_examples=examples(300), deadline=None)
def test_any_yaml_is_read_as_pyyaml_reads_it_or_refused(text: str) -> None:
    """The tree means what PyYAML means by the same text, but for what JSON cannot carry."""
    told: list[Problem] = []
    found = tree.parse(text, "f", told)
    if not told:
        try:
            expected = yaml.load(text, Loader=yaml.CSafeLoader)
        except (yaml.YAMLError, ValueError):
            return
        meant = tree.plain_json(found) if found is not None else None
        if isinstance(expected, (str, int, bool, type(None))):
            assert meant == expected
