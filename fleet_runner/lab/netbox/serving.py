"""One NetBox with all that it runs on, for as long as whoever holds it: database, queue, pages and worker."""

import base64
import fcntl
import hashlib
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from shutil import rmtree, which

from fleet_runner.lab import ports
from fleet_runner.lab.folder import LabError, write
from fleet_runner.lab.netbox import database, installation
from fleet_runner.lab.netbox.configuration import Home, Options, Secrets, lay_down
from fleet_runner.lab.netbox.database import Database
from fleet_runner.lab.netbox.installation import Tell, cache
from fleet_runner.lab.netbox.processes import Child, end, run, start

ADMIN = "admin"
START_SECONDS = 300.0
ROUNDS = 100_000
"""Of PBKDF2, for a password that is 16 random characters."""

REDIS = """\
bind 127.0.0.1
port {port}
requirepass {password}
save ""
appendonly no
dir {folder}
"""


def why_not() -> str:
    """Return why no NetBox can be run on this computer, or nothing."""
    if installation.python() is None:
        return "NetBox needs Python 3.12 or newer, and there is none; install python3.12"
    for word, package in (("redis-server", "redis-server"), ("setpriv", "util-linux")):
        if which(word) is None:
            return f"no {word}; install Debian's package {package}"
    with suppress(LabError):
        database.program("initdb")
        return ""
    return "no PostgreSQL; install Debian's package postgresql"


def prepare(version: str, tell: Tell) -> Path:
    """Return the dump of a release's migrated, empty database; NetBox is installed and migrated where need be."""
    folder = cache(version)
    folder.mkdir(parents=True, exist_ok=True)
    dump = folder / f"postgresql-{database.major()}.dump"
    with (folder / ".lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(f"another process prepares NetBox {version}: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        installation.install(version, tell)
        if not dump.is_file():
            tell(f"migrating the database of NetBox {version}: about six minutes, once")
            _migrate(version, dump)
    return dump


@contextmanager
def serving(home: Home, tell: Tell, *, keep: bool) -> Iterator[tuple[Child, ...]]:
    """Run the NetBox of a folder, and yield its processes once it answers; `home.known` says where it does.

    `keep` leaves its database in the folder, and the next start goes on with it.
    """
    options = home.options
    empty = prepare(options.version, tell)
    if options.packages:
        installation.add(options.version, options.packages, home.packages)
    own = Secrets.of(home)
    with _below(home, own) as (server, queue):
        server.restore(home.dump if home.dump.is_file() else empty)
        server.tell(f"UPDATE users_user SET password = '{_hashed(own.password)}' WHERE username = '{ADMIN}'")  # noqa: S608  both are made here
        tell(f"starting NetBox {options.version} on port {own.port}")
        with ExitStack() as stack:
            children = _programs(home, own, stack)
            _wait(home, own, children)
            known = {"url": f"http://{ports.HERE}:{own.port}", "version": options.version, "token": _token(own)}
            write(home.known, json.dumps({**known, "user": ADMIN, "password": own.password}), 0o600)
            stack.callback(home.known.unlink, missing_ok=True)
            yield (*children, queue)
        if keep:
            tell("keeping its database")
            server.dump(home.dump)


def _migrate(version: str, dump: Path) -> None:
    home = Home(cache(version) / "migrating")
    rmtree(home.root, ignore_errors=True)
    home.lay_out(Options(version))
    own = Secrets.of(home)
    with _below(home, own) as (server, _):
        log = home.root / "migrate.log"
        env = {**_environment(home), "DJANGO_SUPERUSER_PASSWORD": own.password}
        admin = ["createsuperuser", "--noinput", "--username", ADMIN, "--email", f"{ADMIN}@example.com"]
        for words in (["migrate", "--no-input"], admin):
            if code := run([*_python(home), "-m", "netbox", *words], log, env):
                raise LabError(f"`netbox {words[0]}` of NetBox {version} ended with {code}; read {log}")
        server.dump(dump)
    rmtree(home.root, ignore_errors=True)


@contextmanager
def _below(home: Home, own: Secrets) -> Iterator[tuple[Database, Child]]:
    """Run what NetBox needs, and write down for it where that is."""
    with database.running(home.root / "postgresql.log") as server:
        port, password = ports.choose(1)[0], secrets.token_urlsafe(24)
        file = home.root / "redis.conf"
        folder = json.dumps(str(home.root), ensure_ascii=False)  # quoted as Redis reads it: it may have a space
        write(file, REDIS.format(port=port, password=password, folder=folder), 0o600)
        lay_down(home, own, server.home, (port, password))
        queue = start(["redis-server", str(file)], home.root / "redis.log", _environment(home))
        try:
            yield server, queue
        finally:
            end(queue)


def _programs(home: Home, own: Secrets, stack: ExitStack) -> tuple[Child, ...]:
    pages = [
        "gunicorn",
        "--bind",
        f"{ports.HERE}:{own.port}",
        "--threads",
        "8",
        "--timeout",
        "300",
        "--graceful-timeout",
        "3",
    ]
    words = (
        ("gunicorn", [*pages, "--chdir", str(home.root), "served:application"]),
        ("worker", ["netbox", "rqworker", "high", "default", "low"]),
    )
    started: list[Child] = []
    for name, (module, *arguments) in words:
        command = [*_python(home), "-m", module, *arguments]
        started.append(start(command, home.root / f"{name}.log", _environment(home)))
    stack.callback(end, *started)
    return tuple(started)


def _python(home: Home) -> list[str]:
    return [str(installation.environment(home.options.version) / "python")]


def _environment(home: Home) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("LANG", "PATH", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "HOME": str(home.root),
        "NETBOX_ROOT": str(home.root),
        "PYTHONPATH": f"{home.packages}:{home.root}",
    }


def _hashed(password: str) -> str:
    """Return a password as NetBox stores it."""
    salt = secrets.token_hex(11)
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt.encode(), ROUNDS)
    return f"pbkdf2_sha256${ROUNDS}${salt}${base64.b64encode(digest).decode()}"


def _wait(home: Home, own: Secrets, children: tuple[Child, ...]) -> None:
    until = time.monotonic() + START_SECONDS
    while _ask(own, "GET", "/login/")[0] != HTTPStatus.OK:
        if any(child.poll() is not None for child in children) or time.monotonic() > until:
            raise LabError(f"NetBox did not start; read gunicorn.log, worker.log and redis.log in {home.root}")
        time.sleep(0.2)


def _token(own: Secrets) -> str:
    """Have NetBox make a token for its superuser, and return it as it is sent."""
    status, text = _ask(own, "POST", "/api/users/tokens/provision/", {"username": ADMIN, "password": own.password})
    if status != HTTPStatus.CREATED:
        raise LabError(f"NetBox made no token (HTTP {status}: {text[:300]})")
    made = json.loads(text)
    return f"nbt_{made['key']}.{made['token']}" if made["version"] > 1 else str(made["token"])


def _ask(own: Secrets, method: str, path: str, body: dict[str, str] | None = None) -> tuple[int, str]:
    connection = HTTPConnection(ports.HERE, own.port, timeout=60)
    try:
        sent = json.dumps(body) if body else None
        connection.request(method, path, sent, {"Content-Type": "application/json", "Accept": "*/*"})
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
    except (OSError, HTTPException):
        return 0, ""
    finally:
        connection.close()
