"""Which machine a node is, round by round: a fleet that serves loses nothing to a name or a number in its source."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from types import MappingProxyType
from typing import Any

import pytest

from fleet_runner.core.budgets.modes import READING
from fleet_runner.core.inventory.records import Device, Fleet, Interface
from fleet_runner.core.lifecycle.intents import RECORD
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from tests.reconcile.scripted import (
    IDLE,
    SWAP,
    XID,
    Scripted,
    a_fleet,
    all_good,
    in_service,
    in_state,
    pass_time,
    played,
)

Maker = Callable[..., TickContext]


def described(count: int) -> Fleet:
    """Servers with serials, BMC addresses and MAC addresses."""
    fleet = a_fleet(count)
    devices = {
        name: replace(
            each,
            serial=f"S-{number}",
            oob_address=f"10.0.0.{number}/24",
            interfaces=(Interface("eth0", "", f"02:00:00:00:00:{number:02x}"),),
        )
        for number, (name, each) in enumerate(fleet.devices.items(), 1)
    }
    return replace(fleet, devices=devices)


@dataclass
class Source:
    """A source of truth that people edit."""

    fleet: Fleet
    revisions: Any = field(default_factory=lambda: count(2))

    def __call__(self) -> Fleet:
        """Read it."""
        return self.fleet

    def say(self, *devices: Device) -> None:
        """Have it say just these devices from now on."""
        named = MappingProxyType({each.name: each for each in devices})
        self.fleet = replace(self.fleet, devices=named, revision=str(next(self.revisions)))


@pytest.fixture
def serving(make_world: Maker) -> tuple[TickContext, Source, float]:
    """Three nodes that serve, and are looked at."""
    source = Source(described(3))
    world = make_world(script=lambda _node, stage: (IDLE,) if stage is Stage.HEALTH_PASSIVE else all_good("", stage))
    world.read_source = source
    now = standing(world)
    return world, source, pass_time(world, now, 60)


def standing(world: TickContext, state: State = State.PRODUCTION) -> float:
    """Have every node be in a state, as if nothing had ever been done to it; return the time."""
    now = in_service(world, state)
    engine = world.engine
    assert isinstance(engine, Scripted)
    engine.launched.clear()
    return now


def stages(world: TickContext) -> set[Stage]:
    """Which stages were ever begun."""
    engine = world.engine
    assert isinstance(engine, Scripted)
    return {batch.stage for batch in engine.launched}


def states(world: TickContext) -> dict[str, State]:
    """Where every node is."""
    return {node.name: node.state for node in world.store.nodes()}


def waits(world: TickContext, name: str) -> str:
    """What a node waits for."""
    found = world.store.node(name)
    assert found is not None
    return found.waiting


def settled(world: TickContext, now: float, seconds: float = 450) -> float:
    """Let some sweeps pass; whatever happened to names and numbers, nothing but looking was done."""
    now = pass_time(world, now, seconds, pause=45)
    while world.store.open_runs():
        now = pass_time(world, now, 5, pause=5)
    assert stages(world) <= READING, stages(world)
    return now


def test_a_renamed_node_that_serves_keeps_its_state_and_history_and_is_not_touched(
    serving: tuple[TickContext, Source, float],
) -> None:
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    before = [entry.sentence for entry in world.store.history(one.name)]
    source.say(replace(one, name="rack-7-gpu-01"), *others)
    settled(world, now)
    assert states(world) == dict.fromkeys(["gpu-02", "gpu-03", "rack-7-gpu-01"], State.PRODUCTION)
    kept = [entry.sentence for entry in world.store.history("rack-7-gpu-01")]
    assert kept[: len(before)] == before
    assert "Renamed from gpu-01 to rack-7-gpu-01: same serial S-1." in kept
    assert world.store.runs("rack-7-gpu-01", since=now)


def test_a_renamed_node_keeps_its_open_ticket_and_the_next_look_closes_it(make_world: Maker) -> None:
    seen = [SWAP, IDLE]
    source = Source(described(1))
    world = make_world(script=lambda _node, stage: tuple(seen) if stage is not Stage.VERIFY else (SWAP,))
    world.read_source = source
    now = standing(world, State.TRIAGE)
    world.store.leave_intent("gpu-01", IntentKind.RUN, "ann", reason="", detail="health_passive", now=now)
    now = pass_time(world, now, 30)
    (ticket,) = world.store.tickets()
    source.say(replace(source.fleet.devices["gpu-01"], name="gpu-99"))
    now = pass_time(world, now, 30)
    assert [(each.id, each.nodes) for each in world.store.tickets()] == [(ticket.id, ("gpu-99",))]


def test_two_nodes_whose_names_are_exchanged_keep_their_own_state(serving: tuple[TickContext, Source, float]) -> None:
    world, source, now = serving
    one, two, three = source.fleet.devices.values()
    world.store.leave_intent("gpu-01", IntentKind.HOLD, "ann", reason="on loan", detail="", now=now)
    now = pass_time(world, now, 30)
    source.say(replace(one, name="gpu-02"), replace(two, name="gpu-01"), three)
    settled(world, now)
    assert set(states(world).values()) == {State.PRODUCTION}
    assert "held by ann: on loan" in waits(world, "gpu-02")
    assert waits(world, "gpu-01") == ""
    assert "Renamed from gpu-01 to gpu-02: same serial S-1." in [e.sentence for e in world.store.history("gpu-02")]


def test_a_name_that_is_given_while_a_run_is_open_waits_for_its_end(
    serving: tuple[TickContext, Source, float],
) -> None:
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    while not world.store.open_runs(["gpu-01"]):
        now += 5
        tick(world, now)
    source.say(replace(one, name="gpu-99"), *others)
    world.fleet_read_at = 0.0
    engine = world.engine
    assert isinstance(engine, Scripted)
    world.engine = replace(engine, state=type(engine.state).RUNNING)
    for _ in range(3):
        now += 5
        tick(world, now)
    assert set(states(world)) == {"gpu-01", "gpu-02", "gpu-03"}
    world.engine = engine
    settled(world, now)
    assert states(world) == dict.fromkeys(["gpu-02", "gpu-03", "gpu-99"], State.PRODUCTION)


def test_another_serial_under_the_same_name_stops_all_but_looking_until_the_source_is_corrected(
    serving: tuple[TickContext, Source, float],
) -> None:
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    source.say(replace(one, serial="S-77"), *others)
    now = settled(world, now)
    assert states(world)["gpu-01"] is State.PRODUCTION
    assert waits(world, "gpu-01").startswith("its serial was S-1, the source of truth says S-77 now")
    assert "fleet-runner rma replaced gpu-01" in waits(world, "gpu-01")
    assert waits(world, "gpu-02") == ""
    source.say(one, *others)
    settled(world, now)
    assert waits(world, "gpu-01") == ""


def test_a_fault_on_a_node_with_another_serial_takes_no_power_away(make_world: Maker) -> None:
    source = Source(described(1))
    world = make_world(script=lambda _node, _stage: (XID, IDLE))
    world.read_source = source
    now = standing(world)
    tick(world, now)
    source.say(replace(source.fleet.devices["gpu-01"], serial="S-77"))
    world.fleet_read_at = 0.0
    world.store.wake(["gpu-01"])
    settled(world, now)
    assert states(world) == {"gpu-01": State.PRODUCTION}


@pytest.mark.parametrize("state", [State.REGISTERED, State.FIRMWARE, State.BURN_IN, State.REBOOT, State.PROVISION])
def test_another_serial_starts_no_boot_no_flash_and_no_load(make_world: Maker, state: State) -> None:
    source = Source(described(1))
    world = make_world()
    world.read_source = source
    now = standing(world, State.TRIAGE)
    source.say(replace(source.fleet.devices["gpu-01"], serial="S-77"))
    world.store.leave_intent(
        "gpu-01", IntentKind.HOLD, "ann", now=now
    )  # only so that the state can be set in between
    now = pass_time(world, now, 20)
    standing(world, state)
    world.store.leave_intent("gpu-01", IntentKind.RELEASE, "ann", now=now)
    settled(world, now)
    assert states(world) == {"gpu-01": state}


def test_a_replaced_chassis_begins_anew_at_onboard_and_earns_production(make_world: Maker) -> None:
    source = Source(described(1))
    world = make_world()
    world.read_source = source
    now = standing(world, State.RMA)
    source.say(replace(source.fleet.devices["gpu-01"], serial="S-77"))
    now = pass_time(world, now, 30)
    intent = world.store.leave_intent("gpu-01", IntentKind.REPLACED, "ann", now=now)
    now = pass_time(world, now, 10)
    said = world.store.answer(intent)
    assert said is not None
    assert said[0], said[1]
    assert states(world) == {"gpu-01": State.ONBOARD}
    assert world.store.machine("gpu-01").serial == "S-77"
    assert "Its machine has serial S-77 from now on." in [e.sentence for e in world.store.history("gpu-01")]
    played(world, in_state(State.PRODUCTION), now=now)


def test_where_only_the_record_was_wrong_the_node_serves_on(serving: tuple[TickContext, Source, float]) -> None:
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    source.say(replace(one, serial="S-77"), *others)
    now = pass_time(world, now, 60)
    world.store.leave_intent("gpu-01", IntentKind.REPLACED, "ann", detail=RECORD, now=now)
    settled(world, now)
    assert (states(world)["gpu-01"], waits(world, "gpu-01")) == (State.PRODUCTION, "")
    assert world.store.machine("gpu-01").serial == "S-77"


def test_a_chassis_replaced_under_a_serving_node_is_drained_before_it_begins_anew(
    serving: tuple[TickContext, Source, float],
) -> None:
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    source.say(replace(one, serial="S-77"), *others)
    now = pass_time(world, now, 60)
    world.store.leave_intent("gpu-01", IntentKind.REPLACED, "ann", now=now)
    pass_time(world, now, 600)
    assert states(world) == {"gpu-01": State.TRIAGE, "gpu-02": State.PRODUCTION, "gpu-03": State.PRODUCTION}


@pytest.mark.parametrize("name", ["gpu-02", "gpu-99"])
def test_two_records_of_one_machine_stop_both_until_one_is_corrected(
    serving: tuple[TickContext, Source, float], name: str
) -> None:
    world, source, now = serving
    one, two, three = source.fleet.devices.values()
    right = [one, two, three] if name == "gpu-02" else [one, two, three, replace(three, name=name, serial="S-9")]
    wrong = [each for each in right if each.name != name] + [
        replace(two, name=name, serial="S-1", oob_address=None, interfaces=())
    ]
    source.say(*wrong)
    now = settled(world, now)
    for each in ("gpu-01", name):
        assert f"has one machine as gpu-01 and {name}: they have the same serial S-1" in waits(world, each)
    if name == "gpu-99":
        assert states(world)[name] is State.REGISTERED
    source.say(one, two, three)
    settled(world, now)
    assert waits(world, "gpu-01") == ""


def test_a_new_record_of_a_serving_machine_that_nothing_settles_is_never_booted(
    serving: tuple[TickContext, Source, float],
) -> None:
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    source.say(*others, replace(one, name="gpu-99", serial=None, interfaces=()))
    settled(world, now)
    assert states(world)["gpu-99"] is State.REGISTERED
    assert "may be the machine of gpu-01, which has the same BMC address 10.0.0.1" in waits(world, "gpu-99")


def test_a_device_that_is_deleted_and_added_again_keeps_its_node(serving: tuple[TickContext, Source, float]) -> None:
    world, source, now = serving
    devices = tuple(source.fleet.devices.values())
    source.say(*devices[1:])
    now = settled(world, now)
    assert states(world)["gpu-01"] is State.PRODUCTION
    source.say(*devices)
    settled(world, now)
    assert states(world) == dict.fromkeys(["gpu-01", "gpu-02", "gpu-03"], State.PRODUCTION)
    assert not [entry for entry in world.store.history("gpu-01") if entry.kind == "identity"]


@pytest.mark.parametrize(
    "changed", [{"role": "storage"}, {"status": "offline"}, {"status": "planned"}], ids=["role", "offline", "planned"]
)
def test_a_role_or_status_that_is_changed_and_changed_back_costs_nothing(
    serving: tuple[TickContext, Source, float], changed: dict[str, str]
) -> None:
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    for _ in range(2):
        source.say(replace(one, **changed), *others)  # type: ignore[arg-type]  what a person changes
        now = settled(world, now)
        source.say(one, *others)
        now = settled(world, now)
    assert states(world) == dict.fromkeys(["gpu-01", "gpu-02", "gpu-03"], State.PRODUCTION)


def test_a_source_that_answers_with_half_the_fleet_and_then_with_all_costs_nothing(
    serving: tuple[TickContext, Source, float],
) -> None:
    world, source, now = serving
    devices = tuple(source.fleet.devices.values())
    for half in (devices[:1], devices[1:], ()):
        source.say(*half)
        now = settled(world, now)
        source.say(*devices)
        now = settled(world, now)
    assert states(world) == dict.fromkeys(["gpu-01", "gpu-02", "gpu-03"], State.PRODUCTION)
    assert not [e for name in states(world) for e in world.store.history(name) if e.kind == "identity"]


def test_who_reads_the_source_anew_refuses_the_same(
    serving: tuple[TickContext, Source, float], make_world: Maker
) -> None:
    """What is refused is kept nowhere: it follows from the store and the source."""
    world, source, now = serving
    one, *others = source.fleet.devices.values()
    source.say(replace(one, serial="S-77"), *others)
    now = pass_time(world, now, 60)
    again = TickContext(world.settings, world.store, source, Scripted(all_good))
    world.store.wake_all()
    settled(again, now)
    assert "says S-77 now" in waits(again, "gpu-01")
