"""A boot storm: so many nodes ask for script, meta-data and user-data, and phone home, over real sockets.

`python benchmarks/boot.py [NODES] [--at-once N]` arms a boot for each node, starts the boot service on one
core and asks it from the other, each node from an address of its own (127.x.y.z) with one connection. They ask once
the service has prepared all boots and rests, as it does long before a server is through its self-tests; in a second
round they ask as soon as it listens. A third one arms all of them anew and asks for each user-data from two
connections at once. Beside it nginx (Debian's nginx-light,
one worker, the same core) serves static files of the same sizes to the same client: no boot service can be faster.
"""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from boot_client import PORT, Node, Result, address, cpu_of, storm

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Identity, Milestone
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Interface
from fleet_runner.services.boot import serving
from fleet_runner.settings import Settings
from tests.services.boot.desks import images

SERVER_CORE, CLIENT_CORE = 0, (os.cpu_count() or 1) - 1
OK, GONE = 200, 410
REST_CPU = 0.1
"""Seconds of CPU in two seconds: what a service with nothing to do stays under."""

HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIpreADa5qX5jvSSkHyAkAPGQmkUAyl8x0HIxkhbTx6h root@node"


def mac(number: int) -> str:
    """Return a node's MAC address."""
    return ":".join(f"{byte:02x}" for byte in (0x0200_0000_0000 + number).to_bytes(6, "big"))


def fleet_of(count: int) -> Fleet:
    """Return so many servers."""
    devices = {
        f"gpu-{number:05}": Device(
            f"gpu-{number:05}", "hgx", "gpu-server", "hall-1", serial=f"S{number:05}",
            primary_address=f"{address(number)}/8",
            interfaces=(Interface("eth0", "25gbase-x-sfp28", mac=mac(number)), Interface("ib0", "infiniband-ndr")),
        )
        for number in range(count)
    }  # fmt: skip
    return Fleet(("hall-1",), {}, {"hgx": DeviceType("hgx", "maker", "HGX", 8)}, devices, (), "1")


def settings_in(folder: Path) -> Settings:
    """Return the settings of the boot service: nodes join a Slurm cluster, with a munge key of 1 KiB."""
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    (folder / "join.yml").write_text("slurm:\n  controllers: [ctl-1, ctl-2]\n  munge_key: munge.key\n", "utf-8")
    return Settings(
        state_dir=folder,
        boot_url=f"http://127.0.0.1:{PORT}",
        boot_listen=f"127.0.0.1:{PORT}",
        boot_images=images(folder / "images"),
        boot_join=folder / "join.yml",
    )


def arm(store: Store, count: int) -> None:
    """Arm a boot for each node, as the runner does before it switches their power."""
    now = time.time()
    for number in range(count):
        expected = Identity(frozenset({mac(number)}), f"S{number:05}", "", frozenset({address(number)}))
        store.arm(f"gpu-{number:05}", expected, run=None, now=now, seconds=1800.0)


