"""A client that is so many nodes: each from an address of its own, over a connection of its own."""

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

PORT = 18_480
NODES_PER_BYTE = 250


def address(number: int) -> str:
    """Return a node's own address."""
    high, low = divmod(number, NODES_PER_BYTE)
    higher, high = divmod(high, NODES_PER_BYTE)
    return f"127.{10 + higher}.{1 + high}.{1 + low}"


@dataclass(slots=True)
class Node:
    """One node under way: its connection, what it asks next, and what has come of the answer so far."""

    number: int
    steps: Iterator[bytes]
    socket: socket.socket
    answer: bytes = b""
    since: float = 0.0
    whole: int = 0
    said: list[tuple[int, bytes]] = field(default_factory=list[tuple[int, bytes]])


@dataclass(slots=True)
class Result:
    """What a storm came to: seconds of wall clock and of the server's CPU, each request's seconds, and answers."""

    wall: float
    cpu: float
    seconds: list[float]
    said: dict[int, list[tuple[int, bytes]]]

    def at(self, share: float) -> float:
        """Return a quantile of the requests' time, in ms."""
        return 1000 * sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


def storm(numbers: list[int], steps: Callable[[Node], Iterator[bytes]], at_once: int, server: int) -> Result:
    """Have nodes ask, so many at once; each from its own address and over its own connection."""
    waiting, under_way = deque(numbers), dict[int, Node]()
    poll, seconds, said = select.epoll(), list[float](), dict[int, list[tuple[int, bytes]]]()
    cpu, begin = cpu_of(server), time.perf_counter()
    while waiting or under_way:
        while waiting and len(under_way) < at_once:
            node = started(waiting.popleft(), steps)
            under_way[node.socket.fileno()] = node
            poll.register(node.socket.fileno(), select.EPOLLIN)
        for descriptor, _ in poll.poll():
            node = under_way[descriptor]
            if took(node, seconds) and not ask_next(node):
                poll.unregister(descriptor)
                del under_way[descriptor]
                node.socket.close()
                said.setdefault(node.number, []).extend(node.said)
    return Result(time.perf_counter() - begin, cpu_of(server) - cpu, seconds, said)


def started(number: int, steps: Callable[[Node], Iterator[bytes]]) -> Node:
    """Connect from a node's address, and ask the first thing."""
    made = socket.socket()
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made.bind((address(number), 0))
    made.connect(("127.0.0.1", PORT))
    node = Node(number, iter(()), made)
    node.steps = steps(node)
    ask_next(node)
    return node


def ask_next(node: Node) -> bool:
    """Send a node's next request; False after the last."""
    request = next(node.steps, None)
    if request is None:
        return False
    node.answer, node.whole, node.since = b"", 0, time.perf_counter()
    node.socket.send(request)
    return True


def took(node: Node, seconds: list[float]) -> bool:
    """Take what came; True where an answer is whole."""
    came = node.socket.recv(65_536)
    if not came:
        raise SystemExit(f"node {node.number}: the connection was closed after {node.said} {node.answer!r}")
    node.answer += came
    if not node.whole:
        head, end, _ = node.answer.partition(b"\r\n\r\n")
        if not end:
            return False
        node.whole = len(head) + 4 + int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    if len(node.answer) < node.whole:
        return False
    seconds.append(time.perf_counter() - node.since)
    node.said.append((int(node.answer[9:12]), node.answer.partition(b"\r\n\r\n")[2]))
    return True


def cpu_of(process: int) -> float:
    """Return the CPU seconds of a process and its children so far."""
    ours = [process, *map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]
    ticks = 0
    for each in ours:
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")
