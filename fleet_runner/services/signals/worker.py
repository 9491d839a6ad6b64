"""What waits is read, judged and written, a batch to a transaction; then the reconciler's bell rings.

One thread does it. Its desk is told what the store says of the nodes of a batch, in the transaction that writes what
becomes of them: several listeners may run beside each other, and the reconciler clears alarms meanwhile.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from threading import Event

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.adapters.store.faults.alarms import Known, key
from fleet_runner.adapters.store.faults.signals import Judge
from fleet_runner.core.base.errors import FleetError, StoreError, UnwritableError
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.rules.rules import Rules
from fleet_runner.core.faults.signals.alarm import Alarm
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.lags import ClockLags
from fleet_runner.core.faults.signals.memory import Outcome as Became
from fleet_runner.core.faults.signals.speakers import NO_RELAY
from fleet_runner.services.signals.counters import Counts, trouble
from fleet_runner.services.signals.inbox import Delivery, Inbox, Outcome
from fleet_runner.services.signals.inputs import DOORS
from fleet_runner.services.signals.parse import STRANGER, Opened, opened
from fleet_runner.services.signals.senders import Roll

log = structlog.get_logger()

IDLE_SECONDS = 0.5
"""The longest it waits before it looks at what time alone changes."""

COUNTED_SECONDS = 1.0
"""Least time between two writings of the counters."""

AGAIN_SECONDS = 1.0
"""Pause after the store could not be written."""

LATELY = 900.0
"""Seconds for which cleared alarms are remembered by a desk that begins: their signals may come again."""

BEHIND = "clock behind"
"""What is counted of nodes whose signals come late by as much again and again."""

REASONS = {
    Became.REPEATED: "repeated",
    Became.LATE: "late",
    Became.STAYS: "over, stays an hour",
    Became.REFUSED: "refused: too many of one node",
}
"""What is counted of signals that add nothing, beside those that are taken."""

UNKNOWN = frozenset({STRANGER, NO_RELAY})
"""Refusals for which the fleet is read again: a node may be new."""

Work = Callable[[Sequence[Delivery]], None]


@dataclass(slots=True)
class WorkerContext:
    """What the worker works with: where things come from, and who is told."""

    store: Store
    inbox: Inbox
    counts: Counts
    roll: Roll
    rules: Callable[[], Rules]
    ring: Callable[[], object]
    clock: Callable[[], float]


@dataclass(slots=True)
class Judged:
    """A parcel's signals, and what became of each of them."""

    opened: Opened
    became: Counter[Became] = field(default_factory=Counter[Became])


