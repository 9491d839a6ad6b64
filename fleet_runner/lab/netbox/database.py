"""A PostgreSQL of Debian's for one NetBox: in a folder of its own, on a socket there, and kept as a dump."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fleet_runner.lab.folder import LabError
from fleet_runner.lab.netbox.processes import Child, end, start

USER = "postgres"
"""Whom it runs as where we are root, which PostgreSQL refuses to be; and the name of its superuser."""

NAME = "netbox"
START_SECONDS = 60.0
OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "jit": "off",
    "max_connections": "60",
}
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


@dataclass(frozen=True, slots=True)
class Database:
    """A server by its folder: short, so that the name of its socket fits, and its own user's."""

    home: Path

    def restore(self, dump: Path) -> None:
        """Fill it from a dump."""
        with dump.open("rb") as file:
            _piped([program("pg_restore"), *self._where(NAME), "--no-owner", "--exit-on-error"], stdin=file)

    def dump(self, path: Path) -> None:
        """Write all of it into a file, which appears when it is whole."""
        new = path.with_name(f".{path.name}.{os.getpid()}")
        with new.open("wb") as file:
            _piped([program("pg_dump"), *self._where(NAME), "--format=custom", "--compress=1"], stdout=file)
        new.replace(path)

    def tell(self, statement: str) -> None:
        """Carry out a statement."""
        _piped([program("psql"), *self._where(NAME), "-q", "-v", "ON_ERROR_STOP=1", "-c", statement])

    def _where(self, name: str) -> list[str]:
        return ["-h", str(self.home), "-U", USER, "-d", name]


def program(name: str) -> str:
    """Return where a program of PostgreSQL's newest installed version lies, or raise LabError."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    named = str(found[-1]) if found else shutil.which(name)
    if named is None:
        raise LabError(f"PostgreSQL is not installed (no {name}); install Debian's package `postgresql`")
    return named


def major() -> str:
    """Return the major version of the installed PostgreSQL, as it says itself."""
    said = subprocess.run([program("postgres"), "--version"], capture_output=True, text=True, check=False).stdout
    return next(iter(re.findall(r"[0-9]+", said)), "unknown")


@contextmanager
def running(log: Path) -> Iterator[Database]:
    """Run a new server with an empty database, and end it."""
    home = Path(tempfile.mkdtemp(prefix="fleet-nb-"))
    try:
        if os.geteuid() == 0:
            shutil.chown(home, USER, USER)
        made = ["--auth=trust", "--no-sync", "--locale=C.UTF-8", "--encoding=UTF8", f"--username={USER}"]
        _wait(start([program("initdb"), "-D", str(home / "data"), *made], log, ENV, USER), log)
        options = [word for name, value in OPTIONS.items() for word in ("-c", f"{name}={value}")]
        words = [program("postgres"), "-D", str(home / "data"), "-k", str(home), *options]
        server = start(words, log, ENV, USER, "QUIT")
        try:
            _ready(home, server, log)
            _piped([program("createdb"), "-h", str(home), "-U", USER, NAME])
            yield Database(home)
        finally:
            with suppress(ProcessLookupError):
                server.send_signal(signal.SIGINT)  # SIGTERM would wait for every client
            end(server)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _ready(home: Path, server: Child, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    asked = [program("pg_isready"), "-q", "-h", str(home)]
    while subprocess.run(asked, check=False).returncode:
        if server.poll() is not None or time.monotonic() > until:
            raise LabError(f"PostgreSQL did not start within {START_SECONDS:g} s; read {log}")
        time.sleep(0.1)


def _wait(child: Child, log: Path) -> None:
    try:
        if child.wait():
            raise LabError(f"PostgreSQL's initdb ended with {child.returncode}; read {log}")
    finally:
        end(child)


def _piped(words: list[str], stdin: IO[bytes] | int = subprocess.DEVNULL, stdout: IO[bytes] | None = None) -> None:
    done = subprocess.run(words, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        said = " ".join(done.stderr.decode(errors="replace").split())[:600]
        raise LabError(f"{Path(words[0]).name} ended with {done.returncode}: {said}")
