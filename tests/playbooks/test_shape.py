"""Playbooks and roles keep to the form that makes them readable as a checklist."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.plays import stage_checks
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.faults.rules.rules import LADDER
from fleet_runner.core.lifecycle.states import Stage
from tests.playing import PROJECT

PLAYBOOKS = sorted((PROJECT / "playbooks").glob("*.yml"))
STAGES = [path for path in PLAYBOOKS if path.stem in set(Stage)]
SERVERS = {"boot_image", "boot_servers"}
"""Playbooks of the machines that nodes boot from; they are run by hand."""

GROUPS = {"allreduce", "ib_write_pair"}
"""Playbooks of several nodes together; a command runs them for one group after the other."""

ROLES = sorted(path for path in (PROJECT / "roles").iterdir() if path.is_dir())


@cache
def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def keys(found: object) -> set[str]:
    """Return every key anywhere in a document."""
    if isinstance(found, dict):
        return {str(key) for key in found} | {key for value in found.values() for key in keys(value)}
    return {key for value in found for key in keys(value)} if isinstance(found, list) else set()


def test_there_is_a_playbook_for_every_stage_for_groups_and_for_what_nodes_boot_from() -> None:
    assert {path.stem for path in PLAYBOOKS} == {stage.value for stage in Stage} | GROUPS | SERVERS


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_a_playbook_is_short_and_decides_nothing(path: Path) -> None:
    [play] = load(path)
    assert len(path.read_text().splitlines()) <= 25
    assert "when" not in keys(play)
    assert play["gather_facts"] is False


@pytest.mark.parametrize("path", STAGES, ids=lambda path: path.stem)
def test_a_stage_is_for_nodes_or_for_fabrics(path: Path) -> None:
    """A fabric's play has no environment of its own: its reads run in that of the node that is asked."""
    [play] = load(path)
    fabric = path.stem == "fabric"
    assert play["hosts"] == ("fabrics" if fabric else "nodes")
    assert play.get("environment") == (None if fabric else "{{ fleet_environment | default({}) }}")


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_is_whole_and_its_variables_bear_its_name(role: Path) -> None:
    tasks = load(role / "tasks" / "main.yml")
    defaults = load(role / "defaults" / "main.yml")
    options = load(role / "meta" / "argument_specs.yml")["argument_specs"]["main"]["options"]
    assert load(role / "meta" / "main.yml")["galaxy_info"]["role_name"] == role.name
    assert 1 <= len(tasks) <= 6
    assert all(task["name"][0].isupper() for task in tasks)
    assert set(defaults) == set(options)
    assert all(
        name.startswith(f"{role.name}_")
        for name in {*defaults, *(task.get("register", role.name + "_") for task in tasks)}
    )


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_has_a_scenario_that_says_what_is_its_own_alone(role: Path) -> None:
    """What all share is in .config/molecule; what was recorded and what changed is looked at by its tests."""
    scenario = role / "molecule" / "default"
    assert set(load(scenario / "molecule.yml")) <= {"platforms", "provisioner"}
    assert (scenario / "tests" / "test_default.py").is_file()


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_a_role_asks_for_checks_that_exist(role: Path) -> None:
    defaults = load(role / "defaults" / "main.yml")
    asked = set(defaults.get(f"{role.name}_checks", []))
    for task in load(role / "tasks" / "main.yml"):
        named = task.get("fleet_check", {}).get("checks", [])
        asked |= set(named) if isinstance(named, list) else set()
    assert asked <= set(CHECKS)


ACTS = frozenset({"redfish_power", "fleet_firmware", "fleet_bios", "fleet_reset", "fleet_wipe"})
"""Modules that end work, cut power, boot a node anew, flash or erase it; evictions of fleet_scheduler do as well."""


def acts(task: dict[str, Any]) -> bool:
    """Whether a task does something to a node that must be proven before, itself or by a role that it includes."""
    evicts = task.get("fleet_scheduler", {}).get("action") == "evict"
    included = (task.get("ansible.builtin.include_role") or task.get("ansible.builtin.import_role") or {}).get("name")
    return evicts or bool(ACTS & task.keys()) or included in ACTING


ACTING: set[str] = set()
for _ in ROLES:  # a role may include another, which includes a third
    ACTING |= {role.name for role in ROLES for tasks in role.glob("tasks/*.yml") if any(map(acts, load(tasks) or []))}


def test_the_roles_that_act_are_known() -> None:
    """One that is new is found by what it does; who adds one sees it here."""
    assert {"boot_anew", "network_boot", "evict", "firmware", "bios", "reset", "wipe"} == ACTING


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_whatever_acts_on_a_node_proves_it_before(path: Path) -> None:
    """In the same play: no role that acts, and no task, comes before the role `proof`."""
    [play] = load(path)
    names = [each["role"] for each in play.get("roles", [])]
    tasks = [
        *play.get("pre_tasks", []),
        *play.get("tasks", []),
        *play.get("post_tasks", []),
        *play.get("handlers", []),
    ]
    acting = [name for name in names if name in ACTING]
    assert not any(map(acts, play.get("pre_tasks", [])))
    if acting or any(map(acts, tasks)):
        assert "proof" in names
        assert names.index("proof") < min(map(names.index, acting), default=len(names))


def test_every_stage_that_acts_is_proven() -> None:
    """The list, by name: a stage that falls out of it has lost its role, or its proof."""
    proven = {path.stem for path in PLAYBOOKS if "proof" in [each["role"] for each in load(path)[0].get("roles", [])]}
    assert proven == {"provision", "reboot", "reset", "firmware", "wipe"}


def test_a_passive_sweep_is_one_task() -> None:
    """Each further task costs the controller as much CPU per node as a ping."""
    assert len(load(PROJECT / "roles" / "node_health" / "tasks" / "main.yml")) == 1


def test_whatever_a_sweep_finds_that_the_runner_remedies_itself_is_looked_for_afterwards() -> None:
    """A node that a reset or a reboot did not heal must not return to production unseen."""
    asked = stage_checks.read(PROJECT)
    remedied = {
        name
        for name in asked[Stage.HEALTH_PASSIVE]
        if any(remedy in LADDER for code in CHECKS[name].codes for remedy in code.remedies)
    }
    assert {"xid", "gpu_errors", "fabric_manager", "nvlink"} <= remedied
    assert remedied <= set(asked[Stage.VERIFY])
