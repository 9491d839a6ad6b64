"""What it costs to read a NetBox that nobody changed: `python benchmarks/netbox_unchanged.py [SERVERS]`, without one.

The fleet of `netbox_fleet` is kept as if it had been read before; a stand-in in a process of its own answers for the
change log, which is all that is asked. Prints CPU seconds of processes that are begun anew, as plays and commands
are: the first makes the fleet of the rows and keeps it, the next ones find it; then of a look of one that goes on, as
a runner's every 30 seconds. The floor is a process that imports the same and does nothing.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any

import netbox_fleet

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox import cache, changes
from fleet_runner.adapters.netbox import rows as kept_rows

TOKEN = "x" * 40
LOOKS = 9
AT = "2026-01-01T00:00:00+00:00"
CHANGE = {
    "id": 77,
    "time": AT,
    "request_id": "bench",
    "action": {"value": "update"},
    "changed_object_type": "dcim.device",
    "changed_object_id": 1,
}
"""The newest line of the change log, from before the rows were read."""


class Log(BaseHTTPRequestHandler):
    """Answers with a change log of one line."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Say it."""
        body = json.dumps({"count": 1, "next": None, "previous": None, "results": [CHANGE]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("API-Version", "4.6")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:  # type: ignore[override]
        """Say nothing on the terminal."""


def answer(line: Connection) -> None:
    """Serve until killed."""
    server = HTTPServer(("127.0.0.1", 0), Log)
    line.send(f"http://127.0.0.1:{server.server_port}")
    server.serve_forever()


def rows(servers: int) -> kept_rows.Rows:
    """Return the rows of the benchmark's fleet, as a NetBox would give them."""
    said = netbox_fleet.fleet(servers)
    types = numbered({**each, "id": at} for at, each in enumerate(said["device_types"], 1))
    racks = {each["name"]: at for at, each in enumerate(said["racks"], 1)}
    by_slug = {each["slug"]: each for each in types.values()}
    devices, interfaces, items, ports = [], [], [], {}
    for at, each in enumerate(said["devices"], 1):
        own = {port["name"]: port for port in each.get("interfaces", ())}
        rack, kind = each.get("rack"), by_slug[each["device_type"]]
        where = (rack, racks.get(rack), each.get("position"), each.get("face", ""), "active", each.get("serial", ""))
        named = (None, each.get("oob_ip"), None, each.get("primary_ip4"), None, None, False, {})
        device = (at, each["name"], kind["id"], kind["slug"], each["role"], each["site"], *where, *named)
        devices.append(kept_rows.DeviceRow(*device, each.get("local_context_data", {}), AT))
        for port in kind["interfaces"]:
            mine, number = own.get(port["name"], {}), len(interfaces) + 1
            ports[each["name"], port["name"]] = number
            said_of = (port["type"], None, mine.get("mac_address"), mine.get("wwn"), port.get("mgmt_only", False))
            interfaces.append(kept_rows.InterfaceRow(number, at, port["name"], *said_of))
        for part in each.get("inventory_items", ()):
            words = (part["name"], part["role"], part["part_id"], part["serial"], AT)
            items.append(kept_rows.ItemRow(len(items) + 1, at, *words))
    return kept_rows.Rows(
        sites={1: kept_rows.SiteRow(1, netbox_fleet.SITE)},
        racks=keyed(
            kept_rows.RackRow(racks[each["name"]], each["name"], each["site"], each["location"], 48, 1)
            for each in said["racks"]
        ),
        device_types=keyed(map(type_row, types.values())),
        devices=keyed(devices),
        interfaces=keyed(interfaces),
        inventory_items=keyed(items),
        cables=keyed(cable_row(at, each, ports) for at, each in enumerate(said["cables"], 1)),
    )


def numbered(found: Iterable[dict[str, Any]]) -> dict[int, dict[str, Any]]:
    """Return records by their number."""
    return {each["id"]: each for each in found}


def keyed(found: Iterable[Any]) -> dict[int, Any]:
    """Return rows by their id."""
    return {each.id: each for each in found}


def type_row(each: dict[str, Any]) -> kept_rows.TypeRow:
    """Return a device type's row."""
    ports = tuple(kept_rows.PortRow(p["name"], p["type"], p.get("mgmt_only", False)) for p in each["interfaces"])
    return kept_rows.TypeRow(each["id"], each["slug"], each["model"], "Bench", each["u_height"], True, ports)  # noqa: FBT003


def cable_row(at: int, each: dict[str, Any], ports: dict[tuple[str, str], int]) -> kept_rows.CableRow:
    """Return a cable's row."""
    ends = tuple(
        kept_rows.EndRow(side.upper(), "dcim.interface", ports[each[side]["device"], each[side]["interface"]])
        for side in "ab"
    )
    return kept_rows.CableRow(at, each["type"], "", each["status"], "", None, ends)


def alone(url: str, kept: Path) -> None:
    """Read once, in this process, and print what it took; with "" nothing is read."""
    if url:
        netbox.load(url, TOKEN, kept=kept)
    print(time.process_time())


def begun(url: str, kept: Path) -> float:
    """Return the CPU seconds of a process that is begun anew."""
    command = [sys.executable, __file__, "--alone", url, str(kept)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)  # noqa: S603  this file


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--alone"]:
        alone(sys.argv[2], Path(sys.argv[3]))
        return
    servers = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=answer, args=(theirs,), daemon=True)
    process.start()
    url = ours.recv()
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "netbox.json"
        cache.save(kept, cache.fingerprint(url, TOKEN), rows(servers), changes.begin([CHANGE], time.time()))
        floor, first = begun("", kept), begun(url, kept)
        next_ = median(begun(url, kept) for _ in range(3))
        known, looks = netbox.snapshot(url, TOKEN, kept=kept), []
        for _ in range(LOOKS):
            before = time.process_time()
            netbox.snapshot(url, TOKEN, kept=kept, before=known)
            looks.append(time.process_time() - before)
    process.kill()
    print(f"{servers:,} servers, nothing changed, CPU seconds")
    print(f"  a process that only imports       {floor:.3f}")
    print(f"  a new process, fleet made         {first:.3f}  {first / floor:.1f} times")
    print(f"  a new process, fleet kept         {next_:.3f}  {next_ / floor:.1f} times")
    print(f"  one look of a process that runs   {median(looks):.4f}  {median(looks) / floor:.3f} times")


if __name__ == "__main__":
    main()
