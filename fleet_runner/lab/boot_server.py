"""The lab's boot server: the product's own boot service, and what it serves in a lab."""

import hashlib
import json
import os
import secrets
import sys
import time
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException

from fleet_runner.lab import ports, processes
from fleet_runner.lab.folder import Lab, LabError, read, write, write_json
from fleet_runner.settings import CODE_DIR

SERVICE = "boot"
"""The name under which its process is noted."""

START_SECONDS = 60.0

SETTINGS = """\
boot_url = "http://127.0.0.1:{port}"
boot_listen = "127.0.0.1:{port}"
boot_image = "lab"
boot_dhcp_token = "dhcp.token"
boot_join = "join.yml"
"""

JOIN = """\
# How nodes join their cluster; the key is the lab's own.
slurm:
  controllers: [lab-login]
  munge_key: munge.key
"""

IMAGE = {
    "vmlinuz": b"The kernel of a lab's node: it is enough that the node has asked for it.\n",
    "rootfs.cpio": b"The file system of a lab's node: its folder is what it has in its place.\n",
}


def make(lab: Lab) -> dict[str, int]:
    """Write what the boot server of a new lab needs, and return what is to be known of it: its port."""
    (port,) = ports.choose(1)
    write(lab.settings, lab.settings.read_text("utf-8") + SETTINGS.format(port=port))
    write(lab.root / "dhcp.token", secrets.token_urlsafe(24) + "\n", 0o600)
    write(lab.root / "join.yml", JOIN)
    write(lab.root / "munge.key", secrets.token_urlsafe(96), 0o600)
    _image(lab)
    return {"boot_port": port}


def start(lab: Lab) -> None:
    """Start the boot service, where the lab has one and it does not run; it is up when `wait` has returned."""
    if "boot_port" not in read(lab.about) or processes.running(lab, SERVICE) is not None:
        return
    _port(lab)
    env = {**os.environ, "FLEET_CONFIG": str(lab.settings), "PYTHONPATH": str(CODE_DIR)}
    words = [sys.executable, "-m", "fleet_runner.cli", "boot", "serve"]
    processes.note(lab, SERVICE, processes.start(words, env, lab.root / "boot.log"))


def wait(lab: Lab) -> None:
    """Wait until the boot service answers."""
    port = read(lab.about).get("boot_port")
    deadline = time.monotonic() + START_SECONDS
    while port is not None and not _answers(port):  # it takes connections long before that
        if processes.running(lab, SERVICE) is None or time.monotonic() > deadline:
            raise LabError(f"the boot service did not start within {START_SECONDS:g} s; read {lab.root / 'boot.log'}")
        time.sleep(0.05)


def _answers(port: int) -> bool:
    """Whether a boot service says that it is well; one that still loads keeps whoever asks waiting."""
    asking = HTTPConnection(ports.HERE, port, timeout=1.0)
    try:
        asking.request("GET", "/health")
        return asking.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        asking.close()


def _image(lab: Lab) -> None:
    """Write an image with its manifest, as the role boot_image makes them."""
    folder = lab.root / "state" / "images" / "lab"
    folder.mkdir(parents=True)
    for name, text in IMAGE.items():
        (folder / name).write_bytes(text)
    files = {name: {"size": len(text), "sha256": hashlib.sha256(text).hexdigest()} for name, text in IMAGE.items()}
    told = {"kernel": {"file": "vmlinuz"}, "initrd": "rootfs.cpio", "cmdline": "console=ttyS0", "files": files}
    write(folder / "manifest.json", json.dumps(told, indent=1) + "\n")


def _port(lab: Lab) -> None:
    """Choose another port where somebody took it while the lab was down; the settings say it too."""
    old = read(lab.about)["boot_port"]
    if ports.free(old):
        return
    (new,) = ports.choose(1)
    write(lab.settings, lab.settings.read_text("utf-8").replace(f"127.0.0.1:{old}", f"127.0.0.1:{new}"))
    write_json(lab.about, {**read(lab.about), "boot_port": new})
