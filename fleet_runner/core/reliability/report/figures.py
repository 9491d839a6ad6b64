"""The figures of a span: stories, faults, tickets, remedies and holds, counted."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from fleet_runner.core.lifecycle.runs import RUNNER
from fleet_runner.core.lifecycle.states import Event
from fleet_runner.core.reliability.report.rows import Fault, Fix, Hold, PastRemedy, Span, Unread
from fleet_runner.core.reliability.report.stories import BringUp, Exclusion, Story, out, production

PEOPLES: Mapping[Event, str] = {
    Event.TRIAGE_NEEDED: "taken out by a person",
    Event.REBOOT_NEEDED: "reboot asked for by a person",
    Event.RESET_NEEDED: "reset asked for by a person",
    Event.FIRMWARE_NEEDED: "firmware update",
}
"""What took a node out where no check's finding and no alarm did."""

POINTS = {"exclusion": 3, "return": 2, "ticket": 2, "failed": 1}
"""What counts how much for a node to watch."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Time that a cause took from production."""

    cause: str
    seconds: float
    nodes: int


@dataclass(frozen=True, slots=True)
class Cause:
    """A kind of fault: how many faults, on how many nodes."""

    code: str
    faults: int
    nodes: int


@dataclass(frozen=True, slots=True)
class Remedied:
    """What became of a remedy: how often it helped, did not, and how often nobody knows."""

    remedy: str
    helped: int
    failed: int
    unknown: int


@dataclass(frozen=True, slots=True)
class NodeToWatch:
    """A node to watch: its points, and of what each came; `seconds` it was out."""

    node: str
    points: int
    because: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Kept:
    """Who held a node, from when to when, None while it lasts."""

    node: str
    by: str
    reason: str
    begins: float
    ends: float | None


@dataclass(frozen=True, slots=True)
class Figures:
    """What there is to say of a span. Seconds are seconds; nothing is rounded or cut."""

    span: Span
    nodes: int = 0
    left: int = 0
    bring_ups: tuple[BringUp, ...] = ()
    production: float = 0.0
    lost: tuple[Lost, ...] = ()
    causes: tuple[Cause, ...] = ()
    remedies: tuple[Remedied, ...] = ()
    watch: tuple[NodeToWatch, ...] = ()
    out: tuple[tuple[str, float], ...] = ()
    unread: tuple[Cause, ...] = ()
    opened: int = 0
    closed: int = 0
    standing: tuple[Fix, ...] = ()
    kept: tuple[Kept, ...] = ()

    @property
    def lost_seconds(self) -> float:
        """Return how long nodes that served before were out, all together."""
        return sum(each.seconds for each in self.lost)

    @property
    def availability(self) -> float | None:
        """Return the share of time in production, of nodes that have served; None where there was none."""
        whole = self.production + self.lost_seconds
        return self.production / whole if whole else None


@dataclass(slots=True)
class Found:
    """What was read; each once, for as many spans as are wanted. `codes` are findings' codes by results' ids.

    `alarms` are those of `faults` that were pushed, by node.
    """

    stories: list[Story] = field(default_factory=list[Story])
    faults: list[Fault] = field(default_factory=list[Fault])
    unread: list[Unread] = field(default_factory=list[Unread])
    fixes: list[Fix] = field(default_factory=list[Fix])
    tried: list[PastRemedy] = field(default_factory=list[PastRemedy])
    holds: list[Hold] = field(default_factory=list[Hold])
    codes: dict[int, str] = field(default_factory=dict[int, str])
    alarms: dict[str, list[Fault]] = field(default_factory=dict[str, list[Fault]])


def figures(found: Found, span: Span, now: float) -> Figures:
    """Count what lies in a span."""
    end = min(span.until, now)
    stories = [each for each in found.stories if _was_there(each, span, now)]
    excluded = [(each, out(each, span, now)) for story in stories for each in story.exclusions]
    excluded = [(each, seconds) for each, seconds in excluded if seconds or span.holds(each.begins)]
    gone: dict[str, float] = defaultdict(float)
    for each, seconds in excluded:
        gone[each.step.node] += seconds
    return Figures(
        span,
        nodes=len(stories),
        left=sum(span.holds(each.begins) for each, _ in excluded),
        bring_ups=tuple(each for story in stories for each in story.bring_ups if span.holds(each.at)),
        production=sum(production(each, span, now) for each in stories),
        lost=_lost(found, excluded),
        causes=_causes((each.code, each.node, each.fault) for each in found.faults if span.holds(each.at)),
        remedies=_remedies(each for each in found.tried if span.holds(each.at)),
        watch=_watch(found, excluded, span),
        out=tuple(sorted(gone.items(), key=lambda row: (-row[1], row[0]))),
        unread=_causes((each.check, each.node, str(each.at)) for each in found.unread if span.holds(each.at)),
        opened=sum(span.holds(each.opened_at) for each in found.fixes),
        closed=sum(each.closed_at is not None and span.holds(each.closed_at) for each in found.fixes),
        standing=tuple(
            sorted(
                (
                    each
                    for each in found.fixes
                    if each.opened_at < end and (each.closed_at is None or each.closed_at >= end)
                ),
                key=lambda each: (each.opened_at, each.id),
            )
        ),
        kept=kept(found.holds, span),
    )


