"""What the inventory adds to the source of truth: groups by state, what its file composes, and a cache."""

import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters import sitefiles
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, nodes
from fleet_runner.core.lifecycle.actions import Decision, SetCondition
from fleet_runner.core.lifecycle.runs import Held
from fleet_runner.core.lifecycle.states import Condition
from fleet_runner.lab import site
from fleet_runner.lab.folder import Lab
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, serving
from tests.playing import Ansible
from tests.secret import private

HOSTILE = "{{ lookup('pipe', 'id') }}"

COMPOSED = {
    "plugin": "fleet",
    "compose": {"motd_again": "motd", "rails": "fleet_device.links | length", "broken": "no_such_variable.at_all"},
    "groups": {"second": "inventory_hostname is search('02')", "hostile": "motd"},
    "keyed_groups": [
        {"prefix": "status", "key": "fleet_device.status"},
        {"prefix": "of", "key": "motd", "parent_group": "all_of"},
    ],
}


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """The site files of a lab of two servers, one with what looks like a template in its config context."""
    made = Lab(tmp_path / "lab")
    made.root.mkdir()
    site.write_site(made, 2, {"gpu-01": 1, "gpu-02": 2})
    devices = yaml.safe_load((made.site / "devices.yml").read_text())
    devices["devices"][0]["config_context"]["motd"] = HOSTILE
    (made.site / "devices.yml").write_text(yaml.safe_dump(devices))
    return made


@pytest.fixture
def ansible(tmp_path: Path, lab: Lab) -> Ansible:
    """Ansible whose source of truth is that site folder."""
    return Ansible(tmp_path / "home", {"FLEET_SOURCE": str(lab.site), "FLEET_STATE_DIR": str(tmp_path / "state")})


def asked(ansible: Ansible, *words: str | Path, **variables: str) -> str:
    answer = ansible("ansible-inventory", *words, **variables)
    assert answer.returncode == 0, answer.stderr
    assert "Traceback" not in answer.stderr
    return answer.stdout


def inventory_file(folder: Path, content: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "fleet.yml").write_text(yaml.safe_dump(content))
    return folder / "fleet.yml"


def registered(lab: Lab, state: Path) -> Store:
    store = Store.create(f"sqlite:///{state / 'fleet.db'}")
    store.register([*nodes(sitefiles.load(lab.site))], 5.0)
    return store


def test_nodes_are_in_groups_by_state_and_condition_as_the_store_has_them(
    ansible: Ansible, lab: Lab, tmp_path: Path
) -> None:
    with registered(lab, tmp_path / "state") as store:
        node = store.node("gpu-02")
        assert node is not None
        store.apply(node, Decision((SetCondition(Condition.HELD, Held(6.0, "a look", "anna")),), "held", 9.0), 6.0)
    graph = asked(ansible, "--graph")
    assert "|--@state_registered:\n  |  |--gpu-01\n  |  |--gpu-02\n" in graph
    assert "|--@condition_held:\n  |  |--gpu-02\n" in graph
    assert "|--@site_lab:" in graph


@pytest.mark.nightly
def test_a_store_of_another_schema_costs_these_groups_only(ansible: Ansible, lab: Lab, tmp_path: Path) -> None:
    with registered(lab, tmp_path / "state"):
        pass
    with sqlite3.connect(tmp_path / "state" / "fleet.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0099'")
    connection.close()
    answer = ansible("ansible-inventory", "--graph")
    assert answer.returncode == 0
    assert "its schema is 0099" in " ".join(answer.stderr.split())
    assert "@nodes" in answer.stdout
    assert "@state_" not in answer.stdout


def test_an_inventory_file_composes_groups_and_variables_and_evaluates_no_value(
    ansible: Ansible, tmp_path: Path
) -> None:
    """Its own expressions are the operator's; what they find in the source is data, also where it names a group."""
    file = inventory_file(tmp_path / "inventory", COMPOSED)
    text = asked(ansible, "--list", "-i", file)
    found = json.loads(text)
    variables = found["_meta"]["hostvars"]["gpu-01"]
    assert variables["motd_again"] == {"__ansible_unsafe": HOSTILE} == variables["motd"]
    assert "uid=" not in text
    assert "broken" not in variables
    assert variables["rails"] > 8
    assert found["second"]["hosts"] == ["gpu-02"]
    assert "gpu-01" in found["status_active"]["hosts"]
    named = [group for group in found["all_of"]["children"] if group.startswith("of_")]
    assert named == ["of____lookup__pipe____id_____"]
    assert found[named[0]]["hosts"] == ["gpu-01"]


