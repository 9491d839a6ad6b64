"""The documents that are generated from the code say what the code says."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from fleet_runner.core.lifecycle import diagram
from fleet_runner.core.lifecycle import page as lifecycle_page
from fleet_runner.settings import load


@pytest.mark.parametrize(
    ("name", "expected"), [("lifecycle.md", lifecycle_page.page()), ("lifecycle.svg", diagram.svg())]
)
def test_a_generated_document_is_up_to_date(project: Path, name: str, expected: str) -> None:
    assert (project / "docs" / name).read_text(encoding="utf-8") == expected, "run `make docs` and commit it"


def test_the_generator_agrees(project: Path) -> None:
    """What `make check` runs, run as it runs it."""
    done = subprocess.run(
        [sys.executable, project / "scripts" / "generate-docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_examples_of_boot_servers_can_be_used_as_they_are(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Runner and boot service share a store and an address, and each file that settings name is copied."""
    page = (project / "docs" / "boot-servers.md").read_text(encoding="utf-8")
    toml, servers = (re.findall(rf"```{kind}\n(# ~/fleet/.*?)```", page, re.DOTALL)[0] for kind in ("toml", "yaml"))
    (tmp_path / "fleet.toml").write_text(toml)
    monkeypatch.setenv("FLEET_CONFIG", str(tmp_path / "fleet.toml"))
    runner = load()
    asked = yaml.safe_load(servers)["boot_servers"]["vars"]
    service = load(**asked["pxe_boot_settings"])
    assert (runner.source, runner.boot_url) == (service.source, service.boot_url)
    assert runner.database_url == service.database_url.replace("{{ vault_password }}", "the-password")
    named = {str(path) for path in asked["pxe_boot_settings"].values() if str(path).startswith("/etc/fleet-runner/")}
    assert named <= {f"/etc/fleet-runner/{file['dest']}" for file in asked["pxe_boot_files"]}
    assert named
