"""What it costs to read a whole fleet from a NetBox: `make bench-netbox BENCH_ARGS="--servers 256 --seed-with ..."`.

NETBOX_URL and NETBOX_TOKEN (an administrator's) name a NetBox for this alone: it is filled with a fleet, and what
`fleet-runner netbox init` makes is made. Each way of reading runs in a process of its own, the quickest first.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import netbox_fleet
import pynetbox

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PEERS = HERE / "netbox-peers.lock"
NEEDED = ("ansible_collections/netbox/netbox/", "pytz/")
TICK = os.sysconf("SC_CLK_TCK")
OFTEN = 0.2  # seconds between two looks at the server's processes: one that ends takes its figures with it

HEAD = "| way | s | requests | MB | CPU s | peak MB | NetBox CPU s | times |\n|---|" + "---:|" * 7
"""Times the CPU of the NetBox for the first way."""

OURS = ("templates", "rest", "kept", "unchanged", "one-changed")
THEIRS = ("nb_inventory", "pynetbox-lists", "pynetbox-loop")


class Server:
    """Adds up the CPU seconds of a NetBox: processes with all they started, of PostgreSQL's one database's only."""

    def __init__(self, pids: list[int], database: str) -> None:
        self.pids, self.database = pids, database
        self.seen: dict[int, float] = {}
        self.before: dict[int, float] = {}

    def look(self) -> None:
        """Take down what each process has used so far."""
        waiting = list(self.pids)
        while waiting:
            pid = waiting.pop()
            try:
                folder = Path(f"/proc/{pid}")
                waiting += map(int, (folder / f"task/{pid}/children").read_text("ascii").split())
                title = (folder / "cmdline").read_text("utf-8", "replace")
                used = (folder / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            if not title.startswith("postgres: ") or f" {self.database} " in title:
                self.seen[pid] = (int(used[11]) + int(used[12])) / TICK

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Count from here to the end of the block."""
        self.look()
        self.before = dict(self.seen)
        done = threading.Event()

        def watch() -> None:
            while not done.wait(OFTEN):
                self.look()

        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self.look()

    def used(self) -> float:
        """Return the seconds of the last block."""
        return sum(now - self.before.get(pid, 0.0) for pid, now in self.seen.items())


def main(asked: argparse.Namespace) -> None:
    """Fill the NetBox, measure each way, and print it."""
    url, token = os.environ["NETBOX_URL"].rstrip("/"), os.environ["NETBOX_TOKEN"]
    records = netbox_fleet.fleet(asked.servers)
    server = Server(asked.server_pids, asked.database)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "token").touch(mode=0o600)
        (folder / "token").write_text(token, encoding="utf-8")
        _fill(records, asked.seed_with, folder, url)
        _run(_command(folder, url, "init"), stdout=subprocess.DEVNULL)
        if "nb_inventory" in asked.ways:
            _peers(folder / "peers")
            _measured("nb_inventory", url, folder, 1)  # it keeps the API's description from now on
        print(f"{asked.servers} servers; load {_load()}\n\n{HEAD}", flush=True)
        whole, least = 0, 0.0
        for way in asked.ways:
            if way == "one-changed":
                _change(url, token)
            part = 0 if asked.whole or way in OURS else min(asked.part, asked.servers)
            with server.watched():
                seen = _measured(way, url, folder, part)
            whole = whole or seen["interfaces"]
            times = whole / seen["interfaces"]
            least = least or server.used()
            _tell(way, seen, times, [times * server.used(), times * server.used() / least] if least else [])
    print(f"\n{whole:,} interfaces; load {_load()} at the end")


def _fill(records: netbox_fleet.Fleet, seed_with: str, folder: Path, url: str) -> None:
    """Make the fleet in the NetBox: from inside, or through its API with `netbox push`."""
    if seed_with:
        code = (HERE / "netbox_seed.py").read_text("utf-8")
        command = [*shlex.split(seed_with), "shell", "--verbosity", "0", "--command", code]
        _run(command, input=json.dumps(records))
        return
    site = folder / "site"
    site.mkdir()
    for kind, rows in records.items():
        (site / f"{kind}.yml").write_text(json.dumps(rows), encoding="utf-8")
    _run(_command(folder, url, "push", str(site)))


def _command(folder: Path, url: str, *words: str) -> list[str]:
    program = [sys.executable, "-m", "fleet_runner", "netbox", *words]
    return [*program, "--url", url, "--token-file", str(folder / "token")]


def _peers(folder: Path) -> None:
    """Have what is compared with, its versions and hashes pinned, without installing anything."""
    wheels = folder / "wheels"
    lock = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--require-hashes", "-r", str(PEERS)]
    _run([*lock, "--dest", str(wheels)])
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as inside:
            inside.extractall(folder, [name for name in inside.namelist() if name.startswith(NEEDED)])


def _measured(way: str, url: str, folder: Path, part: int) -> dict[str, Any]:
    command = [sys.executable, str(HERE / "netbox_ways.py"), way, url, str(folder), str(part)]
    done = _run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run(command: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, check=False, text=True, cwd=ROOT, **how)  # noqa: S603  what is written here
    if done.returncode:
        sys.exit(f"{shlex.join(command)[:200]}: exit code {done.returncode}\n{done.stderr or ''}")
    return done


def _change(url: str, token: str) -> None:
    """Change one device, as a person would."""
    device = pynetbox.api(url, token=token).dcim.devices.get(name="gpu-0001")
    device.update({"comments": "looked at" if device.comments == "" else ""})


def _load() -> str:
    return " ".join(f"{load:.1f}" for load in os.getloadavg())


def _tell(way: str, seen: dict[str, Any], times: float, used: list[float]) -> None:
    cells = [
        f"{way} (a part, {times:.1f} times)" if times > 1 else way,
        f"{times * seen['seconds']:,.2f}",
        f"{times * seen['requests']:,.0f}",
        f"{times * seen['mb']:,.1f}",
        f"{times * seen['cpu']:,.2f}",
        f"{seen['peak_mb']:,.0f}",
        *(f"{each:,.2f}" for each in used),
    ]
    print(f"| {' | '.join(cells)} |", flush=True)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--servers", type=int, default=256, help="how large the fleet is (256)")
    parser.add_argument("--seed-with", default="", help='fill it with "PYTHON MANAGE.PY", not through the API')
    parser.add_argument("--server-pids", type=int, nargs="*", default=[], help="of the NetBox and of its PostgreSQL")
    parser.add_argument("--database", default="netbox", help="whose backends count (netbox)")
    parser.add_argument("--ways", nargs="*", default=[*OURS, *THEIRS], choices=[*OURS, *THEIRS])
    parser.add_argument(
        "--part", type=int, default=32, help="servers that the others read; the rest is reckoned (32)"
    )
    parser.add_argument("--whole", action="store_true", help="have the others read everything, too")
    return parser.parse_args()


if __name__ == "__main__":
    main(_asked())
