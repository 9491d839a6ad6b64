"""A real NetBox: the one at NETBOX_URL, held by others, or one of our own. A hall in it, and nothing left behind."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fleet_runner.adapters import netbox
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.lab.netbox.serving import why_not
from fleet_runner.lab.netbox.starting import preparing, running
from tests.netbox.live.hall import Hall, build
from tests.netbox.live.place import COUNTED, INIT, NAMED, Change, Place
from tests.secret import private

OLDEST = (4, 4)
WAITING_SECONDS = 2400
PREPARING = pytest.StashKey[subprocess.Popen[bytes]]()


class Said(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        """Return both outputs with their lines run together."""
        return " ".join(f"{self.out} {self.err}".split())

    @property
    def json(self) -> Any:
        """Return what was printed as JSON."""
        return json.loads(self.out)


Run = Callable[..., Said]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder; the first one may wait until a NetBox is installed and migrated."""
    for item in items:
        if "live" in item.path.parts:
            item.add_marker("netbox")
            item.add_marker(pytest.mark.timeout(WAITING_SECONDS))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have a NetBox migrated while other tests run, where one will be needed and none is."""
    first = os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0"
    wanted = any(item.get_closest_marker("netbox") for item in session.items)
    if first and wanted and not session.config.option.collectonly and not _named() and not why_not():
        session.stash[PREPARING] = preparing()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """End that, if it has not ended."""
    if begun := session.stash.get(PREPARING, None):
        begun.terminate()
        begun.communicate()


def _named() -> tuple[str, str] | None:
    """Return the address and the token of a NetBox that somebody names."""
    url, token = os.environ.get("NETBOX_URL"), os.environ.get("NETBOX_TOKEN")
    return (url, token) if url and token else None


@pytest.fixture(scope="session")
def address(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Where a NetBox is, and its superuser's token."""
    if named := _named():
        if "loadfile" not in getattr(request.config, "workerinput", {}).get("mainargv", ["loadfile"]):
            pytest.skip("these tests share one NetBox: run them without -n, or with --dist loadfile")
        yield named
        return
    if why := why_not():
        pytest.skip(f"no NetBox can be run here: {why}; NETBOX_URL and NETBOX_TOKEN (a superuser's) may name one")
    with running(tmp_path_factory.mktemp("netbox"), _tell) as own:
        yield own.url, own.token


