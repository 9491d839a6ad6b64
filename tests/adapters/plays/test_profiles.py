"""Profiles are read where Ansible reads them."""

from pathlib import Path

import pytest

from fleet_runner.adapters.plays import profiles
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.firmware import catalogue
from fleet_runner.reconcile.firmware.catalogues import Catalogues
from fleet_runner.settings import Settings

GOOD = "fleet_profile: {firmware: {watts: 6500, components: [{component: BMC, inventory_id: BMC, target: '1'}]}}\n"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings whose inventory has a folder of variables beside it."""
    (tmp_path / "group_vars").mkdir()
    return Settings(state_dir=tmp_path / "state", inventory=tmp_path / "fleet.yml")


def test_the_projects_own_profiles_have_catalogues_that_can_be_used(project: Path, tmp_path: Path) -> None:
    """Whatever device types it ships."""
    own = Settings(state_dir=tmp_path)
    files = sorted((project / "inventory" / "group_vars").glob("device_type_*.yml"))
    assert files
    for path in files:
        slug = path.stem.removeprefix("device_type_")
        assert profiles.files(own, slug) == (path,)
        assert catalogue.read(profiles.read(own, slug)).components


@pytest.mark.parametrize("name", ["device_type_a_b.yml", "device_type_a_b.yaml", "device_type_a_b/firmware.yml"])
def test_each_place_that_ansible_knows_is_read(settings: Settings, name: str) -> None:
    """Under the name that the inventory gives the device type's group; with tags that only Ansible knows."""
    path = settings.inventory_file.parent / "group_vars" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"secret: !vault |\n  $ANSIBLE_VAULT\n{GOOD}", "utf-8")
    assert profiles.read(settings, "a-b")["firmware"]["watts"] == 6500


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "found no fleet_profile, expected the profile of device type t"),
        ("other: 1", "found no fleet_profile"),
        ("fleet_profile: [1]", r"found fleet_profile '\[1\]', expected the profile of device type t as a mapping"),
        ("[1, 2]", "found no fleet_profile"),
        ("a: [", "it is not YAML"),
        ("a: !!int x", "it cannot be read"),
    ],
)
def test_what_is_no_profile_is_told_with_its_file(settings: Settings, text: str | None, why: str) -> None:
    """And what needs it does without, which is remembered until the file changes."""
    path = settings.inventory_file.parent / "group_vars" / "device_type_t.yml"
    if text is not None:
        path.write_text(text, "utf-8")
    with pytest.raises(SettingsError, match=f"device_type_t.yml: {why}"):
        profiles.read(settings, "t")
    known = Catalogues()
    assert known.of(settings, "t") is None
    assert known.watts(settings, "t") == 0.0
    path.write_text(GOOD, "utf-8")
    assert known.watts(settings, "t") == 6500.0
    read = known.of(settings, "t")
    assert known.of(settings, "t") is read
