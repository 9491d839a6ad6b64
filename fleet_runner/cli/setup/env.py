"""fleet-runner env: what a shell needs to run the playbooks by hand, from any folder."""

import os
import shlex
import sys
from pathlib import Path

from fleet_runner import settings
from fleet_runner.adapters.plays import project
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import console, print_json
from fleet_runner.settings import Settings


def env(*, json: Json = False) -> None:
    """Print the environment to run playbooks by hand, from any folder: eval "$(fleet-runner env)".

    Then, for example: ansible-playbook "$FLEET_PLAYBOOKS/health_passive.yml" --check --limit gpu-03
    """
    found = variables(settings.load())
    if json:
        print_json(found)
        return
    for name, value in found.items():
        console.print(f"export {name}={shlex.quote(value)}", markup=False, soft_wrap=True)


def variables(found: Settings) -> dict[str, str]:
    """Return the variables by name; the environment's own Ansible comes first on PATH."""
    file, programs = settings.config_file(), str(Path(sys.executable).parent)
    path = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return {
        **({"FLEET_CONFIG": str(file)} if file is not None else {}),
        "FLEET_PLAYBOOKS": str(found.project_dir / "playbooks"),
        **project.variables(found),
        "ANSIBLE_INVENTORY": str(found.inventory_file),
        "PATH": os.pathsep.join(dict.fromkeys((programs, *path))),
    }
