"""Syslog's messages over UDP and TCP, from networks that the settings name; it has no other way to say who sends."""

import asyncio
import socket
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from typing import Any

from fleet_runner.core.base.errors import EvidenceError, SettingsError
from fleet_runner.core.faults.signals.speakers import Networks
from fleet_runner.core.faults.signals.syslog import LARGEST, frames
from fleet_runner.services.http.listening import BACKLOG, placed, unusable
from fleet_runner.services.http.requests import MAPPED
from fleet_runner.services.signals.counters import Counts
from fleet_runner.services.signals.inbox import Delivery, Inbox, InboxFullError, Outcome
from fleet_runner.services.signals.inputs import DOORS, SYSLOG

SOURCE = DOORS[SYSLOG].source

READ = 64 * 1024
"""Bytes read of a connection at once."""

BUFFER = 4 * 1024 * 1024
"""Bytes of datagrams that the kernel keeps while the service is busy, as far as the machine allows."""

CONNECTIONS, PER_ADDRESS = 512, 16
"""Connections at a time, of all senders and of one."""

IDLE_SECONDS = 3600.0
"""The longest a connection may say nothing."""

PAUSE_SECONDS = 0.05
"""Pause before a sender's next messages are tried again where there was no room for them."""


def networks(text: str, setting: str = "signals_syslog_from") -> Networks:
    """Return the networks that a setting names."""
    try:
        return tuple(ip_network(each.strip()) for each in text.split(",") if each.strip())
    except ValueError as error:
        raise SettingsError(
            f"setting {setting!r}: {error}; expected networks such as 10.0.0.0/8, 2001:db8::/32"
        ) from error


@dataclass(slots=True)
class Senders:
    """What messages are put into, and who may send them."""

    inbox: Inbox
    counts: Counts
    networks: Networks
    clock: Callable[[], float]
    connections: Counter[str] = field(default_factory=Counter[str])

    def known(self, address: str) -> bool:
        """Whether an address may send; a stranger is counted."""
        with suppress(ValueError):  # it is gone already, and so is its address
            mine = ip_address(address)
            if any(mine in network for network in self.networks):
                return True
        self.refused("stranger", address)
        return False

    def refused(self, what: str, address: str, count: int = 1) -> None:
        """Count what was not taken."""
        self.counts.add(SOURCE, f"refused: {what}", self.clock(), count, f"syslog from {address}")

    def put(self, address: str, messages: tuple[bytes, ...]) -> None:
        """Have messages wait to be judged, or raise FullError."""
        self.inbox.put(Delivery(SYSLOG, address, messages, self.clock(), _nobody))


class Datagrams(asyncio.DatagramProtocol):
    """Takes messages over UDP: a sender learns nothing, so what finds no room is counted and gone."""

    def __init__(self, senders: Senders) -> None:
        self._senders = senders

    def datagram_received(self, data: bytes, addr: tuple[Any, ...]) -> None:
        """Take one message."""
        address = _address(addr)
        if not self._senders.known(address):
            return
        if len(data) > LARGEST:
            self._senders.refused("too long", address)
            return
        try:
            self._senders.put(address, (data,))
        except InboxFullError:
            self._senders.refused("no room, lost", address)


@asynccontextmanager
async def receiving(listen: str, senders: Senders) -> AsyncIterator[str]:
    """Take messages at an address over UDP and TCP; yields the address with its port."""
    at = placed(listen, "signals_syslog")
    try:
        streams = socket.create_server(tuple(at), family=at.family, backlog=BACKLOG)
        port = streams.getsockname()[1]
        datagrams = socket.socket(at.family, socket.SOCK_DGRAM)
        datagrams.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        datagrams.bind((at.host, port))
    except OSError as error:
        raise unusable(error, listen, "signals_syslog") from error
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: Datagrams(senders), sock=datagrams)
    work: set[asyncio.Task[None]] = set()

    def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = loop.create_task(_connection(senders, reader, writer))
        work.add(task)
        task.add_done_callback(work.discard)

    server = await asyncio.start_server(accepted, sock=streams, limit=READ)
    try:
        yield f"[{at.host}]:{port}" if ":" in at.host else f"{at.host}:{port}"
    finally:
        transport.close()
        server.close()
        for task in work:
            task.cancel()
        await asyncio.gather(*work, return_exceptions=True)


async def _connection(senders: Senders, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Take what one connection says, until it ends, says something impossible, or nothing for too long."""
    address = _address(writer.get_extra_info("peername") or ("",))
    senders.connections[address] += 1
    try:
        if _one_more(senders, address):
            await _said(senders, address, reader)
    except EvidenceError:
        senders.refused("too long or no syslog", address)
    except OSError:
        pass  # it broke off: what was whole is taken
    finally:
        senders.connections[address] -= 1
        senders.connections += Counter()  # forgets who has none
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _one_more(senders: Senders, address: str) -> bool:
    if not senders.known(address):
        return False
    if senders.connections[address] > PER_ADDRESS or senders.connections.total() > CONNECTIONS:
        senders.refused("too many connections", address)
        return False
    return True


async def _said(senders: Senders, address: str, reader: asyncio.StreamReader) -> None:
    held = b""
    while True:
        async with asyncio.timeout(IDLE_SECONDS):
            data = await reader.read(READ)
        messages, held = frames(held + (data or b"\n"))  # the last line may lack its end
        if messages:
            await _put(senders, address, tuple(messages))
        if not data:
            return


async def _put(senders: Senders, address: str, messages: tuple[bytes, ...]) -> None:
    """Have messages wait, once there is room: until then nothing is read, and TCP holds the sender back."""
    held_back = False
    while True:
        try:
            senders.put(address, messages)
        except InboxFullError:
            if not held_back:
                senders.counts.add(SOURCE, "held back", senders.clock(), 1, f"syslog from {address}")
            held_back = True
            await asyncio.sleep(PAUSE_SECONDS)
        else:
            return


def _address(peer: tuple[Any, ...]) -> str:
    host = str(peer[0]).partition("%")[0]
    return host.removeprefix(MAPPED) if "." in host else host


def _nobody(outcome: Outcome) -> None:
    """Syslog has no answers."""
    del outcome
