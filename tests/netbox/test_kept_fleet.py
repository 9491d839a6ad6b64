"""The fleet that is kept beside the rows it was made of: the same one, or none."""

import shutil
from dataclasses import fields, replace
from pathlib import Path

import pytest
import structlog

import fleet_runner
from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import cache, kept_fleet
from fleet_runner.core.inventory.records import (
    Cable,
    Device,
    DeviceType,
    Fleet,
    Interface,
    Management,
    Part,
    Rack,
    Termination,
)
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin
from tests.netbox.test_following import same
from tests.netbox.test_reading import FLEET, QUICK, install


@pytest.fixture
def kept(standin: Standin, tmp_path: Path) -> Path:
    """Where the rows are kept of a NetBox with a small fleet, before anybody read it."""
    put(standin, FLEET)
    install(standin)
    return tmp_path / "cache" / "netbox.json"


def snapshot(standin: Standin, kept: Path | None) -> netbox.Snapshot:
    """Read its rows."""
    return netbox.snapshot(standin.url, TOKEN, QUICK, kept)


@pytest.fixture
def making(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Name what is looked for in a file of rows."""
    asked: list[str] = []
    make = cache._KeptRows.__getattr__

    def noted(rows: cache._KeptRows, name: str) -> object:
        asked.append(name)
        return make(rows, name)

    monkeypatch.setattr(cache._KeptRows, "__getattr__", noted)
    return asked


def test_who_reads_what_nobody_changed_makes_no_rows_and_no_fleet(
    standin: Standin, kept: Path, making: list[str]
) -> None:
    first = netbox.load(standin.url, TOKEN, QUICK, kept)
    assert kept_fleet.beside(kept).stat().st_mode & 0o777 == 0o600
    assert netbox.load(standin.url, TOKEN, QUICK, kept) == first == netbox.load(standin.url, TOKEN, QUICK)
    known = netbox.as_kept(standin.url, TOKEN, kept)
    assert known is not None
    assert netbox.fleet(known, standin.url) == first
    assert making == []


def test_what_somebody_changed_is_made_again(standin: Standin, kept: Path) -> None:
    netbox.load(standin.url, TOKEN, QUICK, kept)
    standin.edit("dcim/devices", 1, serial="NEW-1")
    found = netbox.load(standin.url, TOKEN, QUICK, kept)
    assert found == netbox.load(standin.url, TOKEN, QUICK)
    assert "NEW-1" in {each.serial for each in found.devices.values()}
    assert netbox.load(standin.url, TOKEN, QUICK, kept) == found


def test_what_contradicts_itself_is_told_from_the_file_as_well(standin: Standin, kept: Path) -> None:
    standin.edit("dcim/devices", 1, name="all")
    first = netbox.load(standin.url, TOKEN, QUICK, kept)
    assert "cannot be an Ansible host" in first.unread["all"]
    assert first.notes
    assert netbox.load(standin.url, TOKEN, QUICK, kept) == first


@pytest.mark.parametrize("spoil", [b"", b"[" * 100_000, b"{}\n[]"])
def test_a_file_that_cannot_be_used_is_made_again(standin: Standin, kept: Path, spoil: bytes) -> None:
    first = netbox.load(standin.url, TOKEN, QUICK, kept)
    beside = kept_fleet.beside(kept)
    beside.write_bytes(spoil)
    assert netbox.load(standin.url, TOKEN, QUICK, kept) == first
    assert kept_fleet.load(beside, f"{snapshot(standin, kept).of} {snapshot(standin, kept).sum}") == first


def test_another_release_makes_its_own(standin: Standin, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netbox.load(standin.url, TOKEN, QUICK, kept)
    found = snapshot(standin, kept)
    of = f"{found.of} {found.sum}"
    assert kept_fleet.load(kept_fleet.beside(kept), of) is not None
    monkeypatch.setattr(kept_fleet, "form", lambda: "another")
    assert kept_fleet.load(kept_fleet.beside(kept), of) is None


def test_where_no_file_can_be_written_the_fleet_is_there_all_the_same(standin: Standin, kept: Path) -> None:
    kept.mkdir(parents=True)
    with structlog.testing.capture_logs():
        assert netbox.load(standin.url, TOKEN, QUICK, kept) == netbox.load(standin.url, TOKEN, QUICK)
    assert not kept_fleet.beside(kept).exists()


def test_other_code_of_the_same_version_makes_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that somebody corrected, in a working copy or between releases, is asked of what was kept."""
    package = Path(fleet_runner.__file__).parent
    for folder in kept_fleet.CODE:
        shutil.copytree(package / folder, tmp_path / folder)
    monkeypatch.setattr(fleet_runner, "__file__", str(tmp_path / "__init__.py"))
    made = kept_fleet.form.__wrapped__
    assert made() == kept_fleet.form()
    (tmp_path / "core" / "inventory" / "addresses.py").write_text("# corrected\n")
    assert made() != kept_fleet.form()


def test_a_mark_that_another_digit_is_in_is_not_used(standin: Standin, kept: Path) -> None:
    """One that says that the change log was read farther than it was would miss what changed."""
    first = snapshot(standin, kept)
    assert first.mark is not None
    text = kept.read_bytes()
    said = f'"change": {first.mark.change}'.encode()
    assert text.count(said) == 1
    kept.write_bytes(text.replace(said, said + b"0"))
    with structlog.testing.capture_logs() as told:
        assert snapshot(standin, kept).how == "everything"
    assert "it is damaged" in told[0]["why"]


def test_what_was_seen_with_another_token_names_no_fleet(standin: Standin, kept: Path) -> None:
    """A process whose token was replaced goes on with what others keep for the new one."""
    first = snapshot(standin, kept)
    before = replace(first, of="another", sum="another")
    found = netbox.snapshot(standin.url, TOKEN, QUICK, kept, before)
    assert (found.of, found.sum, found.file) == (first.of, first.sum, kept)


PORT = Interface("ib0", "infiniband-ndr", "02:00:00:00:00:01", "0002c90300000001", mgmt_only=True)
WHOLE = Fleet(
    ("hall-1",),
    {"hall-1/A03": Rack("A03", "hall-1", 48, 2, "row A")},
    {"hgx": DeviceType("hgx", "Maker", "HGX", 8.0, (PORT,), full_depth=False)},
    {
        "gpu-01": Device(
            "gpu-01", "hgx", "gpu-server", "hall-1", "A03", 1.5, "offline", "S-1", "192.0.2.1", "192.0.2.2", "acme",
            Management.CUSTOMER, (PORT,), (Part("GPU 0", "gpu", "H100", "P-1"),), {"ntp": ["a", {"b": None}]}, "rear",
        )
    },
    (Cable(Termination("gpu-01", "ib0"), Termination("leaf-1", "1"), "C-1", "aoc", ("trunk T-1",), "planned", 7),),
    "a revision",
    ("A note.",),
    {"gpu-02": "it has no rack"},
    (Termination("gpu-03", "ib0"),),
)  # fmt: skip
"""A fleet in which no field is as it is when nobody says anything, but what the store alone knows."""


def test_every_field_comes_back_as_it_was(tmp_path: Path) -> None:
    kept_fleet.save(tmp_path / "kept", "these rows", WHOLE)
    assert same(kept_fleet.load(tmp_path / "kept", "these rows"), WHOLE)
    said = (WHOLE, PORT, *WHOLE.racks.values(), *WHOLE.device_types.values(), *WHOLE.devices.values(), *WHOLE.cables)
    usual = [
        field.name for each in said for field in fields(each) if getattr(each, field.name) in (field.default, {})
    ]
    assert usual == ["last_places"]