def cause(found: Found, each: Exclusion) -> str:
    """Return what took a node out: a finding's code, a standing alarm's, or what was asked for."""
    codes = [found.codes[number] for number in each.step.results if number in found.codes]
    if codes:
        return codes[0]
    alarms = [
        alarm.code
        for alarm in found.alarms.get(each.step.node, ())
        if alarm.at <= each.begins and (alarm.until is None or alarm.until > each.begins)
    ]
    ours = each.step.by == RUNNER
    if alarms and ours:
        return alarms[-1]
    if each.step.results or (ours and each.step.event is not Event.FIRMWARE_NEEDED):
        return "a fault whose evidence is no longer kept"
    return PEOPLES.get(each.step.event, each.step.event.value.replace("_", " "))


def _was_there(story: Story, span: Span, now: float) -> bool:
    return bool(
        production(story, span, now)
        or any(out(each, span, now) for each in story.exclusions)
        or any(span.holds(each.at) for each in story.bring_ups)
    )


def _lost(found: Found, excluded: list[tuple[Exclusion, float]]) -> tuple[Lost, ...]:
    seconds: dict[str, float] = defaultdict(float)
    nodes: dict[str, set[str]] = defaultdict(set)
    for each, took in excluded:
        why = cause(found, each)
        seconds[why] += took
        nodes[why].add(each.step.node)
    rows = [Lost(why, seconds[why], len(nodes[why])) for why in seconds]
    return tuple(sorted(rows, key=lambda row: (-row.seconds, row.cause)))


def _causes(rows: Iterable[tuple[str, str, str]]) -> tuple[Cause, ...]:
    faults: dict[str, set[str]] = defaultdict(set)
    nodes: dict[str, set[str]] = defaultdict(set)
    for code, node, fault in rows:
        faults[code].add(f"{node} {fault}")
        nodes[code].add(node)
    found = [Cause(code, len(faults[code]), len(nodes[code])) for code in faults]
    return tuple(sorted(found, key=lambda row: (-row.faults, row.code)))


def _remedies(rows: Iterable[PastRemedy]) -> tuple[Remedied, ...]:
    known: dict[str, Counter[bool | None]] = defaultdict(Counter)
    for each in rows:
        known[each.remedy][each.helped] += 1
    found = [Remedied(name, ends[True], ends[False], ends[None]) for name, ends in known.items()]
    return tuple(sorted(found, key=lambda row: (-(row.helped + row.failed + row.unknown), row.remedy)))


def _watch(found: Found, excluded: list[tuple[Exclusion, float]], span: Span) -> tuple[NodeToWatch, ...]:
    """Return nodes with points, those with the most first; each point has its reason."""
    times = Counter(each.step.node for each, _ in excluded if span.holds(each.begins))
    seconds: dict[str, float] = defaultdict(float)
    for each, took in excluded:
        seconds[each.step.node] += took
    tickets = Counter(node for fix in found.fixes if span.holds(fix.opened_at) for node in fix.nodes)
    failed = Counter(each.node for each in found.tried if span.holds(each.at) and each.helped is False)
    rows: list[NodeToWatch] = []
    for node in sorted({*times, *tickets, *failed}):
        counted = {
            "exclusion": (times[node], "left production"),
            "return": (max(0, times[node] - 1), "fell out again after it came back"),
            "ticket": (tickets[node], "a ticket was opened"),
            "failed": (failed[node], "a remedy did not help"),
        }
        because = [f"{words} {_times(many)}: {POINTS[key] * many}" for key, (many, words) in counted.items() if many]
        points = sum(POINTS[key] * many for key, (many, _) in counted.items())
        rows.append(NodeToWatch(node, points, tuple(because), seconds[node]))
    return tuple(sorted(rows, key=lambda row: (-row.points, -row.seconds, row.node)))


def kept(holds: Iterable[Hold], span: Span) -> tuple[Kept, ...]:
    """Pair the beginnings of holds with their ends: those that lie in a span at least in part."""
    going: dict[str, list[Kept]] = defaultdict(list)
    ended: list[Kept] = []
    for each in holds:
        if each.begins:
            going[each.node].append(Kept(each.node, each.by, each.reason, each.at, None))
        elif going[each.node]:
            last = going[each.node].pop()
            ended.append(Kept(last.node, last.by, last.reason, last.begins, max(each.at, last.begins)))
    rows = [*ended, *(each for node in going.values() for each in node)]
    mine = [each for each in rows if each.begins < span.until and (each.ends is None or each.ends >= span.since)]
    return tuple(sorted(mine, key=lambda each: (each.begins, each.node)))


def _times(many: int) -> str:
    return "once" if many == 1 else f"{many} times"
