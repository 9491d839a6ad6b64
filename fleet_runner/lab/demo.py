"""The demo's story: eight servers arrive, one does not boot, one is miscabled, one has a slow GPU, one loses a GPU.

The product's own `fleet-runner serve` does all the work; this only plays the people and the faults around it.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import Role
from fleet_runner.core.faults.signals.tokens import Token
from fleet_runner.core.lifecycle.runs import IntentKind, Node, Ticket
from fleet_runner.core.lifecycle.states import Condition, State
from fleet_runner.lab import epilogue, faults, jobs, ports, processes, technician
from fleet_runner.lab.down import down
from fleet_runner.lab.folder import Lab, LabError, open_lab
from fleet_runner.lab.netbox import source
from fleet_runner.lab.netbox.starting import NetBox
from fleet_runner.lab.past import hall
from fleet_runner.lab.up import up
from fleet_runner.services.http.admission import make

SILENT = "gpu-05"
MISCABLED = "gpu-03"
SLOW = "gpu-06"
UNLUCKY = "gpu-01"
SERVER = "serve"
TECHNICIAN = "lab technician"


@dataclass(slots=True)
class Demo:
    """A lab with a server and a story. `said` are the sentences told so far, with their times.

    Its pages answer at `url`, to whoever shows `token`. Where a NetBox is the source, people ask in its pages.
    """

    lab: Lab
    store: Store
    server: subprocess.Popen[bytes]
    url: str
    token: str
    netbox: NetBox | None = None
    act: str = "Day 0 and Day 1: eight servers on their way to production"
    said: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    certified: set[tuple[str, float]] = field(default_factory=set[tuple[str, float]])
    job_at: float = 0.0
    xid_at: float = 0.0

    def step(self, now: float) -> bool:
        """Play whatever is due, and return whether the story has ended."""
        if self.server.poll() is not None:
            raise LabError(f"fleet-runner serve ended by itself; read {self.lab.root / 'serve.log'}")
        rows = {node.name: node for node in self.nodes()}
        self._technician(rows.values(), now)
        if len(rows) < len(self.lab.nodes()) or not all(map(_settled, rows.values())):
            return self.xid_at > 0 and self._returned(rows[UNLUCKY])
        return self._second_act(rows[UNLUCKY], now)

    def nodes(self) -> tuple[Node, ...]:
        """Return the lab's own servers: the simulated hall beside them takes no part in the story."""
        mine = self.lab.nodes()
        return tuple(node for node in self.store.nodes() if node.name in mine)

    def tickets(self) -> tuple[Ticket, ...]:
        """Return the tickets about the lab's own servers, closed ones too."""
        mine = {*self.lab.nodes()}
        return tuple(each for each in self.store.tickets(open_only=False) if mine & {*each.nodes})

    def _say(self, sentence: str) -> None:
        self.said.append((time.time(), sentence))

    def _technician(self, nodes: Iterable[Node], now: float) -> None:
        """Put right what tickets ask for, and certify what waits for it or let it boot anew, once each time."""
        for node in nodes:
            silent = node.name == SILENT and node.state is State.TRIAGE
            if not (silent or node.state is State.ONBOARD) or (node.name, node.since) in self.certified:
                continue
            for ticket in self.store.tickets(node=node.name):
                for done in technician.repair(self.lab, ticket):
                    self._say(f"The technician took ticket #{ticket.id}: {done}")
            intent, why = (IntentKind.RETRY, "it boots now") if silent else (IntentKind.CERTIFY, "inspected")
            if self.netbox:
                source.ask(self.netbox, node.name, intent, why)
            else:
                self.store.leave_intent(node.name, intent, TECHNICIAN, reason=why, now=now)
            self.certified.add((node.name, node.since))

    def _second_act(self, node: Node, now: float) -> bool:
        if not self.job_at and node.state is not State.PRODUCTION:
            raise LabError(
                f"the story cannot go on: {node.name} is in {node.state}; FLEET_CONFIG={self.lab.settings} "
                f"fleet-runner explain {node.name} says why, {self.lab.root / 'state' / 'batches'} has the logs"
            )
        if not self.job_at:
            self.act = f"Day 2: {UNLUCKY} serves a tenant, and one of its GPUs falls off the bus"
            jobs.start(self.lab, UNLUCKY)
            self.job_at = now
            self._say(f"A tenant's job starts on {UNLUCKY}.")
        elif not self.xid_at and Condition.IN_USE in node.conditions:
            faults.inject(self.lab, "xid", UNLUCKY, {"code": 79, "gpu": 3})
            self.xid_at = now
            self._say(f"The driver on {UNLUCKY} logs Xid 79: GPU 3 has fallen off the bus, and the job dies with it.")
        return self.xid_at > 0 and self._returned(node)

    def _returned(self, node: Node) -> bool:
        return node.state is State.PRODUCTION and node.since > self.xid_at


