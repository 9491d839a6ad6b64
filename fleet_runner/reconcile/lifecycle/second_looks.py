"""Which results need the ones before them: what follows from them, follows only if both looks saw it."""

from collections.abc import Iterable

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.confirmation import is_slow, touches
from fleet_runner.core.lifecycle.runs import Node, Stored
from fleet_runner.core.lifecycle.states import FABRICS, SERVING


def needs_two(node: Node, latest: Iterable[Stored]) -> tuple[Stored, ...]:
    """Return the results of which the ones before matter: what follows, follows only if both saw it."""
    if node.state in FABRICS:
        return tuple(latest)
    if node.state not in SERVING:
        return ()
    return tuple(
        stored
        for stored in latest
        if any(each.remedy is Remedy.RECABLE or is_slow(stored, each) for each in stored.result.findings)
    )


def touched_by(results: Iterable[Stored]) -> frozenset[str]:
    """Return the devices whose links are at fault: a slow test is about none."""
    found = ((stored, finding) for stored in results for finding in stored.result.findings)
    return frozenset(name for stored, finding in found if not is_slow(stored, finding) for name in touches(finding))
