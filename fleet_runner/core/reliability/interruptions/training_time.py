"""How much of a job's time is progress: the effective training time ratio (ETTR), as Meta defines it.

Kokolis et al., Revisiting Reliability in Large-Scale Machine Learning Research Clusters, 2025 (arXiv 2410.21680):
ETTR is productive runtime over the available wallclock time of a job run, which is all runs of one logical job and
the time in which it waited between them. Not productive are the work that is done again since the last checkpoint,
and the start after an interruption. Their closed form for a job on N nodes, with the failure rate r, the start u and
a checkpoint each d that takes w to write, is

    E[ETTR] = (1 - N r (u + d / 2)) / (1 + w / d)

and w is 0 here. Goodput is the same for a cluster: the share of its time that went into work that lasts. They count
as lost the runtime since the last checkpoint, of each job that infrastructure interrupted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fleet_runner.core.jobs.kept import KeptAnswer
from fleet_runner.core.reliability.interruptions.interruption import Assumed, Interruption, interruption
from fleet_runner.core.reliability.lifetimes.rates import Between, Rate

DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class JobRun:
    """A job from its first known run to its last known end, in seconds.

    `running` is its runs, `productive` what of them was progress, `whole` the time from begin to end with the waits
    between runs. `nodes` is how many it had at most. `interrupted` are its interruptions by infrastructure.
    """

    nodes: int
    running: float
    productive: float
    whole: float
    interrupted: int

    @property
    def ratio(self) -> float | None:
        """Return its ETTR; None where it did not run at all."""
        return self.productive / self.whole if self.whole > 0 else None


def job_runs(answers: Sequence[KeptAnswer], assumed: Assumed) -> tuple[JobRun, ...]:
    """Put the answers about each job together; those about jobs that still run tell nothing of an end."""
    jobs: dict[tuple[str, ...], list[KeptAnswer]] = {}
    for number, each in enumerate(answers):
        if each.ended is not None:
            name = (each.scheduler, each.job) if each.job else (each.scheduler, "", str(number))
            jobs.setdefault(name, []).append(each)
    return tuple(_job_run(sorted(mine, key=lambda each: each.begun), assumed) for mine in jobs.values())


def _job_run(mine: Sequence[KeptAnswer], assumed: Assumed) -> JobRun:
    running = productive = whole = 0.0
    interrupted, reached = 0, mine[0].begun
    for number, each in enumerate(mine):
        ended = each.begun if each.ended is None else each.ended
        runtime = max(0.0, ended - max(reached, each.begun))
        found = interruption(each)
        running += runtime
        productive += max(0.0, runtime - _unproductive(found, assumed) - (assumed.restart if number else 0.0))
        whole += max(0.0, ended - reached)
        reached = max(reached, ended)
        interrupted += found is not None and found.is_infrastructure
    return JobRun(max(each.node_count for each in mine), running, productive, whole, interrupted)


def _unproductive(found: Interruption | None, assumed: Assumed) -> float:
    """Return what of a run was lost at its end; a program's own failures are left out, as Meta leaves them out."""
    return found.still + found.redone(assumed) if found is not None and found.is_infrastructure else 0.0


def together(runs: Sequence[JobRun]) -> float | None:
    """Return the ETTR of several jobs, by node time; None where none ran."""
    whole = sum(each.nodes * each.whole for each in runs)
    return sum(each.nodes * each.productive for each in runs) / whole if whole > 0 else None


def expected(rate: Rate, nodes: float, assumed: Assumed) -> Between:
    """Return the ETTR that a job on so many nodes can expect; it is never below 0."""
    lost = nodes * (assumed.restart + assumed.checkpoint / 2) / DAY

    def ratio(each: float | None) -> float:
        return max(0.0, 1 - (each or 0.0) * lost)

    return Between(ratio(rate.each.value), ratio(rate.each.high), ratio(rate.each.low))
