"""Forged words, sent to the real listener: nothing moves, and whoever could be meant is asked first."""

import json
import random
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.faults.signals.alarm import UNPROVEN
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop import control_loop
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.services.signals.syslog import Datagrams
from fleet_runner.services.signals.thread import beside
from tests.reconcile.scripted import GOOD, IDLE, Scripted, a_fleet, all_good, in_service
from tests.services.signals.hearing import LONG, entry, give
from tests.waiting import until

Made = Callable[..., TickContext]

COUNT, CHUNK = 12, 100
NODES = tuple(f"gpu-{number:02}" for number in range(1, COUNT + 1))
OWN = {name: f"127.20.0.{number}" for number, name in enumerate(NODES, 1)}
BMCS = {name: f"127.20.1.{number}" for number, name in enumerate(NODES, 1)}
WELL = Result("xid", Verdict.PASS, "no Xid since boot needs action")
LOOKS = {Stage.HEALTH_PASSIVE, Stage.CABLING}
BEFORE = 60.0
"""Seconds between a world's first looks, which have a clock of their own, and what is sent, by the real one."""


def answering(_node: str, stage: Stage) -> tuple[Result, ...]:
    """A healthy node whose kernel log is read, and has no Xid."""
    return (*all_good(_node, stage), WELL) if stage is Stage.HEALTH_PASSIVE else all_good(_node, stage)


class Liar:
    """Sends from every node's address, its system's or its BMC's; `sent` counts what it has said."""

    def __init__(self, world: TickContext, said: list[str], received: list[int]) -> None:
        until(lambda: any("://" in each for each in said))
        self.url = next(each for each in said if "://" in each).removeprefix("signals: ")
        host, port = next(each for each in said if "syslog at " in each).split("at ")[1].split(",")[0].rsplit(":", 1)
        self.syslog = host, int(port)
        self.received = received
        self.sent = self.datagrams = 0
        self.shared = give(world.store, "vector")
        self.tokens = {name: give(world.store, name, nodes=(name,)) for name in NODES}
        self.clients: dict[str, httpx.Client] = {}

    def datagram(self, source: str, data: bytes) -> None:
        """Send over UDP, no faster than the listener reads: what is lost on the way proves nothing."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.bind((source, 0))
            sender.sendto(data, self.syslog)
        self.sent, self.datagrams = self.sent + 1, self.datagrams + 1
        if self.datagrams % CHUNK == 0:
            self.settle()

    def settle(self) -> None:
        """Wait until the listener has every datagram."""
        until(lambda: self.received[0] >= self.datagrams)

    def stream(self, source: str, *messages: bytes) -> None:
        """Send over TCP."""
        with socket.create_connection(self.syslog, source_address=(source, 0)) as sender:
            sender.sendall(b"".join(b"%d %b" % (len(each), each) for each in messages))
        self.sent += len(messages)

    def push(self, source: str, way: str, body: object, token: str) -> int:
        """Push over HTTP; return the status."""
        client = self.clients.get(source)
        if client is None:
            transport = httpx.HTTPTransport(local_address=source)
            client = self.clients[source] = httpx.Client(transport=transport, trust_env=False, timeout=LONG)
        headers = {"authorization": f"Bearer {token}"}
        text = body if isinstance(body, str) else json.dumps(body)
        self.sent += 1
        return client.post(f"{self.url}/signals{way}", content=text, headers=headers).status_code


@contextmanager
def lying(made: TickContext, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[TickContext, Liar]]:
    """Have nodes serve, with the real listener beside, which hears this machine; yields who lies to it."""
    # No look is due by its schedule meanwhile: only what is heard has a node be asked.
    given = {
        "signals_listen": "127.0.0.1:0",
        "signals_syslog": "127.0.0.1:0",
        "passive_schedule": "every 1000d",
        "cabling_schedule": "every 1000d",
    }
    world = replace(made, settings=made.settings.model_copy(update=given))
    in_service(world)
    assert isinstance(world.engine, Scripted)
    world.engine.launched.clear()
    assert quiet(world, time.time() - BEFORE) < time.time(), "the first looks are later than what is sent"
    received, take = [0], Datagrams.datagram_received

    def counted(self: Datagrams, data: bytes, addr: tuple[Any, ...]) -> None:
        take(self, data, addr)
        received[0] += 1

    monkeypatch.setattr(Datagrams, "datagram_received", counted)
    said: list[str] = []
    with ExitStack() as stack:
        stack.enter_context(beside(world.settings, world.store, world.read_source, said.append))
        liar = Liar(world, said, received)
        yield world, liar
        for client in liar.clients.values():
            client.close()


def quiet(world: TickContext, now: float) -> float:
    """Tick until nothing runs any more; return the time."""
    for _ in range(40):
        control_loop.tick(world, now)
        now += 1
        if not world.store.open_runs() and not any(each.wake_at <= now for each in world.store.nodes()):
            break
    return now


def made(make_world: Made, script: Any = answering) -> TickContext:
    """A world of nodes whose addresses, and whose BMCs' addresses, are this machine's own."""
    fleet = a_fleet(COUNT)
    devices = {
        name: replace(device, primary_address=f"{OWN[name]}/24", oob_address=BMCS[name])
        for name, device in fleet.devices.items()
    }
    return make_world(script, fleet=replace(fleet, devices=devices))


def kernel(node: str, number: int, gpu: int = 15) -> bytes:
    """A kernel's message as rsyslog forwards it."""
    at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return f"<3>1 {at} {node} kernel - - - NVRM: Xid (PCI:0000:{gpu:02x}:00): {number}, pid=1, x".encode()


