"""The small files that stand on a node's PATH, and the lab's ssh: each starts one stand-in."""

import os
import shlex
import sys
from pathlib import Path

from fleet_runner.lab.folder import Lab, write
from fleet_runner.lab.tools.stand_in import TOOLS
from fleet_runner.settings import CODE_DIR

TOOLS_DIR = "bin"


def python() -> str:
    """Return the interpreter itself, not the virtual environment's link: it starts faster, without site packages."""
    return os.path.realpath(sys.executable)


def write_ssh(lab: Lab) -> None:
    """Write the lab's ssh."""
    (lab.root / "bin").mkdir(exist_ok=True)
    _write(lab.root / "bin" / "ssh", "ssh", f"main({str(lab.root)!r}, {TOOLS_DIR!r})")


def write_tools(lab: Lab, name: str) -> None:
    """Write the tools of one node, and the folders that only it uses."""
    for folder in (TOOLS_DIR, "home", "tmp", "run", "root/dev", "root/proc/sys/kernel/random"):
        (lab.node(name) / folder).mkdir(parents=True, exist_ok=True)
    for tool in TOOLS:
        _write(lab.node(name) / TOOLS_DIR / tool, "stand_in", f"main({str(lab.root)!r}, {name!r}, {tool!r})")


def _write(path: Path, module: str, call: str) -> None:
    # Not the interpreter itself in the first line: the kernel cuts that at spaces and after 255 characters.
    text = (
        "#!/bin/sh\n"
        f"''':'\nexec {shlex.quote(python())} -IS \"$0\" \"$@\"\n'''\n"
        f"import sys\nsys.path.append({str(CODE_DIR)!r})\n"
        f"from fleet_runner.lab.tools.{module} import main\nsys.exit({call})\n"
    )
    write(path, text, 0o755)
