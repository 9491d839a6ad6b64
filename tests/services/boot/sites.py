"""Settings, a node and its boot, for tests that render documents."""

import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

from fleet_runner.core.boot.boots import Boot, Identity
from fleet_runner.core.boot.facts import BootEndpoint, Facts, facts
from fleet_runner.core.inventory.records import Device, Fleet, Interface
from fleet_runner.settings import Settings

MAC = "02:00:00:00:00:01"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIpreADa5qX5jvSSkHyAkAPGQmkUAyl8x0HIxkhbTx6h somebody"
REACH = BootEndpoint("http://10.0.0.1:8480", "17-0123456789abcdef0123456789abcdef", MAC)
MUNGE_KEY = bytes(range(1, 65))


def known(name: str = "gpu-01", device_type: str = "sku", boot: int = 17, **context: Any) -> Facts:
    """Return the facts of a node with one Ethernet interface."""
    interfaces = (Interface("eth0", "1000base-t", mac=MAC),)
    device = Device(name, device_type, "gpu-server", "hall-1", interfaces=interfaces, context=context)
    fleet = Fleet(("hall-1",), {}, {}, {name: device}, ())
    return facts(fleet, device, Boot(boot, name, None, 0.0, 1.0, Identity()), REACH)


def templates(folder: Path, **texts: str) -> Path:
    """Write templates: `user_data="…"` becomes user-data.yaml.j2."""
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name.replace('_', '-')}.yaml.j2").write_text(text, "utf-8")
    return folder


def slurm(folder: Path) -> Path:
    """Write what nodes join a Slurm cluster with, and return the file."""
    (folder / "munge.key").write_bytes(MUNGE_KEY)
    (folder / "munge.key").chmod(0o400)
    file = folder / "join.yml"
    file.write_text("slurm:\n  controllers: [ctl-1, 10.0.0.2:7000]\n  munge_key: munge.key\n", "utf-8")
    return file


def kubernetes(folder: Path, server: str, certificate: Path) -> Path:
    """Write what nodes join a Kubernetes cluster with, and return the file."""
    (folder / "ca.pem").write_bytes(certificate.read_bytes())
    (folder / "token").write_text("minter-token\n", "utf-8")
    (folder / "token").chmod(0o600)
    file = folder / "join.yml"
    file.write_text(f"kubernetes:\n  server: {server}\n  ca: ca.pem\n  token_file: token\n", "utf-8")
    return file


def settings(**given: Any) -> Settings:
    """Return settings with these values and the defaults."""
    return Settings(**given)


def certificate(folder: Path, name: str) -> Path:
    """Make a certificate for 127.0.0.1 that is its own CA; its key lies beside it."""
    made, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", made],
        check=True, capture_output=True,
    )  # fmt: skip
    return made


def decoded(text: str) -> bytes:
    """Return what base64 says."""
    return b64decode(text)
