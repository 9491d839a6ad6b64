"""An engine whose plays are scripted, and short ways to make the loop go round with it."""

from collections.abc import Callable
from dataclasses import dataclass, field

from sqlalchemy import create_engine, text

from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Device, Fleet, Rack
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.spool import Decoded, Ended, Evidence, Judged, PlayEnd, Progress, encode
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings

OFF = Result("machine_power", Verdict.PASS, "the machine is off", observed={"power": "Off", "boot": ""})
GOOD = Result("cpu_stress", Verdict.PASS, "8 GPUs")  # a test, without which no burn-in passes
IDLE = Result("gpu_usage", Verdict.PASS, "no work", observed={"in_use": False})
BUSY = Result("gpu_usage", Verdict.PASS, "1 process", observed={"in_use": True})
XID = Result(
    "xid", Verdict.FAIL, "Xid 79", (Finding("gpu.lost", "GPU 3", "GPU 3 fell off the bus.", Remedy.REBOOT, "f"),)
)
SWAP = Result(
    "cabling",
    Verdict.FAIL,
    "swapped",
    (Finding("cabling.swap", "ib2", "ib2 and ib5 are swapped.", Remedy.RECABLE, "swap", steps=("Swap them.",)),),
)
Script = Callable[[str, Stage], tuple[Result, ...] | None]


@dataclass
class Scripted:
    """An engine whose plays end at once with what `script` says; None leaves the node out of the spool.

    What a script does not say of a machine that is surveyed: it is off.
    """

    script: Script
    state: BatchState = BatchState.ENDED
    rc: int = 0
    piece: int = 2000
    launched: list[Batch] = field(default_factory=list[Batch])
    stopped: list[str] = field(default_factory=list[str])
    spools: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Play the whole batch."""
        self.launched.append(batch)
        text = ""
        for node, run in batch.runs.items():
            at = float(run["opened_at"]) + 1.0
            results = self.script(node, batch.stage)
            if batch.stage is Stage.SURVEY and self.rc == 0:
                results = results if any(each.check == OFF.check for each in results or ()) else (OFF,)
            if results is None:
                continue
            text += encode(Progress(node, at, 1, 2, "asked")) + encode(Evidence(node, at, "r", "ab", "text"))
            text += "".join(encode(Judged(node, at, result)) for result in results)
            text += encode(Ended(node, at, PlayEnd.OK))
        self.spools[batch.id] = text.encode()

    def look(self, settings: Settings, batch_id: str) -> Look:
        """Every batch is in the same state."""
        return Look(self.state, self.rc, "Nobody saw its end.")

    def spool(self, settings: Settings, batch_id: str, offset: int) -> Decoded:
        """A few bytes a call, so that lines arrive in pieces."""
        data = self.spools.get(batch_id, b"")[offset:]
        return Decoded.of(data[: self.piece])

    def discard(self, settings: Settings, batch_id: str) -> None:
        """Forget what it said."""
        del self.spools[batch_id]

    def stop(self, settings: Settings, batch_id: str) -> None:
        """Note it."""
        self.stopped.append(batch_id)


def a_fleet(count: int) -> Fleet:
    """So many servers in one rack each."""
    devices = {
        f"gpu-{n:02}": Device(f"gpu-{n:02}", "t", "gpu-server", "hall", f"R{n}", 1.0) for n in range(1, count + 1)
    }
    racks = {f"R{n}": Rack(f"R{n}", "hall") for n in range(1, count + 1)}
    return Fleet(("hall",), racks, {}, devices, (), "1")


def all_good(_node: str, stage: Stage) -> tuple[Result, ...]:
    """Every check passes."""
    return (GOOD, IDLE) if stage in {Stage.DRAIN, Stage.HEALTH_PASSIVE} else (GOOD,)


def played(
    world: TickContext, until: Callable[[TickContext], bool], *, now: float = 1000.0, most: int = 200
) -> float:
    """Tick every 5 seconds until something holds, with a technician who certifies whatever waits; return the time."""
    for _ in range(most):
        tick(world, now)
        if until(world):
            return now
        for node in world.store.nodes():
            if node.state is State.ONBOARD and not world.store.intents(node.name):
                world.store.leave_intent(node.name, IntentKind.CERTIFY, "tech", reason="", detail="", now=now)
        now += 5
    raise AssertionError([(node.name, node.state, node.waiting) for node in world.store.nodes()])


def in_state(*states: State) -> Callable[[TickContext], bool]:
    """Whether every node is in one of the states."""
    return lambda world: all(node.state in states for node in world.store.nodes())


def path(world: TickContext, node: str = "gpu-01") -> list[State | None]:
    """Where a node has been."""
    return [entry.to for entry in world.store.history(node) if entry.kind == "transition"]


def in_service(world: TickContext, state: State = State.PRODUCTION) -> float:
    """Have every node be in a state since now, as if it had come there; return the time."""
    tick(world, 1000.0)
    engine = create_engine(world.settings.store_url)
    with engine.begin() as connection:
        connection.execute(text("DELETE FROM journal"))
        connection.execute(text("DELETE FROM runs"))
        moved = text("UPDATE nodes SET state = :state, since = 1000.0, wake_at = 0.0")
        connection.execute(moved, {"state": state.value})
    engine.dispose()
    if isinstance(world.engine, Scripted):
        world.engine.launched.clear()
        world.engine.spools.clear()
    return 1001.0


def pass_time(world: TickContext, now: float, seconds: float, pause: float = 10.0) -> float:
    """Tick every `pause` seconds for so long; return the time."""
    until = now + seconds
    while now < until:
        now += pause
        tick(world, now)
    return now
