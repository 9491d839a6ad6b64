"""The inventory is the source of truth as it stands, its values are data, and its errors are one sentence."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from fleet_runner.core.inventory.ansible import FORM, fabric
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.lab import site
from fleet_runner.lab.folder import Lab
from tests.playing import Ansible


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """The site files of a lab of two servers; nothing runs."""
    made = Lab(tmp_path / "lab")
    made.root.mkdir()
    site.write_site(made, 2, {"gpu-01": 1, "gpu-02": 2})
    return made


@pytest.fixture
def ansible(tmp_path: Path, lab: Lab) -> Ansible:
    """Ansible whose source of truth is that site folder."""
    return Ansible(tmp_path / "home", {"FLEET_SOURCE": str(lab.site), "FLEET_STATE_DIR": str(tmp_path / "state")})


def listing(ansible: Ansible, **variables: str) -> dict[str, Any]:
    answer = ansible("ansible-inventory", "--list", **variables)
    assert answer.returncode == 0, answer.stderr
    return dict(plain(json.loads(answer.stdout)))


def plain(found: Any) -> Any:
    """Take Ansible's mark of data off: what bears it is never evaluated as a template."""
    if isinstance(found, dict):
        inner = found.get("__ansible_unsafe")
        return inner if inner is not None else {key: plain(value) for key, value in found.items()}
    return [plain(value) for value in found] if isinstance(found, list) else found


def test_a_bmc_outside_of_the_networks_is_left_out_with_a_sentence(ansible: Ansible) -> None:
    answer = ansible("ansible-inventory", "--list", FLEET_BMC_NETWORKS="10.8.0.0/16")
    assert answer.returncode == 0, answer.stderr
    node = plain(json.loads(answer.stdout))["_meta"]["hostvars"]["gpu-01"]
    assert "fleet_bmc_url" not in node
    assert node["fleet_bmc_refused"].startswith("gpu-01: its BMC at http://127.0.0.1:1 is not in bmc_networks")
    assert "not in bmc_networks (10.8.0.0/16)" in " ".join(answer.stderr.split())


def test_nodes_their_groups_and_their_variables_come_from_the_source(ansible: Ansible, tmp_path: Path) -> None:
    found = listing(ansible)
    assert found["nodes"]["hosts"] == ["gpu-01", "gpu-02"]
    assert found["device_type_lab_hgx_h100"]["hosts"] == ["gpu-01", "gpu-02"]
    assert "leaf-1" in found["role_leaf"]["hosts"]
    node = found["_meta"]["hostvars"]["gpu-01"]
    assert node["fleet_device"]["name"] == "gpu-01"
    assert node["fleet_bmc_url"] == "http://127.0.0.1:1"
    assert node["fleet_profile"]["parts"]["gpu"]["count"] == 8
    assert Path(node["fleet_fabric_file"]).parent == tmp_path / "state" / "cache"
    links = json.loads(Path(node["fleet_fabric_file"]).read_text())["links"]
    assert ["gpu-01", "ib0"] in [link[:2] for link in links] + [link[2:] for link in links]


def test_ssh_looks_for_the_keys_that_nodes_told_only_where_there_is_a_boot_service(
    ansible: Ansible, lab: Lab, tmp_path: Path
) -> None:
    """A device's own words for ssh win: they are in its config context."""
    site_file = lab.site / "devices.yml"
    devices = yaml.safe_load(site_file.read_text())
    node = next(device for device in devices["devices"] if device["name"] == "gpu-02")
    node["config_context"]["ansible_ssh_common_args"] = "-F none"
    site_file.write_text(yaml.safe_dump(devices))
    assert "ansible_ssh_common_args" not in listing(ansible)["_meta"]["hostvars"]["gpu-01"]
    found = listing(ansible, FLEET_BOOT_URL="http://127.0.0.1:8480")["_meta"]["hostvars"]
    assert f"{tmp_path / 'state' / 'known_hosts'}/%h" in found["gpu-01"]["ansible_ssh_common_args"]
    assert found["gpu-02"]["ansible_ssh_common_args"] == "-F none"
    assert "ansible_ssh_common_args" not in found["leaf-1"]


def test_a_fabric_is_a_host_of_its_own_group_and_no_node(ansible: Ansible) -> None:
    found = listing(ansible)
    assert found["fabrics"]["hosts"] == ["infiniband.lab"]
    assert "infiniband.lab" not in found["nodes"]["hosts"]
    fabric = found["_meta"]["hostvars"]["infiniband.lab"]
    assert fabric["fleet_observers"] == [["gpu-01", "ib0"], ["gpu-02", "ib0"]]
    assert len(fabric["fleet_device"]["switches"]) == 10


