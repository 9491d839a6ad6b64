"""The plugin's parts that need no NetBox; the base class of NetBox's plugins stands in here."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import ModuleType

import pytest

if "netbox" not in sys.modules:
    sys.modules["netbox"], plugins = ModuleType("netbox"), ModuleType("netbox.plugins")
    plugins.PluginConfig = type("PluginConfig", (), {})  # type: ignore[attr-defined]  a module that is made here
    sys.modules["netbox.plugins"] = plugins

Answer = Callable[[BaseHTTPRequestHandler], None]


class Memory:
    """A cache as Django's, for one test."""

    def __init__(self) -> None:
        self.kept: dict[str, object] = {}
        self.seconds: dict[str, int] = {}

    def get(self, key: str) -> object:
        """Return what is kept, or None."""
        return self.kept.get(key)

    def set(self, key: str, value: object, timeout: int) -> None:
        """Keep something."""
        self.kept[key], self.seconds[key] = value, timeout


@pytest.fixture
def memory() -> Memory:
    """An empty cache."""
    return Memory()


@contextmanager
def answering(answer: Answer) -> Iterator[tuple[str, list[BaseHTTPRequestHandler]]]:
    """Answer requests on loopback; give the address, and the requests that came."""
    came: list[BaseHTTPRequestHandler] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            came.append(self)
            answer(self)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", came
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
