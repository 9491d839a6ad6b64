"""Are the links of a fabric good? What both ends of each counted since the last look, against the rules for links.

A look remembers what it read for the next one, so the first says nothing. Links of a node that booted, drained or
was worked on meanwhile are left out; what only one end saw, or both saw once, is recorded. A bad link is good again
once it is seen to be: while it is gone, or disturbed, or its counter full, nobody knows.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling import quality, remembered
from fleet_runner.core.cabling.binding import bind
from fleet_runner.core.cabling.design import designed, infiniband, places
from fleet_runner.core.cabling.ends import bind_end
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.cabling.numbering import numbered
from fleet_runner.core.cabling.quality import BadLink, Count, Downs, End, Grown, Side, Window
from fleet_runner.core.cabling.remembered import Joined, Memory, carried, marks, plain
from fleet_runner.core.checks.answers import conclude, text_of
from fleet_runner.core.checks.catalogue.fabric_cabling import known_names
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected, Reading
from fleet_runner.core.checks.parsers import ibnetdiscover, ibqueryerrors
from fleet_runner.core.checks.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.shared.link_ends import CLEAN
from fleet_runner.core.checks.verdicts import UNSURE, Finding, Remedy, Result

NAME = "fabric_counters"

FOUND = 1
"""What ibqueryerrors exits with where a port has an error; with 0 where none has, else it failed."""

CAP_LINKS, CAP_SHARE = 10, 0.005
"""Bad links at once up to which each is taken for itself (the cap on isolated ports of UFM's PDR plug-in)."""

MOST_COUNTED = 1_000
"""Links with symbol errors that a result names, those with most first: they are drawn."""

MOST_RECORDED = 50
"""Links that went down, at one end or both, which a result names; all are remembered."""

NOTHING, UNKNOWN = Grown(0, 0), Grown(None, None)


class Moved(NamedTuple):
    """A link of which there is more to say than that it is there: its sides, and its downs of the last day."""

    joined: Joined
    sides: tuple[Side, Side]
    downs: tuple[Downs, ...]


class CounterReading(NamedTuple):
    """What a look found. `told` are the links of which it can be said whether they are good.

    `excluded` are the ends of the links left out because one of their devices was disturbed; `down` the links that
    both ends saw go down, and how often, too rarely for a fault.
    """

    bad: Mapping[Joined, BadLink]
    one_ended: tuple[tuple[Side, Side], ...]
    down: tuple[tuple[Side, Side, int], ...]
    downs: Mapping[Joined, tuple[Downs, ...]]
    told: frozenset[Joined]
    excluded: frozenset[End]


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for each bad link of the fabric; a report that is not whole is UNKNOWN, and none of it is remembered."""
    report = ibqueryerrors.parse(_said(readings["ibqueryerrors"]))
    links = ibnetdiscover.whole(ibnetdiscover.parse(text_of(readings["ibnetdiscover"]))).links
    if 2 * report.unread > report.checked:
        raise EvidenceError(
            f"ibqueryerrors had no answer to {report.unread} queries about {report.checked} ports, expected one to"
            " each; read the fabric again"
        )
    counts = {End(each.guid, each.port): Count(each.symbol, each.downed) for each in report.ports}
    now = number(expected.run.get("now")) or readings["ibqueryerrors"].at
    memory = remembered.recall(expected.run.get("before", {}).get(NAME), now)
    whole = report.unread == 0
    devices = frozenset(end.guid for each in links for end in (each.a, each.b)) | {end.guid for end in counts}
    facts: dict[str, Any] = {"links": len(links), "ports_with_errors": len(counts), "unread": report.unread}
    if memory is None:
        passed = f"the counters of {report.checked} ports are stored; the next check shows what they count"
        kept = Memory(now, marks(None, now), whole, carried(counts, None, now, whole=whole), devices)
        # Without a memory no link is seen to be good: tickets of the fabric stay.
        return conclude(NAME, (), passed, facts | {UNSURE: [expected.node]} | plain(kept))
    grown = {end: memory.grown(end, count, now) for end, count in counts.items()}
    if not whole:
        grown |= dict.fromkeys(memory.ports.keys() - grown.keys(), UNKNOWN)
    until: Mapping[str, float] = expected.run.get("disturbed", {})
    every = tuple(moved(links, grown, memory, expected))
    sight = look(every, memory, now, until)
    lost = lingering(links, sight, memory, expected)
    ports = carried(counts, memory, now, whole=whole, upset=sight.excluded)
    bad = {joined: link(each.first.port, each.other.port) for joined, each in sight.bad.items()}
    kept = Memory(now, marks(memory, now), whole, ports, devices, sight.downs, bad | lost)
    full = [end for end in counts if grown[end].symbol is None]
    erring = _counted(every, sight.excluded)
    facts |= {
        "seconds": now - memory.since(now),
        "counted": erring[:MOST_COUNTED],
        "counting": len(erring),
        "unknown": len(full),
        "excluded": len(sight.excluded) // 2,
        "one_ended": len(sight.one_ended),
        UNSURE: _unsure(lost.values(), until, memory.since(now), expected),
    }
    findings = [*_findings(tuple(sight.bad.values()), expected, len(links)), *_records(sight, expected.node)]
    window = Window(memory.since(now), now)
    passed = f"no link counted errors beyond the limits in {window.words}" + _unknown(full)
    return conclude(NAME, findings, passed, facts | plain(kept))


def look(links: Iterable[Moved], memory: Memory, now: float, until: Mapping[str, float]) -> CounterReading:
    """Judge the links that moved; of one that was disturbed, only what it did before counts."""
    bad: dict[Joined, BadLink] = {}
    one_ended: list[tuple[Side, Side]] = []
    down: list[tuple[Side, Side, int]] = []
    downs: dict[Joined, tuple[Downs, ...]] = {}
    told: set[Joined] = set()
    excluded: set[End] = set()
    window, last = Window(memory.since(now), now), Window(memory.at, now)
    for each in links:
        one, other = each.sides
        ports = (one.port, other.port)
        if quality.disturbed(ports, until, last.since):
            one, other = one._replace(grown=NOTHING), other._replace(grown=NOTHING)
            excluded |= {*each.joined}
        elif not quality.disturbed(ports, until, window.since) and None not in (one.grown.symbol, other.grown.symbol):
            told.add(each.joined)
        times = quality.downs(one.grown, other.grown)
        known = quality.kept(each.downs, last, times)
        if known:
            downs[each.joined] = known
        if quality.lopsided(one.grown, other.grown):
            one_ended.append((one, other))
        if (found := quality.worn((one, other), known, window)) is not None:
            bad[each.joined] = found
        elif times:
            down.append((one, other, times))
    return CounterReading(bad, tuple(one_ended), tuple(down), downs, frozenset(told), frozenset(excluded))


def moved(
    links: Sequence[FabricLink], grown: Mapping[End, Grown], memory: Memory, expected: Expected
) -> Iterator[Moved]:
    """Yield the fabric's own links whose counts grew, that went down in the last day, or that were bad."""
    grew = {end for end, each in grown.items() if each.symbol or each.downed}
    concerned: list[tuple[FabricLink, Joined]] = []
    for each in links:
        one, other = End(each.a.guid, each.a.port), End(each.b.guid, each.b.port)
        joined = remembered.joined(one, other)
        if one in grew or other in grew or joined in memory.downs or joined in memory.bad:
            concerned.append((each, joined))
    if not concerned:
        return
    known = numbered(known_names(designed(expected.fabric, infiniband), expected), links)
    sure = bind(links, known).links
    own = frozenset(expected.device.get("switches", ()))
    for each, joined in concerned:
        ends = {End(end.guid, end.port): end for end in each[:2]}
        ports = {end: bind_end(seen, known) for end, seen in ends.items()}
        if link(*ports.values()) not in sure:  # something else claims one of its ports
            ports = {end: _as_told(seen) for end, seen in ends.items()}
        elif own.isdisjoint(port.device for port in ports.values()):
            continue
        first, second = (Side(ports[end], end, grown.get(end, NOTHING)) for end in joined)
        yield Moved(joined, (first, second), memory.downs.get(joined, ()))


def lingering(
    links: Sequence[FabricLink], sight: CounterReading, memory: Memory, expected: Expected
) -> dict[Joined, Link]:
    """Return the links that were bad and of which nobody can tell now; one that is not designed any more is none."""
    untold = {joined: named for joined, named in memory.bad.items() if joined not in sight.bad.keys() | sight.told}
    if not untold:
        return {}
    design = designed(expected.fabric, infiniband)
    known = numbered(known_names(design, expected), links)
    wanted = {*untold.values()}.intersection(design)
    # With a new adapter or switch at one of its ends, a link has other ends and is still the same.
    present = {
        named: remembered.joined(End(a.guid, a.port), End(b.guid, b.port))
        for a, b, _, _ in links
        if (named := link(bind_end(a, known), bind_end(b, known))) in wanted
    }
    return {present.get(named, joined): named for joined, named in untold.items() if named in wanted}


def _counted(every: Iterable[Moved], excluded: frozenset[End]) -> list[list[str | int]]:
    """Return the links with symbol errors, most first: two ports and the errors of the end that counted more."""
    found = [
        (max(one.grown.symbol or 0, other.grown.symbol or 0), one.port, other.port)
        for joined, (one, other), _ in every
        if excluded.isdisjoint(joined)
    ]
    worst = sorted((each for each in found if each[0]), key=lambda each: (-each[0], *each[1:]))
    return [[*one, *other, errors] for errors, one, other in worst]


def _unsure(lost: Iterable[Link], until: Mapping[str, float], since: float, expected: Expected) -> list[str]:
    """Return the devices of which this look proves nothing: disturbed ones, and one end of each link that is lost."""
    upset = {name for name in until if quality.disturbed((Port(name, ""),), until, since)}
    servers = _where(expected).servers if lost else frozenset[str]()
    ends = [{port.device for port in each} for each in lost]
    return sorted(upset.union(*(each & servers or each for each in ends)))


def _said(reading: Reading) -> str:
    return reading.text if reading.rc == FOUND else text_of(reading)


def _as_told(seen: FabricPort) -> Port:
    return Port(f"{seen.name.strip() or 'unnamed'} 0x{seen.guid}", str(seen.port))


def _unknown(full: list[End]) -> str:
    if not full:
        return ""
    shown = ", ".join(f"0x{end.guid} port {end.port}" for end in full[:3]) + (", …" if len(full) > 3 else "")  # noqa: PLR2004  as many as a sentence bears
    return f"; {len(full)} cannot be judged, their counters are full or new: {shown} (perfquery -R clears one)"


def _findings(bad: tuple[BadLink, ...], expected: Expected, links: int) -> list[Finding]:
    """Return a finding for each bad link, and one alone where there are so many that no cable explains them."""
    most = max(CAP_LINKS, CAP_SHARE * links)
    if len(bad) <= most:
        where = _where(expected)
        return [_finding(each, where, expected.node) for each in bad]
    return [
        Finding(
            code="cabling.suspect",
            component=expected.node,
            message=f"{expected.node}: {len(bad)} of {links} links are bad at once, too many for faults of cables;"
            f" the first: {bad[0].message}",
            remedy=Remedy.RECABLE,
            fault=f"cabling/quality/suspect/{expected.node}",
            nodes=(expected.node,),
            steps=(
                "Touch no cable yet: look for what they share, such as a switch that restarted or new firmware.",
                "List the counters: ibqueryerrors --skip-sl.",
            ),
        )
    ]


def _where(expected: Expected) -> Places:
    """Return where devices stand; of their links, nothing is asked."""
    return places({"devices": expected.fabric.get("devices", {})})


def _finding(bad: BadLink, where: Places, fabric: str) -> Finding:
    ports = sorted((bad.first.port, bad.other.port))
    devices = tuple(sorted({port.device for port in ports}))
    return Finding(
        code=f"cabling.{bad.kinds[0]}",
        component=f"{ports[0]} to {ports[1]}",
        message=bad.message,
        remedy=Remedy.RECABLE,
        fault=quality.key(ports),
        nodes=(fabric, *(device for device in devices if device in where.servers)),
        steps=tuple(_steps(bad, where)),
        devices=devices,
    )


def _steps(bad: BadLink, where: Places) -> Iterator[str]:
    yield f"At {where.port(bad.first.port)}: {CLEAN}."
    yield f"At its other end, {where.port(bad.other.port)}: do the same."
    yield "If the next check of the fabric still finds it, replace the cable with its modules."
    for side in (bad.first, bad.other):
        if side.grown.full:
            yield f"Then clear the full counter of {side.port}: perfquery -R -G 0x{side.end.guid} {side.end.port}"


def _records(sight: CounterReading, fabric: str) -> Iterator[Finding]:
    for one, other in sight.one_ended[:MOST_RECORDED]:
        times = f"{one.port} {one.grown.downed} times, {other.port} {other.grown.downed} times"
        yield _record(
            "one_end_down", (one, other), f"Only one end saw {one.port} to {other.port} go down: {times}.", fabric
        )
    for one, other, count in sight.down[:MOST_RECORDED]:
        said = f"The link {one.port} to {other.port} went down {quality.times(count)} since the last look."
        yield _record("link_down", (one, other), said, fabric)


def _record(what: str, sides: tuple[Side, Side], message: str, fabric: str) -> Finding:
    one, other = (side.port for side in sides)
    return Finding(
        code=f"cabling.{what}",
        component=f"{one} to {other}",
        message=message,
        remedy=Remedy.RECORD,
        fault=f"{quality.key((one, other))}/{what}",
        nodes=(fabric,),
    )


CHECK = Check(
    name=NAME,
    question="Do the links of the fabric stay up, and carry traffic without errors?",
    reads=("ibqueryerrors", "ibnetdiscover"),
    judge=judge,
    needs_fabric=True,
    remembers=True,
    codes=(
        Code("cabling.symbol_errors", (Remedy.RECABLE,), "a link counted more than 2.88 in 12 min or 3 in 125 min"),
        Code("cabling.link_flaps", (Remedy.RECABLE,), "both ends saw it go down 3 times in an hour or 6 in a day"),
        Code("cabling.suspect", (Remedy.RECABLE,), "more links are bad at once than faults of cables explain"),
        Code("cabling.link_down", (Remedy.RECORD,), "both ends of a link saw it go down, too rarely for a fault"),
        Code("cabling.one_end_down", (Remedy.RECORD,), "only one end of a link saw it go down"),
    ),
    source="UFM's plug-in for port isolation (its README): symbol errors, downs at both ends, cap; flaps are ours.",
)
