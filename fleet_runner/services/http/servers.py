"""uvicorn's servers as services here run them: several in a process, quick to stop, and none to be held up by TLS."""

import asyncio
import contextlib
import socket
import ssl
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

import uvicorn

from fleet_runner.services.http import protocol
from fleet_runner.services.http.listening import BACKLOG
from fleet_runner.services.http.protocol import Bounded, peer
from fleet_runner.services.http.requests import App

DRAIN_SECONDS = 1.5
"""The longest a stop goes on taking requests, for the sake of those that are under way."""

LAST_SECONDS = 1
"""The longest what is under way then has, behind a closed door. cloud-init gives up after ten seconds of refusals."""

HANDSHAKE_SECONDS = 5.0
"""The longest a TLS handshake may take."""

FULL_SECONDS = 0.1
"""Pause where this process holds as many files as it may."""


class Server(uvicorn.Server):
    """A server that leaves signals to others, and does not refuse requests while it waits for its last answers."""

    def __init__(self, app: App, per_address: int | None = None) -> None:
        made = partial(Bounded, per_address=per_address)
        config = uvicorn.Config(
            app,
            http=made,  # type: ignore[arg-type]  # it is only ever called
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # who asks is who connects; a header would say whatever it likes
            server_header=False,
            backlog=BACKLOG,
            timeout_graceful_shutdown=LAST_SECONDS,
        )
        super().__init__(config)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Cut what is asked for again, answer what is under way and what comes meanwhile, then close."""
        for connection in list(self.server_state.connections):
            connection.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_SECONDS):
                while under_way := set(self.server_state.tasks):
                    await asyncio.wait(under_way)
        await super().shutdown(sockets)


class SecureServer(Server):
    """A server that speaks TLS."""

    def __init__(self, app: App, secured: ssl.SSLContext) -> None:
        super().__init__(app)
        self._secured = secured

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open a door at each socket."""
        await super().startup([])
        made = partial(Bounded, self.config, self.server_state, {})
        doors = [_Door(each, self._secured, made) for each in sockets or ()]
        self.servers = doors  # type: ignore[assignment]  # they are closed, and waited for


class _Door:
    """Accepts connections and speaks TLS on them. An address's count starts here: a handshake may never end."""

    def __init__(self, listener: socket.socket, secured: ssl.SSLContext, made: Callable[[], Bounded]) -> None:
        listener.setblocking(False)  # noqa: FBT003  as it is called
        self._listener, self._secured, self._made = listener, secured, made
        self._shaking: Counter[str] = Counter()
        self._work = {asyncio.create_task(self._accept())}

    def close(self) -> None:
        """Accept nothing more, and end handshakes."""
        for task in self._work:
            task.cancel()

    async def wait_closed(self) -> None:
        """Wait until nothing is accepted."""
        await asyncio.gather(*self._work, return_exceptions=True)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(self._listener)
            except OSError:
                await asyncio.sleep(FULL_SECONDS)
                continue
            host = peer(address)
            if self._shaking[host] + Bounded.connections_of[host] >= protocol.PER_ADDRESS:
                connection.close()
            else:
                task = loop.create_task(self._speak(connection, host))
                self._work.add(task)
                task.add_done_callback(self._work.discard)
            await asyncio.sleep(0)  # to accept what waits already takes no turn of the loop

    async def _speak(self, connection: socket.socket, host: str) -> None:
        self._shaking[host] += 1
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._made, connection, ssl=self._secured, ssl_handshake_timeout=HANDSHAKE_SECONDS
            )
        except OSError:  # too late, broken off, or no TLS
            connection.close()
        finally:
            self._shaking[host] -= 1
            if not self._shaking[host]:
                del self._shaking[host]