def pushed(victim: str, number: int) -> Iterator[tuple[str, object]]:
    """What can be pushed about a node, one fault each, by the way it goes."""
    yield "/log", entry(victim, f"NVRM: Xid (PCI:0000:0f:00): {number}, pid=1, x")
    yield "", {"node": victim, "code": f"xid.{number}", "component": "GPU 3", "key": str(number)}
    yield f"/redfish/{victim}", event(number)
    yield "/redfish", {**event(number), "Context": victim}
    labels = {"alertname": f"Lost{number}", "Hostname": victim, "severity": "critical"}
    alert = {"status": "firing", "labels": labels, "startsAt": "2026-01-01T00:00:00Z", "fingerprint": str(number)}
    yield "/alertmanager", {"version": "4", "alerts": [alert]}


def event(number: int) -> dict[str, object]:
    """A BMC's event."""
    name = "Power.1.0.PowerSupplyFailed"
    return {"Events": [{"MessageId": name, "MessageSeverity": "Critical", "EventId": str(number), "Message": "gone"}]}


def forge(liar: Liar, most: int) -> None:
    """Say so many things about nodes from the addresses of others, by every way there is."""
    chance = random.Random(20)
    while liar.sent < most:
        node, victim = chance.sample(NODES, 2)
        source, number = chance.choice((OWN, BMCS))[node], chance.choice((31, 48, 74, 79, 119, 154))
        host = chance.choice((victim, victim.upper(), f"{victim}.hall.example", OWN[victim], BMCS[victim]))
        way = chance.random()
        if way < 0.7:
            liar.datagram(source, kernel(host, number, chance.randrange(1, 200)))
        elif way < 0.8:
            liar.stream(source, kernel(host, number), kernel(host, 79))
        else:
            path, body = chance.choice(tuple(pushed(victim, chance.randrange(10_000))))
            own = liar.tokens[node] if path != "/redfish" else liar.shared  # with a BMC's own token it is of its node
            assert liar.push(source, path, body, chance.choice((liar.shared, own))) in {200, 403}
    liar.settle()


def refused(world: TickContext) -> Counter[str]:
    """What was refused, by why."""
    found: Counter[str] = Counter()
    for each in world.store.heard():
        if each.what.startswith("refused"):
            found[each.what] += each.count
    return found


