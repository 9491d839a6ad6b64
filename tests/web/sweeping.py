"""Sweeps of a hall's fabrics, as a runner would have stored them: what was seen, and what was made of it."""

from collections.abc import Iterable

from fleet_runner.adapters.store import Store
from fleet_runner.core.cabling.binding import Bound
from fleet_runner.core.cabling.design import designed, infiniband, places
from fleet_runner.core.cabling.explain import Fault
from fleet_runner.core.cabling.fabrics import fabrics
from fleet_runner.core.cabling.judge import hold
from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.catalogue.fabric_cabling import finding
from fleet_runner.core.checks.evidence import ReadEnd, Reading
from fleet_runner.core.checks.verdicts import Finding, Result, Verdict
from fleet_runner.core.inventory import ansible
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.actions import Decision, OpenRun
from fleet_runner.core.lifecycle.runs import Outcome
from fleet_runner.core.lifecycle.spool import Ended, Evidence, Judged, PlayEnd
from fleet_runner.core.lifecycle.states import Stage
from tests.core.cabling.discoveries import by_port


def known(store: Store, fleet: Fleet, now: float) -> tuple[str, ...]:
    """Have the store know the fleet's fabrics; return their names."""
    records = [fabric.record for fabric in fabrics(fleet)]
    store.register(records, now)
    return tuple(record.name for record in records)


def links(fleet: Fleet, switch: str = "") -> list[Link]:
    """Return the designed links, all or those of a switch."""
    every = designed(ansible.fabric(fleet), infiniband)
    return [each for each in every if not switch or switch in {each.a.device, each.b.device}]


def swapped(every: Iterable[Link], one: Link, other: Link) -> list[Link]:
    """Return links with two of them exchanged at the switch's end."""
    ends = [link(one.a, other.b), link(other.a, one.b)]
    return [*(each for each in every if each not in (one, other)), *ends]


def judged(fleet: Fleet, designed_ones: Iterable[Link], seen: Iterable[Link]) -> tuple[Fault, ...]:
    """Return the faults of what was seen."""
    where = places(ansible.fabric(fleet))
    return hold(designed_ones, Bound(dict.fromkeys(seen, "4x NDR")), where).faults


def findings(fleet: Fleet, faults: Iterable[Fault]) -> tuple[Finding, ...]:
    """Return faults as a sweep's findings."""
    servers = places(ansible.fabric(fleet)).servers
    return tuple(finding(fault, servers) for fault in faults)


def swept(
    store: Store,
    fabric: str,
    found: Iterable[Finding],
    at: float,
    *,
    seen: Iterable[Link] = (),
    verdict: Verdict | None = None,
    size: int = 32,
) -> None:
    """Store a sweep of a fabric that ended a minute after it began."""
    node = store.node(fabric)
    assert node is not None
    batch = f"f{at}-{fabric}"
    (run,) = store.apply(node, Decision((OpenRun(Stage.FABRIC, "why", batch=batch),), "", 0.0), at)
    told = tuple(found)
    text = by_port(_numbered(seen))
    evidence = Evidence(fabric, at, "ibnetdiscover", Reading("ibnetdiscover", ReadEnd.OK, text).hash, text)
    answer = Result(
        "fabric_cabling",
        verdict or (Verdict.FAIL if told else Verdict.PASS),
        told[0].message if told else f"InfiniBand links as designed: {size}",
        told,
        {"designed": size, "matched": size - len(told), "observer": ["gpu-00001", "ib0"], "unsure": []},
        (evidence.hash,) if seen else (),
    )
    lines = [*([evidence] if seen else []), Judged(fabric, at + 30, answer), Ended(fabric, at + 60, PlayEnd.OK)]
    store.ingest(batch, 0, 9, lines)
    store.close_run(run, Outcome.FAILED if told else Outcome.PASSED, "", at + 60)


def _numbered(seen: Iterable[Link]) -> list[Link]:
    """A switch's ports are numbers to a fabric: p12 is 12."""
    return [link(*(Port(end.device, end.interface.removeprefix("p")) for end in each)) for each in seen]
