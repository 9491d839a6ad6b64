"""The loop as a whole, on a real store, with an engine whose plays are scripted."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet_runner.adapters.playbooks import Batch, BatchState, Look
from fleet_runner.adapters.store import Store
from fleet_runner.core.errors import FleetError, SourceError
from fleet_runner.core.lifecycle import Condition, Stage, State
from fleet_runner.core.records import Device, Fleet, Rack
from fleet_runner.core.runs import Outcome, Wish
from fleet_runner.core.spool import Decoded, Ended, Evidence, Judged, PlayEnd, Progress, encode
from fleet_runner.core.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.reconcile import tick
from fleet_runner.reconcile.world import World, timing
from fleet_runner.settings import Settings

GOOD = Result("parts_gpu", Verdict.PASS, "8 GPUs")
IDLE = Result("gpu_usage", Verdict.PASS, "no work", observed={"in_use": False})
BUSY = Result("gpu_usage", Verdict.PASS, "1 process", observed={"in_use": True})
XID = Result(
    "xid", Verdict.FAIL, "Xid 79", (Finding("xid.79", "GPU 3", "GPU 3 fell off the bus.", Remedy.REBOOT, "f"),)
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
    """An engine whose plays end at once with what `script` says; None leaves the node out of the spool."""

    script: Script
    state: BatchState = BatchState.ENDED
    rc: int = 0
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
        """At most 300 bytes a call, so that lines arrive in pieces."""
        data = self.spools.get(batch_id, b"")[offset:]
        return Decoded.of(data[:2000])

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


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Worlds on stores of their own."""
    stores: list[Store] = []

    def make(script: Script = all_good, count: int = 1) -> World:
        folder = tmp_path / str(len(stores))
        found = Settings(state_dir=folder, retry_seconds=10, working_seconds=10, drain_seconds=5, passive_seconds=100)
        folder.mkdir()
        store = Store.create(found.store_url)
        stores.append(store)
        return World(found, store, lambda: a_fleet(count), Scripted(script))

    yield make
    for store in stores:
        store.close()


def played(world: World, until: Callable[[World], bool], *, now: float = 1000.0, most: int = 200) -> float:
    """Tick every 5 seconds until something holds, with a technician who certifies whatever waits; return the time."""
    for _ in range(most):
        tick(world, now)
        if until(world):
            return now
        for node in world.store.nodes():
            if node.state is State.ONBOARD and not world.store.intents(node.name):
                world.store.leave_intent(node.name, Wish.CERTIFY, "tech", reason="", detail="", now=now)
        now += 5
    raise AssertionError([(node.name, node.state, node.waiting) for node in world.store.nodes()])


def in_state(*states: State) -> Callable[[World], bool]:
    """Whether every node is in one of the states."""
    return lambda world: all(node.state in states for node in world.store.nodes())


def path(world: World, node: str = "gpu-01") -> list[State | None]:
    """Where a node has been."""
    return [entry.to for entry in world.store.history(node) if entry.kind == "transition"]


def test_a_good_node_travels_from_registered_to_production(make_world: Callable[..., World]) -> None:
    """Each state once, each stage once, all nodes of a stage in one batch."""
    world = make_world(count=3)
    played(world, in_state(State.PRODUCTION))
    assert path(world) == [
        State.PROVISION,
        State.ONBOARD,
        State.VERIFY,
        State.FIRMWARE,
        State.BURN_IN,
        State.PRODUCTION,
    ]
    engine = world.engine
    assert isinstance(engine, Scripted)
    stages = [batch.stage for batch in engine.launched][:4]
    assert stages == [Stage.PROVISION, Stage.VERIFY, Stage.FIRMWARE, Stage.BURN_IN]
    assert all(len(batch.runs) == 3 for batch in engine.launched[:4])


