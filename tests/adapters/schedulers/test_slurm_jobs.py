"""Job failures from Slurm's accounts, by a sacct that answers as 22.05 does."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from fleet_runner.adapters.schedulers import sacct as asked
from fleet_runner.adapters.schedulers import slurm_jobs
from fleet_runner.core.base.errors import SchedulerError
from fleet_runner.core.reliability.lemons.signals import Job
from fleet_runner.core.reliability.parts.failures import DAY

SACCT = """#!/bin/sh
[ "$TZ" = UTC ] && [ -z "$SACCT_FORMAT" ] || exit 9
case "$*" in
*FailedNode*) echo 'sacct: error: Invalid field requested: "FailedNode"' >&2; exit 1 ;;
*NODE_FAIL*NNodes*) echo '7|1|1970-01-02T00:00:00|gpu-01'; echo '8|2|1970-01-02T00:00:00|gpu-[01-02]' ;;
*SubmitLine*) echo '9|1970-01-02T00:00:00|sbatch -x gpu-02 train.sh' ;;
*) echo '1970-01-02T00:00:00|gpu-01' ;;
esac
"""


@pytest.fixture
def sacct(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Answer as Slurm 22.05 does, which cannot say which node failed."""
    found = tmp_path / "sacct"
    found.write_text(SACCT)
    found.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("SACCT_FORMAT", "user")
    return found


def times(found: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Return moments as lists, which compare."""
    return {name: list(moments) for name, moments in found.items()}


@pytest.mark.parametrize(("old", "new", "why"), [
    ("*FailedNode*", "*FailedNode*|*SubmitLine*", "Slurm reports no command line of jobs"),
    ("sbatch -x gpu-02 train.sh", "", "Slurm reports no command line of jobs"),
    ("*FailedNode*", "*SubmitLine*) echo busy >&2; exit 1 ;;\n*FailedNode*", "sacct: busy"),
])  # fmt: skip
def test_who_tells_no_command_lines_does_not_tell_of_nodes_left_out(
    sacct: Path, old: str, new: str, why: str
) -> None:
    """That is not the same as no job that leaves a node out."""
    sacct.write_text(SACCT.replace(old, new))
    told = slurm_jobs.read(0.0, 0.0, 200_000.0)
    assert (told.without, told.unsaid[: len(why)]) == ({}, why)
    assert told.alone


def test_the_past_is_asked_for_in_spans_and_nothing_counts_twice(
    sacct: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same job is told of each span here; what is older than what fails, or comes too late, is left out."""
    until = 178 * DAY
    told = slurm_jobs.read(0.0, until - 28 * DAY, until)
    assert (times(told.alone), times(told.without)) == ({"gpu-01": [86_400.0]}, {"gpu-02": [86_400.0]})
    sacct.write_text(SACCT.replace("\n*) ", "\n*starttime=1970-04*) echo gone >&2; exit 1 ;;\n*) "))
    told = slurm_jobs.read(0.0, until - 28 * DAY, until)
    assert (told.alone, times(told.without), told.unsaid) == ({}, {"gpu-02": [86_400.0]}, "")
    sacct.write_text(SACCT)
    monkeypatch.setattr(slurm_jobs, "PATIENCE", 0.0)
    assert slurm_jobs.read(0.0, until - 28 * DAY, until).alone == {}
    assert slurm_jobs.read(0.0, 0.0, until).alone


def test_job_failures_come_from_slurms_accounts(sacct: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it cannot say is left out; what goes wrong is said in words."""
    told = slurm_jobs.read(0.0, 0.0, 200_000.0)
    assert (told.failures, times(told.alone)) == ((Job(86_400.0, "gpu-01", 1),), {"gpu-01": [86_400.0]})
    assert (times(told.without), told.unsaid) == ({"gpu-02": [86_400.0]}, "")
    for script, why in (("echo '7|x'", "sacct printed"), ("echo down >&2; exit 1", "sacct: down; does slurm.conf"),
                        ("exit 1", "it said nothing")):  # fmt: skip
        sacct.write_text(f"#!/bin/sh\n{script}\n")
        with pytest.raises(SchedulerError, match=why):
            slurm_jobs.read(0.0, 0.0, 1.0)
    monkeypatch.setattr(asked, "MOST_BYTES", 2)
    sacct.write_text("#!/bin/sh\necho 1234\n")
    with pytest.raises(SchedulerError, match="expected at most 2"):
        slurm_jobs.read(0.0, 0.0, 1.0)
    sacct.unlink()
    monkeypatch.setenv("PATH", str(sacct.parent))
    with pytest.raises(SchedulerError, match="is not on this machine"):
        slurm_jobs.read(0.0, 0.0, 1.0)
