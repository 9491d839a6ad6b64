"""A stand-in NetBox in whose pages people ask, and runners that take that into a store."""

from collections.abc import Callable
from dataclasses import dataclass

from fleet_runner.adapters.netbox import Timeouts
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.netbox.selections import plain
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet
from fleet_runner.reconcile.inventory.page_intents import PageIntentReader
from tests.netbox.site import put
from tests.netbox.standin import Standin

NAMES = ("gpu-1", "gpu-2", "gpu-3")
SERVERS = {name: Device(name, "hgx", "gpu-server", "hall") for name in NAMES}
FLEET = Fleet(
    ("hall",),
    {},
    {"hgx": DeviceType("hgx", "NVIDIA", "HGX", 8.0, (), full_depth=True)},
    SERVERS | {"leaf-1": Device("leaf-1", "hgx", "leaf", "hall")},
    (),
    "1",
)
MAY = {
    "dcim.device": ("view", "change"),
    "core.objectchange": ("view",),
    "extras.journalentry": ("view", "add"),
}
QUICK = Timeouts(30.0, 60.0, 0, 0.01)


@dataclass
class Desk:
    """A NetBox, a store, and runners that take requests from the one into the other."""

    netbox: Standin
    store: Store
    woken: int = 0
    now: float = 2e9

    def __post_init__(self) -> None:
        """Give the runners a token."""
        put(self.netbox, FLEET)
        self.store.register([each for each in FLEET.devices.values() if each.role == "gpu-server"], 1.0)
        self.token = self.netbox.token_of("fleet-runner", MAY)

    def runner(self) -> PageIntentReader:
        """Another runner."""
        return PageIntentReader(self.store, self.netbox.url, self.session, self.wake, self.clock)

    def session(self) -> Client:
        """A session of a runner's."""
        return Client(self.netbox.url, self.token, QUICK)

    def wake(self) -> None:
        """The reconciler's bell."""
        self.woken += 1

    def clock(self) -> float:
        """The store's clock."""
        self.now += 1.0
        return self.now

    def meanwhile(self, act: Callable[[], object]) -> None:
        """Have somebody act right before the next change."""

        def once() -> None:
            self.netbox.meanwhile = lambda: None
            act()

        self.netbox.meanwhile = once

    def device(self, name: str) -> int:
        """The number of a device."""
        return int(self.netbox.row("dcim/devices", name=name)["id"])

    def ask(self, name: str, intent: str, reason: str = "", by: str = "alice") -> None:
        """Set a device's fields as somebody would in its page."""
        fields = {"fleet_wish": intent or None, "fleet_wish_reason": reason}
        self.netbox.edit("dcim/devices", self.device(name), by=by, custom_fields=fields)

    def stands(self, name: str) -> tuple[str, str]:
        """What stands in a device's fields."""
        held = plain(self.netbox.row("dcim/devices", name=name))["custom_fields"]
        return held["fleet_wish"] or "", held["fleet_wish_reason"] or ""

    def asked(self, name: str = "gpu-1") -> list[tuple[str, str, str]]:
        """Who asked what of a node, and why, oldest first."""
        return [(each.by, each.kind.value, each.reason) for each in self.store.intents(name)]

    def journal(self, name: str) -> list[str]:
        """What stands in a device's journal, its lines run together."""
        return [
            " ".join(row["comments"].split())
            for row in self.netbox.rows("extras/journal-entries", assigned_object_id=self.device(name))
        ]