class Worker:
    """Judges until it is told to stop. `trouble` is why nothing can be written, "" where it can."""

    def __init__(self, around: WorkerContext) -> None:
        self._around = around
        self._desk: AlarmEngine | None = None
        self._rules: Rules | None = None
        self._lags = ClockLags()
        self._used: dict[int, float] = {}
        self._held: Sequence[Delivery] = ()
        self._counted_at = 0.0
        self.trouble = ""

    def run(self, stop: Event) -> None:
        """Work until told to stop, and until what waits then is written."""
        while not stop.is_set() or self._around.inbox.waiting()[0]:
            parcels = self._held or self._around.inbox.take(IDLE_SECONDS)
            self._held = ()
            if not (self._done(parcels, self.work) and self._done((), self.tend)) and stop.wait(AGAIN_SECONDS):
                return
        self._done((), self.end)

    def work(self, parcels: Sequence[Delivery]) -> None:
        """Judge parcels, write what became of their alarms, and answer.

        Raises:
            StoreError: nothing of it is written, and nobody was answered.
        """
        around, now = self._around, self._around.clock()
        desk = self._ready(now)
        batch = [Judged(opened(parcel, around.roll.places, around.roll.speakers)) for parcel in parcels]
        names = {signal.node for each in batch for signal in each.opened.signals}
        if names:
            self._keep(names, lambda known: self._judge(desk, batch, known, now), now)
        for each in batch:
            self._settle(each, now)

    def tend(self, parcels: Sequence[Delivery] = ()) -> None:
        """Do what time alone asks for: alarms that come to count or clear, and the counters."""
        del parcels
        now = self._around.clock()
        desk = self._ready(now)
        if now >= desk.next_at:
            self._change(desk, desk.due(now), now)
        if now >= self._counted_at + COUNTED_SECONDS:
            self._count(now)

    def end(self, parcels: Sequence[Delivery] = ()) -> None:
        """Write what is only known here: counts of alarms that go on, and the counters."""
        del parcels
        now = self._around.clock()
        desk = self._ready(now)
        self._change(desk, desk.unstored(now), now)
        self._count(now)

    def _done(self, parcels: Sequence[Delivery], work: Work) -> bool:
        """Do it; where it cannot be done, have senders come again, and say why once.

        What fails for its own sake is found by doing each parcel's part alone: it costs no other sender its turn.
        """
        try:
            work(parcels)
        except UnwritableError as error:
            return self._alone(parcels, work, error, HTTPStatus.BAD_REQUEST)
        except FleetError as error:
            if not self.trouble:
                log.warning("signals cannot be written; they are tried again", why=str(error))
            self.trouble = str(error)
            self._put_off(parcels)
            return False
        except Exception as error:  # noqa: BLE001  whatever it is, the next signals are judged
            return self._alone(parcels, work, error, HTTPStatus.INTERNAL_SERVER_ERROR)
        self.trouble = ""
        return True

    def _alone(self, parcels: Sequence[Delivery], work: Work, error: Exception, status: HTTPStatus) -> bool:
        """Do each parcel's part of what failed by itself; refuse one that was alone already."""
        if len(parcels) > 1:
            done = [self._done((parcel,), work) for parcel in parcels]
            return all(done)
        log.error("signals could not be judged, and are not taken", parcels=len(parcels), why=trouble(error))
        for parcel in parcels:
            self._around.counts.add(DOORS[parcel.kind].source, "refused: trouble here", parcel.at)
            parcel.answer(Outcome(status, "this could not be judged"))
        return True

    def _put_off(self, parcels: Sequence[Delivery]) -> None:
        """Have senders that can come again do so; keep what syslog sent, and try it again."""
        said = Outcome(HTTPStatus.SERVICE_UNAVAILABLE, "it cannot be written now; send it again")
        for parcel in parcels:
            if parcel.token is not None:
                parcel.answer(said)
        self._held = [*self._held, *(parcel for parcel in parcels if parcel.token is None)]

    def _ready(self, now: float) -> AlarmEngine:
        """Return the desk; it begins again from the store where the rules changed, or a write failed."""
        rules = self._around.rules()
        if self._desk is None or rules is not self._rules:
            self._rules = rules
            self._desk = AlarmEngine.of(self._around.store.standing_alarms(now - LATELY), self._following)
        return self._desk

    def _following(self, node: str, code: str) -> Following:
        rules = self._rules if self._rules is not None else Rules()
        return rules.of(self._around.roll.types.get(node, ""), code)

    def _keep(self, names: Collection[str], judge: Judge, now: float) -> None:
        try:
            woken = self._around.store.keep_alarms(names, judge, now)
        except Exception:
            self._desk = None  # it believes what was not written
            raise
        if woken:
            self._around.ring()

    def _judge(
        self, desk: AlarmEngine, batch: Sequence[Judged], known: tuple[Known, ...], now: float
    ) -> Iterator[Alarm]:
        """Have the desk hear a batch; yield the alarms that changed."""
        desk.learn(((each.name, each.standing) for each in known), now)
        since = {each.name: each.since for each in known}
        for each in batch:
            fresh = [signal for signal in each.opened.signals if signal.is_news(since.get(signal.node, 0.0))]
            found = desk.hear(fresh, now)
            each.became.update(found.outcomes)
            each.became[Became.LATE] += len(each.opened.signals) - len(fresh)
            yield from found.changed

    def _change(self, desk: AlarmEngine, changed: Sequence[Alarm], now: float) -> None:
        """Write alarms that changed without a signal; what somebody else cleared stays so.

        What somebody else heard more of stands on, though it was silent here. It is looked at with its node held, so
        nobody hears more of it until this is written.
        """

        def judge(known: tuple[Known, ...]) -> Iterator[Alarm]:
            stands = {key(alarm): alarm for each in known for alarm in each.standing}
            for alarm in changed:
                stored = stands.get(key(alarm))
                if stored is None or (alarm.cleared_at is not None and stored.heard_at > alarm.heard_at):
                    continue
                heard_at, last_at = max(stored.heard_at, alarm.heard_at), max(stored.last_at, alarm.last_at)
                yield replace(alarm, heard_at=heard_at, last_at=last_at)
            desk.learn(((each.name, each.standing) for each in known), now)

        if changed:
            self._keep({alarm.node for alarm in changed}, judge, now)

    def _settle(self, each: Judged, now: float) -> None:
        """Count what became of a parcel, and answer its sender."""
        parcel, counts = each.opened.parcel, self._around.counts
        source = DOORS[parcel.kind].source
        lags = ((signal.node, self._lags.behind(signal, parcel.at)) for signal in each.opened.signals)
        for node, slow in {node: lag for node, lag in lags if lag}.items():
            counts.add(source, BEHIND, now, 1, f"{node} by {slow / 60:.0f} min; set its time (NTP)")
        said = {"taken": each.became[Became.TAKEN], **each.opened.refused}
        said |= {word: each.became[became] for became, word in REASONS.items()}
        for what, count in said.items():
            counts.add(source, what, now, count, each.opened.details.get(what, f"from {parcel.sender}"))
        if not UNKNOWN.isdisjoint(each.opened.refused):
            self._around.roll.stranger.set()
        if parcel.token is not None:
            self._used[parcel.token.id] = now
        parcel.answer(_outcome(each))

    def _count(self, now: float) -> None:
        counted, used = self._around.counts.take(), self._used
        self._used, self._counted_at = {}, now
        if not counted and not used:
            return
        try:
            self._around.store.count_heard(counted, used)
        except StoreError:
            self._around.counts.give_back(counted)
            raise


def _outcome(each: Judged) -> Outcome:
    refused = sum(each.opened.refused.values()) + each.became[Became.REFUSED]
    if each.opened.nothing:
        return Outcome(HTTPStatus.BAD_REQUEST, each.opened.why)
    return Outcome(HTTPStatus.OK, each.opened.why, each.became[Became.TAKEN], refused)