@pytest.mark.nightly
def test_a_strict_inventory_file_fails_where_it_cannot_compose(ansible: Ansible, tmp_path: Path) -> None:
    file = inventory_file(
        tmp_path / "inventory", {"plugin": "fleet", "strict": True, "compose": {"a": "none_such.b"}}
    )
    answer = ansible("ansible-inventory", "--host", "gpu-01", "-i", file)
    assert answer.returncode != 0
    assert "Could not set a for host" in answer.stderr


@pytest.mark.nightly
def test_one_host_is_told_alone(ansible: Ansible) -> None:
    found = json.loads(asked(ansible, "--host", "gpu-01"))
    assert found["fleet_device"]["name"] == "gpu-01"
    assert "all" not in found


@pytest.mark.nightly
def test_a_cache_is_read_until_it_is_renewed_and_makes_no_value_a_template(
    ansible: Ansible, lab: Lab, tmp_path: Path
) -> None:
    """States are read from the store each time, and a source of another name is not the cached one."""
    kept = {"cache": True, "cache_plugin": "jsonfile", "cache_connection": str(tmp_path / "kept")}
    file = inventory_file(tmp_path / "inventory", {"plugin": "fleet", "compose": {"motd_again": "motd"}, **kept})

    def serial(*words: str, **variables: str) -> Any:
        found = json.loads(asked(ansible, "--host", "gpu-01", "-i", file, *words, **variables))
        assert found["motd_again"] == HOSTILE
        return found["fleet_device"]["serial"]

    first = serial()
    [cached] = (tmp_path / "kept").iterdir()
    assert first in cached.read_text()
    devices = (lab.site / "devices.yml").read_text()
    (lab.site / "devices.yml").write_text(devices.replace(first, "CHANGED"))
    assert serial() == first
    with registered(lab, tmp_path / "state"):
        assert "@state_registered" in asked(ansible, "--graph", "-i", file)
    assert serial("--flush-cache") == "CHANGED"
    assert serial() == "CHANGED"
    other = tmp_path / "other"
    shutil.copytree(lab.site, other)
    (other / "devices.yml").write_text(devices.replace(first, "ANOTHER"))
    assert serial(FLEET_SOURCE=str(other)) == "ANOTHER"
    assert len(list((tmp_path / "kept").iterdir())) == 2


@pytest.mark.nightly
def test_links_that_were_dropped_meanwhile_make_a_cache_of_no_use(ansible: Ansible, tmp_path: Path) -> None:
    kept = {"cache": True, "cache_plugin": "jsonfile", "cache_connection": str(tmp_path / "kept")}
    file = inventory_file(tmp_path / "inventory", {"plugin": "fleet", **kept})
    asked(ansible, "--list", "-i", file)
    [links] = (tmp_path / "state" / "cache").glob("fabric-*.json")
    links.unlink()
    asked(ansible, "--list", "-i", file)
    assert links.is_file()


def test_a_page_of_a_netbox_chooses_nothing_that_runs_on_the_controller(ansible: Ansible, tmp_path: Path) -> None:
    private(tmp_path / "token", TOKEN)
    context = {"ansible_connection": "local", "ansible_user": "fleet", "motd": HOSTILE}
    node = Device("gpu-1", "hgx", "gpu-server", "hall", context=context)
    with serving() as standin:
        put(standin, Fleet(("hall",), {}, {"hgx": DeviceType("hgx", "Maker", "HGX", 8.0)}, {"gpu-1": node}, ()))
        there = {"FLEET_SOURCE": standin.url, "FLEET_NETBOX_TOKEN_FILE": str(tmp_path / "token")}
        answer = ansible("ansible-inventory", "--host", "gpu-1", **there)
    assert "config contexts set ansible_connection" in " ".join(answer.stderr.split())
    found = json.loads(answer.stdout)
    assert (found["ansible_user"], found["motd"]) == ("fleet", HOSTILE)
    assert "ansible_connection" not in found