def _tell(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  it takes minutes the first time


@pytest.fixture(scope="session")
def place(address: tuple[str, str]) -> Iterator[Place]:
    """A session with the NetBox; at the end everything in it is as it was, or the run has failed."""
    there = Place(*address)
    version = there.ask("GET", "status")["netbox-version"]
    if tuple(map(int, re.findall(r"\d+", version)[:2])) < OLDEST:
        pytest.skip(f"{there.url} is NetBox {version}; fleet-runner is tried with 4.4 and later")
    counts, mark = {path: there.count(path) for path in COUNTED}, there.last_change()
    users = _users(there)
    was = signal.signal(signal.SIGTERM, signal.default_int_handler)  # one who ends the run still wants it cleared
    try:
        yield there
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # asked to end already: what is left would stay for ever
        there.clear()
        signal.signal(signal.SIGTERM, was)
    _as_it_was(there, counts, there.changes_since(mark), users)


def _users(there: Place) -> set[str]:
    """Return the users there are; a token that may not see them is not a superuser's."""
    return {row["username"] for row in there.rows("users/users")}


def _as_it_was(there: Place, counts: dict[str, int], changes: list[Change], users: set[str]) -> None:
    """Hold that every object which was changed by us was made by us, and is gone."""
    made = {(each.kind, each.id) for each in changes if each.action == "create"}
    gone = {(each.kind, each.id) for each in changes if each.action == "delete"}
    me = {each.user for each in changes if each.name.startswith(there.prefix) and each.action == "create"}
    mine = [each for each in changes if each.user in me or each.user not in users]
    touched = [each for each in mine if (each.kind, each.id) not in made]
    assert not touched, f"objects of others were changed: {touched[:10]}"
    left = [each for each in mine if each.action == "create" and (each.kind, each.id) not in gone]
    assert not left, f"left behind: {left[:10]}"
    if len(mine) == len(changes):  # nobody else was at work
        assert {path: there.count(path) for path in COUNTED} == counts


@pytest.fixture(scope="session")
def token_file(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The token in a file of mode 0600."""
    return private(tmp_path_factory.mktemp("token") / "token", place.token)


def started(words: tuple[str, ...], folder: Path, **settings: str) -> Said:
    """Run a command as a person does, in a folder of its own."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("FLEET_", "NETBOX_"))}
    given = {f"FLEET_{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "fleet_runner", *words]
    project = str(Path(__file__).resolve().parents[3])
    done = subprocess.run(
        command,
        cwd=folder,
        env={**clean, "COLUMNS": "80", "PYTHONPATH": project, **given},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    return Said(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def run(place: Place, token_file: Path, tmp_path: Path) -> Run:
    """Run fleet-runner with this NetBox as its source of truth, and a store of its own."""

    def typed(*words: str, **settings: str) -> Said:
        own = {"source": place.url, "netbox_token_file": str(token_file), "state_dir": str(tmp_path / "state")}
        return started(words, tmp_path, **{**own, **settings})

    return typed


class Prepared(NamedTuple):
    """What `netbox init` would have done, did, and said when it was asked again; and fleet-runner's own token."""

    check: Said
    made: Said
    again: Said
    token_file: Path

    @property
    def acts(self) -> set[str]:
        """Return what is left to be done, as init says it."""
        return {step["act"] for step in self.again.json["steps"]}


WRITES = {"netbox_write_nodes": "true", "netbox_wishes": "true"}
"""What the settings allow while `netbox init` gives rights."""


@pytest.fixture(scope="session")
def prepared(place: Place, token_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prepared]:
    """The NetBox after `netbox init`; what that made is taken away again, what was there before is not."""
    folder = tmp_path_factory.mktemp("init")
    own = folder / "own"
    words = ("netbox", "init", "--url", place.url, "--token-file", str(token_file), "--token-out", str(own), "--json")
    before = {path: {row["id"] for row in place.rows(path)} for path in INIT}
    check = started((*words, "--check"), folder, **WRITES)
    steps = check.json["steps"]
    assert check.code == int(any(step["act"] != "keep" for step in steps)), check.err
    if any(step["act"] == "change" for step in steps):  # the site's own init had other settings
        yield Prepared(check, check, check, token_file)
        return
    try:
        made = started(words, folder, **WRITES)
        again = started((*words, "--check"), folder, **WRITES)
        yield Prepared(check, made, again, own if own.exists() else token_file)
    finally:
        _unmake(place, before, {step["name"] for step in steps if step["act"] == "make"})


def _unmake(place: Place, before: dict[str, set[int]], names: set[str]) -> None:
    """Take away what init said that it makes, where it is new."""
    for path, known in before.items():
        new = [row for row in place.rows(path) if row["id"] not in known] if names else []
        place.remove(path, [row["id"] for row in new if {row.get(key) for key in NAMED} & names])


@pytest.fixture
def complete(prepared: Prepared) -> Prepared:
    """Skip where what fleet-runner needs could not be made, for somebody else has something else there."""
    if prepared.acts - {"keep"}:
        wrong = [step for step in prepared.again.json["steps"] if step["act"] != "keep"]
        pytest.skip(f"this NetBox has what `netbox init` makes in another form: {wrong[:3]}")
    return prepared


@pytest.fixture(scope="session")
def readable(place: Place, prepared: Prepared) -> None:
    """Skip where this NetBox cannot be read as a fleet even without us."""
    try:
        netbox.load(place.url, place.token)
    except SourceError as error:
        pytest.skip(f"what this NetBox holds already contradicts itself, so no fleet can be read from it: {error}")


@pytest.fixture(scope="session")
def hall(place: Place, prepared: Prepared, readable: None) -> Hall:
    """Two nodes, a leaf and a patch panel of our own, racked, addressed and cabled."""
    return build(place)


@pytest.fixture
def fleet(place: Place, hall: Hall) -> Callable[[], Fleet]:
    """Read the NetBox anew; what is ours is found by `Hall.of`."""
    return lambda: netbox.load(place.url, place.token)
