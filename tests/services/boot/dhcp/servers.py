"""The real DHCP servers, configured as the product configures them, on a segment of the tests' own."""

import contextlib
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from fleet_runner.core.boot.dhcp import KINDS, networks, render
from fleet_runner.core.inventory.records import Device, Fleet, Interface
from tests.playing import PROJECT
from tests.services.boot.dhcp.segment import PORT, SERVER, TOKEN, Segment

HERE = Path(__file__).resolve().parent
ROLE = PROJECT / "roles" / "pxe_boot"
NETWORK = {"subnet": "198.18.0.0/24", "router": "198.18.0.254", "dns": ["198.18.0.253"], "domain": "boot.example"}
BOOT_URL = f"http://{SERVER}:{PORT}"


@dataclass(frozen=True, slots=True)
class Told:
    """What the stand-in for the boot service was told, as it came."""

    file: Path

    def requests(self) -> list[dict[str, Any]]:
        """Return every request."""
        return [json.loads(line) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    def leases(self) -> list[tuple[str, str]]:
        """Return MAC address and address of each lease told."""
        bodies = [json.loads(each["body"]) for each in self.requests()]
        return [(each["mac"], each["address"]) for each in bodies if each["event"] == "lease"]


def node(name: str, address: str, *macs: str) -> Device:
    """Return a node with these network cards."""
    cards = tuple(Interface(f"eth{at}", "25gbase-x-sfp28", mac) for at, mac in enumerate(macs))
    return Device(name, "box", "gpu-server", "hall-1", primary_address=address, interfaces=cards)


def fleet(*devices: Device) -> Fleet:
    """Return a fleet of these devices."""
    return Fleet(("hall-1",), {}, {}, {each.name: each for each in devices}, ())


def hook(segment: Segment) -> Path:
    """Write the role's hook as the role does; return its path."""
    folder = segment.folder / "hook"
    (folder / "slots").mkdir(parents=True, exist_ok=True)
    values = {
        "ansible_managed": "written by a test",
        "pxe_boot_tellers": 8,
        "pxe_boot_slots_dir": str(folder / "slots"),
        "pxe_boot_curl_config": str(folder / "lease.curl"),
        "pxe_boot_told_url": f"http://127.0.0.1:{PORT}",
        "pxe_boot_told_ca": "",
        "pxe_boot_dhcp_token": TOKEN,
    }
    for name, template, mode in (("tell-lease", "tell-lease.j2", 0o755), ("lease.curl", "lease.curl.j2", 0o600)):
        text = (ROLE / "templates" / template).read_text()
        made = jinja2.Environment(undefined=jinja2.StrictUndefined, autoescape=False).from_string(text).render(values)  # noqa: S701  no HTML
        (folder / name).touch(mode=mode)
        (folder / name).write_text(made + "\n")
    return folder / "tell-lease"


def config(segment: Segment, kind: str, found: Fleet, **more: Any) -> str:
    """Return a server's configuration for the segment."""
    described = {"interfaces": ["dhcp0"], "server": SERVER, "networks": [NETWORK | more.pop("network", {})], **more}
    lease_file = str(segment.folder / f"{kind}.leases")
    read = networks.read({"lease_file": lease_file, **described}, BOOT_URL)
    return render(kind, found, read).text


@contextlib.contextmanager
def serving(segment: Segment, kind: str, text: str) -> Iterator[Path]:
    """Run the server of one kind with its configuration; yield its log."""
    path = segment.folder / f"{kind}.conf"
    path.write_text(text)
    with segment.running(
        *_words(segment, kind, path), ready=KINDS_READY[KINDS[kind].program], env=environment(segment)
    ) as log:
        yield log


def refused(segment: Segment, kind: str, text: str) -> str:
    """Return what the server's own test has against a configuration; empty for nothing."""
    path = segment.folder / f"{kind}.conf"
    path.write_text(text)
    try:
        segment.run(*KINDS[kind].test, path)
    except AssertionError as error:
        return str(error)
    return ""


def environment(segment: Segment) -> Mapping[str, str]:
    """Return what keeps Kea's lock and process files in the test's own folder."""
    return {"KEA_LOCKFILE_DIR": str(segment.folder), "KEA_PIDFILE_DIR": str(segment.folder)}


@contextlib.contextmanager
def listening(segment: Segment, *, hangs: bool = False) -> Iterator[Told]:
    """Run the stand-in for the boot service."""
    told = Told(segment.folder / f"told-{hangs}.jsonl")
    words = (sys.executable, HERE / "listener.py", str(PORT), told.file, "hangs" if hangs else "answers")
    with segment.running(*words, ready=lambda log: "listening" in log, env={}):
        yield told


KINDS_READY = {
    "dnsmasq": lambda log: "started" in log,
    "kea-dhcp4": lambda log: "DHCP4_STARTED" in log,
}


def _words(segment: Segment, kind: str, path: Path) -> tuple[str | Path, ...]:
    if KINDS[kind].program == "kea-dhcp4":
        return ("kea-dhcp4", "-c", path)
    pid = segment.folder / f"{kind}.pid"
    return (
        "dnsmasq",
        "--keep-in-foreground",
        "--log-facility=-",
        f"--pid-file={pid}",
        "--user=root",
        f"--conf-file={path}",
    )