def _settled(node: Node) -> bool:
    return node.state is State.PRODUCTION or (node.state is State.TRIAGE and node.name != SILENT)


def begin(folder: Path, tell: Callable[[str], object], *, netbox: bool = False, history: bool = True) -> Demo:
    """Bring the demo's lab up anew with its faults, and start the product on it; its source may be a NetBox.

    With `history` a simulated hall stands beside it, with a past of its own; a NetBox is not told of that.
    """
    if Lab(folder.resolve()).about.is_file():
        old = open_lab(folder)
        processes.end(old, SERVER)
        down(old, delete=True)
    lab = up(folder, boot_service=True)
    try:
        faults.inject(lab, "no_boot", SILENT, {"at": "script"})
        faults.inject(lab, "swapped_cables", MISCABLED, {"rail": 2, "with_rail": 5})
        faults.inject(lab, "slow_gpu", SLOW, {"gpu": 6})
        at = f"{ports.HERE}:{ports.choose(1)[0]}"
        if history and not netbox:
            from fleet_runner.lab.past import make as past  # noqa: PLC0415  only a demo with a past needs it

            tell("writing 90 days of simulated history")
            past.make(lab, time.time())
        there = source.make(lab, f"http://{at}", tell) if netbox else None
        store = Store.create(f"sqlite:///{lab.root / 'state' / 'fleet.db'}")
        return Demo(lab, store, _serve(lab, at), f"http://{at}/", _token(store), there)
    except BaseException:  # Ctrl-C too: nothing is left running
        processes.end(lab, SERVER)
        down(lab)
        raise


def lose_the_store(demo: Demo, tell: Callable[[str], None]) -> int:
    """Throw the store away, have a new one adopt what serves, and say how many do; the old one is put back then."""
    processes.end(demo.lab, SERVER)
    demo.server.wait()
    demo.store.close()
    epilogue.throw_away(demo.lab)
    hall.take_away(demo.lab)
    try:
        demo.server = _serve(demo.lab, demo.url.removeprefix("http://").rstrip("/"))
        return epilogue.recover(demo.lab, tell)
    finally:
        processes.end(demo.lab, SERVER)
        demo.server.wait()
        epilogue.put_back(demo.lab)
        hall.put_back(demo.lab)


def end(demo: Demo) -> None:
    """End what the demo started; the lab's files stay."""
    processes.end(demo.lab, SERVER)
    demo.server.wait()
    down(demo.lab)


def _token(store: Store) -> str:
    """Return a token that opens every page."""
    made, digest = make()
    store.add_token(Token("demo", digest, time.time(), "the demo", scope=Role.OPERATOR))
    return made


def _serve(lab: Lab, pages: str) -> subprocess.Popen[bytes]:
    with (lab.root / "serve.log").open("ab") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "fleet_runner.cli", "serve"],
            env={**os.environ, "FLEET_CONFIG": str(lab.settings), "FLEET_WEB_LISTEN": pages},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    processes.note(lab, SERVER, server.pid)
    return server
