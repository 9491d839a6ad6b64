"""Jobs read from a real Slurm's accounts: its own sacct, slurmdbd and a MariaDB."""

import time
from collections.abc import Iterator

import pytest

from fleet_runner.adapters.schedulers import slurm_jobs
from fleet_runner.core.reliability.lemons.signals import Jobs
from tests import slurmdbd
from tests.slurm import Cluster
from tests.waiting import until

pytestmark = [pytest.mark.nightly, slurmdbd.needed]


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    with slurmdbd.running(tmp_path_factory.mktemp("slurm")) as found:
        monkeypatch.setenv("SLURM_CONF", found.environment["SLURM_CONF"])
        yield found


def counts(jobs: Jobs) -> tuple[list[tuple[str, int]], dict[str, int], dict[str, int]]:
    """Return what is told without its moments: failures, and by node ends and jobs that leave it out."""
    alone, without = ({node: len(at) for node, at in told.items()} for told in (jobs.alone, jobs.without))
    return [(each.node, each.nodes) for each in jobs.failures], alone, without


def test_what_became_of_jobs_is_read_from_slurmdbd(cluster: Cluster) -> None:
    """One ends well, an array leaves a node out, one ends as its node fails; slurmdbd knows some seconds later."""
    since = time.time() - 60

    def told() -> Jobs:
        return slurm_jobs.read(since, since, time.time() + 60)

    assert counts(told()) == ([], {}, {})
    assert cluster.run("n1", "true").wait() == 0
    batch = ("sbatch", "--parsable", "--output=/dev/null", "--partition=tenants", "--nodes=1")
    assert cluster.ask(*batch, "--array=1-2", "--exclude=n[2-2]", "--wrap=echo 'a|b'")
    with cluster.job("n2"):  # its slurmd stays, for what ends the job's processes is slurmd
        cluster.ask("scontrol", "update", "nodename=n2", "state=down", "reason=it fails")
        whole = ([("n2", 1)], {"n1": 3, "n2": 1}, {"n2": 1})
        until(lambda: counts(told()) == whole, lambda: f"{whole} is told, not {counts(told())}")
    found = told()
    moments = (found.failures[0].at, *found.alone["n1"], *found.without["n2"])
    assert all(since < at < time.time() + 1 for at in moments)
