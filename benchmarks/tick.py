"""What a tick costs when 10,000 nodes have nothing to do, and when some have.

Prints CPU seconds of this process: `python benchmarks/tick.py [NODES]`. The engine is a stand-in: no play starts. The
statements that a tick sends to the store are counted too: with nothing to do they must not grow with the fleet.
"""

import sys
import tempfile
import time
from pathlib import Path

from sqlalchemy import Engine, create_engine, event, text

from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.signal import Source
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.spool import Decoded
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings

START = 1_000_000.0
TICKS = 20


class Idle:
    """An engine whose batches run and never say anything."""

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Start nothing."""

    def look(self, settings: Settings, batch_id: str) -> Look:
        """Everything runs."""
        del settings, batch_id
        return Look(BatchState.RUNNING)

    def spool(self, settings: Settings, batch_id: str, offset: int) -> Decoded:
        """Nothing was said."""
        del settings, batch_id, offset
        return Decoded((), 0, 0)

    def discard(self, settings: Settings, batch_id: str) -> None:
        """Nothing to remove."""

    def stop(self, settings: Settings, batch_id: str) -> None:
        """Stop nothing."""


def fleet_of(count: int) -> Fleet:
    """Return so many planned servers: known, and with nothing to do."""
    names = [f"gpu-{number:05}" for number in range(count)]
    devices = {name: Device(name, "t", "gpu-server", "hall", status="planned") for name in names}
    return Fleet(("hall",), {}, {}, devices, (), "1")


def serve(settings: Settings) -> None:
    """Have every node serve, and be looked at again much later."""
    engine = create_engine(settings.store_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE nodes SET state = 'production', since = :at, wake_at = 1e12"), {"at": START})
    engine.dispose()


def raise_alarms(store: Store, names: list[str], now: float) -> None:
    """Have each of some nodes lose a GPU."""
    alarms = [
        Alarm(
            node=name,
            code="xid.119",
            component="GPU 3",
            fault=f"{name}/xid.119/GPU 3",
            source=Source.KERNEL,
            message="Xid 119",
            remedy=Remedy.RESET,
            at_once=False,
            first_at=now,
            last_at=now,
            heard_at=now,
            raised_at=now,
            authenticated=True,
        )
        for name in names
    ]
    store.keep_alarms(names, lambda _: alarms, now)


def statements(world: TickContext, now: float) -> int:
    """Return how many statements one tick sends to the store."""
    sent = [0]

    def count(*_: object) -> None:
        sent[0] += 1

    event.listen(Engine, "before_cursor_execute", count)
    tick(world, now)
    event.remove(Engine, "before_cursor_execute", count)
    return sent[0]


def cpu(world: TickContext, now: float) -> float:
    """Return the CPU seconds of one tick."""
    before = time.process_time()
    tick(world, now)
    return time.process_time() - before


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(state_dir=Path(folder))
        store = Store.create(settings.store_url)
        store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, START, "bench"))  # else only advice would follow
        fleet = fleet_of(count)
        world = TickContext(settings, store, lambda: fleet, Idle())
        first = cpu(world, START)
        idle = sorted(cpu(world, START + 1 + number) for number in range(TICKS))[TICKS // 2]
        for number in range(100):
            store.leave_intent(f"gpu-{number:05}", IntentKind.HOLD, "bench", now=START + 50)
        busy = cpu(world, START + 60)
        serve(settings)
        serving = sorted(cpu(world, START + 100 + number) for number in range(TICKS))[TICKS // 2]
        sent = statements(world, START + 150)
        raise_alarms(store, [f"gpu-{number:05}" for number in range(count // 100)], START + 200)
        alarmed = cpu(world, START + 201)
        store.close()
    print(f"{count} nodes, CPU seconds of one tick")
    print(f"  first tick, every node registered and decided  {first:8.3f}")
    print(f"  nothing to do (median of {TICKS})                   {idle:8.4f}")
    print(f"  100 nodes with a request                          {busy:8.3f}")
    print(f"  nothing to do, every node serves               {serving:8.4f}, {sent} statements")
    print(f"  {count // 100} serving nodes with a new alarm           {alarmed:8.3f}")
    print(f"  100 changed nodes cost {busy / idle:,.0f} idle ticks, the whole fleet {first / busy:,.1f} times that")


if __name__ == "__main__":
    main()