def get(path: str) -> bytes:
    """Return a request as iPXE and cloud-init send it."""
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nUser-Agent: Cloud-Init/22.4.2\r\nAccept: */*\r\n\r\n"
    return head.encode()


def post(path: str, body: bytes) -> bytes:
    """Return a phone-home."""
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{PORT}\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    return head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body


def phoned(number: int, instance: str) -> bytes:
    """Return what a node tells when it is done."""
    told = {
        "pub_key_ed25519": HOST_KEY,
        "pub_key_ecdsa": "N/A",
        "instance_id": instance,
        "hostname": f"gpu-{number:05}",
    }
    return urlencode(told).encode()


def script(number: int) -> bytes:
    """Ask for a node's script."""
    says = (
        f"mac={mac(number)}&uuid=&serial=S{number:05}&manufacturer=Maker&product=HGX&asset=&arch=x86_64&platform=efi"
    )
    return get(f"/ipxe?{says}")


def key_in(node: Node) -> str:
    """Return the key that a script carries."""
    _, _, rest = node.said[0][1].partition(b"/seed/")
    return rest.partition(b"/")[0].decode()


def boots(node: Node) -> Iterator[bytes]:
    """Boot: script, meta-data, user-data, phone-home."""
    yield script(node.number)
    key = key_in(node)
    yield get(f"/seed/{key}/meta-data")
    instance = node.said[1][1].partition(b'instance-id: "')[2].partition(b'"')[0].decode()
    yield get(f"/seed/{key}/user-data")
    yield post(f"/phone-home/{key}", phoned(node.number, instance))


def files(node: Node) -> Iterator[bytes]:
    """Ask for files of the same sizes, and post as much."""
    for name in ("script", "meta-data", "user-data"):
        yield get(f"/{name}")
    yield post("/phone-home", phoned(node.number, f"gpu-{node.number:05}-{node.number}"))


@contextmanager
def running(command: list[str], log: Path) -> Iterator[int]:
    """Run a server on its core until it is no longer needed, and give its process id once it listens."""
    with log.open("ab") as out:
        process = subprocess.Popen(["taskset", "-c", str(SERVER_CORE), *command], stdout=out, stderr=out)  # noqa: S603, S607  our own servers
    try:
        until_listening(process, log)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def until_listening(process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Wait until somebody listens."""
    while True:
        try:
            socket.create_connection(("127.0.0.1", PORT)).close()
        except OSError:
            if process.poll() is not None:
                raise SystemExit(f"the server ended: {log.read_text()[-2000:]}") from None
            time.sleep(0.05)
        else:
            return


def nginx(folder: Path, bodies: dict[str, bytes]) -> list[str]:
    """Write static files of the same sizes and a configuration that serves them; return the command."""
    (folder / "www").mkdir()
    folder.chmod(0o755)
    for name, body in bodies.items():
        (folder / "www" / name).write_bytes(body)
    (folder / "nginx.conf").write_text(
        f"daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;\n"
        "events { worker_connections 4096; }\n"
        f"http {{ access_log off; sendfile on; tcp_nopush on; open_file_cache max=100; types {{ }}\n"
        f" client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;\n"
        f" uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;\n"
        f" server {{ listen 127.0.0.1:{PORT} backlog=4096; root {folder}/www;\n"
        "  location = /phone-home { return 200; } } }\n",
        "utf-8",
    )
    return ["nginx", "-c", str(folder / "nginx.conf"), "-p", str(folder)]


def told(name: str, count: int, found: Result) -> None:
    """Print one storm."""
    requests = len(found.seconds)
    print(
        f"{name:<13} {count / found.wall:8,.0f} nodes/s {requests / found.wall:9,.0f} requests/s"
        f"  p50 {found.at(0.5):6.2f} ms  p99 {found.at(0.99):6.2f} ms"
        f"  CPU {1e6 * found.cpu / count:6.0f} us a node, enough for {count / found.cpu:7,.0f} nodes/s on one core"
    )


def lost(store: Store, count: int) -> tuple[int, int, int]:
    """Return boots without all of their milestones, without their claim, and without their host keys."""
    wanted = {Milestone.SCRIPT, Milestone.CLOUD_INIT, Milestone.PHONE_HOME}
    every = [boot for boot in store.open_boots() if boot.node.startswith("gpu-")]
    short = sum(not wanted <= boot.reached.keys() for boot in every)
    return (
        count - len(every) + short,
        sum(not boot.claimed_by for boot in every),
        sum(not boot.host_keys for boot in every),
    )


def at_rest(server: int) -> None:
    """Wait until a server has nothing left to do: it uses next to no CPU for two seconds."""
    before = -REST_CPU
    while (now := cpu_of(server)) - before >= REST_CPU:
        before = now
        time.sleep(2)


class Round(NamedTuple):
    """One storm; answers that were no good; boots without all milestones, without claim and without host keys."""

    storm: Result
    refused: int
    gone: tuple[int, int, int]

    @property
    def bad(self) -> bool:
        """Whether anything was refused or lost."""
        return bool(self.refused or any(self.gone))


def round_of(store: Store, serve: list[str], count: int, at_once: int, *, prepared: bool) -> Round:
    """Boot all nodes, once they are prepared or as soon as somebody listens."""
    arm(store, count)
    with running(serve, Path(serve[-1]) / "log") as server:
        if prepared:
            at_rest(server)
        found = storm(list(range(count)), boots, at_once, server)
    refused = sum(status != OK for said in found.said.values() for status, _ in said)
    return Round(found, refused, lost(store, count))


def twice(store: Store, serve: list[str], log: Path, count: int, at_once: int) -> int:
    """Ask for each user-data from two connections at once; return how many nodes did not get it exactly once."""
    arm(store, count)
    keys: dict[int, str] = {}

    def only_script(node: Node) -> Iterator[bytes]:
        yield script(node.number)
        keys[node.number] = key_in(node)

    def only_secrets(node: Node) -> Iterator[bytes]:
        yield get(f"/seed/{keys[node.number]}/user-data")

    with running(serve, log) as server:
        storm(list(range(count)), only_script, at_once, server)
        found = storm([number for number in range(count) for _ in range(2)], only_secrets, at_once, server)
    wrong = [number for number, said in found.said.items() if sorted(status for status, _ in said) != [OK, GONE]]
    return len(wrong) + count - len(found.said)


def bench(folder: Path, count: int, at_once: int) -> bool:
    """Measure and print; False where anything was lost or given twice."""
    settings = settings_in(folder)
    store = Store.create(settings.store_url)
    store.register(list(fleet_of(count).devices.values()), time.time())
    serve = [sys.executable, __file__, str(count), "--serve", str(folder)]
    first = round_of(store, serve, count, at_once, prepared=True)
    second = round_of(store, serve, count, at_once, prepared=False)
    ours = first.storm
    print(f"{count} nodes, {at_once} at once; script, meta-data, user-data and phone-home each\n")
    told("fleet-runner", count, ours)
    told("unprepared", count, second.storm)
    sizes = dict(zip(("script", "meta-data", "user-data"), (body for _, body in ours.said[0]), strict=False))
    with running(nginx(folder, sizes), folder / "log") as server:
        limit = storm(list(range(count)), files, at_once, server)
    told("nginx", count, limit)
    less, fast = ours.cpu / limit.cpu, ours.wall / limit.wall
    print(f"\nnginx's static files need {less:.1f} times less CPU, and come {fast:.1f} times as fast to this client")
    print("sizes: " + ", ".join(f"{name} {len(body)} bytes" for name, body in sizes.items()))
    for each in (first, second):
        gone = each.gone
        print(f"refused: {each.refused}; boots without milestones {gone[0]}, claim {gone[1]}, keys {gone[2]}")
    doubled = twice(store, serve, folder / "log", count, at_once)
    print(f"asked twice at once: {doubled} of {count} did not get user-data exactly once")
    store.close()
    return not (first.bad or second.bad or doubled)


def main() -> int:
    """Be the client, or the server that it starts."""
    parser = argparse.ArgumentParser(description="A boot storm.")
    parser.add_argument("nodes", type=int, nargs="?", default=10_000)
    parser.add_argument("--at-once", type=int, default=256)
    parser.add_argument("--serve", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve is not None:
        settings, fleet = settings_in(given.serve), fleet_of(given.nodes)
        serving.run(settings, Store.open(settings.store_url), lambda: fleet, print)
        return 0
    if shutil.which("nginx") is None or shutil.which("taskset") is None:
        raise SystemExit("nginx and taskset are needed: apt-get install nginx-light util-linux")
    os.sched_setaffinity(0, {CLIENT_CORE})
    with tempfile.TemporaryDirectory(prefix="fleet-runner-") as folder:
        return 0 if bench(Path(folder), given.nodes, given.at_once) else 1


if __name__ == "__main__":
    sys.exit(main())
