"""A store with nodes, a stand-in NetBox with their pages, and what tells it, with a clock of their own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fleet_runner.adapters import netbox
from fleet_runner.adapters.netbox.client import Client
from fleet_runner.adapters.netbox.selections import plain
from fleet_runner.adapters.store import Store
from fleet_runner.core.inventory.records import Device, DeviceType, Fleet, Part
from fleet_runner.core.lifecycle.actions import Decision, Move
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import TRANSITIONS, Event
from fleet_runner.reconcile.inventory.netbox_mirror.fields import FieldsMirror
from fleet_runner.reconcile.inventory.netbox_mirror.journal import JournalMirror
from fleet_runner.reconcile.inventory.netbox_mirror.serials import SerialsMirror
from tests.netbox.api import Answer, Request
from tests.netbox.site import put
from tests.netbox.standin import TOKEN, Standin

QUICK = netbox.Timeouts(connect_seconds=30, read_seconds=60, retries=1, backoff_seconds=0.01)
NAMES = ("gpu-01", "gpu-02", "gpu-03")
PARTS = (Part("GPU 1", "gpu", "H100", "S-1"), Part("HCA 1", "hca", "CX7", "C-1"))


@dataclass(slots=True)
class Told:
    """A store and the NetBox that it is told to; `now` is everybody's clock."""

    store: Store
    standin: Standin
    token: str = TOKEN
    now: float = 1_763_800_000.0
    fields: FieldsMirror = field(init=False)
    journal: JournalMirror = field(init=False)
    serials: SerialsMirror = field(init=False)

    def __post_init__(self) -> None:
        """Open what tells it."""
        common = (self.store, self.standin.url, self.session, lambda: self.now)
        self.fields, self.journal, self.serials = (
            FieldsMirror(*common),
            JournalMirror(*common),
            SerialsMirror(*common),
        )

    def session(self) -> Client:
        """Open a session with the NetBox."""
        return Client(self.standin.url, self.token, QUICK)

    def turn(self, later: float = 10.0) -> int:
        """Let some time pass, and each tell what is due; return how much was told."""
        self.now += later
        return self.fields.visit() + self.journal.visit() + self.serials.visit()

    def move(self, node: str, event: Event) -> None:
        """Move a node."""
        row = self.store.node(node)
        assert row is not None
        self.store.apply(row, Decision((Move(TRANSITIONS[row.state, event], "runner"),), "", 0.0), self.now)

    def say(self, node: str, reason: str) -> None:
        """Have something happen to a node."""
        self.store.leave_intent(node, IntentKind.HOLD, "ada", reason=reason, now=self.now)

    def page(self, node: str) -> dict[str, Any]:
        """Return the custom fields of a node's page."""
        found: dict[str, Any] = plain(self.standin.row("dcim/devices", name=node))["custom_fields"]
        return found

    def edit(self, node: str, **fields: Any) -> None:
        """Have a person set custom fields of a node's page."""
        number = self.standin.row("dcim/devices", name=node)["id"]
        self.standin.edit("dcim/devices", number, by="maria", custom_fields=fields)

    def breaks(self, method: str, node: str) -> None:
        """Have each change of a kind that is about a node's device be an error in NetBox."""
        number, real = self.standin.row("dcim/devices", name=node)["id"], self.standin.api.answer

        def answer(request: Request) -> Answer:
            about = [row.get("assigned_object_id", row.get("id")) for row in request.body or ()]
            broken = request.method == method and number in about
            return Answer(500, {"error": "broken"}) if broken else real(request)

        self.standin.api.answer = answer  # type: ignore[method-assign]  # as nothing but a program's error does it

    def once(self, act: Callable[[], object]) -> None:
        """Have somebody else act right before the next change."""
        acts = [act]
        self.standin.meanwhile = lambda: acts.pop()() if acts else None

    def entries(self, node: str) -> list[str]:
        """Return the sentences in a node's journal, as they were written, oldest first."""
        number = self.standin.row("dcim/devices", name=node)["id"]
        rows = self.standin.rows("extras/journal-entries")
        blocks = [row["comments"].split("\n") for row in rows if row["assigned_object_id"] == number]
        # Between the fences: the sentence, in lines that fit, and who and when.
        return [" ".join(lines[1 : lines.index(lines[0].removesuffix("text"), 1) - 1]) for lines in blocks]

    def standing(self, of: str) -> str:
        """Return why one kind of news waits."""
        return self.store.tracker(f"netbox {of}").detail


def fleet() -> Fleet:
    """Return the fleet that the NetBox is about."""
    kind = DeviceType("hgx", "Maker", "HGX", 8.0)
    devices = {name: Device(name, "hgx", "gpu-server", "hall-1", parts=PARTS) for name in NAMES}
    return Fleet(("hall-1",), {}, {"hgx": kind}, devices, ())


@cache
def empty() -> bytes:
    """Return an empty store: migrating once is enough."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.db"
        Store.create(f"sqlite:///{path}").close()
        return path.read_bytes()


@contextmanager
def told(standin: Standin, folder: Path) -> Iterator[Told]:
    """Set all of it up."""
    put(standin, fleet())
    (folder / "fleet.db").write_bytes(empty())
    with Store.open(f"sqlite:///{folder / 'fleet.db'}") as store:
        made = Told(store, standin)
        store.register(fleet().devices.values(), made.now)
        yield made
