"""A machine that systemd runs: Debian 12 in namespaces, with fleet-runner installed as docs/running.md has it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet_runner.settings import PROJECT_DIR

PROGRAM = "opt/fleet-runner"
HELD = "lib/python3.11/site-packages/fleet_runner/project/packaging"
"""Where the wheel has the units, below the program."""

PLACES = {
    "fleet-runner.service": "etc/systemd/system/fleet-runner.service",
    "fleet-runner.sysusers": "etc/sysusers.d/fleet-runner.conf",
    "fleet-runner.tmpfiles": "etc/tmpfiles.d/fleet-runner.conf",
}
"""Where docs/running.md puts them."""

PACKAGES = "systemd,systemd-sysv,dbus,python3,python3-venv,openssh-client,ca-certificates"
PATIENCE = 240.0
TOOLS = ("mmdebstrap", "systemd-nspawn", "nsenter")

PIP = "[global]\nno-index = true\nfind-links = /wheels\n"
"""What has pip take the packages that were fetched outside."""


def run(*words: Any, **given: Any) -> str:
    """Run a command to its end, which must be a good one; return what it said. Its test says how long it may take."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **given)
    assert done.returncode == 0, f"{words}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def fetched(folder: Path) -> Path:
    """Fetch every package of the lock file, each with its hash, as this machine's pip is told to."""
    folder.mkdir()
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--require-hashes", "--dest", folder)
    run(*pip, "-r", PROJECT_DIR / "requirements.lock")
    return folder


def copied(folder: Path) -> None:
    """Copy what git has of the project, and what is not yet in it."""
    folder.mkdir(parents=True)
    listed = run("git", "-C", PROJECT_DIR, "ls-files", "-co", "--exclude-standard", "--", ".", ":!tests")
    for name in listed.splitlines():
        if (PROJECT_DIR / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT_DIR / name, folder / name)


def installed(root: Path, wheels: Path) -> None:
    """Make the machine's files: Debian, the program, its unit and its account."""
    run("setsid", "--wait", "mmdebstrap", "--quiet", "--variant=minbase", "--mode=root", f"--include={PACKAGES}",
        "bookworm", root)  # fmt: skip
    copied(root.parent / "clone")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", root / "wheel", cwd=root.parent / "clone")
    shutil.copy(PROJECT_DIR / "requirements.lock", root / "wheel")
    (root / "wheels").mkdir()
    (root / "etc" / "pip.conf").write_text(PIP)
    pip = f"/{PROGRAM}/bin/pip install --quiet"
    commands = (
        f"python3 -m venv /{PROGRAM}",
        f"{pip} --require-hashes -r /wheel/requirements.lock",
        f"{pip} --no-deps /wheel/*.whl",
        f"ln -s /{PROGRAM}/bin/fleet-runner /usr/local/bin/fleet-runner",
    )
    inside = f"mount --bind {wheels} {root}/wheels && env -i PATH=$PATH chroot {root} /bin/bash -c"
    run("unshare", "--mount", "bash", "-c", f"{inside} '{' && '.join(commands)}'")
    for name, place in PLACES.items():
        (root / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(root / PROGRAM / HELD / name, root / place)
    run("chroot", root, "systemd-sysusers")
    run("chroot", root, "systemctl", "enable", "fleet-runner")


class Machine:
    """The machine, while it runs."""

    def __init__(self, root: Path, process: subprocess.Popen[bytes]) -> None:
        self.root = root
        self._process = process

    def said(self, *words: str) -> str:
        """Run a command inside; return what it said, however it ended."""
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children").read_text().split()
        command = ["nsenter", "--target", children[0], "--all", *words] if children else ["false"]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120).stdout

    def product(self, *words: str) -> str:
        """Run a command of the product inside, as its account."""
        lab = "FLEET_CONFIG=/var/lib/fleet-runner/lab/fleet.toml"
        own = ("runuser", "-u", "fleet-runner", "--", "env", lab, "HOME=/var/lib/fleet-runner", "COLUMNS=200")
        return self.said(*own, "fleet-runner", *words)

    def shown(self, name: str) -> str:
        """Return a property of the unit."""
        return self.said("systemctl", "show", "--value", "--property", name, "fleet-runner").strip()

    def processes(self, word: str) -> set[int]:
        """Return the unit's processes whose command has a word."""
        listed = self.said("systemctl", "status", "--no-pager", "--full", "fleet-runner").splitlines()
        lines = [line.strip(" ├└─│") for line in listed if word in line and ("├─" in line or "└─" in line)]
        return {int(line.split()[0]) for line in lines}

    def until(self, what: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """Wait until something holds, and return it."""
        end = time.monotonic() + seconds
        while not (found := what()):
            assert time.monotonic() < end, self.said("journalctl", "--no-pager", "-u", "fleet-runner", "-n", "60")
            time.sleep(0.5)
        return found


@contextmanager
def running(root: Path) -> Iterator[Machine]:
    """Have systemd run the machine; it ends with the test."""
    with (root.parent / "console").open("wb") as console:
        command = ["systemd-nspawn", "--quiet", "--directory", str(root), "--boot", "--register=no", "--keep-unit",
                   "--console=passive", "--link-journal=no"]  # fmt: skip
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=console, stderr=console)
    try:
        yield Machine(root, process)
    finally:
        os.kill(process.pid, signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(60)
