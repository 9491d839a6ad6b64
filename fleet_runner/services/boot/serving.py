"""The boot service as a process: its parts, its listeners, and its end."""

import asyncio
import contextlib
import gc
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

import structlog
import uvloop

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.systemd import Systemd
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.services.boot.answers import BootContext
from fleet_runner.services.boot.app import application
from fleet_runner.services.boot.documents import Documents
from fleet_runner.services.boot.heartbeat import beat
from fleet_runner.services.boot.images import Images
from fleet_runner.services.boot.ledger import Ledger
from fleet_runner.services.boot.listening import certificate, token
from fleet_runner.services.boot.prerender import prepare
from fleet_runner.services.boot.secret import secret
from fleet_runner.services.boot.sessions import Sessions
from fleet_runner.services.boot.source import FOLDER_SECONDS, NETBOX_SECONDS, Known
from fleet_runner.services.http.listening import address_of, listener, more_files
from fleet_runner.services.http.servers import SecureServer, Server
from fleet_runner.services.http.shutdown import asked_to_end, told_of
from fleet_runner.settings import Settings

log = structlog.get_logger()

TEND_SECONDS = 30.0

COLLECTED_AFTER = (20_000, 20, 50)
"""Python's garbage collector's thresholds: answers leave next to none."""

Told = Callable[[str], None]


class Listeners(NamedTuple):
    """Where it listens: plainly, and with what TLS is spoken elsewhere, if anywhere."""

    plain: socket.socket
    secure: tuple[socket.socket, ssl.SSLContext] | None


def run(settings: Settings, store: Store, read: Callable[[], Fleet], tell: Told) -> None:
    """Serve until SIGINT or SIGTERM; `tell` takes sentences for whoever started it."""

    async def until_signalled() -> None:
        stop = asked_to_end()
        with listeners(settings) as listening:  # who asks while the source of truth is read waits for its answer
            async with desk_of(settings, store, read) as desk:
                gc.collect()
                gc.freeze()  # the fleet stays: it need not be looked through again and again
                gc.set_threshold(*COLLECTED_AFTER)
                async with told_of(systemd):
                    await serve(desk, listening, stop, tell)
        tell("boot service: stopped; everything it received is in the store")

    systemd = Systemd()
    more_files()
    _light_lines()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(until_signalled())


@contextlib.contextmanager
def listeners(settings: Settings) -> Iterator[Listeners]:
    """Listen; whoever connects waits from now on."""
    secured = certificate(settings)
    with contextlib.ExitStack() as open_ones:
        plain = open_ones.enter_context(listener(settings.boot_listen, "boot_listen"))
        if secured is None:
            yield Listeners(plain, None)
        else:
            secure = open_ones.enter_context(listener(settings.boot_secure_listen, "boot_secure_listen"))
            yield Listeners(plain, (secure, secured))


async def serve(desk: BootContext, listening: Listeners, stop: asyncio.Event, tell: Told) -> None:
    """Answer from a desk until told to stop, and then until what is under way is answered."""
    settings, app = desk.settings, application(desk)
    servers = [(Server(app), listening.plain)]
    if listening.secure is not None:
        secure, secured = listening.secure
        servers.append((SecureServer(app, secured), secure))
        tell(f"boot service: https://{address_of(secure)}, nodes reach it at {settings.boot_secure_url}")
    tell(f"boot service: http://{address_of(listening.plain)}, nodes reach it at {settings.boot_url}")
    await _until(stop, servers)


@asynccontextmanager
async def desk_of(settings: Settings, store: Store, read: Callable[[], Fleet]) -> AsyncIterator[BootContext]:
    """Make what answers are made from, and keep it fresh for as long as it is open."""
    key = secret(settings.state_dir)
    known, documents = Known(read), Documents(settings)
    async with Ledger(store) as ledger:
        sessions = Sessions(key)
        images = Images(settings.images_dir)
        desk = BootContext(settings, ledger, known, documents, images, sessions, token(settings.boot_dhcp_token))
        pause = NETBOX_SECONDS if "://" in settings.source else FOLDER_SECONDS
        tasks = (known.keep(pause), desk.tend(TEND_SECONDS), beat(desk), prepare(desk))
        work = [asyncio.create_task(each) for each in tasks]
        try:
            yield desk
        finally:
            for task in work:
                task.cancel()
            await asyncio.gather(*work, return_exceptions=True)
            documents.close()


def _light_lines() -> None:
    """Log a line for each event, as key=value; the usual form for people takes five times as long."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"], bool_as_flag=False),
        ],
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


async def _until(stop: asyncio.Event, servers: list[tuple[Server, socket.socket]]) -> None:
    """Serve until told to stop, then let what is under way end."""
    serving = [asyncio.create_task(server.serve(sockets=[listener])) for server, listener in servers]
    waiting = asyncio.create_task(stop.wait())
    await asyncio.wait([*serving, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    for server, _ in servers:
        server.should_exit = True
    await asyncio.gather(*serving)
