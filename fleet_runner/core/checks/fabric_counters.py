"""Are the links of a fabric good? What both ends of each counted since the last look, against the rules for links.

A look remembers what it read for the next one, so the first says nothing. Links of a node that booted, drained or
was worked on meanwhile are left out; what only one end saw is recorded.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.cabling import quality, remembered
from fleet_runner.core.cabling.design import designed, infiniband, places
from fleet_runner.core.cabling.explain import Places
from fleet_runner.core.cabling.links import Port, link
from fleet_runner.core.cabling.names import bind, bind_end
from fleet_runner.core.cabling.quality import Count, Downs, End, Grown, Side, Window, Worn
from fleet_runner.core.cabling.remembered import Joined, Memory
from fleet_runner.core.checks.answers import conclude, text_of
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.ends import CLEAN
from fleet_runner.core.checks.fabric_cabling import known_names
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.evidence import Expected, Reading
from fleet_runner.core.parsers import ibnetdiscover, ibqueryerrors
from fleet_runner.core.parsers.discovery import FabricLink, FabricPort
from fleet_runner.core.parsers.json_text import number
from fleet_runner.core.sightings import UNSURE
from fleet_runner.core.verdicts import Finding, Remedy, Result

NAME = "fabric_counters"

FOUND = 1
"""What ibqueryerrors exits with where a port has an error; with 0 where none has, else it failed."""

CAP_LINKS, CAP_SHARE = 10, 0.005
"""Bad links at once up to which each is taken for itself (the cap on isolated ports of UFM's PDR plug-in)."""

MOST_RECORDED = 50
"""Links that only one end saw go down which a result names; all are counted."""

NOTHING = Grown(0, 0)


class Moved(NamedTuple):
    """A link of which there is more to say than that it is there: its sides, and its downs of the last day."""

    joined: Joined
    sides: tuple[Side, Side]
    downs: tuple[Downs, ...]


class Sight(NamedTuple):
    """What a look found. `excluded` counts the links left out because one of their devices was disturbed."""

    bad: tuple[Worn, ...] = ()
    one_ended: tuple[tuple[Side, Side], ...] = ()
    downs: Mapping[Joined, tuple[Downs, ...]] = {}
    excluded: int = 0


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
    facts: dict[str, Any] = {"links": len(links), "ports_with_errors": len(counts), "unread": report.unread}
    kept = remembered.carried(counts, memory, whole=whole)
    if memory is None:
        passed = f"the counters of {report.checked} ports are remembered; the next look tells what they count"
        return conclude(NAME, (), passed, facts | remembered.plain(kept, {}, whole=whole))
    window = Window(memory.at, now)
    until: Mapping[str, float] = expected.run.get("disturbed", {})
    sight = look(moved(links, counts, memory, expected), window, until)
    full = [end for end, count in counts.items() if quality.grown(count, memory.before(end)).symbol is None]
    unsure = sorted(name for name in until if quality.disturbed((Port(name, ""),), until, window.since))
    facts |= {"unknown": len(full), "excluded": sight.excluded, "one_ended": len(sight.one_ended), UNSURE: unsure}
    findings = [*_findings(sight.bad, expected, len(links)), *_records(sight, expected.node)]
    passed = f"no link counted errors beyond the limits in {window.words}" + _unknown(full)
    return conclude(NAME, findings, passed, facts | remembered.plain(kept, sight.downs, whole=whole))


def look(links: Iterable[Moved], window: Window, until: Mapping[str, float]) -> Sight:
    """Judge the links that moved; of one that was disturbed, only what it did before counts."""
    bad: list[Worn] = []
    one_ended: list[tuple[Side, Side]] = []
    downs: dict[Joined, tuple[Downs, ...]] = {}
    excluded = 0
    for each in links:
        one, other = each.sides
        if quality.disturbed((one.port, other.port), until, window.since):
            one, other = one._replace(grown=NOTHING), other._replace(grown=NOTHING)
            excluded += 1
        known = quality.kept(each.downs, window, quality.downs(one.grown, other.grown))
        if known:
            downs[each.joined] = known
        if quality.lopsided(one.grown, other.grown):
            one_ended.append((one, other))
        if (found := quality.worn((one, other), known, window)) is not None:
            bad.append(found)
    return Sight(tuple(bad), tuple(one_ended), downs, excluded)


def moved(
    links: Iterable[FabricLink], counts: Mapping[End, Count], memory: Memory, expected: Expected
) -> Iterator[Moved]:
    """Yield the fabric's own links whose counts grew since the last look, or that went down in the last day."""
    grown = {
        end: grew for end, count in counts.items() if any((grew := quality.grown(count, memory.before(end)))[:2])
    }
    concerned: list[tuple[FabricLink, Joined]] = []
    for each in links:
        one, other = End(each.a.guid, each.a.port), End(each.b.guid, each.b.port)
        joined = remembered.joined(one, other)
        if one in grown or other in grown or joined in memory.downs:
            concerned.append((each, joined))
    if not concerned:
        return
    known = known_names(designed(expected.fabric, infiniband), expected)
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


def _said(reading: Reading) -> str:
    return reading.text if reading.rc == FOUND else text_of(reading)


def _as_told(seen: FabricPort) -> Port:
    return Port(f"{seen.name.strip() or 'unnamed'} 0x{seen.guid}", str(seen.port))


def _unknown(full: list[End]) -> str:
    if not full:
        return ""
    shown = ", ".join(f"0x{end.guid} port {end.port}" for end in full[:3]) + (", …" if len(full) > 3 else "")  # noqa: PLR2004  as many as a sentence bears
    return f"; nothing is known of {len(full)} whose counters are full or new: {shown} (perfquery -R clears one)"


def _findings(bad: tuple[Worn, ...], expected: Expected, links: int) -> list[Finding]:
    """Return a finding for each bad link, and one alone where there are so many that no cable explains them."""
    most = max(CAP_LINKS, CAP_SHARE * links)
    if len(bad) <= most:
        where = places(expected.fabric)
        return [_finding(each, where, expected.node) for each in bad]
    return [
        Finding(
            code="cabling.suspect",
            component=expected.node,
            message=f"{expected.node}: {len(bad)} of {links} links are bad at once, too many for their cables;"
            f" the first: {bad[0].message}",
            remedy=Remedy.RECABLE,
            fault=f"cabling/quality/suspect/{expected.node}",
            nodes=(expected.node,),
            steps=(
                "Touch no cable yet: look for what they share, such as a switch that restarted or new firmware.",
                "List the counters by hand: ibqueryerrors --skip-sl.",
            ),
        )
    ]


def _finding(bad: Worn, where: Places, fabric: str) -> Finding:
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


def _steps(bad: Worn, where: Places) -> Iterator[str]:
    yield f"At {where.port(bad.first.port)}: {CLEAN}."
    yield f"At its other end, {where.port(bad.other.port)}: do the same."
    yield "If the next look at the fabric still sees it, replace the cable with its modules."
    for side in (bad.first, bad.other):
        if side.grown.full:
            yield f"Then clear the full counter of {side.port}: perfquery -R -G 0x{side.end.guid} {side.end.port}"


def _records(sight: Sight, fabric: str) -> list[Finding]:
    return [
        Finding(
            code="cabling.one_end_down",
            component=f"{one.port} to {other.port}",
            message=f"Only one end saw {one.port} to {other.port} go down:"
            f" {one.port} {one.grown.downed} times, {other.port} {other.grown.downed} times.",
            remedy=Remedy.RECORD,
            fault=f"{quality.key((one.port, other.port))}/one_end",
            nodes=(fabric,),
        )
        for one, other in sight.one_ended[:MOST_RECORDED]
    ]


CHECK = Check(
    name=NAME,
    question="Do the links of the fabric stay up and carry what they should without errors?",
    reads=("ibqueryerrors", "ibnetdiscover"),
    judge=judge,
    needs_fabric=True,
    remembers=True,
)
