"""The profile of a device type, section by section."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.firmware import catalogue
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import BurnIn, Optics, PartCount
from fleet_runner.core.inventory.records import Part


def test_a_profile_reads_as_it_is_written() -> None:
    """One example of each section."""
    raw: dict[str, Any] = {
        "parts": {"gpu": {"count": 8, "model": "H100"}, "hca": {"count": 0}},
        "limits": {"gpu_tlimit_margin_celsius": 5},
        "burn_in": {"seconds": 6, "gpu_gflops_share_min": 0.95},
        "hca_interfaces": {"mlx5_0": "ib0"},
        "optics": {"celsius_max": 70, "celsius_change_max": 10},
    }
    assert profile.parts(raw, "gpu") == PartCount(8, "H100")
    assert profile.parts(raw, "hca") == PartCount(0, "")
    assert profile.limit(raw, "gpu_tlimit_margin_celsius") == 5.0
    assert profile.burn_in(raw) == BurnIn(6.0, 0.95)
    assert profile.hca_interfaces(raw) == {"mlx5_0": "ib0"}
    assert profile.hca_interfaces({}) == {}
    assert profile.optics(raw) == Optics(70.0, 10.0)
    assert profile.optics({}) is None
    assert (profile.adapter(raw, "ib0"), profile.adapter(raw, "ib1")) == ("mlx5_0", None)


BAD: list[tuple[dict[str, Any], str]] = [
    ({}, "parts"),
    ({"parts": []}, "parts"),
    ({"parts": {}}, "parts.gpu"),
    ({"parts": {"gpu": 8}}, "parts.gpu"),
    ({"parts": {"gpu": {"count": "8"}}}, "parts.gpu.count"),
    ({"parts": {"gpu": {"count": True}}}, "parts.gpu.count"),
    ({"parts": {"gpu": {"count": -1}}}, "parts.gpu.count"),
    ({"parts": {"gpu": {"count": 8, "model": None}}}, "parts.gpu.model"),
]


@pytest.mark.parametrize(("raw", "key"), BAD)
def test_a_malformed_part_names_its_key(raw: dict[str, Any], key: str) -> None:
    """The message says which key, what was found and where to correct it."""
    with pytest.raises(EvidenceError, match=rf"fleet_profile\.{key}: found .*group_vars"):
        profile.parts(raw, "gpu")


@pytest.mark.parametrize("value", [None, "5", True, float("nan"), float("inf"), 10**400])
def test_a_limit_that_is_no_number_names_its_key(value: object) -> None:
    """NaN compares with nothing: it would switch the limit off."""
    with pytest.raises(EvidenceError, match=r"fleet_profile\.limits\.x: found"):
        profile.limit({"limits": {"x": value}}, "x")


@pytest.mark.parametrize("value", ["ib0", {"mlx5_0": 0}, None])
def test_malformed_rails_name_their_key(value: object) -> None:
    """Rails are names to names."""
    with pytest.raises(EvidenceError, match=r"fleet_profile\.hca_interfaces: found"):
        profile.hca_interfaces({"hca_interfaces": value})


@pytest.mark.parametrize("value", [None, 70, {}, {"celsius_max": 70}, {"celsius_max": "70", "celsius_change_max": 1}])
def test_malformed_optics_name_their_key(value: object) -> None:
    """A section that is there is meant: one that cannot be read does not switch the check off."""
    with pytest.raises(EvidenceError, match=r"fleet_profile\.optics.*: found"):
        profile.optics({"optics": value})


def test_a_nodes_own_parts_are_read_by_kind() -> None:
    """An empty serial is an unknown one."""
    rows = [
        {"slot": "GPU 0", "kind": "gpu", "model": "H100", "serial": "1"},
        {"slot": "GPU 1", "kind": "gpu", "model": "H100", "serial": ""},
        {"slot": "PSU 0", "kind": "psu"},
    ]
    assert profile.device_parts({"parts": rows}, "gpu") == (
        Part("GPU 0", "gpu", "H100", "1"),
        Part("GPU 1", "gpu", "H100", None),
    )
    assert profile.device_parts({}, "gpu") == ()


@pytest.mark.parametrize("rows", ["GPU 0", [1]])
def test_malformed_parts_of_a_node_are_said(rows: object) -> None:
    """They come from the source of truth, not from the profile."""
    with pytest.raises(EvidenceError, match=r"fleet_device\.parts: found"):
        profile.device_parts({"parts": rows}, "gpu")


def test_every_profile_of_the_inventory_can_be_read(project: Path) -> None:
    """A new device type's file is checked here before any node is."""
    files = sorted((project / "inventory" / "group_vars").glob("device_type_*.yml"))
    assert files
    for file in files:
        raw = yaml.safe_load(file.read_text(encoding="utf-8")).get("fleet_profile")
        if raw is not None and "firmware" in raw:
            assert catalogue.read(raw).components
        parts = (raw or {}).get("parts", {})
        assert all(profile.parts(raw, kind).count for kind in ("gpu", "hca", "psu", "dimm", "nvme") if kind in parts)
        if raw is None or "limits" not in raw:
            continue
        assert profile.limit(raw, "gpu_tlimit_margin_celsius") > 0
        assert profile.burn_in(raw).seconds > 0
        assert profile.hca_interfaces(raw)
        assert profile.optics(raw)


SECTION = {
    "active": {"fio": {"seconds": 60, "share": 0.5, "name": "x", "names": ["a", "b"], "on": True, "none": None}}
}


def test_a_section_gives_its_values_by_their_kind() -> None:
    """Each as what it is."""
    fio = profile.section(SECTION, "active.fio")
    assert (fio.whole("seconds"), fio.number("share"), fio.text("name"), fio.flag("on")) == (60, 0.5, "x", True)
    assert (fio.texts("names"), fio.texts("name")) == (("a", "b"), ("x",))
    assert [fio.has(name) for name in ("seconds", "none", "never")] == [True, False, False]


@pytest.mark.parametrize(
    ("kind", "name"),
    [("whole", "share"), ("whole", "on"), ("number", "name"), ("text", "seconds"), ("texts", "seconds"),
     ("flag", "name"), ("text", "never")],
)  # fmt: skip
def test_a_value_of_another_kind_is_named_with_its_key(kind: str, name: str) -> None:
    """The person who wrote the file finds it."""
    with pytest.raises(EvidenceError, match=rf"fleet_profile.active.fio.{name}: found"):
        getattr(profile.section(SECTION, "active.fio"), kind)(name)


def test_a_section_that_is_none_is_named() -> None:
    """Whatever stands in its place."""
    with pytest.raises(EvidenceError, match=r"fleet_profile.active.fio: found 'x', expected a mapping"):
        profile.section({"active": {"fio": "x"}}, "active.fio")
