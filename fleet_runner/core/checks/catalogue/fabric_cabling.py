"""Is every link of a fabric as designed? One read of the whole fabric, and every fault of its own links."""

from collections.abc import Iterable
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.cabling import extent, kinds
from fleet_runner.core.cabling.binding import Bound, bind
from fleet_runner.core.cabling.design import designed, guids, infiniband, places, planned
from fleet_runner.core.cabling.exempt import READY
from fleet_runner.core.cabling.explain import Fault, Kind
from fleet_runner.core.cabling.judge import SUSPECT_SHARE, hold
from fleet_runner.core.cabling.left_out import LeftOut, left_out
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.names import Names, names
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import iblinkinfo, ibnetdiscover
from fleet_runner.core.checks.parsers.discovery import FabricPort
from fleet_runner.core.checks.verdicts import UNSURE, Finding, Remedy, Result
from fleet_runner.core.inventory import profile

NAME = "fabric_cabling"

MOST_FAULTS = 400
"""Beyond, a result would be too long to keep; as none may be left out, together they are one finding."""

MOST_NAMED = 5000
"""Links that a result names."""


def codes(*recorded: Kind) -> tuple[Code, ...]:
    """Return the kinds of cabling faults as codes; `recorded` are those that keep nothing from service."""
    return tuple(
        Code(f"cabling.{kind}", (Remedy.RECORD if kind in recorded else Remedy.RECABLE,), kinds.clause(kind))
        for kind in kinds.KINDS
    )


SUSPECT = Code(
    "cabling.suspect", (Remedy.RECABLE,), "too many faults at once for cables: the capture or the design is wrong"
)


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for each fault of the fabric's own links; a capture that cannot be this fabric's is one finding."""
    discovery = ibnetdiscover.whole(ibnetdiscover.parse(text_of(readings["ibnetdiscover"])))
    links = designed(expected.fabric, infiniband)
    where = places(expected.fabric)
    own = frozenset(expected.device.get("switches", ()))
    seen = bind(discovery.links, known_names(links, expected), _unanswered(readings))
    near = extent.near(links, own, seen, where.servers)
    left = left_out(near, seen.links, planned(expected.fabric), idle(expected) | _disturbed(expected))
    verdicts = hold(left.rest(near), seen, where, share=share(expected))
    mine = extent.own(links, own)
    here = left.at(own)
    ours = extent.narrowed(verdicts, left.rest(mine), own)
    faults = ours.faults
    suspect = verdicts.suspect or (f"{len(faults)} faults at once." if len(faults) > MOST_FAULTS else "")
    untold = [*(doubt.designed for doubt in verdicts.doubts), *verdicts.silent, *verdicts.unmapped]
    placed = sorted(planned(expected.fabric).intersection(mine) & seen.links.keys())
    observed = {
        "designed": ours.designed + len(here.away),
        "matched": ours.matched,
        "planned": len(here.planned),
        "placed": [[*each.a, *each.b] for each in placed[:MOST_NAMED]],
        UNSURE: unsure(untold, seen, left),
        "suspect": suspect,
        "unbound": len(verdicts.unbound),
        "observer": expected.run.get("observer"),
    }
    if suspect:
        return conclude(NAME, [suspected(expected.node, suspect)], "", observed)
    unread = [str(doubt) for doubt in verdicts.doubts]
    unread += [f"no data about {a} to {b}" for a, b in verdicts.silent]
    unread += [f"no port number is known of {a} to {b}" for a, b in verdicts.unmapped]
    findings = [finding(fault, where.servers) for fault in faults]
    passed = f"InfiniBand links as designed: {observed['matched']}{here.words()}"
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _unanswered(readings: Readings) -> tuple[FabricPort, ...]:
    """Return the ports that are up and at whose far end nobody answers, as far as that can be told."""
    try:
        return iblinkinfo.parse(text_of(readings["iblinkinfo"])).unanswered if "iblinkinfo" in readings else ()
    except EvidenceError:
        return ()


def idle(expected: Expected) -> frozenset[str]:
    """Return the devices that the source of truth does not call ready for work."""
    devices: dict[str, Any] = dict(expected.fabric.get("devices", {}))
    return frozenset(name for name, device in devices.items() if device.get("status", "active") not in READY)


def _disturbed(expected: Expected) -> frozenset[str]:
    """Return the devices whose links were just now disturbed."""
    now = float(expected.run.get("opened_at") or 0.0)
    return frozenset(name for name, until in expected.run.get("disturbed", {}).items() if until >= now)


def share(expected: Expected) -> float:
    """Return the share of designed links that may be faulty before none of it is believed."""
    return float(expected.run.get("suspect_share", SUSPECT_SHARE))


def unsure(untold: Iterable[Link], seen: Bound, left: LeftOut) -> list[str | list[str]]:
    """Return what could not be told, for `sightings`: devices, and links as the two devices that each joins.

    A link that was left out is unsure for its device that is not in service, an `untold` one for those of its devices
    that are seen nowhere; if both are seen, it alone is unsure.
    """
    here = {port.device for each in seen.links for port in each}
    pairs = {frozenset({a.device, b.device}) for a, b in untold}
    between = {ends for ends in pairs if ends <= here}
    alone = {device for ends in pairs for device in ends - here}.union(*left.away.values())
    if len(between) > MOST_NAMED:
        alone, between = alone.union(*between), set()
    return [*sorted(alone), *sorted(sorted(ends) for ends in between)]


def known_names(links: Iterable[Link], expected: Expected) -> Names:
    """Return what ports are called: each node's adapters are named as its device type says."""
    adapters = {kind: profile.hca_interfaces(known) for kind, known in expected.profiles.items()}
    devices: dict[str, Any] = dict(expected.fabric.get("devices", {}))
    spoken = {name: adapters.get(device.get("device_type"), {}) for name, device in devices.items()}
    mine = tuple(links)
    return names([port for each in mine for port in each], guids(expected.fabric), spoken, mine)


def finding(fault: Fault, servers: frozenset[str]) -> Finding:
    """Return a cabling fault as a finding; every server that it is about can prove it gone.

    A dark leaf is about the leaf: that one of its servers is being worked on excuses nobody from looking at it.
    """
    ports = ", ".join(str(port) for port in sorted(fault.ports)[:4])
    nodes = tuple(device for device in fault.subjects if device in servers)
    told = (fault.message, Remedy.RECABLE, fault.key, nodes, fault.steps, fault.subjects)
    return Finding(f"cabling.{fault.kind}", ports, *told)


def suspected(fabric: str, why: str) -> Finding:
    """Return the one finding of a capture that cannot be this fabric's."""
    return Finding(
        code="cabling.suspect",
        component=fabric,
        message=f"{fabric}: {why}",
        remedy=Remedy.RECABLE,
        fault=f"cabling/suspect/{fabric}",
        nodes=(fabric,),
        steps=(
            "Move no cable yet: compare the design in the source of truth with what was built last.",
            "List every difference: fleet-runner cabling check.",
        ),
    )


CHECK = Check(
    name=NAME,
    question="Is every InfiniBand link of the fabric connected as designed, at full width and speed?",
    reads=("ibnetdiscover",),
    judge=judge,
    needs_fabric=True,
    also=("iblinkinfo",),
    codes=(*codes(), SUSPECT),
    source="The designed cables of the source of truth; `docs/cabling.md` says how each kind of fault is recognised.",
)
