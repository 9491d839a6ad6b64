"""A hall with one server: its source of truth, its keys, and the parts of the product that boot it, all running."""

import contextlib
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jinja2
import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Boot
from fleet_runner.core.lifecycle.runs import Node
from fleet_runner.core.lifecycle.states import State
from tests.booting.machine import Machine
from tests.booting.namespace import BMC, PREFIX, SERVER, TAP, Namespace, namespace
from tests.waiting import until

ROOT = Path(__file__).resolve().parent.parent.parent
CLI = (sys.executable, "-m", "fleet_runner.cli")
NODE = "gpu-01"
ADDRESS = "198.18.0.11"
MAC = "52:54:00:c0:ff:ee"
SERIAL = "FLEET0001"
UUID = "6f1c3a52-9d0e-4b7a-8f35-2f1d7f0f9b11"
STRANGERS = ["198.18.0.200", "198.18.0.210"]
PORT = 8480
BMC_PORT = 443
SECRET = "/etc/munge.key"
BOOT_SECONDS = 600.0
"""An emulated server on a busy machine; on a quiet one it takes a tenth of this."""

MUNGE, TOKEN, PASSWORD = "munge.key", "dhcp-token", "bmc.yml"
SECRETS = {MUNGE: "{}", TOKEN: "{}\n", PASSWORD: "{{username: admin, password: {}}}\n"}
"""The files with secrets, and what they hold beside them."""

SETTINGS = f"""\
source = "site"
state_dir = "state"
bmc_credentials = "bmc.yml"
bmc_insecure = true
boot_url = "http://{SERVER}:{PORT}"
boot_listen = "{SERVER}:{PORT}"
boot_templates = "templates"
boot_authorized_keys = "id.pub"
boot_join = "join.yml"
boot_dhcp_token = "dhcp-token"
tick_seconds = 0.5
retry_seconds = 5
forks = 1
"""

USER_DATA = f"""\
#cloud-config
write_files:
  - path: {SECRET}
    permissions: "0400"
    encoding: b64
    content: {{{{ join.slurm.munge_key | tojson }}}}
"""
"""The site's own template: the image has no munge, its key goes where it can be seen."""


