"""Tokens that are rotated, and API servers that have too much to do, over real HTTP on 127.0.0.1."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.adapters import schedulers
from fleet_runner.adapters.schedulers import kubernetes
from fleet_runner.adapters.schedulers.kubeconfig import Kubeconfig
from fleet_runner.adapters.schedulers.kubernetes import Kubernetes
from fleet_runner.core.base.errors import SchedulerError, SettingsError
from fleet_runner.settings import Settings
from tests.adapters.schedulers import test_kubernetes_answers as answers

NODES = ("GET", "/api/v1/nodes")


class Guarded(answers.Handler):
    """Answers only to the token of the day."""

    server: "Server"

    def _answer(self) -> None:
        self.server.tokens.append(self.headers.get("Authorization") or "")
        if self.server.tokens[-1] == f"Bearer {self.server.token}":
            super()._answer()
            return
        self.send_response(401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def end_headers(self) -> None:
        """Ask to be left alone, where it does."""
        if self.server.later:
            self.send_header("Retry-After", self.server.later)
        super().end_headers()

    do_GET = do_PATCH = do_POST = _answer  # noqa: N815  as there


class Server(answers.Server):
    """One whose token changes."""

    def __init__(self) -> None:
        super().__init__()
        self.RequestHandlerClass = Guarded
        self.token, self.later, self.tokens = "first", "", list[str]()


@pytest.fixture
def server() -> Iterator[Server]:
    """It has no nodes."""
    with Server() as found:
        found.says = {NODES: (200, b'{"items": []}')}
        threading.Thread(target=found.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        found.shutdown()


@pytest.fixture
def file(server: Server, tmp_path: Path) -> Path:
    """The kubeconfig of the server; its token is in a file beside it."""
    found = answers.kubeconfig(tmp_path, server.server_address[1])
    said = yaml.safe_load(found.read_text())
    said["users"][0]["user"] = {"tokenFile": "token"}
    found.write_text(yaml.safe_dump(said))
    (tmp_path / "token").write_text("first")
    return found


def listed(cluster: Kubernetes) -> dict[str, Any]:
    return cluster.ask(cluster.api.list_node, "the nodes")[1]


def put(path: Path, text: str) -> None:
    """Put a file in the place of another one, as who rotates tokens does."""
    new = path.with_name("new")
    new.write_text(text)
    new.chmod(0o600)
    new.replace(path)


def test_a_token_that_was_rotated_is_read_again(server: Server, file: Path) -> None:
    """Whoever has the client already, as for Events, goes on with it."""
    cluster = kubernetes.opened(file)
    client = cluster.api.api_client
    assert listed(cluster) == {"items": []}
    server.token = "second"
    put(file.with_name("token"), "second")
    assert listed(cluster) == {"items": []}
    assert server.tokens == ["Bearer first", "Bearer second"]
    assert cluster.api.api_client is client


def test_a_kubeconfig_that_changed_is_read_again(server: Server, file: Path) -> None:
    cluster = kubernetes.opened(file)
    server.token = "third"
    put(file, file.read_text().replace("tokenFile: token", "token: third"))
    assert listed(cluster) == {"items": []}


def test_a_token_that_is_refused_is_read_again_the_next_time(
    server: Server, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though no file changed: a program may make it."""
    cluster = kubernetes.opened(file)
    server.token = "second"
    with pytest.raises(SchedulerError, match="HTTP 401") as error:
        listed(cluster)
    assert "first" not in str(error.value)
    token = file.with_name("token")
    seen = token.stat()
    token.write_text("later")  # as long as the first one, at the same time
    os.utime(token, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    server.token = "later"
    assert listed(cluster) == {"items": []}
    assert server.tokens == ["Bearer first", "Bearer later"]


def test_the_end_of_a_tokens_line_is_no_part_of_it(server: Server, file: Path) -> None:
    """As `echo` and most programs that fetch one write it; the client takes it anew at each request."""
    put(file.with_name("token"), "first\n")
    cluster = kubernetes.opened(file)
    assert listed(cluster) == listed(cluster) == {"items": []}
    assert server.tokens == ["Bearer first"] * 2


@pytest.mark.parametrize("token", ["first\nsecond", "first\u20ac"])
def test_a_token_that_is_none_is_an_error_without_it(server: Server, file: Path, token: str) -> None:
    cluster = kubernetes.opened(file)
    put(file.with_name("token"), token)
    with pytest.raises(SchedulerError, match="its token is not one line of ASCII") as error:
        listed(cluster)
    assert "first" not in str(error.value)
    assert server.tokens == []


def test_a_file_that_changes_while_it_is_read_is_read_again(
    server: Server, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The names of its files are of before, and its token of after."""
    named = Kubeconfig._named

    def changed(self: Kubeconfig) -> Iterator[Path]:
        yield from named(self)
        monkeypatch.undo()
        put(file.with_name("another"), "first")
        put(file, file.read_text().replace("tokenFile: token", "tokenFile: another"))

    monkeypatch.setattr(Kubeconfig, "_named", changed)
    cluster = kubernetes.opened(file)
    assert listed(cluster) == {"items": []}
    server.token = "second"
    put(file.with_name("another"), "second")
    assert listed(cluster) == {"items": []}


def test_a_file_that_may_not_be_looked_at_is_an_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where its folder is another user's, or it is taken away between two looks."""

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(Path, "stat", refuse)
    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SettingsError, match="cannot be used"):
        kubernetes.opened(file)


@pytest.mark.parametrize("said", ["", "{", "users: 3", "users: [3, {user: {tokenFile: 3}}]", "\x00"])
def test_a_kubeconfig_that_is_half_written_is_an_error_and_read_again(server: Server, file: Path, said: str) -> None:
    cluster, whole = kubernetes.opened(file), file.read_text()
    put(file, said)
    with pytest.raises(SchedulerError, match="cannot be used"):
        listed(cluster)
    assert server.tokens == []
    put(file, whole)
    assert listed(cluster) == {"items": []}


@pytest.mark.parametrize(
    ("status", "later", "seconds"),
    [
        (429, "9" * 400, float("inf")),
        (429, "\u0663".encode().decode("latin-1"), 0.0),
        (429, "7", 7.0),
        (503, "60", 60.0),
        (429, "", 0.0),
        (429, "Tue, 01 Dec 2026", 0.0),
        (500, "7", 0.0),
    ],
)
def test_an_api_server_with_too_much_to_do_says_how_long_it_wants_to_be_left(
    server: Server, file: Path, status: int, later: str, seconds: float
) -> None:
    server.says, server.later = {NODES: (status, b"{}")}, later
    with pytest.raises(SchedulerError, match=f"HTTP {status}") as error:
        listed(kubernetes.opened(file))
    assert error.value.seconds == seconds


def test_a_node_is_asked_of_its_own_cluster_alone(server: Server, file: Path) -> None:
    named = Settings(scheduler="kubernetes", kubernetes_clusters={"east": file, "west": file.with_name("gone")})
    assert schedulers.opened(named, "east") is not None
    for cluster in ("north", "", None, 3):
        with pytest.raises(SchedulerError, match="expected east, west"):
            schedulers.opened(named, cluster)
    assert server.tokens == []
