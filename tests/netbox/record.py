"""Record what this project and a real NetBox say to each other: `python -m tests.netbox.record`, by hand.

It starts a NetBox of its own; NETBOX_URL and NETBOX_TOKEN name another one, whose database is new and empty: ids are
kept as they are, and what the scenarios make stays there. Each scenario of scenarios.py and product.py becomes a file
in tests/netbox/exchanges, and NetBox's own description tests/netbox/openapi.json.
"""

import http.client
import json
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

from fleet_runner.lab.netbox.starting import running
from tests.netbox import describe, exchanging
from tests.netbox.exchanging import Exchange
from tests.netbox.product import ALL
from tests.netbox.scenarios import Site

PASSED = ("Authorization", "Content-Type", "If-Match", "Accept")
BODYLESS = 204


@contextmanager
def recording(upstream: str, kept: list[Exchange]) -> Iterator[str]:
    """Serve a NetBox on a port of its own, and keep each exchange."""
    target = urlsplit(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            told = {name: self.headers[name] for name in PASSED if self.headers.get(name)} | {"Host": address}
            factory = http.client.HTTPSConnection if target.scheme == "https" else http.client.HTTPConnection
            connection = factory(target.netloc, timeout=300)
            connection.request(self.command, self.path, body or None, told)
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
            kind = answer.headers.get("Content-Type", "")
            found = json.loads(text) if text and "json" in kind else text.decode() or None
            sent = json.loads(body) if body else None
            tags = self.headers.get("If-Match", "")
            kept.append(exchanging.exchange(self.command, self.path, sent, tags, answer.status, found, url))
            self.send_response(answer.status)
            for name in ("Content-Type", "ETag", "API-Version"):
                if answer.headers.get(name):
                    self.send_header(name, answer.headers[name])
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_PATCH = do_DELETE = do_OPTIONS = do_GET  # noqa: N815  the names are http.server's

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the name is http.server's
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    address = f"127.0.0.1:{server.server_address[1]}"
    url = f"http://{address}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield url
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main() -> int:
    """Run every scenario against the NetBox of the environment, or one of our own."""
    if "NETBOX_URL" in os.environ:
        return record(os.environ["NETBOX_URL"].rstrip("/"), os.environ["NETBOX_TOKEN"])
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), _say) as own:
        return record(own.url, own.token)


def _say(line: str) -> None:
    print(line, file=sys.stderr)  # noqa: T201  it is a command


def record(upstream: str, token: str) -> int:
    """Run every scenario against a NetBox whose database is empty."""
    kept: list[Exchange] = []
    with recording(upstream, kept) as url:
        status, said = Site(url, token).ask("GET", "status/")
        there = Site(url, token).ask("GET", "dcim/sites/?limit=1")[1]
        if status != http.client.OK or there["count"]:
            _say(f"{upstream}: not a NetBox with an empty database; give a new one")
            return 1
        _say(f"openapi.json: {describe.write(Site(upstream, token).ask('GET', 'schema/?format=json')[1])} bytes")
        for name, scenario in ALL.items():
            kept.clear()
            scenario(Site(url, token))
            path = exchanging.save(name, said["netbox-version"], kept)
            _say(f"{path.name}: {len(kept)} exchanges, {path.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
