"""Whether what a source of truth says makes sense: pure checks that every source shares."""

from collections.abc import Iterator

from fleet_runner.core.inventory.consistency import cables, carriers, fabrics, names, nvlink, racks
from fleet_runner.core.inventory.consistency.draft import Draft, Found, Location, Where, settle
from fleet_runner.core.inventory.consistency.ends import paired
from fleet_runner.core.inventory.consistency.names import ROLES
from fleet_runner.core.inventory.consistency.problem import Problem, refusal, show
from fleet_runner.core.inventory.consistency.remainder import Remainder, remainder

__all__ = [
    "ROLES",
    "Draft",
    "Found",
    "Location",
    "Problem",
    "Remainder",
    "Where",
    "paired",
    "problems",
    "refusal",
    "remainder",
    "settle",
    "show",
]


def problems(draft: Draft) -> Iterator[Problem]:
    """Find every contradiction of a draft; a draft with none can be settled into a fleet."""
    yield from names.problems(draft)
    yield from racks.problems(draft)
    yield from cables.problems(draft)
    yield from carriers.problems(draft)
    yield from nvlink.problems(draft)
    yield from fabrics.problems(draft)
    yield from fabrics.alike(draft)
