"""A store, a tracker on loopback and a sender between the two, with a clock of their own."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.trackers import Access, Tracker, opened
from fleet_runner.adapters.trackers.wire import Limits
from fleet_runner.core.inventory.records import Device, Fleet
from fleet_runner.core.lifecycle.actions import CloseTicket, Decision, OpenTicket
from fleet_runner.core.tickets.trackers.configuration import Configured, TrackerKind
from fleet_runner.reconcile.tickets.outbox import OutboxSender
from tests.adapters.trackers.code_hosts import GitHubRemote, GitLabRemote
from tests.adapters.trackers.desks import JiraRemote, Receiver, ServiceNowRemote
from tests.adapters.trackers.remote import TOKEN, Remote, Seen, serving

HOUR = 3600.0
BEGAN = 1_700_000_000.0
NODES = tuple(Device(f"gpu-0{number}", "hgx", "gpu-server", "hall-1", rack="A03") for number in (1, 2, 3))
FLEET = Fleet(devices={device.name: device for device in NODES}, device_types={}, cables=(), racks={}, sites=())

KINDS: dict[str, Callable[[], Remote]] = {
    "jira-cloud": lambda: JiraRemote(cloud=True),
    "jira-server": lambda: JiraRemote(cloud=False),
    "servicenow": ServiceNowRemote,
    "github": GitHubRemote,
    "gitlab": GitLabRemote,
    "webhook": Receiver,
}

GIVEN: dict[str, dict[str, Any]] = {
    "jira-cloud": {"kind": TrackerKind.JIRA, "project": "OPS", "user": "bot@halls.example"},
    "jira-server": {"kind": TrackerKind.JIRA, "project": "OPS"},
    "servicenow": {
        "kind": TrackerKind.SERVICENOW, "project": "incident", "done": "6", "again": "2", "close_code": "Solved",
    },
    "github": {"kind": TrackerKind.GITHUB, "project": "acme/halls"},
    "gitlab": {"kind": TrackerKind.GITLAB, "project": "acme/halls"},
    "webhook": {"kind": TrackerKind.WEBHOOK},
}  # fmt: skip

LIMITS = Limits(connect=30.0, read=30.0, whole=60.0)
HASTY = Limits(connect=30.0, read=1.0, whole=60.0)
"""Where an answer that comes too late is what is tested."""


class Bench:
    """What the tests move: sightings and proofs on one side, faults on the other, time between."""

    def __init__(self, store: Store, remote: Remote, kind: str, folder: Path) -> None:
        self.now = BEGAN
        self.store = store
        self.remote = remote
        remote.now = lambda: self.now
        (folder / "token").write_text(TOKEN + "\n")
        (folder / "token").chmod(0o600)
        self.of = Configured(name="desk", url=remote.url, token_file="token", **GIVEN[kind])
        self.limits = LIMITS
        self.sender = self.another(folder)
        store.register(NODES, BEGAN - 10.0)

    def another(self, folder: Path) -> OutboxSender:
        """A sender of another process."""
        return OutboxSender(self.of, self.store, folder, self._opened, lambda: self.now)

    def _opened(self, of: Configured, access: Access) -> Tracker:
        return opened(of, Access(access.token, access.verify, self.limits))

    def see(self, fault: str = "gpu-01/disk", **changed: Any) -> int:
        """See a fault on gpu-01; return its ticket's number."""
        given: dict[str, Any] = {"check": "disks", "title": f"gpu-01: {fault} is worn out", "remedy": "TRIAGE"}
        given |= {"body": f"gpu-01, hall-1 rack A03 U12.\n1. Replace {fault}.", "nodes": ("gpu-01",), "at": self.now}
        self._apply(OpenTicket(fault, **given | changed))
        return next(ticket.id for ticket in self.store.tickets() if ticket.fault == fault)

    def prove(self, number: int, because: str = "disks on gpu-01: all well") -> None:
        """Have a check close a ticket."""
        self._apply(CloseTicket(number, because))

    def _apply(self, *actions: OpenTicket | CloseTicket) -> None:
        node = self.store.node("gpu-01")
        assert node is not None
        self.store.apply(node, Decision(actions, "", 0.0), self.now)

    def send(self, seconds: float = 0.0) -> int:
        """Let time go by, then look into the outbox once."""
        self.now += seconds
        return self.sender.visit(FLEET)

    def settle(self) -> None:
        """Look until nothing waits any more, an hour apart."""
        for _ in range(40):
            if not self.store.untold("desk"):
                return
            self.send(HOUR)
        raise AssertionError(self.store.untold("desk"))

    def why(self) -> str:
        """Why the tracker is left alone, or else the first ticket that waits."""
        return self.store.tracker("desk").detail or next((link.detail for link in self.store.untold("desk")), "")

    def only(self) -> Seen:
        """The one issue that there is."""
        (issue,) = self.remote.seen()
        return issue


@contextmanager
def bench(kind: str, url: str, folder: Path) -> Iterator[Bench]:
    """A bench with one kind of tracker on a store of its own."""
    with serving(KINDS[kind]()) as remote, Store.open(url) as store:
        yield Bench(store, remote, kind, folder)
