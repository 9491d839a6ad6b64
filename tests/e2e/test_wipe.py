"""A wipe with real parts: QEMU's NVMe drives and swtpm's TPM on a booted node, erased over ssh by the runner.

The tools are Debian's, in the image that nodes boot: nvme-cli, tpm2-tools, lsblk.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, State
from tests.booting import direct
from tests.booting.image import Image
from tests.playing import PROJECT

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1500)]

NODE, SERIAL = "gpu-01", "FLEET0001"
DRIVES = ("DRIVE0001", "DRIVE0002")
MEGABYTES = 64
SETTINGS = (
    'source = "site"\nstate_dir = "state"\ntick_seconds = 0.5\nretry_seconds = 2\nworking_seconds = 2\n'
    'inventory = "inventory/fleet.yml"\n'
)


@dataclass(frozen=True, slots=True)
class Site:
    """The product, and its one node."""

    root: Path
    node: direct.Node
    store: Store

    def command(self, *words: str) -> str:
        """Run one command of the product, which must succeed."""
        argv = [sys.executable, "-m", "fleet_runner.cli", *words]
        answer = subprocess.run(argv, capture_output=True, text=True, check=False, env=self.environment(),
                                cwd=self.root, timeout=300.0)  # fmt: skip
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return " ".join(answer.stdout.split())

    def environment(self) -> dict[str, str]:
        """The product finds its settings through this."""
        return {**os.environ, "FLEET_CONFIG": str(self.root / "fleet.toml"), "HOME": str(self.root)}

    def state(self) -> State:
        """Return where the node is."""
        found = self.store.node(NODE)
        assert found is not None
        return found.state

    @contextlib.contextmanager
    def serving(self) -> Iterator[None]:
        """Let the runner run."""
        argv = [sys.executable, "-m", "fleet_runner.cli", "serve"]
        with (self.root / "serve.log").open("ab") as log:
            process = subprocess.Popen(argv, env=self.environment(), cwd=self.root, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(30.0)


@pytest.fixture(scope="module")
def site(boot_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A node in triage whose drives are full and whose TPM has an owner's key."""
    if why := direct.why_not():
        pytest.skip(why)
    root = tmp_path_factory.mktemp("w")
    hardware: list[str] = []
    for serial in DRIVES:
        (root / serial).write_bytes(os.urandom(MEGABYTES << 20))
        hardware += ["-drive", f"if=none,id={serial},format=raw,file={root / serial}"]
        hardware += ["-device", f"nvme,drive={serial},serial={serial}"]
    with direct.node(root, boot_image, SERIAL, *hardware) as booted:
        _describe(root, booted)
        with Store.create(f"sqlite:///{root}/state/fleet.db") as store:
            _to_triage(store)
            yield Site(root, booted, store)


def _describe(root: Path, booted: direct.Node) -> None:
    (root / "fleet.toml").write_text(SETTINGS)
    profile = {"wipe": {"disks": [{"model": "QEMU NVMe*", "count": len(DRIVES)}]}}
    (root / "site").mkdir()
    kinds = root / "inventory" / "group_vars"
    kinds.mkdir(parents=True)
    shutil.copy(PROJECT / "inventory" / "fleet.yml", kinds.parent)
    (kinds / "device_type_test.yml").write_text(yaml.safe_dump({"fleet_profile": profile}))
    common = "-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
    context = {"ansible_user": "root", "ansible_port": booted.port, "ansible_ssh_common_args": common,
               "ansible_ssh_private_key_file": str(root / "id"), "ansible_python_interpreter": "/usr/bin/python3",
               "wipe_pause_seconds": 1}  # fmt: skip
    device = {"name": NODE, "device_type": "test", "role": "gpu-server", "site": "hall", "serial": SERIAL,
              "primary_ip": "127.0.0.1/32", "config_context": context}  # fmt: skip
    kind = {"slug": "test", "manufacturer": "Fleet", "model": "Test", "u_height": 1}
    files: dict[str, Any] = {"sites": [{"name": "hall"}], "device_types": [kind], "devices": [device]}
    for name, rows in files.items():
        (root / "site" / f"{name}.yml").write_text(yaml.safe_dump({name: rows}))


def _to_triage(store: Store) -> None:
    store.register([Device(NODE, "test", "gpu-server", "hall")], time.time())
    for row in ((State.REGISTERED, Event.START), (State.PROVISION, Event.FAILED)):
        node = store.node(NODE)
        assert node is not None
        store.apply(node, Decision((Move(TRANSITIONS[row], "ann"),), "", time.time()), time.time())


def test_a_dry_run_names_each_drive_and_erases_none(site: Site) -> None:
    said = site.command("wipe", NODE, "--dry-run")
    assert "check mode, nothing was erased. To be erased: " in said
    assert all(f"(QEMU NVMe Ctrl, serial {serial}) by format_erase" in said for serial in DRIVES)
    assert all((site.root / serial).read_bytes().count(0) < MEGABYTES << 14 for serial in DRIVES)
    assert site.state() is State.TRIAGE


def test_a_node_is_wiped_by_the_runner_with_proof_for_each_device_and_waits_for_a_person(site: Site) -> None:
    """One drive is mounted first: it has a ticket, and the next wipe, which finds it free, closes that."""
    key = site.node.ssh("tpm2_createprimary -C o -G ecc -c /dev/null")
    held = site.node.ssh("mkfs.ext4 -q /dev/nvme0n1 && mkdir /scratch && mount /dev/nvme0n1 /scratch && "
                         "lsblk -dn -o SERIAL /dev/nvme0n1").strip()  # fmt: skip
    (free,) = set(DRIVES) - {held}
    with site.serving():
        site.command("wipe", NODE, "--yes", "-r", "it leaves us", "--wait", "60")
        _until(site)
        assert not (site.root / free).read_bytes().strip(b"\0")
        assert (site.root / held).read_bytes().strip(b"\0")
        (ticket,) = site.store.tickets(node=NODE)
        assert f"serial {held}) is not erased: in use: mounted at /scratch" in ticket.body
        report = site.command("wipe", NODE, "--report")
        assert "NOT everything on it is erased." in report
        assert "all 64 sampled blocks that held data changed, 64 of 64 read as zero" in report
        site.node.ssh("umount /scratch")
        site.command("wipe", NODE, "--yes", "-r", "it leaves us", "--wait", "60")
        _until(site)
    assert site.store.tickets(node=NODE) == ()
    assert not (site.root / held).read_bytes().strip(b"\0")
    assert site.node.ssh("tpm2_createprimary -C o -G ecc -c /dev/null") != key
    report = site.command("wipe", NODE, "--report")
    assert "Everything on it is erased." in report
    assert all(f"serial {serial}): erased" in report for serial in DRIVES)
    assert "its storage seed makes another key than before" in report
    (told,) = json.loads(site.command("explain", NODE, "--json"))["steps"][-1:]
    assert told["transition"]["event"] == "passed"


def _until(site: Site) -> None:
    """Wait until the wipe is over, however it ended."""
    limit = time.monotonic() + 600.0
    while site.state() is State.WIPE:
        assert time.monotonic() < limit, (site.root / "serve.log").read_text()[-3000:]
        time.sleep(0.5)
    assert site.state() is State.TRIAGE
