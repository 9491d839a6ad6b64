"""A boot service in this process, with a store and a source of truth of its own, and machines that ask it."""

import asyncio
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Boot, Heartbeat, Identity
from fleet_runner.core.inventory.records import Device, Fleet, Interface
from fleet_runner.services.boot.answers import BootContext
from fleet_runner.services.boot.app import application
from fleet_runner.services.boot.serving import desk_of
from fleet_runner.services.http.requests import App
from fleet_runner.settings import Settings

URL = "http://10.0.0.1:8480"
HOME = "10.0.0.11"
OTHER = "10.0.0.12"
NOW = 1_000_000.0


def mac(number: int) -> str:
    """Return the MAC address of a node by its number."""
    return f"02:00:00:00:00:{number:02x}"


def node(number: int = 1, **more: Any) -> Device:
    """Return gpu-01 or another, with one interface and a serial number."""
    interfaces = (Interface("eth0", "1000base-t", mac=mac(number)),)
    given = {"device_type": "sku", "serial": f"S{number}", "interfaces": interfaces, **more}
    return Device(f"gpu-{number:02}", role="gpu-server", site="hall-1", **given)


def fleet_of(*devices: Device, revision: str = "1") -> Fleet:
    """Return a fleet of some devices."""
    return Fleet(("hall-1",), {}, {}, {each.name: each for each in devices}, (), revision)


@dataclass
class Hall:
    """A boot service that `play` runs a story with. `source` is what the source of truth says; `now` is the time."""

    desk: BootContext
    store: Store
    app: App
    source: list[Fleet]
    now: float = NOW
    keys: dict[str, str] = field(default_factory=dict[str, str])

    def arm(self, number: int = 1, *, seconds: float = 1800.0, nonce_hash: str = "", **more: Any) -> Boot:
        """Arm a node's boot; it expects the node's MAC address and serial number."""
        expected = replace(Identity(frozenset({mac(number)}), f"S{number}"), **more)
        return self.store.arm(
            f"gpu-{number:02}", expected, run=None, now=self.now, seconds=seconds, nonce_hash=nonce_hash
        )

    async def ask(self, path: str, method: str = "GET", *, source: str = HOME, **more: Any) -> httpx.Response:
        """Ask the service from an address."""
        transport = httpx.ASGITransport(self.app, client=(source, 1))
        base = "https://boot" if more.pop("secure", False) else "http://boot"
        async with httpx.AsyncClient(transport=transport, base_url=base, trust_env=False) as client:
            return await client.request(method, path, **more)

    async def script(self, number: int = 1, *, source: str = HOME, **says: str) -> str:
        """Ask for a machine's script as iPXE does."""
        told = {"mac": mac(number), "uuid": "", "serial": f"S{number}", **says}
        query = "&".join(f"{name}={quote(value, safe='')}" for name, value in told.items())
        answer = await self.ask(f"/ipxe?{query}", source=source)
        assert answer.status_code == 200, answer.text
        return answer.text

    async def booting(self, number: int = 1, *, source: str = HOME, **more: Any) -> str:
        """Arm a node, have it ask for its script, and return its key."""
        self.arm(number, **more)
        await self.desk.ledger.look()
        script = await self.script(number, source=source)
        found = re.search(r"/seed/(\S+)/", script)
        assert found, script
        return found[1]

    async def phone(self, key: str, *, source: str = HOME, **form: str) -> httpx.Response:
        """Phone home."""
        return await self.ask(f"/phone-home/{key}", "POST", source=source, data=form)

    def refusals(self, name: str = "gpu-01") -> list[str]:
        """Return the codes of a node's refusals, as the store has them."""
        return [event.code for event in self.store.boot_events(name) if event.kind == "refused"]

    async def settled(self) -> None:
        """Wait until everything that was told is in the store, and what the store has is known."""
        await self.desk.ledger.tell(Heartbeat("boot", self.now))
        await self.desk.ledger.look()


Story = Callable[[Hall], Awaitable[None]]


def images(folder: Path, name: str = "debian-12", kernel: bytes = b"kernel" * 1000) -> Path:
    """Write an image, and return the folder of images."""
    files = {"vmlinuz": kernel, "initrd.zst": b"file system" * 1000}
    (folder / name).mkdir(parents=True, exist_ok=True)
    for file, body in files.items():
        (folder / name / file).write_bytes(body)
    sums = {file: {"size": len(body), "sha256": hashlib.sha256(body).hexdigest()} for file, body in files.items()}
    manifest = {
        "name": name,
        "suite": "bookworm",
        "architecture": "amd64",
        "recipe": "0" * 64,
        "epoch": 1767225600,
        "cmdline": "console=ttyS0",
        "kernel": {"file": "vmlinuz", "version": "6.1.0"},
        "initrd": "initrd.zst",
        "files": sums,
        "packages": {"linux-image-amd64": "6.1.0"},
    }
    (folder / name / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    return folder


_KEPT = tempfile.TemporaryDirectory(prefix="fleet-runner-")


@cache
def _empty_store() -> Path:
    """Make a store's tables once, for all tests of a run."""
    path = Path(_KEPT.name) / "fleet.db"
    Store.create(f"sqlite:///{path}").close()
    return path


def play(folder: Path, story: Story, *devices: Device, **given: Any) -> Hall:
    """Run a story with a boot service whose fleet has these devices, and settings beside the defaults."""
    folder.mkdir(exist_ok=True)
    values = {"state_dir": folder, "boot_url": URL, "boot_images": images(folder / "images"), **given}
    settings = Settings(**values)
    source = [fleet_of(*(devices or (node(),)))]
    if not (folder / "fleet.db").exists():
        shutil.copy(_empty_store(), folder / "fleet.db")
    store = Store.open(settings.store_url)
    store.register(list(source[0].devices.values()), NOW)

    async def run() -> Hall:
        async with desk_of(settings, store, lambda: source[0]) as desk:
            hall = Hall(desk, store, application(desk), source)
            desk.clock = desk.steady = lambda: hall.now
            await story(hall)
            await hall.settled()
            return hall

    try:
        return asyncio.run(run())
    finally:
        store.close()