def test_a_second_tick_does_nothing_more(make_world: Callable[..., World]) -> None:
    """At every point of the journey."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.RUNNING
    for now in (1000.0, 1001.0):
        tick(world, now)
    before = (len(engine.launched), world.store.history("gpu-01"), world.store.nodes())
    tick(world, 1001.0)
    assert (len(engine.launched), world.store.history("gpu-01"), world.store.nodes()) == before


def test_a_miscabled_node_gets_one_ticket_that_its_next_check_closes(make_world: Callable[..., World]) -> None:
    """However often it is looked at in between."""
    wrong = [True]
    world = make_world(lambda _node, stage: (SWAP,) if stage is Stage.VERIFY and wrong[0] else (GOOD,))
    now = played(world, lambda world: path(world).count(State.ONBOARD) == 3)
    (ticket,) = world.store.tickets()
    assert ticket.seen == 2
    assert "1. Swap them." in ticket.body
    wrong[0] = False
    fixed = Result("cabling", Verdict.PASS, "as designed")
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = lambda _node, stage: (fixed,) if stage is Stage.VERIFY else (GOOD,)
    played(world, in_state(State.PRODUCTION), now=now)
    assert world.store.tickets() == ()
    assert world.store.tickets(open_only=False)[0].closed_because == "cabling on gpu-01: as designed"


def test_a_busy_node_with_a_fault_is_cordoned_and_rebooted_when_idle(make_world: Callable[..., World]) -> None:
    """And returns to production by itself."""
    world = make_world()
    now = played(world, in_state(State.PRODUCTION))
    engine = world.engine
    assert isinstance(engine, Scripted)
    sick, busy = [True], [True]

    def script(_node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.REBOOT:
            sick[0] = False
        usage = BUSY if busy[0] else IDLE
        return (XID if sick[0] else Result("xid", Verdict.PASS, "none"), usage)

    engine.script = script
    now = played(world, lambda world: Condition.PENDING in world.store.nodes()[0].conditions, now=now)
    said: set[str] = set()
    for _ in range(10):
        now += 5
        tick(world, now)
        said.add(world.store.nodes()[0].waiting)
    node = world.store.nodes()[0]
    assert node.state is State.PRODUCTION
    assert set(node.conditions) == {Condition.PENDING, Condition.CORDONED, Condition.DRAINING, Condition.IN_USE}
    assert "REBOOT pending, its work has not ended: GPU 3 fell off the bus." in said
    busy[0] = False
    played(world, lambda world: path(world)[-2:] == [State.REBOOT, State.PRODUCTION], now=now)
    assert not set(world.store.nodes()[0].conditions) & {Condition.PENDING, Condition.CORDONED, Condition.DRAINING}


def test_a_fault_everywhere_takes_one_node_at_a_time(make_world: Callable[..., World]) -> None:
    """Disruption has a budget, and what waits for it says so."""
    world = make_world(count=4)
    now = played(world, in_state(State.PRODUCTION))
    engine = world.engine
    assert isinstance(engine, Scripted)
    rebooted: set[str] = set()

    def script(node: str, stage: Stage) -> tuple[Result, ...]:
        if stage is Stage.REBOOT:
            rebooted.add(node)
        return (Result("xid", Verdict.PASS, "none") if node in rebooted else XID, IDLE)

    engine.script = script
    said: set[str] = set()
    for _ in range(200):
        now += 5
        tick(world, now)
        rows = world.store.nodes()
        assert sum(node.state is State.REBOOT for node in rows) <= 1
        said |= {node.waiting for node in rows}
    assert rebooted == {"gpu-01", "gpu-02", "gpu-03", "gpu-04"}
    assert "waits: the fleet's budget is spent: 1 of at most 1 nodes out" in said


@pytest.mark.parametrize(
    ("lost", "ends_in"), [(Stage.VERIFY, State.PRODUCTION), (Stage.FIRMWARE, State.FIRMWARE_FAILED)]
)
def test_a_lost_run_is_handled_by_what_it_could_have_changed(
    make_world: Callable[..., World], lost: Stage, ends_in: State
) -> None:
    """A read is tried again, a flash is not."""
    world = make_world(lambda _node, stage: None if stage is lost else (GOOD,))
    engine = world.engine
    assert isinstance(engine, Scripted)
    now = played(world, in_state(State(lost)))
    engine.state = BatchState.LOST
    now = played(world, lambda world: any(run.outcome is Outcome.LOST for run in world.store.runs("gpu-01")), now=now)
    engine.state, engine.script = BatchState.ENDED, all_good
    played(world, in_state(ends_in), now=now)


def test_what_a_lost_batch_had_finished_counts(make_world: Callable[..., World]) -> None:
    """Its spool says that the play was over for the node; only the supervisor's own end was not seen."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.LOST
    played(world, in_state(State.PRODUCTION))


