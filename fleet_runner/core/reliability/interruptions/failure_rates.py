"""How often jobs are interrupted: by component, and by a job's size; with the interval that 95 of 100 times holds it.

Meta counts likewise (Kokolis et al., Revisiting Reliability in Large-Scale Machine Learning Research Clusters, 2025,
arXiv 2410.21680): the failure rate r is interruptions by infrastructure in a node day, and the mean time to failure
of a job on N nodes is 1 / (N r). They take the node days of jobs with more than 128 GPUs; here they are those in
production, because the store does not know of jobs that nobody asked about.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fleet_runner.core.reliability.interruptions.families import Family
from fleet_runner.core.reliability.interruptions.interruption import Interruption
from fleet_runner.core.reliability.lifetimes import rates
from fleet_runner.core.reliability.lifetimes.rates import Between, Rate
from fleet_runner.core.reliability.lifetimes.saying import ENOUGH

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class FamilyRate:
    """Of a component: node days in production from one interruption to the next."""

    family: Family
    interruptions: int
    between: Between


def often(found: Sequence[Interruption], served: Mapping[str, float]) -> Rate | None:
    """Return how often jobs are interrupted in a node day; `served` is each node's seconds in production.

    None where less was observed than a rate needs. What has no node, or one that did not serve, scatters by chance.
    """
    time = sum(served.values()) / DAY
    if time < ENOUGH:
        return None
    counts = Counter(each.answer.node for each in found)
    if counts.keys() <= served.keys():
        return rates.rate([counts[node] for node in served], [seconds / DAY for seconds in served.values()])
    return rates.rate([counts.total()], [time])


def by_family(found: Sequence[Interruption], served: Mapping[str, float]) -> tuple[FamilyRate, ...]:
    """Return the rates of all components that interrupted a job."""
    rows: list[FamilyRate] = []
    for family in Family:
        mine = [each for each in found if each.family is family]
        rate = often(mine, served) if mine else None
        if rate is not None:
            rows.append(FamilyRate(family, rate.events, rate.between))
    return tuple(rows)


def of_job(rate: Rate, nodes: float) -> Between:
    """Return the days from one interruption to the next of a job on so many nodes."""
    between = rate.between
    high = None if between.high is None else between.high / nodes
    return Between(between.value / nodes, (between.low or 0.0) / nodes, high)
