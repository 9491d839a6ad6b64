"""The boot service's program on a boot server: installed from a wheel into an environment of its own, and once."""

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.playing import Ansible

PLAY = """- name: The program is installed
  hosts: localhost
  gather_facts: false
  tasks:
    - name: The program of the boot service is installed
      ansible.builtin.include_role: {name: pxe_boot, tasks_from: program.yml}
"""


def wheel(folder: Path, version: str) -> Path:
    """Write a wheel whose program says its version."""
    folder.mkdir(exist_ok=True)
    file = folder / f"fleet_runner-{version}-py3-none-any.whl"
    about = f"fleet_runner-{version}.dist-info"
    with ZipFile(file, "w") as archive:
        archive.writestr("fleet_runner.py", f"def main() -> None:\n    print('fleet-runner {version}')\n")
        archive.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: fleet-runner\nVersion: {version}\n")
        archive.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{about}/entry_points.txt", "[console_scripts]\nfleet-runner = fleet_runner:main\n")
        archive.writestr(f"{about}/RECORD", "")
    return file


def played(ansible: Ansible, play: Path, package: Path, program: Path) -> int:
    """Install a package; return how many tasks changed something."""
    given = {
        "pxe_boot_package": str(package),
        "pxe_boot_program_dir": str(program),
        "pxe_boot_packages": [],
        "pxe_boot_started": False,
        "ansible_python_interpreter": sys.executable,
    }
    done = ansible("ansible-playbook", "-i", "localhost,", "-c", "local", play, "-e", json.dumps(given))
    assert done.returncode == 0, done.stdout + done.stderr
    return int(done.stdout.rpartition("changed=")[2].split()[0])


@pytest.mark.timeout(300)
def test_a_wheel_is_installed_and_a_second_run_changes_nothing(tmp_path: Path) -> None:
    play = tmp_path / "play.yml"
    play.write_text(PLAY)
    ansible, program, package = (
        Ansible(tmp_path),
        tmp_path / "opt" / "fleet-runner",
        wheel(tmp_path / "wheels", "1.0"),
    )
    assert played(ansible, play, package, program) == 3
    said = subprocess.run([program / "bin" / "fleet-runner"], capture_output=True, text=True, check=False)
    assert (said.returncode, said.stdout) == (0, "fleet-runner 1.0\n"), said.stderr
    assert played(ansible, play, package, program) == 0
