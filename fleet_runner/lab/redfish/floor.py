"""The one thread that all emulators of a process live on, and the port that each keeps while it is silent."""

import asyncio
import functools
import socket
import ssl
import threading
from asyncio import StreamReader, StreamWriter
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvloop

from fleet_runner.lab.redfish import wire

T = TypeVar("T")

BACKLOG = 128


@functools.cache
def loop() -> asyncio.AbstractEventLoop:
    """Return the loop of all emulators; it runs on a thread of its own for as long as the process lives."""
    made = uvloop.new_event_loop()
    threading.Thread(target=made.run_forever, name="redfish emulators", daemon=True).start()
    return made


def run(work: Coroutine[Any, Any, T]) -> T:
    """Do something on the emulators' thread, and wait for it."""
    return asyncio.run_coroutine_threadsafe(work, loop()).result()


class Listener:
    """A port on 127.0.0.1 that can fall silent and come back: while it is silent, connections are refused."""

    def __init__(self, handle: wire.Handle, port: int = 0, tls: ssl.SSLContext | None = None) -> None:
        self._handle = handle
        self._tls = tls
        self._kept = _socket(port)  # bound but never listening: nobody else gets the port meanwhile
        self.port: int = self._kept.getsockname()[1]
        self._server: asyncio.Server | None = None
        self._open: set[StreamWriter] = set()

    async def listen(self) -> None:
        """Take connections."""
        if self._server is None:
            self._server = await asyncio.start_server(
                self._serve, sock=_socket(self.port), backlog=BACKLOG, limit=wire.CHUNK_BYTES, ssl=self._tls
            )

    async def silence(self) -> None:
        """Cut every connection, and refuse new ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in list(self._open):
            writer.transport.abort()

    async def close(self) -> None:
        """Give the port back."""
        await self.silence()
        self._kept.close()

    async def _serve(self, reader: StreamReader, writer: StreamWriter) -> None:
        self._open.add(writer)
        try:
            await wire.serve(reader, writer, self._handle)
        finally:
            self._open.discard(writer)


def _socket(port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # two may be bound, as long as one only listens
    made.bind(("127.0.0.1", port))
    made.setblocking(False)  # noqa: FBT003  its only argument
    return made
