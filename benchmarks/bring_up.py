"""What the runner adds to a bring-up: `python benchmarks/bring_up.py [NODES] [--batches-at-once N]`.

So many simulated nodes are all powered at once and taken from their first survey into production, in virtual time:
the real store and the real tick, with a stand-in for plays and machines. What a machine needs by itself is drawn for
each stage; a play adds PLAY seconds to it, as Ansible needs to start and to read. The clock goes on by `tick_seconds`
and by the CPU time that the tick took, so that a slow runner is told of; ticks in which nothing is due are left out.
Firmware and burn-in take SHORTER of their usual time: what the runner adds is the same, and its share larger. Nodes
in production are swept once a day.

Nothing limits how many nodes are worked on at once but the plays that may run: whatever nodes wait for is the
runner's, but for technicians, who certify each within two hours.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, inf
from pathlib import Path
from random import Random

from sqlalchemy import create_engine, text
from tick import Idle

from fleet_runner.adapters.plays.engine import Batch, BatchState, Look
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.spool import Decoded, Ended, Judged, PlayEnd, encode
from fleet_runner.core.lifecycle.states import Stage
from fleet_runner.core.reliability.bring_up import words
from fleet_runner.core.reliability.bring_up.way import Wait
from fleet_runner.core.reliability.report.rows import Span
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings

START = 1_000_000.0
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
PLAY = 10.0
"""Seconds that a play takes besides what its machines do."""

OWN = {
    Stage.PROVISION: (9 * MINUTE, 17 * MINUTE),
    Stage.VERIFY: (1 * MINUTE, 2 * MINUTE),
    Stage.FIRMWARE: (40 * MINUTE, 95 * MINUTE),
    Stage.BURN_IN: (24 * HOUR, 30 * HOUR),
}
"""What machines need for a stage by themselves, from and to."""

SHORTER = {Stage.FIRMWARE: 0.2, Stage.BURN_IN: 0.05}

COMING = text("SELECT count(*), min(wake_at) FROM nodes WHERE state <> 'production'")
ONBOARD = text("SELECT name FROM nodes WHERE state = 'onboard'")

CHECK = {Stage.SURVEY: "machine_power", Stage.PROVISION: "network_boot", Stage.VERIFY: "cabling_infiniband",
         Stage.FIRMWARE: "firmware_versions", Stage.BURN_IN: "cpu_stress"}  # fmt: skip


@dataclass(slots=True)
class Machines(Idle):
    """Plays on machines that need their own time; `now` is the virtual clock."""

    dice: Random
    visit: float
    now: float = START
    until: dict[tuple[str, Stage], float] = field(default_factory=dict[tuple[str, Stage], float])
    own: dict[str, float] = field(default_factory=lambda: defaultdict[str, float](float))
    usual: float = 0.0
    said: dict[str, list[tuple[float, str]]] = field(default_factory=dict[str, list[tuple[float, str]]])

    def launch(self, settings: Settings, batch: Batch) -> None:
        """Begin, and know when which node will be through."""
        del settings
        told = [(at, said) for name in batch.runs for at, said in self._answer(name, batch.stage)]
        self.said[batch.id] = sorted(told)

    def look(self, settings: Settings, batch_id: str) -> Look:
        """It ends with its last node."""
        del settings
        over = self.said[batch_id][-1][0] <= self.now
        return Look(BatchState.ENDED, 0) if over else Look(BatchState.RUNNING)

    def spool(self, settings: Settings, batch_id: str, offset: int) -> Decoded:
        """Return what was said since."""
        del settings
        said = "".join(line for at, line in self.said[batch_id] if at <= self.now)
        return Decoded.of(said.encode()[offset:])

    def discard(self, settings: Settings, batch_id: str) -> None:
        """Forget it."""
        del settings
        self.said.pop(batch_id, None)

    def next(self) -> float:
        """Return when the next word is said."""
        return min((at for said in self.said.values() for at, _ in said if at > self.now), default=inf)

    def _answer(self, name: str, stage: Stage) -> tuple[tuple[float, str], tuple[float, str]]:
        begun = self.now + PLAY
        if stage in OWN and (name, stage) not in self.until:
            usual = self.dice.uniform(*OWN[stage])
            own = usual * SHORTER.get(stage, 1.0)
            self.own[name] += own
            self.usual += usual
            self.until[name, stage] = begun + own
        done = max(begun, self.until.get((name, stage), begun))
        at = {Stage.BURN_IN: begun, Stage.FIRMWARE: min(done, begun + self.visit)}.get(stage, done)
        observed = {"power": "Off", "boot": ""} if stage is Stage.SURVEY else {"working": at < done}
        verdict = Verdict.UNKNOWN if at < done else Verdict.PASS
        result = Result(CHECK.get(stage, "time_sync"), verdict, "as expected", observed=observed)
        return (at, encode(Judged(name, at, result))), (at, encode(Ended(name, at, PlayEnd.OK)))


@dataclass(slots=True)
class Technicians:
    """They certify each node within two hours after it came to them."""

    store: Store
    dice: Random
    due: dict[str, float] = field(default_factory=dict[str, float])

    def look(self, names: Iterable[str], now: float) -> float:
        """Certify what is due of the nodes that wait for it; return when they do so next."""
        for name in names:
            self.due.setdefault(name, now + self.dice.uniform(0, 2) * HOUR)
        for name in [name for name, at in self.due.items() if at <= now]:
            self.store.leave_intent(name, IntentKind.CERTIFY, "technician", now=now)
            self.due[name] = inf
        return min(self.due.values(), default=inf)


def main() -> None:
    """Bring a fleet up, and print what its way was made of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("nodes", nargs="?", type=int, default=1_000)
    parser.add_argument("--batches-at-once", type=int, default=8)
    asked = parser.parse_args()
    names = [f"gpu-{number:05}" for number in range(asked.nodes)]
    devices = {name: Device(name, "t", "gpu-server", "hall", status="staged") for name in names}
    fleet = Fleet(("hall",), {}, {}, devices, (), "1")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            state_dir=Path(folder), batches_at_once=asked.batches_at_once, provision_per_hour=10**6,
            firmware_at_once=10**6, firmware_at_once_rack=10**6, passive_schedule="every 24h",
        )  # fmt: skip
        machines = Machines(Random(1), settings.firmware_visit_seconds)
        with Store.create(settings.store_url) as store, create_engine(settings.store_url).connect() as looking:
            store.set_mode(Setting(Scope.FLEET, "", None, Mode.ACT, START, "bench"))
            world, people = TickContext(settings, store, lambda: fleet, machines), Technicians(store, Random(2))
            began = time.process_time()
            while True:
                before = time.process_time()
                tick(world, machines.now)
                machines.now += settings.tick_seconds + time.process_time() - before
                coming, wakes = looking.execute(COMING).one()
                if not coming:
                    break
                certified = people.look(looking.execute(ONBOARD).scalars(), machines.now)
                looking.rollback()  # to see what is written next
                soon = min(machines.next(), certified, wakes)
                if soon > machines.now:  # the ticks before that have nothing to do
                    machines.now += ceil((soon - machines.now) / settings.tick_seconds) * settings.tick_seconds
            cpu = time.process_time() - began
            found = store.bring_ups(Span(START - DAY, machines.now), machines.now)
    own = sum(machines.own.values())
    whole = sum(found.waits.values())
    people = found.waits[Wait.PERSON]
    added = whole - people - own
    hours = (machines.now - START) / HOUR
    print(f"{asked.nodes} nodes, {asked.batches_at_once} plays at once, {hours:.1f} virtual hours")
    print(words.summary(found))
    print(f"a node's devices need by themselves  {own / asked.nodes:9,.0f} s")
    print(f"the runner adds                      {added / asked.nodes:9,.0f} s, {100 * added / own:.2f} % of that")
    usual = machines.usual / asked.nodes / HOUR
    print(f"  of their usual {usual:.1f} h                          {100 * added / machines.usual:.2f} %")
    print(f"the runner's CPU                     {cpu / asked.nodes:9.2f} s a node")
    for gain in found.gains:
        print(f"  {words.shorter(gain)}")


if __name__ == "__main__":
    main()
