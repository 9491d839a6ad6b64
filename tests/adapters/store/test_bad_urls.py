"""What is wrong with `database_url` is said in a sentence with the next step, never with the password."""

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.engine.database import connect
from fleet_runner.cli import main
from fleet_runner.core.base.errors import StoreError
from tests.adapters.store.builders import UrlMaker, device

SECRET = "hunter2cret"
SETTLED = "nothing was half-written"

Roles = Callable[[str], str]


def execute(url: str, *statements: str) -> None:
    """Run statements as whoever owns the database."""
    database = connect(url)
    with database.write() as connection:
        for statement in statements:
            connection.execute(text(statement))
    database.close()


@pytest.fixture
def roles(postgresql_urls: UrlMaker, postgresql: str) -> Iterator[Roles]:
    """Make a role that logs in with a password, and the URL by which it comes to a new store."""
    rules = Path(postgresql) / "data" / "pg_hba.conf"
    before = rules.read_text()
    made: list[tuple[str, str]] = []

    def make(password: str = SECRET) -> str:
        url = postgresql_urls()
        role = f"role_{len(made)}_{make_url(url).database}"
        execute(url, f"CREATE ROLE {role} LOGIN PASSWORD '{SECRET}'")
        made.append((url, role))
        rules.write_text(f"local all {role} scram-sha-256\n{rules.read_text()}")
        execute(url, "SELECT pg_reload_conf()")
        return url.replace("fleet@", f"{role}:{password}@")

    yield make
    rules.write_text(before)
    for url, role in made:
        execute(url, "SELECT pg_reload_conf()", f"DROP OWNED BY {role}", f"DROP ROLE {role}")


def owner(url: str) -> str:
    """Return the URL of whoever owns that database."""
    return f"postgresql+psycopg://fleet@{url.partition('@')[2]}"


@pytest.mark.parametrize(
    "bad",
    [
        f"postgresql//u:{SECRET}@127.0.0.1/fleet",
        f"postgresql://u:{SECRET}@127.0.0.1:port/fleet",
        f"postgresql://u:{SECRET}@[::1/fleet",
        f"postgresql://u:p@{SECRET}@127.0.0.1:1/fleet",
    ],
)
def test_a_url_that_cannot_be_read_is_not_shown(bad: str) -> None:
    """Any part of it may be the password."""
    with pytest.raises(StoreError, match=r"not a database URL; expected sqlite:///PATH or postgresql://") as caught:
        Store.open(bad)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("how", ["{secret}@127.0.0.1:1/fleet?x=", "@127.0.0.1:1/fleet?password={secret}&x="])
@pytest.mark.parametrize("option", ["", "bogus=1", "sslmode=bogus"])
def test_a_password_is_shown_nowhere(how: str, option: str) -> None:
    """Wherever in the URL it stands, and whatever else is wrong."""
    url = "postgresql://u:" + how.format(secret=SECRET).removesuffix("x=") + option
    with pytest.raises(StoreError, match=r"cannot be reached|option that PostgreSQL does not know") as caught:
        Store.open(url, patience=0.1)
    assert SECRET not in str(caught.value)
    assert SETTLED in str(caught.value)
    assert "please report" not in str(caught.value)


def test_a_wrong_password_is_refused_and_not_shown(roles: Roles) -> None:
    """The right one opens the store."""
    url = roles("wrong" + SECRET)
    with pytest.raises(StoreError, match=r"password authentication failed.*correct the URL or the grants") as caught:
        Store.open(url)
    assert SECRET not in str(caught.value)


def test_a_database_that_is_missing_is_named(postgresql: str) -> None:
    """The server is there, and says so."""
    with pytest.raises(StoreError, match=r'database "nothere" does not exist.*correct the URL'):
        Store.create(f"postgresql://fleet@/nothere?host={quote(postgresql, safe='')}")


def test_whoever_may_not_create_tables_is_told_and_nothing_is_made(roles: Roles) -> None:
    """PostgreSQL lets only a schema's owner make tables in it."""
    url = roles()
    execute(
        owner(url), "DROP SCHEMA public CASCADE", "CREATE SCHEMA public", "GRANT USAGE ON SCHEMA public TO PUBLIC"
    )
    with pytest.raises(StoreError, match=r"permission denied for schema public.*correct the URL or the grants"):
        Store.create(url)
    execute(owner(url), "CREATE TABLE alembic_version (mine TEXT)")  # nothing of that name is there


def test_whoever_may_read_and_not_write_is_told_at_the_first_write(roles: Roles) -> None:
    """What it may, it does."""
    url = roles()
    role = url.partition("://")[2].partition(":")[0]
    execute(owner(url), f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
    with Store.open(url) as store:
        assert store.nodes() == ()
        with pytest.raises(StoreError, match=r"permission denied for table.*nothing was half-written; correct"):
            store.register([device("gpu-01")], 1.0)
        assert store.nodes() == ()


def test_a_server_that_only_takes_reads_is_told_apart(postgresql_urls: UrlMaker) -> None:
    """A standby, or one whose disk was filled: nothing is written, and all is there afterwards."""
    url = postgresql_urls()
    name = make_url(url).database
    with Store.open(url) as store:
        store.register([device("gpu-01")], 1.0)
    execute(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with Store.open(url) as store, pytest.raises(StoreError, match=r"only takes reads.*point the URL at the primary"):
        store.register([device("gpu-02")], 1.0)
    with Store.open(url) as store:
        assert [node.name for node in store.nodes()] == ["gpu-01"]


@pytest.mark.parametrize("command", ["tick", "serve", "status"])
def test_every_command_says_so_and_ends_as_trouble(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, exit code 3 (docs/exit-codes.md), no traceback, no password."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sites.yml").write_text("- name: hall\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FLEET_DATABASE_URL", f"postgresql://u:{SECRET}@127.0.0.1:1/fleet")
    monkeypatch.setattr("sys.argv", ["fleet-runner", command])
    with pytest.raises(SystemExit) as ended:
        main()
    said = capsys.readouterr()
    assert ended.value.code == 3
    assert said.err.startswith("error: store postgresql://u:***@127.0.0.1:1/fleet: the server cannot be reached")
    assert SECRET not in said.err + said.out
