"""A folder of site files pushed into a NetBox: what is missing made, what differs changed, nothing taken out."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from fleet_runner.adapters.netbox.client import Client, Timeouts
from fleet_runner.adapters.netbox.push.addresses import ips, macs
from fleet_runner.adapters.netbox.push.bodies import PATHS, sent
from fleet_runner.adapters.netbox.push.ids import Ids
from fleet_runner.adapters.netbox.push.modules import modules
from fleet_runner.adapters.netbox.push.sending import Sent, send
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.netbox.custom_fields import MANAGEMENT
from fleet_runner.core.inventory.netbox.push import Plan, plan
from fleet_runner.core.inventory.netbox.push.cables import passed
from fleet_runner.core.inventory.netbox.push.step import Kind, Step
from fleet_runner.core.inventory.records import Fleet, Management

INSIDE = frozenset({Kind.INTERFACE, Kind.MAC, Kind.ADDRESS, Kind.PART, Kind.REAR, Kind.FRONT})
"""Kinds that are put into a device."""

Tell = Callable[[str, int, int], None]
"""Told what is written, how much of it is, and how much of it there is."""


@dataclass(slots=True)
class Pushed:
    """What came of a push: how many of each kind were written, and what was not and why.

    `waiting` counts what needs something that could not be written.
    """

    done: dict[Kind, int] = field(default_factory=dict[Kind, int])
    waiting: int = 0
    conflicts: list[str] = field(default_factory=list[str])


class Push:
    """A push into one NetBox: first planned, then done."""

    def __init__(self, client: Client, wanted: Fleet) -> None:
        self.client, self.wanted = client, wanted
        self.ids = Ids(client)
        self._unmade: set[str] = set()  # new devices that are not made yet, or that NetBox did not take

    def plan(self, has: Fleet) -> Plan:
        """Plan what is missing and what differs in a NetBox that says `has`."""
        types = {**has.device_types, **self.ids.device_types(self.wanted.device_types)}
        managed = [each for each in self.wanted.devices.values() if each.management is not Management.FULL]
        if managed and not self.client.rows("extras/custom-fields", "id,name", name=[MANAGEMENT]):
            text = f"it has no custom field {MANAGEMENT}, which {managed[0].name} needs"
            raise SourceError(f"{self.client.url}: {text}; run fleet-runner netbox init first")
        known = replace(self.ids.known(), ports=self.ids.read_panels(passed(self.wanted, has)))
        return plan(self.wanted, replace(has, device_types=types), known)

    def do(self, planned: Plan, tell: Tell) -> Pushed:
        """Write what is planned; raise SourceError where NetBox cannot be written at all."""
        pushed = Pushed(conflicts=list(planned.conflicts))
        self._unmade = {step.key[0] for step in planned.steps if step.kind is Kind.DEVICE and step.was is None}
        for kind in Kind:
            steps = [step for step in planned.steps if step.kind is kind]
            ready = [step for step in steps if self._unmade.isdisjoint(_inside(step))]
            pushed.waiting += len(steps) - len(ready)
            if ready:
                try:
                    self._kind(kind, ready, pushed, tell)
                except SourceError as error:
                    done = f"{sum(pushed.done.values())} of {len(planned.steps)} are written"
                    raise SourceError(f"{error}; {done}; push again to continue") from error
        return pushed

    def _kind(self, kind: Kind, steps: list[Step], pushed: Pushed, tell: Tell) -> None:
        pushed.done[kind] = 0
        tell(str(kind), 0, len(steps))

        def count(number: int) -> None:
            pushed.done[kind] += number
            tell(str(kind), pushed.done[kind], len(steps))

        if kind is Kind.MAC:
            pushed.conflicts += macs(self.client, self.ids, steps, count)
        elif kind is Kind.ADDRESS:
            pushed.conflicts += ips(self.client, self.ids, steps, count)
        else:
            if kind is Kind.PART:
                sorted_ = modules(self.client, self.ids, steps, count)
                pushed.conflicts += sorted_.conflicts
                steps = sorted_.items
            self._read(kind, steps)
            for some in ([s for s in steps if s.was is None], [s for s in steps if s.was is not None]):
                self._send(kind, some, pushed, count)

    def _read(self, kind: Kind, steps: Sequence[Step]) -> None:
        """Read the ids that steps of a kind will need."""
        owners = {step.key[0] for step in steps}
        if kind in {Kind.CABLE, Kind.CORD}:
            self.ids.read_interfaces(owners | {name for step in steps for name in step.key[2::2]})
        elif kind in {Kind.FRONT, Kind.REAR}:
            self.ids.read_panels(owners)
        elif kind is Kind.INTERFACE:
            self.ids.read_interfaces(owners)
        elif kind is Kind.PART:
            self.ids.read_parts(owners)
        elif kind is Kind.DEVICE:
            self.ids.read_contexts([step.key[0] for step in steps if step.was and "context" in step.values])

    def _send(self, kind: Kind, steps: Sequence[Step], pushed: Pushed, count: Callable[[int], None]) -> None:
        known = {step.name: step for step in steps}
        ready: list[Sent] = []
        for step in steps:
            if kind is Kind.PART and step.was is None and step.key in self.ids.of(kind):  # NetBox would take two
                pushed.conflicts.append(f"{step.name}: somebody else created it meanwhile; push again")
                continue
            try:
                ready.append(sent(step, self.ids))
            except KeyError:  # the id of something that could not be made, or whose name several have
                pushed.waiting += 1

        def made(each: Sent, number: int) -> None:
            if kind is Kind.DEVICE:
                self._unmade.discard(known[each.name].key[0])
            if kind not in {Kind.CABLE, Kind.CORD}:
                self.ids.of(kind)[known[each.name].key] = number
            count(1)

        pushed.conflicts += send(self.client, PATHS[kind], ready, made)


def _inside(step: Step) -> tuple[str, ...]:
    """Return the devices that something is put into: who did not make them may be one of two pushes at once."""
    if step.kind in {Kind.CABLE, Kind.CORD}:
        return step.key[::2]
    return step.key[:1] if step.kind in INSIDE else ()


@contextmanager
def opened(url: str, token: str, wanted: Fleet, patience: Timeouts | None = None) -> Iterator[Push]:
    """Open a push of a fleet into a NetBox."""
    with Client(url, token, patience or Timeouts()) as client:
        try:
            yield Push(client, wanted)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            text = f"an answer has an unexpected format ({type(error).__name__}: {error}), expected that of NetBox 4"
            raise SourceError(f"{client.url}: {text}") from error