def test_what_the_source_says_is_data_and_never_a_template(ansible: Ansible, lab: Lab) -> None:
    """Whoever may edit a device in NetBox may not run code on the controller through it."""
    devices = yaml.safe_load((lab.site / "devices.yml").read_text())
    devices["devices"][0]["config_context"]["motd"] = "{{ lookup('pipe', 'id') }}"
    (lab.site / "devices.yml").write_text(yaml.safe_dump(devices))
    answer = ansible("ansible", "gpu-01", "-c", "local", "-m", "debug", "-a", "var=motd")
    assert "lookup('pipe', 'id')" in answer.stdout
    assert "uid=" not in answer.stdout


def test_the_designed_links_are_written_once_per_revision(ansible: Ansible, lab: Lab, tmp_path: Path) -> None:
    listing(ansible)
    [first] = (tmp_path / "state" / "cache").iterdir()
    written = first.stat().st_ino
    listing(ansible)
    assert [file.stat().st_ino for file in (tmp_path / "state" / "cache").iterdir()] == [written]
    devices = yaml.safe_load((lab.site / "devices.yml").read_text())
    devices["devices"][0]["serial"] = "CHANGED"
    (lab.site / "devices.yml").write_text(yaml.safe_dump(devices))
    listing(ansible)
    assert len(list((tmp_path / "state" / "cache").iterdir())) == 2


def test_a_source_with_errors_is_one_error_and_no_inventory(ansible: Ansible, lab: Lab) -> None:
    devices = yaml.safe_load((lab.site / "devices.yml").read_text())
    devices["devices"][0]["device_type"] = "no-such-type"
    (lab.site / "devices.yml").write_text(yaml.safe_dump(devices))
    answer = ansible("ansible-inventory", "--list")
    assert answer.returncode != 0
    said = " ".join(answer.stderr.split())
    assert "no-such-type" in said
    assert "devices.yml" in said
    assert "Traceback" not in said


def test_no_source_at_all_is_said(ansible: Ansible, tmp_path: Path) -> None:
    answer = ansible("ansible-playbook", "playbooks/drain.yml", FLEET_SOURCE=str(tmp_path / "nowhere"))
    assert answer.returncode != 0
    assert "nowhere" in answer.stderr


def test_a_state_folder_that_cannot_be_written_costs_the_fabric_only(ansible: Ansible, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    answer = ansible("ansible-inventory", "--list", FLEET_STATE_DIR=str(tmp_path / "file" / "state"))
    assert answer.returncode == 0
    assert "cabling will be UNKNOWN" in " ".join(answer.stderr.split())
    assert "fleet_fabric_file" not in answer.stdout


def fleet(revision: str) -> Fleet:
    return Fleet(sites=(), racks={}, device_types={}, devices={}, cables=(), revision=revision)


@pytest.fixture(scope="session")
def module(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """The plugin, as Python."""
    return plugin("inventory/fleet")


def test_the_newest_fabric_files_are_kept(module: ModuleType, tmp_path: Path) -> None:
    """Plays that still run may read an older one, so not only the last is kept; one in use counts as new."""
    for number in range(module.KEPT):
        file = module.keep_fabric(fleet(f"r{number}"), tmp_path)
        os.utime(file, (number, number))
    module.keep_fabric(fleet("r0"), tmp_path)
    module.keep_fabric(fleet("new"), tmp_path)
    kept = {file.name for file in tmp_path.iterdir()}
    assert len(kept) == module.KEPT
    assert {f"fabric-{FORM}-r0.json", f"fabric-{FORM}-new.json"} <= kept
    assert f"fabric-{FORM}-r1.json" not in kept


def test_a_file_of_an_older_form_is_not_taken_for_the_same_revisions(module: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "fabric-r1.json").write_text('{"links": [["five", "cells", "of", "another", "form"]]}')
    (tmp_path / f"fabric-{FORM - 1}-r1.json").write_text("{}")
    assert json.loads(module.keep_fabric(fleet("r1"), tmp_path).read_text()) == fabric(fleet(""))


def test_a_revision_cannot_lead_out_of_the_folder(module: ModuleType, tmp_path: Path) -> None:
    file = module.keep_fabric(fleet("../../etc/passwd"), tmp_path)
    assert file.parent == tmp_path
    assert json.loads(file.read_text()) == fabric(fleet(""))


def test_a_write_that_fails_leaves_nothing(
    module: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        module.keep_fabric(fleet("r1"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_only_a_file_of_the_plugins_name_is_taken(module: ModuleType, tmp_path: Path) -> None:
    plugin = module.InventoryModule()
    for name, taken in (("fleet.yml", True), ("fleet.yaml", True), ("lab.yml", False), ("fleet.json", False)):
        (tmp_path / name).write_text("plugin: fleet\n")
        assert plugin.verify_file(str(tmp_path / name)) is taken
    assert not plugin.verify_file(str(tmp_path / "sub" / "fleet.yml"))
