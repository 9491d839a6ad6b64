"""Which words of a command line are Slurm's options, as sbatch, srun and salloc read them."""

import pytest

from fleet_runner.core.checks.parsers.slurm_options import exclusions


@pytest.mark.parametrize(("typed", "lists"), [
    ("sbatch -N 4 -p gpu --time 1:00 -x a --exclude=b job.sh -x c --exclude=d", ["a", "b"]),
    ("/usr/bin/sbatch --job-name -x job.sh", []),
    ("sbatch -Hxa -x b -xc -Hx d job.sh", ["a", "b", "c", "d"]),
    ("sbatch -kx a job.sh", []),  # no value of -k that Slurm knows, and no -x of its own
    ("sbatch --nice --requeue --exclusive --exclude a job.sh", ["a"]),
    ("sbatch --exclud a --part gpu -x b job.sh -x c", ["a", "b"]),
    ("sbatch --wait -x a job.sh", ["a"]),
    ("sbatch -W -x a job.sh", ["a"]),
    ("srun --wait 30 -W 30 -x a hostname -x b", ["a"]),
    ("salloc -x a bash -x b", ["a"]),
    ("srun -N 1 -x a : -x b hostname -x c", ["a", "b"]),
    ("sbatch -- -x a", []),
    ("sbatch - -x a", []),
    ("sbatch --wrap=sleep 60 -x a", ["a"]),
    ("sbatch --wrap sleep -x a", ["a"]),
    ("submit -a 1-9 -x a job.sh", ["a"]),
    ("sbatch -x", [""]),
    ("", []),
])  # fmt: skip
def test_options_end_where_the_script_begins(typed: str, lists: list[str]) -> None:
    assert list(exclusions(typed.split())) == lists
