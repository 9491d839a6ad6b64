"""A hall to look at: racks, nodes in every state, conditions, results, tickets, runs, two tenants, hostile names.

It is filled through the store's own methods, as the reconciler would. `made` may be called for 32 nodes or 10,000.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import cycle, islice

from fleet_runner.adapters.store import Store
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import (
    Cable,
    Device,
    DeviceType,
    Fleet,
    Interface,
    Part,
    Rack,
    Termination,
    rack_key,
)
from fleet_runner.core.lifecycle.actions import Action, Decision, Move, OpenRun, OpenTicket, SetCondition
from fleet_runner.core.lifecycle.runs import Held, Node, Outcome
from fleet_runner.core.lifecycle.spool import Evidence, Judged, Progress
from fleet_runner.core.lifecycle.states import TRANSITIONS, Condition, Event, Stage, State

NOW = 1_795_000_000.0
"""When tests look, in epoch seconds."""

PORTS = (
    Interface("bmc", "1000base-t", mgmt_only=True),
    *(Interface(f"ib{rail}", "infiniband-ndr") for rail in range(8)),
)
TYPES = {
    "hgx-h100": DeviceType("hgx-h100", "Maker", "HGX H100", 8.0, PORTS),
    "hgx-b200": DeviceType("hgx-b200", "Maker", "HGX B200", 10.0, PORTS),
    "leaf": DeviceType("leaf", "NVIDIA", "QM9700", 1.0),
}
TENANTS = ("Acme", "Globex", None)
HOSTILE = '<script>alert("x")</script>\u202e'
"""What a BMC or a log might say: nothing of it may ever be part of a page."""

TO_PRODUCTION = (Event.START, Event.PASSED, Event.CERTIFIED, Event.PASSED, Event.PASSED, Event.PASSED)

PATHS: dict[State, tuple[Event, ...]] = {
    State.REGISTERED: (),
    State.PROVISION: TO_PRODUCTION[:1],
    State.ONBOARD: TO_PRODUCTION[:2],
    State.VERIFY: TO_PRODUCTION[:3],
    State.FIRMWARE: TO_PRODUCTION[:4],
    State.BURN_IN: TO_PRODUCTION[:5],
    State.PRODUCTION: TO_PRODUCTION,
    State.FIRMWARE_FAILED: (*TO_PRODUCTION[:4], Event.FAILED),
    State.RESET: (*TO_PRODUCTION, Event.RESET_NEEDED),
    State.REBOOT: (*TO_PRODUCTION, Event.REBOOT_NEEDED),
    State.TRIAGE: (*TO_PRODUCTION, Event.TRIAGE_NEEDED),
    State.DEBUG: (*TO_PRODUCTION, Event.TRIAGE_NEEDED, Event.DEBUG),
    State.RMA: (*TO_PRODUCTION, Event.TRIAGE_NEEDED, Event.RMA),
    State.WIPE: (*TO_PRODUCTION, Event.TRIAGE_NEEDED, Event.WIPE),
    State.RETIRED: (*TO_PRODUCTION, Event.RETIRE),
}
"""The events that lead a node from registered to each state."""

USUAL = (*(State.PRODUCTION,) * 12, *PATHS)
"""The states of a hall's nodes, over and over."""


@dataclass(slots=True)
class Hall:
    """What was made: the source of truth and the store that agrees with it."""

    fleet: Fleet
    store: Store
    names: tuple[str, ...] = field(default_factory=tuple)

    def in_state(self, state: State) -> tuple[str, ...]:
        """Return the names of the nodes in a state."""
        return tuple(node.name for node in self.store.nodes() if node.state is state)


def described(count: int, *, per_rack: int = 4, racks_per_site: int = 200) -> Fleet:
    """Return a source of truth with so many nodes, four to a rack, and a leaf for each rail."""
    leaves = [Device(f"leaf-{rail}", "leaf", "leaf", "hall-1", interfaces=ports(count)) for rail in range(8)]
    devices = {leaf.name: leaf for leaf in leaves}
    racks: dict[str, Rack] = {}
    cables: list[Cable] = []
    for number in range(count):
        name, rack = f"gpu-{number + 1:05d}", number // per_rack
        site, row = f"hall-{rack // racks_per_site + 1}", f"row-{rack % racks_per_site // 20 + 1}"
        label = f"R{rack % racks_per_site + 1:03d}"
        racks[rack_key(site, label)] = Rack(label, site, 48, location=row)
        devices[name] = Device(
            name, "hgx-b200" if number % 5 == 4 else "hgx-h100", "gpu-server", site, label,
            1.0 + 10 * (number % per_rack), serial=f"SN{number + 1:06d}", tenant=TENANTS[rack % 3],
            interfaces=PORTS,
            parts=tuple(Part(f"GPU {slot}", "gpu", "H100", f"GP{number:05d}{slot}") for slot in range(8)),
        )  # fmt: skip
        cables += [
            Cable(Termination(name, f"ib{rail}"), Termination(f"leaf-{rail}", f"p{number + 1}")) for rail in range(8)
        ]
    sites = tuple(sorted({rack.site for rack in racks.values()}))
    return Fleet(sites, racks, TYPES, devices, tuple(cables), revision=str(count))


def ports(count: int) -> tuple[Interface, ...]:
    """Return the ports of a leaf."""
    return tuple(Interface(f"p{number + 1}", "infiniband-ndr") for number in range(count))


def made(store: Store, count: int = 32, states: Iterable[State] = USUAL, now: float = NOW) -> Hall:
    """Fill a store with nodes in these states in turn, with the past that each has; return what was made."""
    fleet = described(count)
    servers = [device for device in fleet.devices.values() if device.role == "gpu-server"]
    store.register(servers, now - 90 * 86_400)
    for device, state in zip(servers, islice(cycle(states), count), strict=True):
        walk(store, device.name, state, now)
    hall = Hall(fleet, store, tuple(device.name for device in servers))
    troubles(hall, now)
    return hall


