"""One job from Slurm's accounts: by a sacct that answers as releases do, and by a real slurmdbd."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from fleet_runner.adapters.schedulers import slurm_job
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.jobs.output import JobOutput
from fleet_runner.core.jobs.record import Record
from tests import slurm, slurmdbd
from tests.slurm import Cluster
from tests.waiting import until

ROW = (
    "7|7|NODE_FAIL|1:0|0:0|2026-11-29T20:00:00|2026-11-29T21:00:00|2026-11-29T22:00:00|gpu-[01-02]|gres/gpu=16|kim|a"
)
SACCT = f"""#!/bin/sh
[ "$TZ" = UTC ] && [ -z "$SACCT_FORMAT" ] || exit 9
case "$*" in
*FailedNode*) [ -z "$OLD" ] || {{ echo 'sacct: error: Invalid field requested: "FailedNode"' >&2; exit 1; }} ;;
*Restarts*) echo 'sacct: error: Invalid field requested: "Restarts"' >&2; exit 1 ;;
esac
case "$*" in
*"--duplicates --jobs=7 "*FailedNode*) echo '{ROW}|gpu-02|3|pretrain' ;;
*"--duplicates --jobs=7 "*) echo '{ROW}|pretrain' ;;
esac
"""


@pytest.fixture
def sacct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Know one job, and the fields of a new release; with OLD set, those of an old one."""
    found = tmp_path / "sacct"
    found.write_text(SACCT)
    found.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SACCT_FORMAT", "user")
    return found


@pytest.mark.usefixtures("sacct")
def test_a_release_is_asked_only_for_what_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What an old one cannot tell is said."""
    found = slurm_job.read("7")
    assert (found.job.failed_node, found.job.restarts, found.job.gpus, found.notes) == ("gpu-02", 3, 16, ())
    monkeypatch.setenv("OLD", "1")
    found = slurm_job.read("7")
    assert (found.job.nodes, found.job.failed_node, found.job.restarts) == (("gpu-01", "gpu-02"), "", 0)
    assert "does not report which node" in found.notes[0]


def test_a_job_that_is_none_is_told_in_words(sacct: Path) -> None:
    for number, why in (("x; rm", "is no job of Slurm"), ("8", "Slurm: no job 8 is known; .*--node --from --to")):
        with pytest.raises(SchedulerError, match=why):
            slurm_job.read(number)
    sacct.write_text("#!/bin/sh\necho 'sacct: error: no slurmdbd' >&2; exit 1\n")
    with pytest.raises(SchedulerError, match=r"no slurmdbd; does slurm\.conf name a slurmdbd"):
        slurm_job.read("7")


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A cluster that keeps accounts."""
    with slurmdbd.running(tmp_path_factory.mktemp("slurm")) as found:
        monkeypatch.setenv("SLURM_CONF", found.environment["SLURM_CONF"])
        yield found


def submit(cluster: Cluster, *words: str) -> str:
    """Hand a job in, and return its number."""
    batch = ("sbatch", "--parsable", "--output=/dev/null", "--partition=tenants")
    return subprocess.run(
        [*batch, *words], env=cluster.environment, check=True, capture_output=True, text=True
    ).stdout.strip()


def ended(number: str, *states: str) -> Record:
    """Wait until slurmdbd knows that a job is in one of some states, and return what it tells."""
    found: list[Record] = []

    def known() -> bool:
        try:
            found.append(slurm_job.read(number))
        except SchedulerError as error:
            assert "has not begun" in str(error) or "no job" in str(error)  # noqa: PT017  any other is the test's failure
            return False
        told = found[-1].job
        return (
            told.state.partition(" ")[0] in states and told.name != "allocation"
        )  # slurmdbd's, before the job's own

    until(known, lambda: f"job {number} is {' or '.join(states)}, not {found[-1:]}")
    return found[-1]


