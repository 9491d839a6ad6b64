"""Ten thousand forged words, from every node's address about every other one: nothing is heard of any node."""

import socket
from functools import partial
from pathlib import Path

import pytest

from tests.services.signals import hearing
from tests.services.signals.hearing import Ear, fleet_of, listening, xid
from tests.services.signals.test_syslog import HERE, message
from tests.waiting import until

ANOTHER = "refused: about another node"
NODES = {f"gpu-{number:03}": f"127.0.1.{number}" for number in range(1, 102)}
"""Each with an address of this machine; 101 nodes have 100 others each."""


@pytest.fixture(autouse=True)
def at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each node's address be one of this machine."""
    monkeypatch.setattr(hearing, "fleet_of", partial(fleet_of, addresses=NODES))


def untouched(ear: Ear) -> bool:
    """Whether no node has an alarm, not even one that does not count."""
    return not any(ear.store.alarms(name) for name in NODES)


def is_read(ear: Ear) -> bool:
    """Whether the listener has read every datagram that the kernel kept for it: it keeps a few hundred."""
    rows = (line.split() for line in Path("/proc/net/udp").read_text("utf-8").splitlines()[1:])
    return all(row[4].endswith(":00000000") for row in rows if int(row[1].partition(":")[2], 16) == ear.syslog[1])


def test_datagrams_of_nodes_about_others_raise_nothing(tmp_path: Path) -> None:
    """Each one is counted as what it is, so none was only lost on its way."""
    sent = 0
    with listening(tmp_path, *NODES, signals_syslog=HERE) as ear:
        for name, address in NODES.items():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.bind((address, 0))
                for other in NODES.keys() - {name}:
                    sender.sendto(message(other, 79), ear.syslog)
                    sent += 1
            until(lambda: is_read(ear))
        assert sent == 10_100
        until(lambda: ear.heard("kernel", ANOTHER) == sent)
        assert untouched(ear)


def test_pushes_of_nodes_about_others_raise_nothing(tmp_path: Path) -> None:
    """With a token that may speak for every node, which somebody found on one of them."""
    with listening(tmp_path, *NODES) as ear:
        for name, address in NODES.items():
            lines = "\n".join(xid(other) for other in sorted(NODES.keys() - {name}))
            answer = ear.push("/log", lines, source=address).json()
            assert answer == {"taken": 0, "refused": 100, "said": "about another node: 100"}
        assert untouched(ear)