def test_a_batch_without_a_word_is_unknown_and_retried_to_its_cap(make_world: Callable[..., World]) -> None:
    """Then a person is asked; no hardware is condemned, no ticket opened."""
    world = make_world(lambda _node, _stage: None)
    played(world, in_state(State.TRIAGE))
    assert [run.outcome for run in world.store.runs("gpu-01")] == [Outcome.UNKNOWN] * 3
    assert world.store.tickets() == ()


def test_a_batch_that_is_not_seen_to_start_is_lost(make_world: Callable[..., World]) -> None:
    """The runner died before it started it, or another machine has it: nobody knows, so it is not simply repeated."""
    world = make_world(lambda _node, _stage: None)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.NEW
    tick(world, 1000.0)
    tick(world, 1050.0)
    assert len(world.store.open_runs()) == 1
    tick(world, 1061.0)
    assert [run.outcome for run in world.store.runs("gpu-01")] == [Outcome.LOST]
    for now in range(1100, 4000, 70):
        tick(world, float(now))
    assert world.store.nodes()[0].state is State.TRIAGE


def test_a_batch_past_its_deadline_is_ended(make_world: Callable[..., World]) -> None:
    """From outside, because its supervisor did not."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.state = BatchState.ORPHANED
    tick(world, 1000.0)
    tick(world, 1000.0 + 1.3 * 2400)
    assert engine.stopped == [engine.launched[0].id]


def test_a_play_that_cannot_be_started_counts_against_no_node(
    make_world: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the controller's trouble: said in status, tried again."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)

    def refuse(_settings: Settings, _batch: Batch) -> None:
        raise FleetError("the disk is full")

    monkeypatch.setattr(engine, "launch", refuse)
    tick(world, 1000.0)
    (run,) = world.store.runs("gpu-01")
    assert (run.outcome, run.detail) == (Outcome.CANCELLED, "the play could not be started: the disk is full")
    for now in range(1010, 1300, 8):
        tick(world, float(now))
    tick(world, 1301.0)
    node = world.store.nodes()[0]
    assert (node.state, node.waiting) == (State.PROVISION, "the play could not be started: the disk is full")


def test_a_play_that_could_not_run_counts_against_no_node(make_world: Callable[..., World]) -> None:
    """No inventory, a broken playbook: Ansible ended badly without a word about any node."""
    world = make_world(lambda _node, _stage: None)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.rc = 4
    for now in range(1000, 1300, 10):
        tick(world, float(now))
    assert {run.outcome for run in world.store.runs("gpu-01")} - {None} == {Outcome.CANCELLED}
    assert "exit status 4" in world.store.nodes()[0].waiting


def test_what_told_everything_is_discarded_and_what_did_not_is_kept(make_world: Callable[..., World]) -> None:
    """Disks are finite; a log is worth keeping where it is all there is."""
    world = make_world(lambda _node, stage: None if stage is Stage.FIRMWARE else (GOOD,))
    played(world, in_state(State.FIRMWARE_FAILED))
    engine = world.engine
    assert isinstance(engine, Scripted)
    assert {batch.stage for batch in engine.launched if batch.id in engine.spools} == {Stage.FIRMWARE}


def test_a_batch_holds_no_more_nodes_than_the_settings_say(make_world: Callable[..., World]) -> None:
    """What waits for a fork must not eat its own deadline."""
    world = make_world(count=5)
    world.settings = world.settings.model_copy(update={"batch_nodes": 2})
    tick(world, 1000.0)
    engine = world.engine
    assert isinstance(engine, Scripted)
    assert sorted(len(batch.runs) for batch in engine.launched) == [1, 2, 2]


def test_what_a_person_asks_for_is_not_held_back_by_the_budget(make_world: Callable[..., World]) -> None:
    """Two reboots at once, because somebody wants them."""
    world = make_world(count=2)
    now = played(world, in_state(State.PRODUCTION))
    for name in ("gpu-01", "gpu-02"):
        world.store.leave_intent(name, Wish.REBOOT, "ann", now=now)
    engine = world.engine
    assert isinstance(engine, Scripted)
    seen = 0
    for _ in range(12):
        now += 5
        engine.state = BatchState.RUNNING if seen else BatchState.ENDED
        tick(world, now)
        seen = max(seen, sum(node.state is State.REBOOT for node in world.store.nodes()))
    assert seen == 2


def test_a_fault_everywhere_does_not_empty_a_small_fleet(make_world: Callable[..., World]) -> None:
    """One node in triage shows it; a person decides about the rest."""
    world = make_world(count=4)
    now = played(world, in_state(State.PRODUCTION))
    sick = Finding("gpu.remap", "GPU 1", "GPU 1 is broken.", Remedy.TRIAGE, "f")
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = lambda _node, _stage: (Result("gpu_errors", Verdict.FAIL, "broken", (sick,)), IDLE)
    for _ in range(150):
        now += 5
        tick(world, now)
    assert sum(node.state is State.TRIAGE for node in world.store.nodes()) == 1


def test_the_fleet_goes_on_when_the_source_cannot_be_read(make_world: Callable[..., World]) -> None:
    """With the last good copy; without one there is nothing to go on with."""
    world = make_world()
    world.source_seconds = 0.0
    tick(world, 1000.0)

    def broken() -> Fleet:
        raise SourceError("devices.yml:3: unknown device type")

    world.read_source = broken
    tick(world, 1001.0)
    world.fleet = None
    with pytest.raises(SourceError, match="unknown device type"):
        tick(world, 1002.0)


@given(st.lists(st.sampled_from(["pass", "fail", "silent", "lost"]), min_size=1, max_size=12))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_plays_say_no_node_skips_burn_in(make_world: Callable[..., World], fate: list[str]) -> None:
    """Random ends of plays, a real store: production only after a burn-in that passed."""
    world = make_world()
    engine = world.engine
    assert isinstance(engine, Scripted)
    now = 1000.0
    for word in fate * 4:
        engine.state = BatchState.LOST if word == "lost" else BatchState.ENDED
        answers = {"pass": (GOOD,), "fail": (SWAP,)}.get(word)
        engine.script = lambda _node, _stage, answers=answers: answers
        now += 700
        tick(world, now)
        for node in world.store.nodes():
            if node.state is State.ONBOARD:
                world.store.leave_intent(node.name, Wish.CERTIFY, "tech", reason="", detail="", now=now)
    steps = [(entry.state, entry.to) for entry in world.store.history("gpu-01") if entry.kind == "transition"]
    assert all(came in {State.BURN_IN, State.REBOOT} for came, to in steps if to is State.PRODUCTION)
    assert timing(world.settings).retry == 10


def test_time_spent_held_does_not_count_and_wishes_are_answered(make_world: Callable[..., World]) -> None:
    """A node held past its deadline goes on when it is released."""
    world = make_world(lambda _node, stage: None if stage is Stage.PROVISION else (GOOD,))
    tick(world, 1000.0)
    hold = world.store.leave_intent("gpu-01", Wish.HOLD, "ann", reason="visitors", now=1001.0)
    assert world.store.answer(hold) is None
    tick(world, 1005.0)
    assert world.store.answer(hold) == (True, "Held: nothing moves it until it is released.")
    tick(world, 9000.0)
    assert world.store.nodes()[0].state is State.PROVISION
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.script = all_good
    world.store.leave_intent("gpu-01", Wish.RELEASE, "ann", now=9001.0)
    assert world.store.released_at("gpu-01") == 0.0
    tick(world, 9005.0)
    assert world.store.released_at("gpu-01") == 9005.0
    tick(world, 9010.0)
    assert world.store.nodes()[0].state is State.ONBOARD
