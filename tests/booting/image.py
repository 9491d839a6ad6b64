"""The image that test machines boot: built once by the real role, and kept between test runs."""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.playing import PROJECT

LIMIT_SECONDS = 600
KEPT_SECONDS = 86_400.0
"""An image of another state of the role is kept so long after its last use: somebody may be booting it."""

ROLE = PROJECT / "roles" / "boot_image"
VARIABLES: dict[str, Any] = {
    "ansible_python_interpreter": sys.executable,
    "boot_image_become": False,
    "boot_image_compression": 3,
    "boot_image_kernel": "linux-image-cloud-amd64",
    "boot_image_tools": [],
}
"""Virtual machines need less of a kernel than servers do; what is built once and read once need not be small."""

TOOLS = {"mmdebstrap": "mmdebstrap", "bsdtar": "libarchive-tools", "zstd": "zstd"}


@dataclass(frozen=True, slots=True)
class Image:
    """A folder of images, and the one in it: its name, its files, and what its manifest says."""

    images: Path
    name: str
    folder: Path
    manifest: dict[str, Any]

    @property
    def kernel(self) -> Path:
        """Return the kernel."""
        return self.folder / self.manifest["kernel"]["file"]

    @property
    def initrd(self) -> Path:
        """Return the root file system."""
        return self.folder / self.manifest["initrd"]


def why_not() -> str:
    """Say what building an image needs that is not here; empty where nothing is missing."""
    if os.geteuid() != 0:
        return "an image is built by root; run the tests as root"
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    return f"not installed: {', '.join(missing)}; apt-get install {' '.join(missing)}" if missing else ""


def image() -> Image:
    """Return the image, built if the role is another than the one that the kept image was built from."""
    root = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "fleet-runner" / "boot-images"
    images = root / _recipe()
    images.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (images / "debian-12" / "manifest.json").is_file():
            play(images)
        os.utime(images)
        _forget(root)
    folder = (images / "debian-12").resolve()
    return Image(images, "debian-12", folder, json.loads((folder / "manifest.json").read_text()))


def play(images: Path, **variables: Any) -> str:
    """Build an image with the real playbook, and return what Ansible printed."""
    given = json.dumps(VARIABLES | {"boot_image_folder": str(images)} | variables)
    program = Path(sys.executable).with_name("ansible-playbook")
    ansible = {"ANSIBLE_CONFIG": str(PROJECT / "ansible.cfg"), "ANSIBLE_NOCOLOR": "1", "LANG": "C.UTF-8"}
    on_disk = {"TMPDIR": "/var/tmp"}  # noqa: S108  devices are made there, which a file system in memory may forbid
    answer = subprocess.run(
        [program, "-i", "localhost,", "-c", "local", "playbooks/boot_image.yml", "-e", given],
        capture_output=True,
        text=True,
        check=False,
        cwd=PROJECT,
        env=os.environ | ansible | on_disk,
        timeout=LIMIT_SECONDS,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    return answer.stdout


def _recipe() -> str:
    """Return a name for what the role builds: the role's files and these variables decide it."""
    found = hashlib.sha256(json.dumps(VARIABLES, sort_keys=True).encode())
    for path in sorted(path for path in ROLE.rglob("*") if path.is_file()):
        if path.is_relative_to(ROLE / "molecule"):
            continue  # its scenario builds an image of its own
        found.update(f"{path.relative_to(ROLE)} {path.stat().st_mode:o}\n".encode() + path.read_bytes())
    return found.hexdigest()[:16]


def _forget(root: Path) -> None:
    """Remove images that nobody has used for long."""
    for each in root.iterdir():
        if each.is_dir() and time.time() - each.stat().st_mtime > KEPT_SECONDS:
            shutil.rmtree(each)
