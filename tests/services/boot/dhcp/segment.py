"""A network segment of the tests' own: a namespace with a server's interface, and bare machines on the other end."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SERVER = "198.18.0.1"
"""Addresses that RFC 2544 sets aside for tests of networks; the namespace shares them with nobody."""

PORT = 8480
TOKEN = "let-the-lease-be-told"
TOOLS = {"ip": "iproute2", "dnsmasq": "dnsmasq-base", "kea-dhcp4": "kea-dhcp4-server", "curl": "curl"}

_numbers = count()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a DHCP server said."""

    address: str
    server: str
    file: str
    options: Mapping[str, str] = field(default_factory=dict[str, str])

    def text(self, code: int) -> str:
        """Return an option as text."""
        return bytes.fromhex(self.options.get(str(code), "")).decode()


@dataclass(frozen=True, slots=True)
class Segment:
    """The namespace; `dhcp0` is the server's interface, `node0` the one that machines ask through."""

    namespace: str
    folder: Path

    def run(self, *words: str | Path, given: str = "") -> str:
        """Run a command inside to its end."""
        command = ["ip", "netns", "exec", self.namespace, *words]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}"
        return done.stdout

    @contextlib.contextmanager
    def running(self, *words: str | Path, ready: Callable[[str], bool], env: Mapping[str, str]) -> Iterator[Path]:
        """Run a server inside until the block ends; yield the log that it writes."""
        log = self.folder / f"{Path(words[0]).name}-{next(_numbers)}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                ["ip", "netns", "exec", self.namespace, *words],
                stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, env={**os.environ, **env},
            )  # fmt: skip
        try:
            until = time.monotonic() + 20
            while not ready(log.read_text()):
                assert process.poll() is None, log.read_text()
                assert time.monotonic() < until, f"not ready: {log.read_text()}"
                time.sleep(0.02)
            yield log
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def ask(self, *asks: Mapping[str, Any], seconds: float = 10.0) -> list[Answer | None]:
        """Let machines ask for a lease, one after the other; None for one that got no answer in so many seconds."""
        request = {"interface": "node0", "seconds": seconds, "asks": asks}
        answers = json.loads(self.run(sys.executable, HERE / "wire.py", given=json.dumps(request)))
        return [None if each is None else Answer(**each) for each in answers]


def machine(mac: str, kind: int = 7, **more: Any) -> dict[str, Any]:
    """Return a machine's firmware, by its processor architecture type."""
    vendor = "HTTPClient" if kind in {15, 16, 18, 19} else "PXEClient"
    words = f"{vendor}:Arch:{kind:05d}:UNDI:003001"
    options = {"93": f"{kind:04x}", "60": words.encode().hex(), "94": "010301", "97": "00" + "11" * 16}
    return {"mac": mac, "options": options, **more}


def ipxe(mac: str, kind: int = 7, **more: Any) -> dict[str, Any]:
    """Return iPXE on that machine: it asks with options of its own, and with another client id."""
    found = machine(mac, kind, **more)
    found["options"] |= {"175": "b105018086100e", "77": b"iPXE".hex(), "61": "01" + mac.replace(":", "")}
    return found


def why_not() -> str:
    """Say what a segment needs that is not here; empty where nothing is missing."""
    if os.geteuid() != 0:
        return "network namespaces need root; run the tests as root"
    missing = sorted({package for tool, package in TOOLS.items() if shutil.which(tool) is None})
    return f"not installed: apt-get install {' '.join(missing)}" if missing else ""


@contextlib.contextmanager
def segment(folder: Path) -> Iterator[Segment]:
    """Make a segment; nothing of it is left afterwards."""
    made = Segment(f"fleet-dhcp-{os.getpid()}-{next(_numbers)}", folder)
    subprocess.run(["ip", "netns", "add", made.namespace], check=True)
    try:
        inside = ("ip", "-n", made.namespace)
        for words in (
            "link add dhcp0 type veth peer name node0",
            f"address add {SERVER}/24 dev dhcp0",
            "link set lo up",
            "link set node0 up",
            "link set dhcp0 up",
        ):
            subprocess.run([*inside, *words.split()], check=True)
        yield made
    finally:
        subprocess.run(["ip", "netns", "delete", made.namespace], check=True)
