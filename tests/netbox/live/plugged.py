"""A NetBox with the plugin in it, a hall's devices as `netbox init` and the runner leave them, and a fleet-runner."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx

from fleet_runner.core.lifecycle.states import FABRICS
from fleet_runner.lab.netbox.starting import NetBox
from tests.netbox.live.place import Place
from tests.web.hall import Hall

RELEASE = "NETBOX_VERSION"
"""Names the release that the plugin is tried in, where that is not today's."""

PASSWORD = "made-up-Pass-1"
HEIGHT = 48


class Front:
    """What NetBox takes for fleet-runner: it passes requests on to the real one and counts them, or it hangs."""

    def __init__(self) -> None:
        self.to, self.hangs = "", False
        self.came: list[str] = []
        self.over = Event()
        front = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                front.came.append(self.path)
                if front.hangs:
                    front.over.wait(60)
                    return
                headers = {"authorization": self.headers["authorization"]}
                answer = httpx.get(f"{front.to}{self.path}", headers=headers, timeout=30.0)
                self.send_response(answer.status_code)
                self.send_header("content-length", str(len(answer.content)))
                self.end_headers()
                self.wfile.write(answer.content)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.server.server_port}"

    @contextmanager
    def open(self) -> Iterator["Front"]:
        """Answer for as long as it is open."""
        thread = Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield self
        finally:
            self.over.set()
            self.server.shutdown()
            self.server.server_close()
            thread.join()


@dataclass(slots=True)
class Plugged:
    """A NetBox with the plugin, and what its devices, users and fleet-runner are."""

    netbox: NetBox
    place: Place
    front: Front
    hall: Hall
    devices: dict[str, int] = field(default_factory=dict[str, int])
    racks: dict[str, int] = field(default_factory=dict[str, int])

    def held(self, name: str) -> dict[str, Any]:
        """Return a device's custom fields."""
        fields: dict[str, Any] = self.place.row("dcim/devices", self.devices[name])["custom_fields"]
        return {key: value["value"] if isinstance(value, dict) else value for key, value in fields.items()}

    def page(self, name: str, part: str = "") -> str:
        """Return the path of a device's page, or of a part of the plugin's about it."""
        number = self.devices[name]
        return f"/plugins/fleet-runner/devices/{number}/{part}/" if part else f"/dcim/devices/{number}/"

    def user(self, name: str, **permissions: tuple[list[str], dict[str, Any] | None]) -> None:
        """Make a user who has some actions on devices and racks, each under constraints of devices."""
        user = self.place.ask("POST", "users/users", json={"username": name, "password": PASSWORD})
        for label, (actions, constraints) in permissions.items():
            self.place.ask(
                "POST",
                "users/permissions",
                json={
                    "name": f"{name} {label}", "actions": actions, "constraints": constraints, "users": [user["id"]],
                    "object_types": ["dcim.device"] if constraints else ["dcim.device", "dcim.rack"],
                },
            )  # fmt: skip

    @contextmanager
    def client(self, name: str, password: str = PASSWORD) -> Iterator[httpx.Client]:
        """Give somebody's session, as a browser has it; its header says where requests come from."""
        with httpx.Client(base_url=self.netbox.url, timeout=120.0) as client:
            token = hidden(client.get("/login/").text)
            said = {"csrfmiddlewaretoken": token, "username": name, "password": password}
            answer = client.post("/login/", data=said)
            assert answer.status_code == httpx.codes.FOUND, answer.text
            client.get("/plugins/fleet-runner/states/")  # takes the greeting away
            yield client


def hidden(text: str) -> str:
    """Return the token that a page's form sends along."""
    return re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', text)[0]


def fill(plugged: Plugged) -> None:
    """Make the hall's servers in NetBox, each with the state that the runner would have written."""
    place, fleet = plugged.place, plugged.hall.fleet
    site = place.ask("POST", "dcim/sites", json={"name": "hall-1", "slug": "hall-1"})["id"]
    maker = place.ask("POST", "dcim/manufacturers", json={"name": "Maker", "slug": "maker"})["id"]
    role = place.ask(
        "POST", "dcim/device-roles", json={"name": "GPU server", "slug": "gpu-server", "color": "9e9e9e"}
    )
    leaf = place.ask("POST", "dcim/device-roles", json={"name": "Leaf", "slug": "leaf", "color": "607d8b"})
    kinds = {
        slug: place.ask(
            "POST",
            "dcim/device-types",
            json={"manufacturer": maker, "model": kind.model, "slug": slug, "u_height": kind.u_height},
        )["id"]
        for slug, kind in fleet.device_types.items()
    }
    racks = [
        {"name": rack.name, "site": site, "u_height": HEIGHT, "status": "active"} for rack in fleet.racks.values()
    ]
    plugged.racks.update({row["name"]: row["id"] for row in place.ask("POST", "dcim/racks", json=racks)})
    states = {node.name: node.state.value for node in plugged.hall.store.nodes() if node.state not in FABRICS}
    rows = [
        {
            "name": device.name, "site": site, "device_type": kinds[device.device_type], "status": "active",
            "role": (role if device.name in states else leaf)["id"], "rack": plugged.racks.get(device.rack or ""),
            "position": device.position, "face": "front" if device.position else None,
            "custom_fields": {
                "fleet_state": states[device.name], "fleet_since": "2026-11-01T12:00:00Z"
            } if device.name in states else {},
        }
        for device in fleet.devices.values()
    ]  # fmt: skip
    plugged.devices.update({row["name"]: row["id"] for row in place.ask("POST", "dcim/devices", json=rows)})


def tables(folder: Path) -> list[str]:
    """Return the names of all tables and columns of a NetBox that runs in a folder."""
    import runpy  # noqa: PLC0415  with psycopg, for this alone

    import psycopg  # noqa: PLC0415  likewise

    own = runpy.run_path(str(folder / "conf" / "configuration.py"))["DATABASES"]["default"]
    with psycopg.connect(host=own["HOST"], user=own["USER"], dbname=own["NAME"]) as connection:
        found = connection.execute("SELECT table_name, column_name FROM information_schema.columns ORDER BY 1, 2")
        return [f"{table}.{column}" for table, column in found]
