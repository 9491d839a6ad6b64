"""A DHCP client on a bare interface, as firmware has one: run inside a namespace with a JSON request, prints answers.

The request: {"interface", "seconds", "asks": [{"mac", "options": {code: hex}}]}. Each ask discovers and, when offered
an address, requests it; with "boot_server" and its own "address" it asks that server on the PXE port instead. An
answer is null, or {"address", "server", "file", "options": {code: hex}}.
"""

import json
import socket
import struct
import sys
import time
from typing import Any

MAGIC = b"\x63\x82\x53\x63"
DISCOVER, OFFER, REQUEST, ACK = 1, 2, 3, 5
ALL = "255.255.255.255"


class Client:
    """One machine with one MAC address."""

    def __init__(self, interface: str, mac: str, options: dict[int, bytes], seconds: float) -> None:
        self.mac = bytes.fromhex(mac.replace(":", ""))
        self.options, self.seconds = options, seconds
        self.xid = int.from_bytes(self.mac[-4:], "big")
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self.socket.bind((interface, 0))

    def lease(self) -> dict[str, Any] | None:
        """Discover and request; None where nobody offers anything."""
        offer = self.ask({53: bytes([DISCOVER])}, OFFER)
        if offer is None or offer["address"] == "0.0.0.0":
            return offer  # a proxy offers what to boot, and no address
        wanted = {
            53: bytes([REQUEST]),
            50: socket.inet_aton(offer["address"]),
            54: bytes.fromhex(offer["options"]["54"]),
        }
        return self.ask(wanted, ACK)

    def boot_server(self, server: str, address: str) -> dict[str, Any] | None:
        """Ask the boot server itself on its PXE port, as UEFI does after a proxy's offer."""
        return self.ask({53: bytes([REQUEST])}, ACK, port=4011, to=server, source=address)

    def ask(
        self, more: dict[int, bytes], kind: int, port: int = 67, to: str = ALL, source: str = "0.0.0.0"
    ) -> dict[str, Any] | None:
        """Send one message and wait for an answer of the kind."""
        options = {**more, **self.options, 55: bytes([1, 3, 6, 12, 15, 43, 60, 66, 67, 175])}
        mine = 68 if port == 67 else 4011
        head = struct.pack("!BBBBIHH", 1, 1, 6, 0, self.xid, 0, 0x8000 if port == 67 else 0)
        body = head + socket.inet_aton(source) + bytes(12) + self.mac + bytes(10 + 64 + 128) + MAGIC
        body += b"".join(bytes([code, len(value)]) + value for code, value in options.items()) + b"\xff"
        udp = struct.pack("!HHHH", mine, port, 8 + len(body), 0) + body
        start = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(udp), 0, 0, 64, 17, 0)
        ends = socket.inet_aton(source) + socket.inet_aton(to)
        ip = start[:10] + _checksum(start + ends) + ends
        self.socket.send(b"\xff" * 6 + self.mac + b"\x08\x00" + ip + udp)
        return self._answer(kind, mine)

    def _answer(self, kind: int, port: int) -> dict[str, Any] | None:
        until = time.monotonic() + self.seconds
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame = self.socket.recv(2048)
            except TimeoutError:
                return None
            answer = self._read(frame, port)
            if answer and answer["options"].get("53") == f"{kind:02x}":
                return answer
        return None

    def _read(self, frame: bytes, port: int) -> dict[str, Any] | None:
        if frame[12:14] == b"\x08\x06":
            self._answer_arp(frame)
        if len(frame) < 282 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
            return None
        ip = frame[14:]
        udp = ip[(ip[0] & 15) * 4 :]
        body = udp[8:]
        if int.from_bytes(udp[2:4], "big") != port or body[0] != 2 or body[4:8] != struct.pack("!I", self.xid):
            return None
        options = _options(body[240:])
        name = options.get("67", "")
        file = bytes.fromhex(name) if name else body[108:236]
        return {
            "address": socket.inet_ntoa(body[16:20]),
            "server": socket.inet_ntoa(body[20:24]),
            "file": file.split(b"\0")[0].decode(),
            "options": options,
        }

    def _answer_arp(self, frame: bytes) -> None:
        """Say that whatever address is asked for is here: the server unicasts to it."""
        if frame[20:22] == b"\x00\x01":
            sender, wanted = frame[22:32], frame[38:42]
            reply = frame[14:20] + b"\x00\x02" + self.mac + wanted + sender
            self.socket.send(sender[:6] + self.mac + b"\x08\x06" + reply)


def _options(data: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(data) and data[at] != 255:
        if data[at] == 0:
            at += 1
            continue
        length = data[at + 1]
        found[str(data[at])] = data[at + 2 : at + 2 + length].hex()
        at += 2 + length
    return found


def _checksum(data: bytes) -> bytes:
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", ~(total + (total >> 16)) & 0xFFFF)


def main() -> None:
    """Answer one request on standard input."""
    asked = json.load(sys.stdin)
    answers = []
    for each in asked["asks"]:
        options = {int(code): bytes.fromhex(value) for code, value in each["options"].items()}
        client = Client(asked["interface"], each["mac"], options, asked["seconds"])
        if "boot_server" in each:
            answers.append(client.boot_server(each["boot_server"], each["address"]))
        else:
            answers.append(client.lease())
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
