"""Connections to the boot service: plain and over TLS, bounded in time and size, and drained when it stops."""

import asyncio
import contextlib
import gc
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from fleet_runner.core.boot.facts import Facts
from fleet_runner.services.boot import files, serving
from fleet_runner.services.boot.documents import Documents, Filled
from fleet_runner.services.http import protocol, servers
from fleet_runner.services.http.protocol import Bounded
from tests.services.boot.desks import Hall, mac, play
from tests.services.boot.sites import certificate as made
from tests.waiting import PATIENCE

HEALTH = b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n"
FILE = b"GET /loader/large.efi HTTP/1.1\r\nhost: x\r\n\r\n"
LARGE = 24 * 1024 * 1024
"""Bytes that no socket's buffers hold."""

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Ports(dict[str, int]):
    """The ports that a boot service says it listens at, by scheme, and what stops it."""

    def __init__(self) -> None:
        super().__init__()
        self.stop = asyncio.Event()

    def tell(self, sentence: str) -> None:
        """Take what the service says."""
        scheme, _, rest = sentence.removeprefix("boot service: ").partition("://")
        self[scheme] = int(rest.partition(",")[0].rpartition(":")[2])


@contextlib.asynccontextmanager
async def listening(hall: Hall) -> AsyncIterator[Ports]:
    """Serve a hall's desk at real sockets."""
    ports = Ports()
    with serving.listeners(hall.desk.settings) as at:
        serving_it = asyncio.create_task(serving.serve(hall.desk, at, ports.stop, ports.tell))
        await asyncio.sleep(0)
        try:
            yield ports
        finally:
            ports.stop.set()
            await serving_it


