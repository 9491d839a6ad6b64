"""Is every link of a fabric as designed? One read of the whole fabric, and every fault of its own links."""

from collections.abc import Iterable, Mapping
from typing import Any

from fleet_runner.core import profile
from fleet_runner.core.cabling.design import designed, fingerprint, guids, infiniband, places
from fleet_runner.core.cabling.judge import SUSPECT_SHARE, hold
from fleet_runner.core.cabling.links import Link, Port
from fleet_runner.core.cabling.names import Bound, Names, bind, names
from fleet_runner.core.checks.answers import conclude, text_of, unless_unread
from fleet_runner.core.checks.cabling_infiniband import finding
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.evidence import Expected
from fleet_runner.core.excuses import READY
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
    seen = bind(discovery.links, known_names(links, expected), discovery.unanswered)
    # A cable to another fabric of the site makes that one visible: its links are designed, too, and not ours.
    shown = own | ({port.device for each in seen.links for port in each} - where.servers)
    away = _away([each for each in links if _at(each, shown)], seen, expected)
    share = float(expected.run.get("suspect_share", SUSPECT_SHARE))
    verdicts = hold([each for each in links if _at(each, shown) and each not in away], seen, where, share=share)
    ports = {port for each in mine for port in each}
    faults = [each for each in verdicts.faults if ports.intersection(each.ports) or own.intersection(each.devices)]
    suspect = verdicts.suspect or (f"{len(faults)} faults at once." if len(faults) > MOST_FAULTS else "")
    untold = [*(doubt.designed for doubt in verdicts.doubts), *verdicts.silent, *away]
    absent = [each for each in verdicts.absent if _at(each, own)]
    observed = {
        "designed": len(mine),
        "design": fingerprint(mine),
        "matched": len(mine) - len(absent) - sum(_at(each, own) for each in untold),
        "absent": [[*each.a, *each.b] for each in absent[:MOST_ABSENT]],
        "unsure": _unsure(untold, where.servers),
        "suspect": suspect,
        "unbound": len(verdicts.unbound),
        "observer": expected.run.get("observer"),
    }
    if suspect:
        return conclude(NAME, [_suspect(expected.node, suspect)], "", observed)
    unread = [str(doubt) for doubt in verdicts.doubts]
    unread += [f"nothing is heard of {a} to {b}" for a, b in verdicts.silent]
    findings = [finding(fault, where.servers) for fault in faults]
    return unless_unread(conclude(NAME, findings, _passed(observed, len(away)), observed), unread)


def _away(links: Iterable[Link], seen: Bound, expected: Expected) -> frozenset[Link]:
    """Return the links of devices that are not in service, or were just now disturbed, of which nothing is seen."""
    now = float(expected.run.get("opened_at") or 0.0)
    devices: dict[str, Any] = dict(expected.fabric.get("devices", {}))
    planned = frozenset(name for name, device in devices.items() if device.get("status", "active") not in READY)
    gone = planned | {name for name, until in expected.run.get("disturbed", {}).items() if until >= now}
    ends = {port for each in seen.links for port in each} if gone else set[Port]()
    return frozenset(each for each in links if _at(each, gone) and ends.isdisjoint(each))


def _passed(observed: Mapping[str, Any], away: int) -> str:
    rest = f"; {away} of devices that are not in service were not looked at" if away else ""
    return f"InfiniBand links as designed: {observed['matched']}{rest}"


def _at(joined: Link, devices: frozenset[str]) -> bool:
    return joined.a.device in devices or joined.b.device in devices


def known_names(links: Iterable[Link], expected: Expected) -> Names:
    """Return what ports are called: each node's adapters are named as its device type says."""
    adapters = {kind: profile.hca_interfaces(known) for kind, known in expected.profiles.items()}
    devices: dict[str, Any] = dict(expected.fabric.get("devices", {}))
    spoken = {name: adapters.get(device.get("device_type"), {}) for name, device in devices.items()}
    return names([port for each in links for port in each], guids(expected.fabric), spoken)


def _unsure(links: Iterable[Link], servers: frozenset[str]) -> list[str]:
    """Return whose links may be there or not: the servers', so that one of them does not cast doubt on its leaf."""
    ends = [{port.device for port in each} for each in links]
    return sorted({device for each in ends for device in each & servers or each})


def _suspect(fabric: str, why: str) -> Finding:
    return Finding(
        code="cabling.suspect",
        component=fabric,
        message=f"{fabric}: {why}",
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