@pytest.mark.nightly
@slurmdbd.needed
def test_real_jobs_are_read_from_slurmdbd(cluster: Cluster) -> None:
    """One ends well on two nodes, others by an exit code, a person, a failed node; one runs again after that."""
    began = time.time()
    well = submit(cluster, "--nodes=2", "--job-name=a|b", "--wrap=srun true")
    status = submit(cluster, "--nodes=1", "--nodelist=n1", "--wrap=srun sh -c 'exit 3'; exit 7")
    array = submit(cluster, "--nodes=1", "--array=1-2", "--wrap=exit $SLURM_ARRAY_TASK_ID")
    parts = submit(cluster, "--nodes=1", "--wrap=exit 4", ":", "--nodes=1")
    stays = submit(cluster, "--nodes=1", "--nodelist=n1", "--no-requeue", "--wrap=sleep 600")
    held = submit(cluster, "--nodes=1", "--hold", "--wrap=true")

    found = ended(well, "COMPLETED")
    assert (found.job.id, found.job.nodes, found.job.name, found.events) == (well, ("n1", "n2"), "a|b", ())
    assert found.job.ended is not None
    assert began - 1 <= found.job.begun <= found.job.ended <= time.time()
    assert found.job.owner.startswith("root")

    found = ended(status, "FAILED")
    assert [(each.node, each.message) for each in found.events] == [
        ("n1", "its step 0 failed: exit code 3"),
        ("n1", "its batch script failed: exit code 7"),
    ]
    codes = [ended(f"{array}_{task}", "FAILED").job.exit_code for task in (1, 2)]
    assert codes == ["1:0", "2:0"]
    with pytest.raises(SchedulerError, match=f"job {array} is an array of 2 tasks; name one of them: {array}_1"):
        slurm_job.read(array)
    assert sorted(ended(parts, "FAILED").job.nodes) == ["n1", "n2"]
    assert len(slurm_job.read(f"{parts}+1").job.nodes) == 1
    with pytest.raises(SchedulerError, match=rf"job {held} has not begun \(PENDING\)"):
        slurm_job.read(held)

    assert ended(stays, "RUNNING").job.ended is None
    cluster.ask("scancel", stays)
    assert [each.code for each in ended(stays, "CANCELLED").events] == ["job.cancelled"]

    again = submit(cluster, "--nodes=1", "--nodelist=n2", "--requeue", "--wrap=sleep 600")
    ended(again, "RUNNING")
    cluster.ask("scontrol", "update", "nodename=n2", "state=down", "reason=it fails")
    found = ended(again, "NODE_FAIL", "REQUEUED")
    assert [(each.code, each.node) for each in found.events] == [("job.node_failed", "n2")]
    until(lambda: len(slurm_job.read(again).notes) == 2, "slurmdbd knows that it waits again")
    found = slurm_job.read(again)
    assert (found.job.state, found.job.restarts) == ("NODE_FAIL", 1)
    assert f"Slurm keeps 2 runs of job {again}, which was requeued" in found.notes[0]
    cluster.ask("scancel", again)


MEMORY = Path("/sys/fs/cgroup/memory")
CONSTRAINED = """
SelectTypeParameters=CR_CPU_Memory
DefMemPerNode=100
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
"""
GREEDY = "python3 -c 'import time; x = bytearray(300 << 20); time.sleep(60)'"


@pytest.fixture
def constrained(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cluster]:
    """A cluster whose jobs get the memory that they ask for, and no more; the parameter is who sees to that."""
    if "cgroup" in request.param and not os.access(MEMORY / "memory.limit_in_bytes", os.W_OK):
        pytest.skip(f"needs a memory controller of cgroup v1 at {MEMORY} that may be written to")
    folder = tmp_path_factory.mktemp("slurm")
    (folder / "cgroup.conf").write_text(
        f"CgroupPlugin=cgroup/v1\nCgroupAutomount=no\nCgroupMountpoint={MEMORY.parent}\nConstrainRAMSpace=yes\n"
    )
    try:
        with slurmdbd.running(folder, more=f"{CONSTRAINED}{request.param}\n") as found:
            monkeypatch.setenv("SLURM_CONF", found.environment["SLURM_CONF"])
            yield found
    finally:
        for node in slurm.NODES:
            for left, _, _ in os.walk(MEMORY / f"slurm_{node}", topdown=False):
                Path(left).rmdir()


def ran_out(cluster: Cluster, tmp_path: Path, script: str) -> tuple[Record, str]:
    """Return what Slurm's accounts tell of a job that takes more memory than it asked for, and its output."""
    out = tmp_path / "slurm.out"
    number = submit(cluster, "--nodes=1", "--nodelist=n1", "--mem=100", f"--output={out}", f"--wrap={script}")
    return ended(number, "OUT_OF_MEMORY", "FAILED"), out.read_text().replace("slurmstepd-n1:", "slurmstepd:")


def says(text: str) -> set[str]:
    output = JobOutput("slurm.out", 2026)
    output.feed(text)
    return {each.code for each in output.end()}


@pytest.mark.nightly
@slurmdbd.needed
@pytest.mark.parametrize("constrained", ["TaskPlugin=task/cgroup"], indirect=True)
def test_the_kernel_ends_a_job_that_takes_more_memory_than_it_asked_for(constrained: Cluster, tmp_path: Path) -> None:
    """A step of it, then its batch script: the first one fails by its exit code, and the step tells why."""
    record, text = ran_out(constrained, tmp_path, f"srun {GREEDY}")
    assert record.job.state == "FAILED"
    assert [each.code for each in record.events] == ["job.out_of_memory", "job.failed"]
    assert record.events[0].message == "its step 0 was ended because it used more memory than it had asked for"
    assert "job.oom" in says(text)
    record, text = ran_out(constrained, tmp_path, GREEDY)
    assert record.job.state == "OUT_OF_MEMORY"
    assert {each.code for each in record.events} == {"job.out_of_memory"}
    assert "job.oom" in says(text)


@pytest.mark.nightly
@slurmdbd.needed
@pytest.mark.parametrize("constrained", ["JobAcctGatherParams=OverMemoryKill"], indirect=True)
def test_slurm_itself_ends_a_job_that_takes_more_memory_than_it_asked_for(
    constrained: Cluster, tmp_path: Path
) -> None:
    """Without cgroups: its accounts tell of a signal, and only the output tells why."""
    _, text = ran_out(constrained, tmp_path, f"srun {GREEDY}")
    assert "job.out_of_memory" in says(text)