def unmoved(world: TickContext) -> None:
    """Nothing moved, nothing waits to, nothing was tried; no breaker opened and no ticket."""
    for node in world.store.nodes():
        assert (node.state, node.conditions) == (State.PRODUCTION, {}), node
        assert world.store.attempts(node.name) == ()
        assert not [each for each in world.store.history(node.name) if each.kind in {"transition", "condition"}]
    assert (world.store.breaker(), world.store.tickets()) == (None, ())
    assert isinstance(world.engine, Scripted)
    assert {batch.stage for batch in world.engine.launched} <= LOOKS


@pytest.mark.parametrize("most", [300, pytest.param(10_000, marks=pytest.mark.nightly)])
def test_from_no_nodes_address_can_another_node_be_spoken_of(
    make_world: Made, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """By syslog over UDP and TCP and by pushes with good tokens, whatever they say: all is dropped, and counted."""
    with lying(made(make_world), monkeypatch) as (world, liar):
        forge(liar, most)
        until(lambda: refused(world).total() >= liar.sent)
        assert refused(world).total() == liar.sent
        assert refused(world)["refused: about another node"] > most / 2
        assert world.store.past_alarms() == ()
        quiet(world, time.time())
        unmoved(world)


def test_words_from_a_nodes_own_address_have_it_asked_and_nothing_more(
    make_world: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever writes a node's address into a datagram: it is asked at once, confirms nothing, and serves on."""
    with lying(made(make_world), monkeypatch) as (world, liar):
        for name, own in OWN.items():
            for gpu in range(1, 9):
                liar.datagram(own, kernel(name if gpu % 2 else "localhost", 79, gpu))
        liar.settle()
        until(lambda: len(world.store.standing_alarms()) == liar.sent)
        assert not any(alarm.authenticated for alarm in world.store.standing_alarms())
        told = [each.sentence for each in world.store.history(NODES[0], kind="alarm")]
        assert all(each.endswith(f"({UNPROVEN})") for each in told)
        now = quiet(world, time.time() + 1)
        assert world.store.standing_alarms() == ()
        assert all("does not confirm it" in each.cleared_because for each in world.store.past_alarms())
        asked = [run for name in NODES for run in world.store.runs(name) if "without authentication" in run.reason]
        assert Counter(run.node for run in asked) == dict.fromkeys(NODES, 1)
        quiet(world, now)
        unmoved(world)


def test_a_node_that_does_not_answer_is_left_alone_and_its_sentence_says_why(
    make_world: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be dead, and it may be forged: nothing is done by itself."""
    silent = made(make_world, lambda _node, _stage: None)
    with lying(silent, monkeypatch) as (world, liar):
        liar.datagram(OWN[NODES[0]], kernel(NODES[0], 79))
        until(lambda: len(world.store.standing_alarms()) == 1)
        quiet(world, time.time() + 1)
        node = world.store.node(NODES[0])
        assert node is not None
        assert "told without authentication, and the node did not answer" in node.waiting
        assert "nothing is done by itself" in node.waiting
        assert len(world.store.standing_alarms()) == 1
        unmoved(world)


def test_what_the_node_itself_confirms_is_acted_on(make_world: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own kernel log has the Xid: the finding of its check asks for the remedy."""
    fault = f"{NODES[0]}/xid.79/GPU 0000:0f:00.0"
    finding = Finding("xid.79", "GPU 0000:0f:00.0", "GPU fell off the bus.", Remedy.REBOOT, fault, (NODES[0],))
    sick = [False]

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        if sick[0] and node == NODES[0] and stage is Stage.HEALTH_PASSIVE:
            return GOOD, IDLE, Result("xid", Verdict.FAIL, "Xid 79", (finding,))
        return answering(node, stage)

    with lying(made(make_world, script), monkeypatch) as (world, liar):
        sick[0] = True
        liar.datagram(OWN[NODES[0]], kernel(NODES[0], 79))
        until(lambda: len(world.store.standing_alarms()) == 1)
        quiet(world, time.time() + 1)
        assert [each.faults for each in world.store.attempts(NODES[0])] == [(fault,)]