@dataclass(frozen=True, slots=True)
class Hall:
    """A booting server and everything around it; files lie in `root`, and `secrets` are what some of them hold."""

    root: Path
    home: Path
    network: Namespace
    machine: Machine
    secrets: Mapping[str, str]

    def environment(self) -> dict[str, str]:
        """The product finds its settings through this."""
        return {"FLEET_CONFIG": str(self.root / "fleet.toml"), "HOME": str(self.home)}

    def command(self, *args: str, seconds: float = 60.0) -> "subprocess.CompletedProcess[str]":
        """Run one command of the product to its end."""
        argv = self.network.inside(*CLI, *args)
        environment = {**os.environ, **self.environment()}
        return subprocess.run(
            argv, capture_output=True, text=True, check=False, timeout=seconds, env=environment, cwd=self.root
        )

    def reconcile(self) -> None:
        """Let the reconciler run from now on."""
        self.network.start("serve", *CLI, "serve", environment=self.environment())

    def serve_boots(self) -> None:
        """Let the boot service run from now on."""
        self.network.serve("boot", PORT, *CLI, "boot", "serve", **self.environment())

    def wait_for_a_technician(self) -> None:
        """Wait until the node came up and is to be certified."""

        def waits() -> bool:
            node = self.node()
            assert node is None or node.state in {State.REGISTERED, State.PROVISION, State.ONBOARD}, self.told()
            return node is not None and node.state is State.ONBOARD

        until(waits, self.told, BOOT_SECONDS)

    def refusals(self) -> set[str]:
        """Return the codes of what was refused to the node."""
        with self.store() as store:
            return {event.code for event in store.boot_events(NODE) if event.kind == "refused"}

    def on_the_node(self, program: str) -> str:
        """Run a Python program on the node, over ssh that trusts what the product has pinned and nothing else."""
        known = f"{self.root}/state/known_hosts/{ADDRESS}"
        answer = self.network.run(
            "ssh", "-F", "none", "-i", self.root / "id", "-o", f"UserKnownHostsFile={known}",
            "-o", "GlobalKnownHostsFile=/dev/null", "-o", "StrictHostKeyChecking=yes", "-o", "BatchMode=yes",
            f"root@{ADDRESS}", "python3", "-c", f"'{program}'",
        )  # fmt: skip
        assert answer.returncode == 0, answer.stderr
        return answer.stdout

    def switch(self, action: str, boot_from: str = "") -> None:
        """Be a person at the BMC's web page: choose where the next boot comes from, and switch the server's power."""
        system = f"https://{BMC}/redfish/v1/Systems/{UUID}"
        if boot_from:
            override = {"BootSourceOverrideEnabled": "Once", "BootSourceOverrideTarget": boot_from}
            self._send("PATCH", system, {"Boot": override})
        self._send("POST", f"{system}/Actions/ComputerSystem.Reset", {"ResetType": action})

    def node(self) -> Node | None:
        """Return what the product's store says of the node."""
        with self.store() as store:
            return store.node(NODE)

    def boots(self) -> tuple[Boot, ...]:
        """Return the boots that were armed for the node."""
        with self.store() as store:
            return store.boots(NODE)

    def store(self) -> Store:
        """Open the product's store."""
        return Store.open(f"sqlite:///{self.root / 'state' / 'fleet.db'}")

    def told(self) -> str:
        """Return all that is known, for whoever must find out why a test failed; it is kept in `root` as well."""
        parts = {name: self.network.log(name)[-3000:] for name in ("serve", "boot", "dnsmasq", "bmc", "qemu")}
        parts["console"] = self.machine.said()[-4000:]
        parts["status"] = self.command("status").stdout
        return "\n".join(f"== {name} ({self.root})\n{said}" for name, said in parts.items())

    def _send(self, method: str, url: str, body: dict[str, Any]) -> None:
        answer = self.network.run(
            "curl", "-sSkf", "-X", method, "-H", "Content-Type: application/json", "-d", json.dumps(body), url
        )
        assert answer.returncode == 0, answer.stderr


@contextlib.contextmanager
def hall(root: Path, home: Path, images: Path, *, uefi: bool = False, **more: Any) -> Iterator[Hall]:
    """Furnish a hall and start all but the reconciler; `more` are settings. Everything is gone at the end."""
    machine = Machine(NODE, UUID, SERIAL, MAC, str(root), uefi=uefi)
    with namespace(root) as network:
        made = Hall(root, home, network, machine, {name: secrets.token_hex(32) for name in SECRETS})
        _furnish(made, images, more)
        made.network.serve("bmc", BMC_PORT, sys.executable, "-m", "tests.booting.bmc", root / "bmc.json",
                           PYTHONPATH=str(ROOT))  # fmt: skip
        assert (answer := made.command("tick")).returncode == 0, answer.stderr
        made.serve_boots()
        _dhcp(made)
        yield made


def certificate(root: Path, name: str, address: str) -> None:
    """Make a certificate for an address, and its key: `<name>.pem` and `<name>.key`."""
    subprocess.run(
        ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-days", "2",
         "-subj", f"/CN={name}", "-addext", f"subjectAltName=IP:{address}",
         "-keyout", root / f"{name}.key", "-out", root / f"{name}.pem"],
        check=True, capture_output=True,
    )  # fmt: skip
    (root / f"{name}.key").chmod(0o600)


