"""A real slurmdbd on a MariaDB of its own, which listens on a Unix socket and nowhere else."""

import contextlib
import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest

from fleet_runner.lab import ports
from tests import slurm
from tests.waiting import until

TOOLS = ("mariadb-install-db", "mariadbd", "mariadb-admin", "slurmdbd", "sacct", "sacctmgr", "sbatch")
CONF = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost={host}
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser={user}
PidFile={folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=accounts
"""
ACCOUNTS = """
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={port}
AccountingStoragePass={folder}/munge.socket
"""

needed = pytest.mark.skipif(
    not all(map(shutil.which, (*slurm.TOOLS, *TOOLS))),
    reason="needs the Debian packages mariadb-server and slurmdbd, beside munge, slurmctld and slurmd",
)


@contextlib.contextmanager
def running(folder: Path, more: str = "") -> Iterator[slurm.Cluster]:
    """Bring up a cluster that keeps accounts, with more lines in slurm.conf; each daemon is ended by its own id."""
    port = ports.choose(1)[0]
    values = {"folder": folder, "host": socket.gethostname().partition(".")[0], "user": getpass.getuser()}
    folder.mkdir(parents=True, exist_ok=True)
    conf = folder / "slurmdbd.conf"
    conf.write_text(CONF.format(**values, port=port))
    conf.chmod(0o600)
    with _mariadb() as at:
        environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf"), "MYSQL_UNIX_PORT": str(at)}
        with _daemon(["slurmdbd", "-D"], folder / "slurmdbd.out", environment):
            until(partial(_listens, port), "slurmdbd listens")  # a first slurmctld that finds none gives up
            with slurm.running(folder, more=ACCOUNTS.format(**values, port=port) + more) as cluster:
                yield cluster


def _listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def _mariadb() -> Iterator[Path]:
    """Run a server for whoever may open its socket: it will not run as root, but becomes Debian's user by itself."""
    user = ["--user=mysql"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="fleet-sql-") as name:
        home = Path(name)
        if user:
            shutil.chown(home, "mysql", "mysql")
        data, at = home / "data", home / "socket"
        made = ["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run([*made, f"--datadir={data}", *user], cwd=home, check=True, capture_output=True)
        serve = ["mariadbd", "--no-defaults", "--skip-networking", f"--datadir={data}", f"--socket={at}",
                 f"--pid-file={home}/pid", "--innodb-flush-log-at-trx-commit=0", *user]  # fmt: skip
        ping = ["mariadb-admin", "--no-defaults", f"--socket={at}", "--user=root", "ping"]
        with _daemon(serve, home / "out", os.environ):
            until(lambda: subprocess.run(ping, check=False, capture_output=True).returncode == 0, "MariaDB answers")
            yield at


@contextlib.contextmanager
def _daemon(words: Sequence[str], log: Path, environment: Mapping[str, str]) -> Iterator[None]:
    with log.open("a") as out:
        daemon = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment)
        try:
            yield
        finally:
            daemon.terminate()
            try:
                daemon.wait(slurm.GRACE)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
