"""A lab whose source of truth is a NetBox: filled from its site files by the product's own commands."""

import os
import re
import subprocess
import sys

import yaml

from fleet_runner.adapters.netbox import Timeouts
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.lab import ports
from fleet_runner.lab.folder import Lab, LabError, write
from fleet_runner.lab.netbox import starting
from fleet_runner.lab.netbox.installation import Tell
from fleet_runner.lab.netbox.starting import NetBox
from fleet_runner.settings import CODE_DIR, load

SETTINGS = """\
netbox_token_file = "netbox.token"
netbox_write_cable_status = true
netbox_write_nodes = true
netbox_wishes = true
netbox_webhook_secret = "netbox-webhook.secret"
netbox_webhook_url = "http://127.0.0.1:{port}"
signals_listen = "127.0.0.1:{port}"
web_url = "{pages}"
inventory = "inventory/fleet.yml"
"""

SOURCE = re.compile(r'^source = ".*"$', re.MULTILINE)
FILES_ALONE = ("ansible_connection", "ansible_ssh_executable", "ansible_ssh_transfer_method")
"""Variables of the lab's nodes that no page of a NetBox may set: the lab's own inventory does."""

ADMIN_TOKEN = "netbox-admin.token"  # noqa: S105  a file's name


def has(lab: Lab) -> bool:
    """Whether a lab's source is a NetBox of its own."""
    return (lab.root / starting.NAME).is_dir()


def make(lab: Lab, pages: str, tell: Tell) -> NetBox:
    """Start a NetBox for a new lab, prepare it, push the lab's site files into it, and make it the lab's source."""
    found = starting.start(lab, tell)
    write(lab.root / ADMIN_TOKEN, found.token, 0o600)
    text = SOURCE.sub(f'source = "{found.url}"', lab.settings.read_text("utf-8"))
    write(lab.settings, text + SETTINGS.format(port=ports.choose(1)[0], pages=pages))
    _write_inventory(lab)
    admin = ("--token-file", str(lab.root / ADMIN_TOKEN))
    tell("fleet-runner netbox init: its fields, its user and its token are made")
    _run(lab, "netbox", "init", *admin)
    tell("fleet-runner netbox push: racks, devices, parts and cables are made; about a minute")
    _run(lab, "netbox", "push", str(lab.site), *admin)
    return found


def start(lab: Lab, tell: Tell) -> None:
    """Start the NetBox of a lab that is brought up again, wherever it may listen now."""
    found = starting.start(lab, tell)
    write(lab.settings, SOURCE.sub(f'source = "{found.url}"', lab.settings.read_text("utf-8")))


def ask(there: NetBox, node: str, wish: IntentKind, reason: str) -> None:
    """Ask for something in a device's page, as a person does there."""
    with Client(there.url, there.token, Timeouts()) as client:
        (device,) = client.rows("dcim/devices", "id", name=node)
        fields = {"fleet_wish": wish.value, "fleet_wish_reason": reason}
        client.change("dcim/devices", [{"id": device["id"], "custom_fields": fields}], "id,custom_fields", ())


def _write_inventory(lab: Lab) -> None:
    """Write an inventory of the lab's own beside the project's: how its nodes are reached is no page's to say."""
    folder, usual = lab.root / "inventory", load().project_dir / "inventory"
    (folder / "host_vars").mkdir(parents=True)
    (folder / "group_vars").symlink_to(usual / "group_vars")
    write(folder / "fleet.yml", (usual / "fleet.yml").read_text("utf-8"))
    for row in yaml.safe_load((lab.site / "devices.yml").read_text("utf-8"))["devices"]:
        told = {name: value for name, value in row.get("config_context", {}).items() if name in FILES_ALONE}
        if told:
            write(folder / "host_vars" / f"{row['name']}.yml", yaml.safe_dump(told))


def _run(lab: Lab, *words: str) -> None:
    log = lab.root / "netbox.log"
    with log.open("ab") as file:
        done = subprocess.run(
            [sys.executable, "-m", "fleet_runner", *words],
            env={**os.environ, "FLEET_CONFIG": str(lab.settings), "PYTHONPATH": str(CODE_DIR)},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            check=False,
        )
    if done.returncode:
        raise LabError(f"`fleet-runner {words[0]} {words[1]}` ended with {done.returncode}; read {log}")