def _furnish(made: Hall, images: Path, more: dict[str, Any]) -> None:
    root = made.root
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", root / "id"], check=True)
    certificate(root, "bmc", BMC)
    settings = {"boot_images": str(images), **more}
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items())
    (root / "fleet.toml").write_text(SETTINGS + lines, "utf-8")
    (root / "templates").mkdir()
    (root / "templates" / "user-data.yaml.j2").write_text(USER_DATA, "utf-8")
    joining = {"slurm": {"controllers": ["slurmctl-1"], "munge_key": "munge.key"}}
    (root / "join.yml").write_text(yaml.safe_dump(joining), "utf-8")
    for name, text in SECRETS.items():
        (root / name).touch(mode=0o600)
        (root / name).write_text(text.format(made.secrets[name]), "utf-8")
    machine = {"machine": asdict(made.machine), "address": BMC}
    (root / "bmc.json").write_text(
        json.dumps({**machine, "certificate": str(root / "bmc.pem"), "key": str(root / "bmc.key")}), "utf-8"
    )
    _source(root / "site", root / "id")


def _source(folder: Path, key: Path) -> None:
    folder.mkdir()
    interfaces = [{"name": "eth0", "type": "1000base-t"}]
    kind = {"slug": "test", "manufacturer": "Fleet", "model": "Test", "u_height": 1, "interfaces": interfaces}
    device = {
        "name": NODE,
        "device_type": "test",
        "role": "gpu-server",
        "site": "hall",
        "rack": "A01",
        "position": 1,
        "serial": SERIAL,
        "oob_ip": f"{BMC}/32",
        "primary_ip": f"{ADDRESS}/{PREFIX}",
        "interfaces": [{"name": "eth0", "mac_address": MAC}],
        "config_context": {
            "ansible_user": "root",
            "ansible_ssh_private_key_file": str(key),
            "ansible_python_interpreter": "/usr/bin/python3",
            "cloud_init_delay": 0,
        },
    }
    files: dict[str, list[Any]] = {
        "sites": [{"name": "hall"}],
        "racks": [{"name": "A01", "site": "hall", "u_height": 42}],
        "device_types": [kind],
        "devices": [device],
    }
    for name, rows in files.items():
        (folder / f"{name}.yml").write_text(yaml.safe_dump({name: rows}), "utf-8")


def _dhcp(made: Hall) -> None:
    """Start dnsmasq as a boot server runs it: what it hands out is the product's, and so is what tells of leases."""
    described = {
        "interfaces": [TAP],
        "server": SERVER,
        "networks": [{"subnet": f"{SERVER.rsplit('.', 1)[0]}.0/{PREFIX}", "range": STRANGERS}],
        "lease_file": str(made.root / "leases"),
        "lease_hook": str(_hook(made.root, made.secrets[TOKEN])),
    }
    (made.root / "networks.yml").write_text(yaml.safe_dump(described), "utf-8")
    rendered = made.command("boot", "dhcp", "--for", "dnsmasq", "--networks", str(made.root / "networks.yml"))
    assert (rendered.returncode, rendered.stderr) == (0, "")
    (made.root / "dnsmasq.conf").write_text(rendered.stdout, "utf-8")
    made.network.start(
        "dnsmasq", "dnsmasq", "--keep-in-foreground", "--log-facility=-", "--log-dhcp", "--user=root",
        f"--pid-file={made.root / 'dnsmasq.pid'}", f"--conf-file={made.root / 'dnsmasq.conf'}",
    )  # fmt: skip
    until(lambda: "started" in made.network.log("dnsmasq"), lambda: made.network.log("dnsmasq"))


def _hook(root: Path, token: str) -> Path:
    """Write what the role installs for dnsmasq to call."""
    (root / "slots").mkdir()
    values = {
        "ansible_managed": "written by a test",
        "pxe_boot_tellers": 4,
        "pxe_boot_slots_dir": str(root / "slots"),
        "pxe_boot_curl_config": str(root / "lease.curl"),
        "pxe_boot_told_url": f"http://{SERVER}:{PORT}",
        "pxe_boot_told_ca": "",
        "pxe_boot_dhcp_token": token,
    }
    rendering = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)  # noqa: S701  no HTML
    for name, mode in (("tell-lease", 0o755), ("lease.curl", 0o600)):
        template = (ROOT / "roles" / "pxe_boot" / "templates" / f"{name}.j2").read_text("utf-8")
        (root / name).touch(mode=mode)
        (root / name).write_text(rendering.from_string(template).render(values), "utf-8")
    return root / "tell-lease"
