"""After a fabric's sweep, planned cables in a NetBox whose owner wants that: from the sweep to the NetBox's rows."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters import source
from fleet_runner.adapters.store import Store
from fleet_runner.core.budgets.modes import Mode, Scope, Setting
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result, Verdict
from fleet_runner.core.inventory.records import Cable, Device, DeviceType, Fleet, Interface, Termination
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.reconcile.loop.context import TickContext
from fleet_runner.reconcile.loop.control_loop import tick
from fleet_runner.settings import Settings
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin, serving
from tests.reconcile.scripted import Scripted, all_good
from tests.secret import private

FABRIC = "infiniband.hall"
IB = (Interface("1", "infiniband-ndr"), Interface("2", "infiniband-ndr"), Interface("3", "infiniband-ndr"))
TYPE = DeviceType("t", "Maker", "Box", 1.0, IB)
DEVICES = [Device(f"gpu-{at:02}", "t", "gpu-server", "hall", interfaces=IB) for at in (1, 2, 3)]
LEAF = Device("leaf-1", "t", "leaf", "hall", interfaces=IB)
FLEET = Fleet(
    sites=("hall",),
    racks={},
    device_types={"t": TYPE},
    devices={device.name: device for device in (*DEVICES, LEAF)},
    cables=tuple(
        Cable(Termination(f"gpu-{at:02}", "1"), Termination("leaf-1", str(at)), status=status)
        for at, status in ((1, "connected"), (2, "planned"), (3, "connected"))
    ),
)


def sweep(fleet: Fleet, *missed: int) -> Result:
    """What a sweep says that missed the cables of some nodes: planned ones that it saw, and a fault for others."""
    gone = {cable for cable in fleet.cables if int(cable.a.device[-2:]) in missed}
    findings = tuple(
        Finding("cabling.missing", str(cable.a), f"{cable.a} is missing.", Remedy.RECABLE, str(cable.a), (FABRIC,))
        for cable in gone
        if cable.status == "connected"
    )
    placed = [[*cable.a, *cable.b] for cable in fleet.cables if cable.status == "planned" and cable not in gone]
    observed = {"designed": 3, "matched": 3 - len(gone), "placed": placed}
    return Result("fabric_cabling", Verdict.FAIL if findings else Verdict.PASS, "as seen", findings, observed)


class Plant:
    """A NetBox, a world that reads it, and what the next sweep will miss."""

    def __init__(self, standin: Standin, world: TickContext) -> None:
        self.standin, self.world = standin, world
        self.missed: tuple[int, ...] = ()
        self.now = 1000.0
        world.engine = Scripted(self.said)

    def said(self, node: str, stage: Stage) -> tuple[Result, ...]:
        """Sweeps miss what they are told to; every other play passes."""
        if stage is Stage.FABRIC:
            return (sweep(source.read(self.world.settings), *self.missed),)
        return all_good(node, stage)

    def serve(self) -> None:
        """Bring the nodes into production, and the fabric to its first sweeps."""
        for _ in range(60):
            self.tick()
            for node in self.world.store.nodes():
                if node.state is State.ONBOARD and not self.world.store.intents(node.name):
                    self.world.store.leave_intent(
                        node.name, IntentKind.CERTIFY, "tech", reason="", detail="", now=self.now
                    )
        assert {node.state for node in self.world.store.nodes()} == {State.PRODUCTION}

    def sweep(self, *missed: int) -> dict[int, str]:
        """Have the fabric swept now; return the statuses in NetBox afterwards."""
        self.missed = missed
        self.world.store.leave_intent(FABRIC, IntentKind.RUN, "ann", reason="", detail="fabric", now=self.now)
        before = len(self.sweeps())
        for _ in range(10):
            self.tick()
            if len(self.sweeps()) > before:
                return self.statuses()
        raise AssertionError(self.world.store.node(FABRIC))

    def sweeps(self) -> list[int]:
        """The closed sweeps."""
        runs = self.world.store.runs(FABRIC, since=0.0)
        return [run.id for run in runs if run.stage is Stage.FABRIC and run.ended_at is not None]

    def tick(self) -> None:
        """Five seconds go by."""
        self.now += 5
        tick(self.world, self.now)

    def statuses(self) -> dict[int, str]:
        """What the NetBox has."""
        return {row["id"]: row["status"]["value"] for row in self.standin.rows("dcim/cables")}

    def written(self) -> list[int]:
        """How many cables each change was of."""
        return [len(request.body) for request in self.standin.changes]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Plant]]:
    """Make a plant with the setting on or off."""
    token = tmp_path / "token"
    private(token, TOKEN)
    with serving() as standin:
        put(standin, FLEET)
        stores: list[Store] = []

        def plant(*, write: bool = True) -> Plant:
            settings = Settings(
                state_dir=tmp_path,
                source=standin.url,
                source_schedule="every 1s",
                netbox_token_file=token,
                netbox_write_cable_status=write,
            )
            stores.append(Store.create(settings.store_url))
            world = TickContext(settings, stores[-1], lambda: source.read(settings))
            return Plant(standin, world)

        yield plant
        for store in stores:
            store.close()


def test_a_planned_cable_that_is_seen_is_connected_and_nothing_else_is_written(make: Callable[..., Plant]) -> None:
    """Not seen: as it was. Connected, and missed twice: it stays so, and has its ticket."""
    plant = make()
    plant.missed = (2,)
    plant.serve()
    assert plant.statuses() == {1: "connected", 2: "planned", 3: "connected"}
    assert plant.sweep() == {1: "connected", 2: "connected", 3: "connected"}
    for _ in range(2):
        assert plant.sweep(1) == {1: "connected", 2: "connected", 3: "connected"}
    assert plant.written() == [1]
    assert len(plant.world.store.tickets()) == 1


def test_without_the_owners_word_nothing_is_written(make: Callable[..., Plant]) -> None:
    plant = make(write=False)
    plant.serve()
    assert plant.sweep() == {1: "connected", 2: "planned", 3: "connected"}
    assert plant.written() == []


def test_a_netbox_that_cannot_be_written_stops_no_tick_and_is_written_next_time(make: Callable[..., Plant]) -> None:
    plant = make()
    plant.missed = (2,)
    plant.serve()
    good = plant.world.settings
    plant.world.settings = good.model_copy(update={"netbox_token_file": Path("/nowhere/token")})
    plant.world.read_source = lambda: source.read(good)
    engine = plant.world.engine
    plant.world.engine = Scripted(lambda *_: (sweep(source.read(good)),))
    assert plant.sweep()[2] == "planned"
    plant.world.settings, plant.world.engine = good, engine
    assert plant.sweep()[2] == "connected"


def test_a_fabric_that_is_only_observed_changes_no_cable(make: Callable[..., Plant]) -> None:
    plant = make()
    plant.missed = (2,)
    plant.serve()
    plant.world.store.set_mode(Setting(Scope.NODE, FABRIC, None, Mode.OBSERVE, plant.now, "ann"))
    assert plant.sweep()[2] == "planned"
    plant.world.store.set_mode(Setting(Scope.NODE, FABRIC, None, Mode.ADVISE, plant.now, "ann"))
    assert plant.sweep()[2] == "connected"


def set_planned(standin: Standin) -> None:
    """Somebody plans the first cable anew."""
    standin.edit("dcim/cables", 1, status="planned")


def test_a_folder_of_site_files_is_never_written() -> None:
    assert not source.may_be_told(Settings(source="site", netbox_write_cable_status=True))
    assert source.may_be_told(Settings(source="https://netbox.example", netbox_write_cable_status=True))
    assert not source.may_be_told(Settings(source="https://netbox.example"))


def test_a_sweep_that_said_nothing_changes_nothing(make: Callable[..., Plant]) -> None:
    plant = make()
    plant.serve()
    plant.standin.requests.clear()
    set_planned(plant.standin)
    plant.world.engine = Scripted(lambda *_: ())
    assert plant.sweep()[1] == "planned"
    assert plant.written() == []
