"""What a fabric's sweep says about cable statuses in the source of truth: a planned cable that it saw is connected.

Nothing else is ever said: a connected cable that is not there stays connected, and has a ticket.
"""

from collections import defaultdict
from collections.abc import Iterable

from fleet_runner.core.cabling.links import Link, Port, link
from fleet_runner.core.checks.verdicts import Result
from fleet_runner.core.faults.confirmation import suspect
from fleet_runner.core.inventory.records import PLANNED, Cable


def connected(cables: Iterable[Cable], sweep: Result) -> frozenset[int]:
    """Return the planned cables, by NetBox's id, that a sweep saw as designed, with all their links.

    `sweep` is a result of a fabric's sweep; one that is suspect saw none.
    """
    placed = _placed(sweep)
    links: dict[int, set[Link]] = defaultdict(set)
    for cable in cables if placed else ():
        if cable.id is not None and cable.status == PLANNED:
            links[cable.id].add(link(cable.a, cable.b))
    return frozenset(number for number, mine in links.items() if mine <= placed)


def _placed(sweep: Result) -> frozenset[Link]:
    if suspect(sweep):
        return frozenset()
    return frozenset(link(Port(a, ai), Port(b, bi)) for a, ai, b, bi in sweep.observed.get("placed", ()))
