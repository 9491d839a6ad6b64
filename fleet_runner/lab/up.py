"""Bringing a lab up: its files once, its BMCs whenever they do not run."""

import os
import secrets
import sys
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.lab import (
    boot_server,
    ethernet,
    hardware,
    plan,
    plugging,
    ports,
    processes,
    site,
    sysfs,
    ware,
    wrappers,
)
from fleet_runner.lab.folder import Lab, LabError, read, write, write_json
from fleet_runner.lab.netbox import source
from fleet_runner.settings import CODE_DIR

BMC = "bmc"
"""The name under which the BMCs' process is noted."""

SERVERS = 8
START_SECONDS = 60.0

SETTINGS = """\
# The settings of a simulated data centre: point FLEET_CONFIG here, or work in this folder.
source = "site"
state_dir = "state"
bmc_credentials = "bmc.yml"
bmc_networks = "127.0.0.0/8"
tick_seconds = 0.5
retry_seconds = 2
working_seconds = 2
drain_seconds = 1
passive_schedule = "every 3s"
cabling_schedule = "every 10s"
cabling_confirm_seconds = 2
firmware_pause_seconds = 1
"""
"""Pauses are short here, because a boot takes seconds and not minutes."""


def up(  # noqa: PLR0913  what a new lab is to have, by name
    folder: Path,
    servers: int | None = None,
    boot_seconds: float = 1.5,
    *,
    boot_service: bool = False,
    rails: bool = False,
    tell: Callable[[str], object] = lambda _: None,
) -> Lab:
    """Bring a lab up; one that is up already stays as it is, with its faults and its history.

    A new lab's nodes boot through the boot service, if it is to have one, and else all by themselves. `rails` gives a
    new lab Ethernet rails, too.
    """
    lab = Lab(folder.resolve())
    if lab.about.is_file():
        has = int(read(lab.about)["servers"])
        if servers not in (None, has):
            raise LabError(
                f"{lab.root} holds a lab of {has} servers, not {servers}; remove it with `lab down --delete`"
            )
    else:
        _make(lab, SERVERS if servers is None else servers, boot_seconds, boot_service=boot_service, rails=rails)
    _tools(lab)
    try:
        boot_server.start(lab)
        if processes.running(lab, BMC) is None:
            _start_bmcs(lab)
        if source.has(lab):
            source.start(lab, tell)
        boot_server.wait(lab)
    except LabError:
        for name in (BMC, boot_server.SERVICE):
            processes.end(lab, name)
        raise
    return lab


def _make(lab: Lab, servers: int, boot_seconds: float, *, boot_service: bool, rails: bool) -> None:
    if not 1 <= servers <= plan.MOST_SERVERS:
        raise LabError(f"a lab has 1 to {plan.MOST_SERVERS} servers, not {servers}; choose --servers accordingly")
    if lab.root.exists() and any(lab.root.iterdir()):
        raise LabError(f"{lab.root} is not empty and holds no lab; choose another --dir")
    lab.root.mkdir(parents=True, exist_ok=True)
    names = [plan.server(number) for number in range(1, servers + 1)]
    bmcs = dict(zip(names, ports.choose(servers), strict=True))
    write(lab.credentials, yaml.safe_dump({"username": "fleet", "password": secrets.token_urlsafe(18)}), 0o600)
    write(lab.settings, SETTINGS)
    for number, name in enumerate(names, start=1):
        lab.node(name).mkdir(parents=True)
        write_json(lab.node(name) / "state.json", hardware.fresh(number, boot_seconds))
    addresses = {plan.address(at): name for at, name in enumerate(names, start=1)}
    addresses |= {ethernet.address(name): name for name in ethernet.SWITCHES} if rails else {}
    write_json(lab.root / "addresses.json", addresses)
    plugging.plug_all(lab, servers, rails=rails)
    ware.write_images(lab)
    site.write_site(lab, servers, bmcs, rails=rails)
    about = {
        "servers": servers,
        "bmc_ports": bmcs,
        "boot_seconds": boot_seconds,
        **({"rails": True} if rails else {}),
    }
    write_json(lab.about, {**about, **(boot_server.make(lab) if boot_service else {})})
    with Store.create(f"sqlite:///{_folder(lab.root / 'state') / 'fleet.db'}") as store:
        store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, time.time(), "lab up", "its nodes are simulated"))


def _folder(path: Path) -> Path:
    path.mkdir(mode=0o700, exist_ok=True)
    return path


def _tools(lab: Lab) -> None:
    wrappers.write_ssh(lab)
    for name in lab.nodes():
        wrappers.write_tools(lab, name)
        sysfs.write_files(lab, name, hardware.state_of(lab, name)["faults"])


def _start_bmcs(lab: Lab) -> None:
    bmcs: dict[str, int] = read(lab.about)["bmc_ports"]
    if not all(map(ports.free, bmcs.values())):
        # Somebody took a port while the lab was down: the design says where a BMC is, so it is written again.
        bmcs = dict(zip(bmcs, ports.choose(len(bmcs)), strict=True))
        write_json(lab.about, {**read(lab.about), "bmc_ports": bmcs})
        site.write_site(lab, len(bmcs), bmcs, rails=read(lab.about).get("rails", False))
    env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "PYTHONPATH": str(CODE_DIR)}
    pid = processes.start([sys.executable, "-m", "fleet_runner.lab.bmc", str(lab.root)], env, lab.root / "bmc.log")
    processes.note(lab, BMC, pid)
    deadline = time.monotonic() + START_SECONDS
    while not all(map(ports.answers, bmcs.values())):
        if processes.running(lab, BMC) is None or time.monotonic() > deadline:
            raise LabError(f"the lab's BMCs did not start within {START_SECONDS:g} s; read {lab.root / 'bmc.log'}")
        time.sleep(0.05)
