"""Short ways to say what the store's tests need."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

from sqlalchemy import event

from fleet_runner.adapters.store import Store
from fleet_runner.core.boot.boots import Boot, Identity
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Device
from fleet_runner.core.lifecycle.actions import Action, Decision, Move, OpenRun, OpenTicket
from fleet_runner.core.lifecycle.runs import Node, Run
from fleet_runner.core.lifecycle.spool import Evidence, Judged
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event, Stage, State

UrlMaker = Callable[[], str]

START = Move(TRANSITIONS[State.REGISTERED, Event.START], "runner")


def device(name: str, **more: Any) -> Device:
    """Describe a node."""
    return Device(name, more.pop("device_type", "hgx"), "gpu-server", "hall-1", **more)


def decision(*actions: Action, waiting: str = "Waits.", wake_at: float = 1_000.0) -> Decision:
    """Decide some actions."""
    return Decision(actions, waiting, wake_at)


def node(store: Store, name: str = "gpu-01") -> Node:
    """Read a node that is there."""
    found = store.node(name)
    assert found is not None
    return found


def run(store: Store, number: int) -> Run:
    """Read a run that is there."""
    found = store.run(number)
    assert found is not None
    return found


def opened(store: Store, name: str = "gpu-01", stage: Stage = Stage.VERIFY, batch: str = "b-1") -> Run:
    """Open a run of a stage on a node."""
    (made,) = store.apply(node(store, name), decision(OpenRun(stage, "It is time.", batch=batch)), 200.0)
    return made


def swap(*nodes: str, body: str = "Exchange the cables.", fault: str = "swap:a|b") -> OpenTicket:
    """Ask for a ticket about two swapped cables."""
    return OpenTicket(fault, "cabling_infiniband", "Two cables are swapped", body, nodes, "RECABLE")


def judged(name: str = "gpu-01", check: str = "xid", verdict: Verdict = Verdict.PASS, at: float = 201.0) -> Judged:
    """A check's result for a node, with a finding when it failed."""
    finding = Finding("xid.79", "GPU 3", "GPU 3 fell off the bus", Remedy.REBOOT, "xid.79:gpu-01:3", (name,))
    findings = (finding,) if verdict is Verdict.FAIL else ()
    return Judged(name, at, Result(check, verdict, "What it saw.", findings, {"count": 1}))


def told(text: str, name: str = "gpu-01", read: str = "dmesg") -> Evidence:
    """A text that a read brought from a node."""
    return Evidence(name, 201.0, read, Reading(read, ReadEnd.OK, text).hash, text)


def everything(store: Store, names: tuple[str, ...] = ("gpu-01", "gpu-02", "gpu-03")) -> Any:
    """Return all that a reader of the store can see, to compare."""
    return (
        store.nodes(),
        store.open_runs(),
        store.tickets(open_only=False),
        tuple((store.runs(name), store.history(name), store.intents(name)) for name in names),
        tuple((store.latest_results(name), store.tickets(node=name)) for name in names),
        tuple(store.boots(name) for name in names),
        (store.boot_events(limit=10_000), store.discovered(), store.beats()),
    )


def armed(store: Store, name: str = "gpu-01", *, now: float = 100.0, seconds: float = 600.0) -> Boot:
    """Arm a node for a boot."""
    expected = Identity(frozenset({"52:54:00:00:00:01"}), "S-1", addresses=frozenset({"10.0.0.1"}))
    return store.arm(name, expected, run=None, now=now, seconds=seconds)


def boot(store: Store, number: int) -> Boot:
    """Read a boot that is there."""
    found = store.boot(number)
    assert found is not None
    return found


@contextmanager
def failing_after(store: Store, statements: int) -> Iterator[None]:
    """Raise OSError once so many statements were carried out."""
    numbers = count(1)

    def fail(*_: object) -> None:
        if next(numbers) == statements:
            raise OSError("injected")

    event.listen(store._database.engine, "after_cursor_execute", fail)
    try:
        yield
    finally:
        event.remove(store._database.engine, "after_cursor_execute", fail)
