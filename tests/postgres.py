"""A PostgreSQL of a test's own that can be restarted, taken away for a while, and cut off from its clients.

It listens on a Unix socket in a folder of its own, and nowhere else.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine, text

from fleet_runner.adapters.store import Store

OPTIONS = "-c listen_addresses='' -c fsync=off -c shared_buffers=16MB -c max_connections=80 -c jit=off"
PATIENCE = 20.0


class AbsentError(Exception):
    """PostgreSQL cannot be run here."""


@dataclass(frozen=True, slots=True)
class Postgres:
    """A server by the folder of its socket, its data and its log."""

    home: Path
    options: str = ""

    @property
    def url(self) -> str:
        """The database that holds the store."""
        return f"postgresql+psycopg://fleet@/postgres?host={self.home}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        options = f"{OPTIONS} -c unix_socket_directories={self.home} {self.options}"
        files = ("-D", self.home / "data", "-l", self.home / "log")
        _run(self.home, "pg_ctl", *files, "-o", options, "-w", "-t", "120", "start")

    def stop(self, how: str) -> None:
        """Stop it: `fast` ends every connection, `immediate` is a crash."""
        _run(self.home, "pg_ctl", "-D", self.home / "data", "-m", how, "-w", "stop")

    def cut(self, share: float) -> int:
        """End a share of the connections, at least one, as an administrator or a network would; return how many."""
        engine = create_engine(self.url, isolation_level="AUTOCOMMIT")
        mine = "SELECT pid FROM pg_stat_activity WHERE usename = 'fleet' AND pid <> pg_backend_pid() ORDER BY pid"
        try:
            with engine.connect() as connection:
                pids = [row.pid for row in connection.execute(text(mine))]
                chosen = pids[: max(1, round(share * len(pids)))]
                for pid in chosen:
                    connection.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        finally:
            engine.dispose()
        return len(chosen)


def check() -> None:
    """Raise AbsentError where no server can be run."""
    _program("initdb")
    with _folder():
        pass


@contextmanager
def template() -> Iterator[Path]:
    """Make a data folder with an empty store in it, to copy for each server."""
    with _folder() as home:
        server = Postgres(home)
        made = ("-U", "fleet", "-A", "trust", "-N", "--wal-segsize=1", "--locale=C", "-E", "UTF8")
        _run(home, "initdb", "-D", home / "data", *made)
        server.start()
        try:
            Store.create(server.url).close()
        finally:
            server.stop("fast")
        yield home / "data"


@contextmanager
def running(data: Path, options: str = "") -> Iterator[Postgres]:
    """Run a server on a copy of a data folder, with more options, and end it by its pid whatever happens."""
    with _folder() as home:
        subprocess.run(["cp", "-a", str(data), str(home / "data")], check=True)
        server = Postgres(home, options)
        try:
            server.start()
            yield server
        finally:
            _end(home / "data" / "postmaster.pid")


@contextmanager
def _folder() -> Iterator[Path]:
    """Make a folder that belongs to whoever PostgreSQL runs as."""
    home = Path(tempfile.mkdtemp(prefix="fleet-pg-"))
    try:
        if os.geteuid() == 0:
            try:
                shutil.chown(home, "postgres", "postgres")
            except LookupError as error:
                raise AbsentError("PostgreSQL will not run as root, and there is no user `postgres`") from error
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _run(home: Path, program: str, *arguments: Any) -> None:
    as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    command = [*as_user, _program(program), *map(str, arguments)]
    done = subprocess.run(command, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"{command}: {done.stdout}{done.stderr}")


def _program(name: str) -> str:
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    named = str(found[-1]) if found else shutil.which(name)
    if named is None:
        raise AbsentError(f"PostgreSQL is not installed (no {name}); Debian's package is `postgresql`")
    return named


def _end(pid_file: Path) -> None:
    """End the server whose pid the file holds, and wait until it is gone."""
    for signum in (signal.SIGINT, signal.SIGQUIT):
        until = time.monotonic() + PATIENCE
        try:
            os.kill(int(pid_file.read_text().split()[0]), signum)
        except (OSError, IndexError, ValueError):
            return
        while pid_file.exists() and time.monotonic() < until:
            time.sleep(0.05)