def walk(store: Store, name: str, state: State, now: float) -> None:
    """Take a node to a state, an hour a step, the last of them two hours ago."""
    events = PATHS[state]
    at, here = now - 3_600.0 * (len(events) + 1), State.REGISTERED
    for event in events:
        row = TRANSITIONS[here, event]
        act(store, name, Move(row, "alice" if event in PEOPLE else "runner"), at=at)
        at, here = at + 3_600.0, row.to


PEOPLE = frozenset({Event.CERTIFIED, Event.DEBUG, Event.RMA, Event.WIPE, Event.RETIRE})


def act(store: Store, name: str, *actions: Action, at: float, waiting: str = "It waits for what comes.") -> None:
    """Have a decision about a node carried out."""
    store.apply(node(store, name), Decision(actions, waiting, at + 60.0), at)


def node(store: Store, name: str) -> Node:
    """Return a node that is there."""
    found = store.node(name)
    assert found is not None
    return found


def troubles(hall: Hall, now: float) -> None:
    """Give some nodes what makes a page worth looking at."""
    serving = hall.in_state(State.PRODUCTION)
    if len(serving) < len(TROUBLES):
        return
    for name, trouble in zip(serving, TROUBLES, strict=False):
        trouble(hall.store, name, now)


def _held(store: Store, name: str, now: float) -> None:
    held = Held(now - 600, "its fans are being looked at", "alice")
    act(store, name, SetCondition(Condition.HELD, held), at=now - 600, waiting="held by alice")


def _draining(store: Store, name: str, now: float) -> None:
    reason = f"GPU 3 fell off the bus: {HOSTILE}"
    act(
        store,
        name,
        SetCondition(Condition.CORDONED, Held(now - 900, reason, "runner")),
        SetCondition(Condition.DRAINING, Held(now - 900, reason, "runner")),
        SetCondition(Condition.PENDING, Held(now - 900, reason, "runner", "REBOOT")),
        at=now - 900,
        waiting="drains; a job of 2 h runs on it",
    )


def _answered(store: Store, name: str, now: float) -> None:
    """A sweep with a PASS, a FAIL whose text is hostile, and an UNKNOWN; the ticket that follows."""
    text = f"Xid 79: {HOSTILE}\n" * 3
    evidence = Evidence(name, now - 300, "dmesg", Reading("dmesg", ReadEnd.OK, text).hash, text)
    finding = Finding(
        "xid.79", "GPU 3", f"GPU 3 fell off the bus {HOSTILE}", Remedy.TRIAGE, f"xid.79:{name}:GPU 3", (name,),
        steps=("Open the node.", "Reseat GPU 3."),
    )  # fmt: skip
    results = (
        Result("time_sync", Verdict.PASS, "the clock follows ntp-1", observed={"offset_seconds": 0.001}),
        Result(
            "kernel_log",
            Verdict.FAIL,
            f"GPU 3 fell off the bus {HOSTILE}",
            (finding,),
            {"count": 3},
            (evidence.hash,),
        ),
        Result("gpu_health", Verdict.UNKNOWN, "nvidia-smi gave no answer within 30 s"),
    )
    lines = (evidence, *(Judged(name, now - 300, result) for result in results))
    store.record_by_hand(Stage.HEALTH_PASSIVE, "runner", lines, now - 300)
    ticket = OpenTicket(
        finding.fault, "kernel_log", f"{name}: GPU 3 fell off the bus {HOSTILE}",
        "1. Open the node.\n2. Reseat GPU 3.", (name,), Remedy.TRIAGE.value, now - 300,
    )  # fmt: skip
    act(store, name, ticket, at=now - 300)


def _swept(store: Store, name: str, now: float) -> None:
    """A run that is under way, half done."""
    act(
        store,
        name,
        OpenRun(Stage.HEALTH_PASSIVE, "the sweep of every five minutes", batch=f"sweep-{name}"),
        at=now - 30,
    )
    store.ingest(f"sweep-{name}", 0, 100, (Progress(name, now - 10, 3, 6, "fleet_collect : Read"),))


def _miscabled(store: Store, name: str, now: float) -> None:
    other = f"gpu-{int(name.removeprefix('gpu-')) + 1:05d}"
    ticket = OpenTicket(
        f"cabling/swap/{name}", "cabling_infiniband", f"{name}: ib0 and {other} ib0 are swapped",
        f"1. At leaf-0 pull the plug of p1.\n2. At {other} put it into ib0.", (name, other, "leaf-0"),
        Remedy.RECABLE.value, now - 7_200,
    )  # fmt: skip
    act(store, name, ticket, at=now - 7_200)


def _maintained(store: Store, name: str, now: float) -> None:
    held = Held(now - 3_000, "new power supplies in row 1", "bob")
    act(store, name, SetCondition(Condition.MAINTENANCE, held), at=now - 3_000, waiting="planned work")


def _passed(store: Store, name: str, now: float) -> None:
    """A run that is over."""
    sweep = OpenRun(Stage.CABLING, "every four hours", batch=f"c-{name}")
    (run,) = store.apply(node(store, name), Decision((sweep,), "", now), now - 900)
    store.close_run(run, Outcome.PASSED, "every link is as designed", now - 840)


TROUBLES: tuple[Callable[[Store, str, float], None], ...] = (
    _held, _draining, _answered, _swept, _miscabled, _maintained, _passed,
)  # fmt: skip
"""What happens to the first nodes in production, in order."""
