"""A stand-in for an API server as far as custom resources and nodes go, for tests that run with every change.

It keeps objects as they are sent, and has no schema, no rights and no account of who sets what: the nightly tests ask
a real one. A list comes in pages; a status is written by its subresource alone.
"""

import json
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit
from uuid import uuid4

import yaml

KEPT = ("annotations", "labels")


class StandIn:
    """It answers as `tests.kube.ApiServer` does, over HTTP on 127.0.0.1."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.objects, self.port = folder, dict[str, dict[str, Any]](), 0
        self.http: _Http | None = None

    def start(self) -> None:
        """Answer; what it knew before is still there."""
        self.http = _Http(self, self.port)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def kill(self) -> None:
        """Answer no more."""
        if self.http is not None:
            self.http.shutdown()
            self.http.server_close()

    def ask(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Any:
        """Return what it answers; HTTPError where it says no."""
        data = json.dumps(body).encode() if body is not None else None
        url = f"http://127.0.0.1:{self.port}{path}"
        asked = urllib.request.Request(url, data, {"Content-Type": kind}, method=method)
        with urllib.request.urlopen(asked, timeout=60) as answer:  # noqa: S310  likewise
            return json.loads(answer.read())

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Merge something into an object."""
        return self.ask("PATCH", path, body, "application/merge-patch+json")

    def serves(self, plural: str, group: str = "") -> bool:
        """Tell that it serves whatever it is asked for."""
        return bool(plural or group)

    def add_node(self, name: str) -> None:
        """Add a node."""
        self.ask("POST", "/api/v1/nodes", {"metadata": {"name": name}})

    def kubeconfig(self, token: str) -> Path:
        """Write the kubeconfig of whoever has a token; all may do all."""
        named = {
            "clusters": {"cluster": {"server": f"http://127.0.0.1:{self.port}"}},
            "users": {"user": {"token": token}},
            "contexts": {"context": {"cluster": "x", "user": "x"}},
        }
        whole = {key: [{"name": "x", **value}] for key, value in named.items()}
        file = self.folder / "kubeconfig"
        file.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "x", **whole}))
        file.chmod(0o600)
        return file


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, mine: StandIn, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.mine = mine


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        url = urlsplit(self.path)
        status, said = self._said(url.path, {key: value[0] for key, value in parse_qs(url.query).items()}, body)
        text = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _said(self, path: str, query: Mapping[str, str], body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        there = cast("_Http", self.server).mine.objects
        if self.command == "POST":
            meta = {"uid": str(uuid4()), "creationTimestamp": f"{datetime.now(UTC):%FT%T}Z", "generation": 1}
            meta["resourceVersion"] = str(uuid4())
            there[f"{path}/{body['metadata']['name']}"] = body | {"metadata": meta | body["metadata"]}
            return 201, body
        if self.command == "GET" and path.endswith(("noderemediations", "nodes")):
            return 200, self._page(path, query)
        if self.command == "DELETE":
            for each in [each for each in there if each == path or each.startswith(f"{path}/")]:
                del there[each]
            return 200, {}
        found = there.get(path.removesuffix("/status"))
        if found is None:
            return 404, {"message": f"{path} not found"}
        version = body.get("metadata", {}).get("resourceVersion")
        if self.command == "PATCH" and version not in {None, found["metadata"]["resourceVersion"]}:
            return 409, {"message": "the object has been modified"}
        if self.command == "PATCH":
            found["metadata"]["resourceVersion"] = str(uuid4())
        if self.command == "PATCH" and path.endswith("/status"):
            found["status"] = body["status"]
        elif self.command == "PATCH":
            meta = {key: found["metadata"].get(key, {}) | body["metadata"].get(key, {}) for key in KEPT}
            found["metadata"].update(meta)
        return 200, found

    def _page(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        objects = cast("_Http", self.server).mine.objects
        every = [each for key, each in sorted(objects.items()) if key.rpartition("/")[0] == path]
        start, limit = int(query.get("continue") or 0), int(query.get("limit") or len(every) or 1)
        more = {"continue": str(start + limit)} if start + limit < len(every) else {}
        return {"items": every[start : start + limit], "metadata": more}

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815  http.server looks them up by these names

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  http.server's name
        """Say nothing."""


@contextmanager
def running(folder: Path) -> Iterator[StandIn]:
    """Start one, and yield it."""
    found = StandIn(folder)
    found.start()
    yield found
    found.kill()
