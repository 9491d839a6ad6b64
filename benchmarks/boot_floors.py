"""What HTTP alone costs in a boot storm: `python benchmarks/boot_floors.py [NODES] [--granian PROGRAM]`.

The same client and connections as in `benchmarks/boot.py` ask servers for answers of the same sizes that are made
already: the boot service's own server with an application that knows nothing; uvicorn as it comes, with httptools
and with h11; granian, where its program is named; nginx with files. Each is one process on the first core. Read the
CPU of a node: it hardly depends on what else the machine does.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from pathlib import Path

import uvicorn
import uvloop
from boot import CLIENT_CORE, files, nginx, running, told
from boot_client import PORT, storm

from fleet_runner.services.http.listening import listener
from fleet_runner.services.http.requests import Answer, App, Receive, Scope, Send, send_answer
from fleet_runner.services.http.servers import Server

SIZES = {"script": 569, "meta-data": 172, "user-data": 3_050}
"""Bytes of each answer, as `benchmarks/boot.py` prints them."""

BODIES = {f"/{name}": bytes(size) for name, size in SIZES.items()}
HERE = "boot_floors"


async def ours(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer at once, as the boot service writes an answer."""
    if scope["method"] == "POST":
        await receive()
    await send_answer(scope, send, Answer(200, BODIES.get(scope["path"], b"")))


async def plain(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with nothing but ASGI."""
    if scope["type"] != "http":
        return
    if scope["method"] == "POST":
        await receive()
    body = BODIES.get(scope["path"], b"")
    headers = [(b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def serve(kind: str) -> None:
    """Be one of the servers that are Python's."""
    if kind == "ours":
        app: App = ours
        with (
            listener(f"127.0.0.1:{PORT}", "here") as sock,
            asyncio.Runner(loop_factory=uvloop.new_event_loop) as loop,
        ):
            loop.run(Server(app).serve(sockets=[sock]))
    else:
        uvicorn.run(f"{HERE}:plain", port=PORT, http=kind, lifespan="off", log_level="error", access_log=False)


def main() -> None:
    """Ask each server, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", type=int, nargs="?", default=5_000)
    parser.add_argument("--granian", help="its program; it is no dependency")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.serve is not None:
        serve(asked.serve)
        return
    os.sched_setaffinity(0, {CLIENT_CORE})
    with tempfile.TemporaryDirectory(prefix="fleet-runner-") as name:
        folder = Path(name)
        commands = {each: [sys.executable, __file__, "--serve", each] for each in ("ours", "httptools", "h11")}
        if asked.granian:
            one = ["--interface", "asginl", "--loop", "uvloop", "--workers", "1", "--port", str(PORT), "--no-ws"]
            commands["granian"] = [asked.granian, *one, "--log-level", "error", f"{HERE}:plain"]
        commands["nginx"] = nginx(folder, {path.removeprefix("/"): body for path, body in BODIES.items()})
        os.environ["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        for kind, command in commands.items():
            with running(command, folder / "log") as server:
                told(kind, asked.nodes, storm(list(range(asked.nodes)), files, 256, server))


if __name__ == "__main__":
    main()
