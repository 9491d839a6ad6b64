"""Running real Ansible in the tests: with the project's own configuration, and nothing of the caller's."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.lifecycle.spool import Decoded, Judged, Line
from tests import forking

PROJECT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Ansible:
    """Ansible with a home of its own; `variables` are added to its environment."""

    home: Path
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def __call__(self, program: str, *words: str | Path, **variables: str) -> "subprocess.CompletedProcess[str]":
        """Run one of Ansible's programs from the project's folder."""
        return forking.run(program, [*map(str, words)], self.environment() | variables, LIMIT_SECONDS)

    def environment(self) -> dict[str, str]:
        """Return what every program gets."""
        return {
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            "FLEET_BMC_NETWORKS": "127.0.0.0/8",  # the BMCs of tests have ports here
            **self.variables,
        }


def inventory(path: Path, nodes: Mapping[str, Mapping[str, Any]], **shared: Any) -> Path:
    """Write an inventory of nodes; without other words they are this machine."""
    usual = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    hosts = {name: {**usual, **variables} for name, variables in nodes.items()}
    path.write_text(yaml.safe_dump(json.loads(json.dumps({"nodes": {"hosts": hosts, "vars": shared}}))))
    return path


def spool(path: Path) -> tuple[Line, ...]:
    """Read a whole spool, in which nothing may be torn or unreadable."""
    data = path.read_bytes()
    found = Decoded.of(data)
    assert (found.used, found.bad) == (len(data), 0)
    return found.lines


def verdicts(lines: tuple[Line, ...]) -> dict[tuple[str, str], Verdict]:
    """Return {(node, check): verdict}; a check for which the profile has no section is left out: nobody asked."""
    judged = [line for line in lines if isinstance(line, Judged) and line.result.verdict is not Verdict.SKIPPED]
    return {(line.node, line.result.check): line.result.verdict for line in judged}


def unclean(answer: "subprocess.CompletedProcess[str]") -> list[str]:
    """Return what Ansible complains about beside the tasks: warnings, deprecations, its own errors."""
    said = (answer.stdout + answer.stderr).splitlines()
    return [line for line in said if line.startswith(("[WARNING]", "[DEPRECATION", "[ERROR]"))]
