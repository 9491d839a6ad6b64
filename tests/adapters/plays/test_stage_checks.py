"""Which stage asks which check is read from what Ansible reads, so it cannot say something else."""

from pathlib import Path

import pytest

from fleet_runner.adapters.plays import stage_checks
from fleet_runner.core.base.errors import SettingsError
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.lifecycle.states import Stage


@pytest.fixture
def asked(project: Path) -> dict[Stage, tuple[str, ...]]:
    return stage_checks.read(project)


def test_roles_and_their_defaults_are_followed(asked: dict[Stage, tuple[str, ...]]) -> None:
    assert {"parts_gpu", "gpu_errors", "power_supplies"} <= set(asked[Stage.VERIFY])
    assert {"gpu_usage", "gpu_errors"} <= set(asked[Stage.HEALTH_PASSIVE])  # an imported role
    assert set(asked[Stage.FABRIC]) == {
        "fabric_cabling", "fabric_counters", "fabric_ethernet", "fabric_nvlink", "fabric_roce"
    }  # fmt: skip
    assert "wiped" in asked[Stage.WIPE]  # a list that stands in the task


def test_a_playbooks_own_variables_win_over_the_roles(asked: dict[Stage, tuple[str, ...]]) -> None:
    assert "cabling_ethernet" in asked[Stage.CABLING]
    assert "cabling_infiniband" not in asked[Stage.CABLING]
    assert {"power_supplies", "firmware_pins"} <= set(asked[Stage.CABLING])  # a role's, and a task's own


def test_tests_that_a_profile_lists_may_all_be_asked(asked: dict[Stage, tuple[str, ...]]) -> None:
    active = {name for name, check in CHECKS.items() if check.active}
    assert active | {"steady"} == set(asked[Stage.BURN_IN])
    assert asked[Stage.BURN_IN][0] == "steady"  # before any test begins: a boot under its first load is one, too
    assert active == set(asked[Stage.HEALTH_ACTIVE])


def test_what_is_asked_by_hand_is_no_stages(asked: dict[Stage, tuple[str, ...]]) -> None:
    assert asked[Stage.CHECK] == ()


def test_every_check_is_known_by_its_stages(project: Path) -> None:
    found = stage_checks.stages(project)
    assert set(found) == set(CHECKS)
    assert Stage.VERIFY in found["parts_gpu"]


def test_a_project_without_playbooks_asks_nothing(tmp_path: Path) -> None:
    assert set(stage_checks.read(tmp_path).values()) == {()}


def test_a_playbook_that_is_no_yaml_is_named(tmp_path: Path) -> None:
    (tmp_path / "playbooks").mkdir()
    (tmp_path / "playbooks" / "verify.yml").write_text("- [")
    with pytest.raises(SettingsError, match=r"verify\.yml: it cannot be read"):
        stage_checks.read(tmp_path)


def test_roles_in_every_form_are_understood(tmp_path: Path) -> None:
    """By name alone, with variables beside it, imported, and a list that only a template could tell."""
    for name, checks in (("one", "[xid]"), ("two", "'{{ two_checks }}'"), ("three", "'{{ a + b }}'")):
        (tmp_path / "roles" / name / "tasks").mkdir(parents=True)
        task = f"- fleet_check:\n    checks: {checks}\n"
        (tmp_path / "roles" / name / "tasks" / "main.yml").write_text(task)
    (tmp_path / "playbooks").mkdir()
    play = "- roles: [one, {role: two, two_checks: [dcgm, nonsense]}, three]\n  tasks: null\n- roles: null\n"
    (tmp_path / "playbooks" / "verify.yml").write_text(play)
    tasks = "- include_role: {name: two}\n  vars: {two_checks: [rebooted]}\n- fleet_check: {checks: xid}\n"
    (tmp_path / "playbooks" / "drain.yml").write_text(tasks)
    found = stage_checks.read(tmp_path)
    assert found[Stage.VERIFY] == ("xid", "dcgm")
    assert found[Stage.DRAIN] == ("rebooted", "xid")


def test_what_a_fleet_has_of_its_own_is_read_in_the_place_of_the_projects(tmp_path: Path) -> None:
    own, project = tmp_path / "own", tmp_path / "project"
    for place, checks in ((own, "[xid]"), (project, "[dcgm]")):
        (place / "roles" / "one" / "tasks").mkdir(parents=True)
        (place / "roles" / "one" / "tasks" / "main.yml").write_text(f"- fleet_check: {{checks: {checks}}}\n")
        (place / "playbooks").mkdir()
    (project / "playbooks" / "verify.yml").write_text("- roles: [one]\n")
    (project / "playbooks" / "drain.yml").write_text("- roles: [one]\n")
    (own / "playbooks" / "drain.yml").write_text("- fleet_check: {checks: rebooted}\n")
    found = stage_checks.read(own, project)
    assert (found[Stage.VERIFY], found[Stage.DRAIN]) == (("xid",), ("rebooted",))
