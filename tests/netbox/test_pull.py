"""A NetBox pulled into a folder: what is read there is the same fleet, and nothing of anybody's is lost."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from fleet_runner.adapters import netbox, sitefiles
from fleet_runner.adapters.sitefiles import pulling
from fleet_runner.adapters.sitefiles.pulling import Change
from fleet_runner.cli.base.session import Exit
from fleet_runner.cli.inventory.netbox import progress
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Cable, Fleet, Interface, Termination
from tests.cli.conftest import Said, typed
from tests.examples import examples
from tests.fleets import fleets
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin
from tests.netbox.test_push import FLEET, LEAF, NODE, bare
from tests.secret import private
from tests.small_fleet import TYPE

__all__ = ["typed"]  # the fixture

URL = "https://netbox.example"
CARRIERS = st.lists(
    st.sampled_from(["trunk T 1", "trunk T2", "panel PP-A", "panel 012", "cage leaf-1 7", "bundle B", "cable #9"]),
    max_size=4,
    unique=True,
)

Typed = Callable[..., Said]


@st.composite
def held_in_netbox(draw: st.DrawFn) -> Fleet:
    """A fleet with what only a NetBox has: any carriers, devices without an interface of their type."""
    fleet = draw(fleets())
    cables = tuple(
        replace(cable, carriers=tuple(f"{each} {number}" for each in draw(CARRIERS)), id=number)
        for number, cable in enumerate(fleet.cables)  # each its own: what two sites name alike is a contradiction
    )
    used = {end for cable in cables for end in (cable.a, cable.b)}
    devices = {
        name: replace(
            device,
            interfaces=tuple(
                each
                for each in device.interfaces
                if Termination(name, each.name) in used or draw(st.sampled_from([True, True, False]))
            ),
        )
        for name, device in fleet.devices.items()
    }
    return replace(fleet, devices=devices, cables=cables, revision="1", notes=("a note",))


@given(fleet=held_in_netbox())
@settings(max_examples=examples(30), deadline=None)
def test_what_is_pulled_is_read_as_the_same_fleet_and_stays_the_same(fleet: Fleet) -> None:
    with TemporaryDirectory() as name:
        folder = Path(name) / "site"
        pulling.write(pulling.plan(fleet, folder, URL))
        assert replace(sitefiles.load(folder), revision="") == bare(fleet)
        assert set(pulling.plan(fleet, folder, URL).changes.values()) == {Change.SAME}


def test_a_breakout_is_pulled_as_one_cable(tmp_path: Path) -> None:
    near = Termination("leaf-1", "ib0")
    cables = tuple(
        Cable(Termination("gpu-1", end), near, "C", carriers=("cable C",), id=3) for end in ("eth0", "ib0")
    )
    fleet = replace(FLEET, cables=cables)
    pulling.write(pulling.plan(fleet, tmp_path, URL))
    assert (tmp_path / "cables.yml").read_text("utf-8").count("leaf-1") == 1
    assert replace(sitefiles.load(tmp_path), revision="") == bare(fleet)


def test_a_file_that_somebody_edited_is_told_from_one_that_nobody_did(tmp_path: Path) -> None:
    pulling.write(pulling.plan(FLEET, tmp_path, URL))
    more = replace(FLEET, sites=("hall", "hall-2"), cables=())
    assert pulling.plan(more, tmp_path, URL).changes == {
        "sites.yml": Change.CHANGED, "locations.yml": Change.SAME, "racks.yml": Change.SAME,
        "device_types.yml": Change.SAME, "devices.yml": Change.SAME, "cables.yml": Change.GONE,
    }  # fmt: skip
    with (tmp_path / "sites.yml").open("a") as file:
        file.write("# mine\n")
    (tmp_path / "devices").mkdir()
    (tmp_path / "devices" / "more.yml").write_text("[]\n")
    (tmp_path / "racks.yml").write_bytes(b"\xff")
    changes = pulling.plan(more, tmp_path, URL).changes
    assert (changes["sites.yml"], changes["racks.yml"]) == (Change.EDITED, Change.EDITED)
    assert changes["devices/more.yml"] is Change.FOREIGN


def test_a_copy_of_a_pull_one_from_elsewhere_and_links_are_somebodys_own(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    folder = tmp_path / "site"
    pulling.write(pulling.plan(FLEET, folder, URL))
    shutil.copytree(folder, folder / "old")
    changed = replace(FLEET, sites=("hall", "hall-2"))
    assert pulling.plan(changed, folder, f"{URL}/").changes["sites.yml"] is Change.CHANGED
    assert pulling.plan(changed, folder, "https://other.example").changes["sites.yml"] is Change.EDITED
    assert {pulling.plan(changed, folder, URL).changes[f"old/{name}.yml"] for name in ("sites", "cables")} == {
        Change.FOREIGN
    }
    (folder / "sites.yml").rename(tmp_path / "sites.yml")
    for to in ("sites.yml", "nowhere.yml"):
        (folder / "sites.yml").unlink(missing_ok=True)
        (folder / "sites.yml").symlink_to(tmp_path / to)
        assert pulling.plan(changed, folder, URL).changes["sites.yml"] is Change.EDITED
    (folder / "devices.yml").chmod(0o600)
    (folder / ".devices.yml.part").symlink_to(tmp_path / "precious")
    pulling.write(pulling.plan(replace(FLEET, devices={"leaf-1": LEAF}, cables=()), folder, URL))
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (folder / "devices.yml").is_symlink()
    assert (folder / "devices.yml").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("fleet", "said"),
    [
        (Fleet((), {}, {}, {}, ()), "no site, rack, device or cable"),
        (replace(FLEET, sites=("hall", " two ")), "a site cannot be written to site files as it is"),
        (
            replace(FLEET, devices={**FLEET.devices, "gpu-1": replace(NODE, serial=" S1")}),
            "device gpu-1 cannot be written to site files",
        ),
        (replace(FLEET, cables=(replace(FLEET.cables[0], label=" C1"),)), "cable gpu-1 ib0 to leaf-1 ib0 cannot"),
        (replace(FLEET, sites=("hall", "a\nb")), r"correct it in NetBox: .*sites.yml:2: 'name' is"),
    ],
)
def test_what_site_files_cannot_tell_is_refused_before_anything_is_written(
    fleet: Fleet, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SourceError, match=f"(?s){URL}.*{said}"):
        pulling.plan(fleet, tmp_path / "site", URL)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    with pytest.raises(SourceError, match=r"site: cannot be written .*pull again"):
        pulling.write(pulling.plan(FLEET, tmp_path / "site", URL))


@pytest.fixture
def source(standin: Standin, tmp_path: Path) -> Standin:
    """A NetBox that fleet.toml names, with a fleet in it."""
    put(standin, FLEET)
    token = tmp_path / "token"
    private(token, f"{TOKEN}\n")
    token.chmod(0o600)
    (tmp_path / "fleet.toml").write_text(f'source = "{standin.url}"\nnetbox_token_file = "token"\n')
    return standin


def test_a_netbox_is_pulled_and_pushed_by_hand(source: Standin, typed: Typed, tmp_path: Path) -> None:
    checked = typed("netbox", "pull", "site", "--check")
    assert checked.code == Exit.NO
    assert "2 devices, 1 cable; 6 of 6 files would be written" in checked.words
    assert not (tmp_path / "site").exists()
    assert typed("netbox", "pull", "site").code == Exit.OK
    assert "no file changed" in typed("netbox", "pull", "site", "--check").words
    pushed = typed("netbox", "push", "site")
    assert (pushed.code, pushed.words) == (Exit.OK, "nothing to write: NetBox matches the folder")

    path = tmp_path / "site" / "devices.yml"
    path.write_text(path.read_text().replace("serial: S1", "serial: S2"))
    refused = typed("netbox", "pull", "site")
    assert refused.code == Exit.USAGE
    assert "devices.yml is not as a pull from there wrote it" in " ".join(refused.err.split())
    checked = typed("netbox", "push", "site", "--check")
    assert (checked.code, checked.words) == (
        Exit.NO, "device gpu-1: serial S2 (was S1) 1 to write; nothing was written",
    )  # fmt: skip
    told = json.loads(typed("netbox", "push", "site", "--json").out)
    assert (told["done"], told["conflicts"], told["waiting"]) == ({"device": 1}, [], 0)
    assert netbox.load(source.url, TOKEN).devices["gpu-1"].serial == "S2"

    (tmp_path / "site" / "cables").mkdir()
    (tmp_path / "site" / "cables" / "mine.yml").write_text("[]\n")
    refused = typed("netbox", "pull", "site", "--force")
    assert "cables/mine.yml is a site file that no pull from there wrote" in " ".join(refused.err.split())
    (tmp_path / "site" / "cables" / "mine.yml").unlink()
    assert typed("netbox", "pull", "site", "--force").code == Exit.OK
    assert json.loads(typed("netbox", "pull", "site", "--json").out)["files"]["devices.yml"] == "same"


def test_a_conflict_of_a_push_is_told_and_counts(source: Standin, typed: Typed, tmp_path: Path) -> None:
    typed("netbox", "pull", "site")
    (tmp_path / "site" / "cables.yml").write_text("- [gpu-1, eth0, leaf-1, ib0]\n")
    said = typed("netbox", "push", "site")
    assert said.code == Exit.NO
    assert "leaf-1 ib0 has a cable to gpu-1 ib0 in NetBox" in said.words
    assert "nothing to write but that" in said.words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--url", "site"), "--url site is not the address of a NetBox; expected https://netbox.example"),
        (("--token-file", "nowhere"), "nowhere: No such file or directory; expected a file with a NetBox token"),
    ],
)
def test_who_names_no_netbox_or_no_token_is_told(words: tuple[str, str], said: str, typed: Typed) -> None:
    url = () if "--url" in words else ("--url", URL)
    found = typed("netbox", "pull", "folder", *words, *url)
    assert found.code == Exit.USAGE
    assert said in " ".join(found.err.split())


def test_an_interface_that_a_device_lacks_is_named(tmp_path: Path) -> None:
    bare_leaf = replace(LEAF, interfaces=TYPE.interfaces[2:])
    fleet = replace(FLEET, devices={**FLEET.devices, "leaf-1": bare_leaf})
    pulling.write(pulling.plan(fleet, tmp_path, URL))
    assert "without: [bmc, eth0]" in (tmp_path / "devices.yml").read_text("utf-8")
    path = tmp_path / "devices.yml"
    path.write_text(path.read_text("utf-8").replace("without: [bmc,", "without: [bmx,"))
    with pytest.raises(SourceError, match="has no interface 'bmx' that it could be without"):
        sitefiles.load(tmp_path)


def test_an_interface_of_another_kind_than_its_types_keeps_it(tmp_path: Path) -> None:
    turned = replace(LEAF, interfaces=(Interface("ib0", "infiniband-xdr"),))
    fleet = replace(FLEET, devices={**FLEET.devices, "leaf-1": turned})
    pulling.write(pulling.plan(fleet, tmp_path, URL))
    assert sitefiles.load(tmp_path).devices["leaf-1"].interfaces == turned.interfaces


def test_what_takes_long_is_told_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = StringIO()
    monkeypatch.setattr(progress, "errors", Console(file=shown, force_terminal=True, width=80))
    monkeypatch.setattr(progress, "SOON", 0.0)
    with progress.progress() as tell:
        tell("cable", 10, 2000)
        until = time.monotonic() + 10
        while "cable: 10 of 2,000" not in shown.getvalue():
            assert time.monotonic() < until, shown.getvalue()
            time.sleep(0.01)
