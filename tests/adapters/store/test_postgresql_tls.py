"""A PostgreSQL reached by TLS alone, set up as docs/runners.md says: `verify-full`, and a file with the password."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from fleet_runner.adapters import store_snapshot
from fleet_runner.adapters.plays.job_worker import JobWorker
from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.maintenance.backups import save
from fleet_runner.core.base.errors import StoreError
from fleet_runner.lab import ports
from fleet_runner.settings import Settings
from tests import postgres
from tests.adapters.store.builders import device
from tests.services.boot.sites import certificate
from tests.waiting import until

PASSWORD = "hs-7Qv-2kd"
RULES = "local all all trust\nhostssl postgres runner 127.0.0.1/32 scram-sha-256\n"


@dataclass(frozen=True, slots=True)
class Server:
    """A server with a user that has a password, and what trusts its certificate."""

    admin: str
    port: int
    trusted: Path

    def url(self, host: str = "127.0.0.1", **options: object) -> str:
        """Return what a runner is given; its password is in a file."""
        given = {"sslmode": "verify-full", "sslrootcert": self.trusted, **options}
        words = "&".join(f"{name}={value}" for name, value in given.items())
        return f"postgresql://runner@{host}:{self.port}/postgres?{words}"


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of this module's own."""
    try:
        with postgres.template() as data:
            made = certificate(tmp_path_factory.mktemp("certificate"), "db")
            for source, name in ((made, "server.crt"), (made.with_suffix(".key"), "server.key")):
                shutil.copy(source, data / name)
                shutil.chown(data / name, *_owner(data))
                (data / name).chmod(0o600)
            (data / "pg_hba.conf").write_text(RULES)
            (port,) = ports.choose(1)
            with postgres.running(data, f"-c listen_addresses=127.0.0.1 -c port={port} -c ssl=on") as server:
                admin = f"{server.url}&port={port}"
                _execute(admin, f"CREATE ROLE runner LOGIN SUPERUSER PASSWORD '{PASSWORD}'")
                yield Server(admin, port, made)
    except postgres.AbsentError as error:
        pytest.skip(str(error))


@pytest.fixture
def server(serving: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server, and the password where runners have it; nothing of the machine's own certificates."""
    given = tmp_path / "pgpass"
    given.touch(mode=0o600)
    given.write_text(f"127.0.0.1:{serving.port}:*:runner:{PASSWORD}\nlocalhost:{serving.port}:*:runner:{PASSWORD}\n")
    monkeypatch.setenv("PGPASSFILE", str(given))
    monkeypatch.setenv("HOME", str(tmp_path))
    return serving


def _owner(folder: Path) -> tuple[int, int]:
    return folder.stat().st_uid, folder.stat().st_gid


def _execute(url: str, statement: str) -> None:
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(statement))
    engine.dispose()


def _connections(server: Server) -> list[tuple[bool, str]]:
    """Return of each connection of a runner whether it is encrypted, and how."""
    engine = create_engine(server.admin)
    with engine.connect() as connection:
        wanted = "SELECT ssl, version FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'runner'"
        found = [(row.ssl, row.version) for row in connection.execute(text(wanted))]
    engine.dispose()
    return found


class Looking:
    """A runner that takes nothing."""

    def __init__(self, look: Callable[[], object]) -> None:
        self._look = look

    def queues(self) -> list[str]:
        """Return no queue."""
        self._look()
        return []

    def start(self, batch: str) -> None:
        """Start nothing."""

    def look(self) -> None:
        """Decide nothing."""


def test_all_that_reaches_the_store_goes_by_tls(server: Server, tmp_path: Path) -> None:
    url = server.url()
    with Store.open(url) as store:
        store.register([device("gpu-01")], 100.0)
        found: list[tuple[bool, str]] = []

        def look() -> None:
            # the store's, the worker's, and the one that hears of jobs
            until(lambda: len(_connections(server)) >= 3, "all three are connected")
            found.extend(_connections(server))

        JobWorker(Settings(database_url=url), "worker", Looking(look)).run(wait=False)
        assert {ssl for ssl, _ in found} == {True}
        assert {version for _, version in found} <= {"TLSv1.2", "TLSv1.3"}
    assert ("gpu-01", "state", "registered") in store_snapshot.states(url)
    assert save(url, tmp_path / "backup") > 0


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"sslmode": "disable"}, "no pg_hba.conf entry for host .*no encryption"),
        ({"sslrootcert": "/nonexistent/db-ca.pem"}, "root certificate file .* does not exist"),
        ({"host": "localhost"}, 'does not match host name "localhost"'),
    ],
    ids=["plain", "no CA", "another host"],
)
def test_whom_a_runner_cannot_be_sure_of_gets_nothing(server: Server, changes: dict[str, str], why: str) -> None:
    """Neither does a message say the password."""
    with pytest.raises(StoreError, match=why) as told:
        Store.open(server.url(**changes))
    assert PASSWORD not in str(told.value)
    assert _connections(server) == []


def test_a_certificate_of_another_authority_is_refused(server: Server, tmp_path: Path) -> None:
    others = replace(server, trusted=certificate(tmp_path, "other"))
    with pytest.raises(StoreError, match="certificate verify failed"):
        Store.open(others.url())
