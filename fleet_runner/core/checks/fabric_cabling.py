"""Is every link of a fabric as designed? One read of the whole fabric, and every fault of its own links."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from fleet_runner.core import profile
from fleet_runner.core.cabling.design import designed, guids, infiniband, places
from fleet_runner.core.cabling.judge import Verdicts, hold
from fleet_runner.core.cabling.links import Link
from fleet_runner.core.cabling.names import Names, bind, names
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.cabling_infiniband import finding
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import ibnetdiscover
from fleet_runner.core.verdicts import Finding, Remedy, Result

NAME = "fabric_cabling"

MOST_FAULTS = 400
"""Beyond, a result would be too long to keep; as none may be left out, together they are one finding."""

MOST_ABSENT = 5000
"""Absent links that a result names."""


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL for each fault of the fabric's own links; a capture that cannot be this fabric's is one finding."""
    discovery = ibnetdiscover.whole(ibnetdiscover.parse(text_of(readings["ibnetdiscover"])))
    links = designed(expected.fabric, infiniband)
    where = places(expected.fabric)
    own = frozenset(expected.device.get("switches", ()))
    mine = [each for each in links if _at(each, own)]
    seen = bind(discovery.links, _names(links, expected))
    # A cable to another fabric of the site makes that one visible: its links are designed, too, and not ours.
    shown = own | ({port.device for each in seen.links for port in each} - where.servers)
    verdicts = hold([each for each in links if _at(each, shown)], seen, where)
    ports = {port for each in mine for port in each}
    faults = [each for each in verdicts.faults if ports.intersection(each.ports) or own.intersection(each.devices)]
    suspect = getattr(verdicts, "suspect", "") or (
        f"{len(faults)} faults at once" if len(faults) > MOST_FAULTS else ""
    )
    observed = {
        "designed": len(mine),
        "matched": sum(each in seen.links for each in mine),
        "absent": [[*a, *b] for a, b in getattr(verdicts, "absent", ()) if _at(Link(a, b), own)][:MOST_ABSENT],
        "unsure": _unsure(verdicts),
        "suspect": suspect,
        "unbound": len(verdicts.unbound),
        "observer": expected.run.get("observer"),
    }
    if suspect:
        return conclude(NAME, [_suspect(expected.node, suspect)], "", observed)
    findings = [finding(fault, where.servers) for fault in faults]
    # A later look at the fabric proves them gone, too, not only one at a server in it.
    findings = [replace(each, nodes=(expected.node, *each.nodes)) for each in findings]
    unread = [str(doubt) for doubt in verdicts.doubts]
    unread += [f"nothing is heard of {a} to {b}" for a, b in verdicts.silent]
    return unless_unread(conclude(NAME, findings, f"InfiniBand links as designed: {len(mine)}", observed), unread)


def _at(joined: Link, switches: frozenset[str]) -> bool:
    return joined.a.device in switches or joined.b.device in switches


def _names(links: Iterable[Link], expected: Expected) -> Names:
    """Return what ports are called: each node's adapters are named as its device type says."""
    adapters = {kind: profile.hca_interfaces(known) for kind, known in expected.profiles.items()}
    devices: dict[str, Any] = dict(expected.fabric.get("devices", {}))
    spoken = {name: adapters.get(device.get("device_type"), {}) for name, device in devices.items()}
    return names([port for each in links for port in each], guids(expected.fabric), spoken)


def _unsure(verdicts: Verdicts) -> list[str]:
    """Return the devices of designed links that may be there or not."""
    links = [*(doubt.designed for doubt in verdicts.doubts), *verdicts.silent]
    return sorted({port.device for each in links for port in each})


def _suspect(fabric: str, why: str) -> Finding:
    return Finding(
        code="cabling.suspect",
        component=fabric,
        message=f"{fabric}: {why}; the capture or the design is suspect, and no cable is named.",
        remedy=Remedy.RECABLE,
        fault=f"cabling/suspect/{fabric}",
        nodes=(fabric,),
        steps=(
            "Move no cable yet: hold the design in the source of truth against what was built last.",
            "List every difference by hand: fleet-runner cabling check.",
        ),
    )


CHECK = Check(
    name=NAME,
    question="Is every InfiniBand link of the fabric joined as designed, at full width and speed?",
    reads=("ibnetdiscover",),
    judge=judge,
    needs_fabric=True,
)
