"""One way of reading a NetBox, measured in a process of its own: `netbox_ways.py WAY URL FOLDER PART`.

The token comes in NETBOX_TOKEN. Prints one line of JSON: what was read, and what it took. FOLDER is for what a way
keeps, and holds the peers' code; PART servers are all that the peers read (0: the whole fleet).
"""

import io
import json
import os
import re
import resource
import socket
import sys
import time
from contextlib import redirect_stdout, suppress
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any

import pynetbox
from netbox_fleet import SERVER, SITE

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import lists
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.core.inventory.records import Fleet

Seen = dict[str, int]
PAGE = 100  # rows of a full list that NetBox makes in a time that clients wait for


class Wire:
    """Counts requests and the bytes of their answers, whichever library asks."""

    def __init__(self) -> None:
        self.requests = self.bytes = 0
        ask, take = HTTPConnection.putrequest, socket.SocketIO.readinto

        def putrequest(connection: HTTPConnection, *args: Any, **kwargs: Any) -> None:
            self.requests += 1
            ask(connection, *args, **kwargs)

        def readinto(stream: socket.SocketIO, into: Any) -> int | None:
            taken = take(stream, into)
            self.bytes += taken or 0
            return taken

        HTTPConnection.putrequest = putrequest  # type: ignore[method-assign]  # http.client is below all of them
        socket.SocketIO.readinto = readinto  # type: ignore[method-assign]


def fleet_runner(url: str, folder: Path, part: int) -> Seen:
    """Return what fleet-runner reads: every record checked, every cable with both ends, ready to be used."""
    del folder, part
    return _count(netbox.load(url, os.environ["NETBOX_TOKEN"]))


def fleet_runner_rest(url: str, folder: Path, part: int) -> Seen:
    """Return the same, read without export templates."""
    del folder, part
    with Client(url, os.environ["NETBOX_TOKEN"], netbox.Timeouts()) as client:
        rows = lists.everything(lists.Lists(client, templates=False))
    return _count(netbox.fleet(netbox.Snapshot(rows, None, 0, ""), url))


def fleet_runner_again(url: str, folder: Path, part: int) -> Seen:
    """Return the same, reading only what changed since the last time, which is kept in the folder."""
    del part
    return _count(netbox.load(url, os.environ["NETBOX_TOKEN"], kept=folder / "kept.json"))


def _count(fleet: Fleet) -> Seen:
    ports = sum(len(device.interfaces) for device in fleet.devices.values())
    return {"devices": len(fleet.devices), "interfaces": ports, "ends": 2 * len(fleet.cables)}


def nb_inventory(url: str, folder: Path, part: int) -> Seen:
    """Return what `ansible-inventory --list` shows with the collection's plugin and `interfaces: true`."""
    token = os.environ["NETBOX_TOKEN"]
    source = {
        "plugin": "netbox.netbox.nb_inventory",
        "api_endpoint": url,
        "token": {"type": "Bearer", "value": token} if token.startswith("nbt_") else token,
        "timeout": 600,
        "interfaces": True,
    }
    if part:
        names = [{"name": f"gpu-{number + 1:04}"} for number in range(part)]
        source |= {"fetch_all": False, "device_query_filters": names, "vm_query_filters": [{"name": "none"}]}
    file = folder / "netbox_inventory.yml"
    file.touch(mode=0o600)
    file.write_text(json.dumps(source), encoding="utf-8")
    settings = folder / "ansible.cfg"
    settings.write_text(
        f"[defaults]\ncollections_path = {folder / 'peers'}\nlocal_tmp = {folder / 'tmp'}\n"
        "[inventory]\nenable_plugins = netbox.netbox.nb_inventory\nunparsed_is_failed = true\n",
        encoding="utf-8",
    )
    os.environ["ANSIBLE_CONFIG"] = str(settings)
    sys.path.append(str(folder / "peers"))  # pytz
    from ansible.cli.inventory import InventoryCLI  # noqa: PLC0415  it reads its settings when it is imported

    shown = io.StringIO()
    with redirect_stdout(shown), suppress(SystemExit):  # how its run ends
        InventoryCLI(["ansible-inventory", "-i", str(file), "--list"]).run()
    hosts = json.loads(shown.getvalue())["_meta"]["hostvars"].values()
    ports = [port for host in hosts for port in host["interfaces"]]
    return {"devices": len(hosts), "interfaces": len(ports), "ends": sum(port["cable"] is not None for port in ports)}


def pynetbox_loop(url: str, folder: Path, part: int) -> Seen:
    """Return what people write: for each device its interfaces, for each interface its cable."""
    del folder
    api = pynetbox.api(url, token=os.environ["NETBOX_TOKEN"])
    devices = api.dcim.devices.filter(**({"device_type": SERVER} if part else {"site": SITE}))
    seen = {"devices": 0, "interfaces": 0, "ends": 0}
    for device in islice(devices, part or None):
        seen["devices"] += 1
        for interface in api.dcim.interfaces.filter(device_id=device.id):
            seen["interfaces"] += 1
            if interface.cable is not None:
                cable = api.dcim.cables.get(interface.cable.id)
                seen["ends"] += bool(cable.a_terminations and cable.b_terminations)
    return seen


def pynetbox_lists(url: str, folder: Path, part: int) -> Seen:
    """Return what people write who know NetBox: three whole lists, and everything joined here."""
    del folder
    api = pynetbox.api(url, token=os.environ["NETBOX_TOKEN"])
    some = part * 11 or None  # interfaces and cables of a server
    devices = islice(api.dcim.devices.filter(site=SITE, limit=PAGE), part or None)
    ports = islice(api.dcim.interfaces.filter(site=SITE, limit=PAGE), some)
    cables = islice(api.dcim.cables.filter(site=SITE, limit=PAGE), some and some // 2)
    return {
        "devices": sum(1 for _ in devices),
        "interfaces": sum(1 for _ in ports),
        "ends": sum(len(cable.a_terminations) + len(cable.b_terminations) for cable in cables),
    }


WAYS = {
    "templates": fleet_runner,
    "rest": fleet_runner_rest,
    "kept": fleet_runner_again,
    "unchanged": fleet_runner_again,
    "one-changed": fleet_runner_again,
    "nb_inventory": nb_inventory,
    "pynetbox-loop": pynetbox_loop,
    "pynetbox-lists": pynetbox_lists,
}


def main(way: str, url: str, folder: str, part: str) -> None:
    """Measure a way, and print it."""
    wire = Wire()
    begun = time.perf_counter()
    seen = WAYS[way](url, Path(folder), int(part))
    took = time.perf_counter() - begun
    used = resource.getrusage(resource.RUSAGE_SELF)
    peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
    cost = {
        "seconds": took,
        "cpu": used.ru_utime + used.ru_stime,
        "requests": wire.requests,
        "mb": wire.bytes / 1e6,
        "peak_mb": int(peak[1]) / 1024 if peak else 0,
    }
    print(json.dumps({**seen, **cost}))


if __name__ == "__main__":
    main(*sys.argv[1:])
