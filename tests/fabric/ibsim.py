"""Debian's fabric simulator as a running process, and the real tools pointed at it."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fleet_runner.core.checks.reads.network import IBQUERYERRORS

PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
PACKAGES = {
    "ibsim": "ibsim-utils",
    "ibnetdiscover": "infiniband-diags",
    "iblinkinfo": "infiniband-diags",
    "ibqueryerrors": "infiniband-diags",
    "opensm": "opensm",
}
LIBRARY = "umad2sim/libumad2sim.so"
PROMPT = "sim>"
REFUSED = re.compile(r"\s*(#|command )")
"""How the simulator begins when it did not do what it was told."""

READY_SECONDS = 60.0
LINE_LIMIT = 127
"""The simulator cuts what is typed behind it."""

ENDS = 2
"""The subnet manager tells each link from both of its ends."""

LARGE = ("-N", "16384", "-S", "1024", "-P", "131072")
"""Room for 1,024 servers with 8 adapters each."""


def tools() -> dict[str, str]:
    """Return where the simulator, the tool and the library between them are; skip where one is absent."""
    found = {name: shutil.which(name, path=PATH) for name in PACKAGES}
    for name, package in PACKAGES.items():
        if found[name] is None:
            pytest.skip(f"{name} is not installed; Debian's package is `{package}`")
    library = next(Path("/usr/lib").glob(f"*/{LIBRARY}"), None)
    if library is None:
        pytest.skip(f"{LIBRARY} is not installed; Debian's package is `ibsim-utils`")
    return {name: path for name, path in found.items() if path is not None} | {"library": str(library)}


class Ibsim:
    """A fabric that runs in a folder; the tools drop files of their own there."""

    def __init__(self, folder: Path, found: dict[str, str], process: "subprocess.Popen[str]") -> None:
        self._folder, self._tools, self._process = folder, found, process
        self._prompts = 1

    def console(self, lines: Iterable[str]) -> None:
        """Type lines into the simulator's console, wait until it has answered each, and see that it did them all."""
        typed = list(lines)
        assert all(len(line) <= LINE_LIMIT for line in typed)
        before = len(self.said())
        assert self._process.stdin is not None
        self._process.stdin.write("".join(f"{line}\n" for line in typed))
        self._process.stdin.flush()
        self._prompts += len(typed)
        self.settle()
        refused = [answer for answer in self.said()[before:].split(PROMPT) if REFUSED.match(answer)]
        assert not refused, f"ibsim refused: {refused}"

    def settle(self) -> None:
        """Wait for as many prompts as there were lines."""
        limit = time.monotonic() + READY_SECONDS
        while self.said().count(PROMPT) < self._prompts:
            assert self._process.poll() is None, f"ibsim ended: {self.said()[-500:]}"
            assert time.monotonic() < limit, f"ibsim gave no answer in {READY_SECONDS} s: {self.said()[-500:]}"
            time.sleep(0.02)

    def said(self) -> str:
        """Return what the simulator has printed."""
        return (self._folder / "ibsim.out").read_text(encoding="utf-8")

    def ibnetdiscover(self, *options: str, at: str = "") -> str:
        """Return what the real tool prints about this fabric, seen from a record of the netlist."""
        return self._run("ibnetdiscover", options, env={"SIM_HOST": at} if at else {})

    def iblinkinfo(self, *options: str) -> str:
        """Return what the other real tool prints about this fabric."""
        return self._run("iblinkinfo", options)

    def ibqueryerrors(self) -> str:
        """Return the error counters of the fabric's ports, asked as the product asks; exit code 1: there are some."""
        return self._run("ibqueryerrors", IBQUERYERRORS[1:], codes=(0, 1))

    def opensm(self) -> int:
        """Have the real subnet manager sweep the fabric once, and return how many links carry its routes."""
        log, dump = self._folder / "opensm.log", self._folder / "opensm-subnet.lst"
        dump.unlink(missing_ok=True)
        folder = {"OSM_CACHE_DIR": str(self._folder), "OSM_TMP_DIR": str(self._folder)}
        self._run("opensm", ["--once", "--erase_log_file", "--log_file", log.name], env=folder)
        said = log.read_text(encoding="utf-8")
        assert "SUBNET UP" in said, said[-500:]
        return dump.read_text(encoding="utf-8").count("LOG=ACT") // ENDS

    def environment(self, at: str = "") -> dict[str, str]:
        """Return what puts a tool into the fabric, at a record of the netlist."""
        here = {"LD_PRELOAD": self._tools["library"], "IBSIM_SOCKNAME": _name(self._folder)}
        return here | ({"SIM_HOST": at} if at else {})

    def _run(
        self, tool: str, options: Iterable[str], *, env: dict[str, str] | None = None, codes: tuple[int, ...] = (0,)
    ) -> str:
        done = subprocess.run(
            [self._tools[tool], *options],
            cwd=self._folder,
            env=os.environ | self.environment() | (env or {}),
            capture_output=True,
            text=True,
            timeout=READY_SECONDS,
            check=False,
        )
        assert done.returncode in codes, done.stderr
        return done.stdout


@contextmanager
def running(folder: Path, netlist: str, *options: str) -> Iterator[Ibsim]:
    """Run a fabric from its netlist; it is ended by its own pid, however the test ends."""
    found = tools()
    (folder / "netlist").write_text(netlist, encoding="utf-8")
    with (folder / "ibsim.out").open("w", encoding="utf-8") as output:
        process = subprocess.Popen(
            [found["ibsim"], *options, "-s", "netlist"],
            cwd=folder,
            env=os.environ | {"IBSIM_SOCKNAME": _name(folder)},
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        fabric = Ibsim(folder, found, process)
        fabric.settle()
        yield fabric
    finally:
        process.terminate()
        process.wait(timeout=10)
        assert process.stdin is not None
        process.stdin.close()


def _name(folder: Path) -> str:
    """A socket name of this folder's own, so that several fabrics can run; the simulator's limit is short."""
    return f"fleet-{os.getpid()}-{folder.name}"[:60]