@contextlib.asynccontextmanager
async def connected(
    port: int, source: str = "127.0.0.1", secured: ssl.SSLContext | None = None
) -> AsyncIterator[Stream]:
    """Connect from an address of this machine."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0), ssl=secured)
    try:
        yield reader, writer
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()


async def asked(port: int, request: bytes, source: str = "127.0.0.1", secured: ssl.SSLContext | None = None) -> bytes:
    """Send a request and return everything that comes until the service closes or answers."""
    async with connected(port, source, secured) as (reader, writer):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        return head + await reader.readexactly(length)


async def left(reader: asyncio.StreamReader) -> bytes:
    """Return what still comes until the service ends the connection."""
    found = b""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(PATIENCE):
            while more := await reader.read(1 << 20):
                found += more
    return found


async def until(true: Callable[[], bool]) -> None:
    """Wait for something that comes."""
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.005)


def heard(folder: Path, story: Callable[[Hall, Ports], Awaitable[None]], **given: object) -> None:
    """Run a story with a boot service at real sockets."""

    async def whole(hall: Hall) -> None:
        async with listening(hall) as ports:
            await story(hall, ports)

    play(folder, whole, boot_listen="127.0.0.1:0", boot_secure_listen="127.0.0.1:0", **given)


def test_a_connection_leaves_nothing_behind_that_takes_a_garbage_collector(tmp_path: Path) -> None:
    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        gc.collect()
        gc.disable()
        try:
            for _ in range(5):
                await asked(ports["http"], HEALTH)
            await until(lambda: not Bounded.connections_of)
            assert not [each for each in gc.get_objects() if isinstance(each, Bounded | RequestResponseCycle)]
        finally:
            gc.enable()

    heard(tmp_path, story)


def test_a_node_is_known_by_the_address_it_connects_from_and_by_no_header(tmp_path: Path) -> None:
    async def story(hall: Hall, ports: Ports) -> None:
        hall.arm(addresses=frozenset({"127.0.0.5"}))
        await hall.settled()
        request = (
            f"GET /ipxe?mac={mac(1)}&serial=S1 HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 127.0.0.5\r\n"
            "forwarded: for=127.0.0.5\r\nx-real-ip: 127.0.0.5\r\n\r\n"
        ).encode()
        assert b"kernel --name" not in await asked(ports["http"], request, "127.0.0.6")
        assert b"kernel --name" in await asked(ports["http"], request, "127.0.0.5")

    heard(tmp_path, story)


def secured(folder: Path) -> tuple[ssl.SSLContext, dict[str, object]]:
    """Make a certificate; return what trusts it, and settings."""
    ca = made(folder, "boot")
    (folder / "boot.key").rename(folder / "boot.pem.key")
    return ssl.create_default_context(cafile=str(ca)), {
        "boot_secure_url": "https://127.0.0.1:8443",
        "boot_certificate": ca,
        "boot_certificate_key": folder / "boot.pem.key",
    }


def test_tls_is_spoken_beside_plain_http(tmp_path: Path) -> None:
    trusting, given = secured(tmp_path)

    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        assert (await asked(ports["https"], HEALTH, secured=trusting)).startswith(b"HTTP/1.1 200")
        assert (await asked(ports["http"], HEALTH)).startswith(b"HTTP/1.1 200")

    heard(tmp_path, story, **given)


def test_a_handshake_that_does_not_come_to_its_end_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "HANDSHAKE_SECONDS", 0.1)
    trusting, given = secured(tmp_path)

    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        for sent in (b"", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n\r\n"):
            async with connected(ports["https"]) as (reader, writer):
                writer.write(sent)
                with contextlib.suppress(ConnectionResetError):
                    await asyncio.wait_for(reader.read(), PATIENCE)
        monkeypatch.undo()  # a handshake that does come to its end may take longer than that
        assert (await asked(ports["https"], HEALTH, secured=trusting)).startswith(b"HTTP/1.1 200")

    heard(tmp_path, story, **given)


def test_an_address_that_begins_handshakes_without_end_holds_so_many_connections(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "PER_ADDRESS", 3)
    trusting, given = secured(tmp_path)

    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        async with contextlib.AsyncExitStack() as held:
            for _ in range(3):
                await held.enter_async_context(connected(ports["https"]))
            async with connected(ports["https"]) as (reader, _):
                with contextlib.suppress(ConnectionResetError):
                    assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            assert (await asked(ports["https"], HEALTH, "127.0.0.2", trusting)).startswith(b"HTTP/1.1 200")

    heard(tmp_path, story, **given)


def test_a_head_that_does_not_come_to_its_end_ends_the_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.1)

    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        for first, then in ((b"", b""), (b"GET /health HTTP/1.1\r\nhost", b""), (HEALTH, b"GET /hea")):
            async with connected(ports["http"]) as (reader, writer):
                writer.write(first)
                if then:
                    await reader.readuntil(b"}")
                    writer.write(then)
                with contextlib.suppress(ConnectionResetError):
                    await asyncio.wait_for(reader.read(), PATIENCE)

    heard(tmp_path, story)


def test_a_head_without_end_is_refused(tmp_path: Path) -> None:
    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        async with connected(ports["http"]) as (reader, writer):
            writer.write(b"GET /health HTTP/1.1\r\n")
            with contextlib.suppress(ConnectionError):
                for number in range(100):
                    writer.write(b"x-%d: %s\r\n" % (number, b"a" * 1000))
                    await writer.drain()
                    await asyncio.sleep(0)
                assert (await reader.read()).startswith(b"HTTP/1.1 400")

    heard(tmp_path, story)


def test_bytes_that_are_no_http_are_refused(tmp_path: Path) -> None:
    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        for sent in (b"\x16\x03\x01\x02\x00\x01\x00", b"GET /\xff HTTP/1.1\r\n\r\n", b"\x00" * 64):
            async with connected(ports["http"]) as (reader, writer):
                writer.write(sent)
                assert (await asyncio.wait_for(reader.read(), PATIENCE)).startswith(b"HTTP/1.1 400")
        assert (await asked(ports["http"], HEALTH)).startswith(b"HTTP/1.1 200")

    heard(tmp_path, story)


def test_an_address_holds_so_many_connections_and_the_others_have_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "PER_ADDRESS", 3)
    monkeypatch.setattr(protocol, "HEAD_SECONDS", PATIENCE)

    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        async with contextlib.AsyncExitStack() as held:
            for _ in range(3):
                _, writer = await held.enter_async_context(connected(ports["http"]))
                writer.write(HEALTH)
            async with connected(ports["http"]) as (reader, _):
                with contextlib.suppress(ConnectionResetError):
                    assert await asyncio.wait_for(reader.read(), PATIENCE) == b""
            assert (await asked(ports["http"], HEALTH, "127.0.0.2")).startswith(b"HTTP/1.1 200")

    heard(tmp_path, story)


def test_a_stop_lets_what_is_under_way_end(tmp_path: Path) -> None:
    going, answers = asyncio.Event(), list[bytes]()

    class Slow(Documents):
        async def user_data(self, facts: Facts) -> Filled:
            going.set()
            await asyncio.sleep(0.2)
            return await super().user_data(facts)

    async def ask(port: int, key: str) -> None:
        answers.append(await asked(port, f"GET /seed/{key}/user-data HTTP/1.1\r\nhost: x\r\n\r\n".encode()))

    async def story(hall: Hall) -> None:
        hall.desk.documents.close()
        hall.desk.documents = Slow(hall.desk.settings)
        key = await hall.booting(source="127.0.0.1")
        async with listening(hall) as ports:
            asking = asyncio.create_task(ask(ports["http"], key))
            await going.wait()
        await asking
        assert b"#cloud-config" in answers[0]
        with pytest.raises(ConnectionError):
            await asked(ports["http"], HEALTH)

    play(tmp_path, story, boot_listen="127.0.0.1:0")


def test_a_stop_cuts_files_and_answers_whoever_asks_while_a_document_is_made(tmp_path: Path) -> None:
    going, ready = asyncio.Event(), asyncio.Event()
    (tmp_path / "large.efi").write_bytes(bytes(LARGE))

    class Slow(Documents):
        async def user_data(self, facts: Facts) -> Filled:
            going.set()
            await ready.wait()
            return await super().user_data(facts)

    async def story(hall: Hall) -> None:
        hall.desk.documents.close()
        hall.desk.documents = Slow(hall.desk.settings)
        key = await hall.booting(source="127.0.0.1")
        async with listening(hall) as ports, connected(ports["http"], "127.0.0.7") as (reader, writer):
            writer.write(FILE)
            await reader.readexactly(1000)
            document = f"GET /seed/{key}/user-data HTTP/1.1\r\nhost: x\r\n\r\n".encode()
            asking = asyncio.create_task(asked(ports["http"], document))
            await going.wait()
            ports.stop.set()
            await until(lambda: not Bounded.connections_of["127.0.0.7"])
            assert len(await left(reader)) < LARGE / 2
            assert (await asked(ports["http"], HEALTH)).startswith(b"HTTP/1.1 200")
            ready.set()
        assert b"#cloud-config" in await asking

    play(tmp_path, story, boot_listen="127.0.0.1:0", boot_loaders=tmp_path)


def test_a_stop_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "DRAIN_SECONDS", 0.1)
    monkeypatch.setattr(servers, "LAST_SECONDS", 0)
    going = asyncio.Event()

    class Stuck(Documents):
        async def user_data(self, facts: Facts) -> Filled:
            going.set()
            await asyncio.Event().wait()
            return await super().user_data(facts)

    async def story(hall: Hall) -> None:
        hall.desk.documents.close()
        hall.desk.documents = Stuck(hall.desk.settings)
        key = await hall.booting(source="127.0.0.1")
        async with asyncio.timeout(PATIENCE), listening(hall) as ports, connected(ports["http"]) as (_, writer):
            writer.write(f"GET /seed/{key}/user-data HTTP/1.1\r\nhost: x\r\n\r\n".encode())
            await going.wait()
            ports.stop.set()

    play(tmp_path, story, boot_listen="127.0.0.1:0")


def test_a_peer_that_stops_reading_is_cut_and_one_that_reads_gets_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "STALL_SECONDS", 0.2)
    (tmp_path / "large.efi").write_bytes(bytes(LARGE))

    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        async with connected(ports["http"], "127.0.0.7") as (reader, writer):
            writer.write(FILE)
            await reader.readexactly(1000)
            await until(lambda: not Bounded.connections_of["127.0.0.7"])
            assert len(await left(reader)) < LARGE / 2
        assert len(await asked(ports["http"], FILE)) > LARGE

    heard(tmp_path, story, boot_loaders=tmp_path)


def test_so_many_files_are_sent_at_a_time_and_whoever_asks_for_more_asks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 1)
    (tmp_path / "large.efi").write_bytes(bytes(LARGE))

    async def story(hall: Hall, ports: Ports) -> None:
        del hall
        async with connected(ports["http"], "127.0.0.8") as (reader, writer):
            writer.write(FILE)
            await reader.readexactly(1000)
            assert (await asked(ports["http"], FILE)).startswith(b"HTTP/1.1 503")
        for _ in range(2):
            await until(lambda: not files._File.under_way)
            assert (await asked(ports["http"], FILE)).startswith(b"HTTP/1.1 200")

    heard(tmp_path, story, boot_loaders=tmp_path)
