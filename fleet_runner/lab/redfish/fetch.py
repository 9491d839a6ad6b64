"""Fetching an image from an address, as a BMC does for SimpleUpdate; only from this computer."""

import asyncio
from urllib.parse import urlsplit

from fleet_runner.lab.redfish.multipart import File
from fleet_runner.lab.redfish.wire import CHUNK_BYTES

LOCAL = ("127.0.0.1", "localhost")
SECONDS = 60.0


class FetchError(Exception):
    """The image cannot be had; the sentence says why."""


async def fetch(url: str) -> File:
    """Read what is at an address, piece by piece."""
    parts = urlsplit(url)
    if parts.scheme != "http" or parts.hostname not in LOCAL:
        raise FetchError(f"{url} is no http address of this computer")
    try:
        async with asyncio.timeout(SECONDS):
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port or 80)
            try:
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                writer.write(f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\n\r\n".encode())
                return await _read(reader, url)
            finally:
                writer.close()
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
        raise FetchError(f"{url} cannot be read: {error or type(error).__name__}") from error


async def _read(reader: asyncio.StreamReader, url: str) -> File:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    status = head.split(" ")[1]
    if status != "200":
        raise FetchError(f"{url} answered {status}")
    lengths = [line.partition(":")[2] for line in head.lower().split("\r\n") if line.startswith("content-length:")]
    file = File()
    while chunk := await reader.read(CHUNK_BYTES):
        file.add(chunk)
    if lengths and file.size != int(lengths[0]):
        raise FetchError(f"{url} ended after {file.size} of {int(lengths[0])} bytes")
    return file
