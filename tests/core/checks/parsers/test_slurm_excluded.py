"""Which nodes jobs were told to leave out."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.parsers.slurm_excluded import MOST, excluded, hosts, left_out
from fleet_runner.core.checks.parsers.slurm_jobs import LONGEST

AT = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC).timestamp()
WHEN = "2026-11-02T03:04:05"


@pytest.mark.parametrize(("typed", "nodes"), [
    ("sbatch --exclude=gpu-03 train.sh", {"gpu-03"}),
    ("srun -x gpu-[08-10,12],login1 hostname", {"gpu-08", "gpu-09", "gpu-10", "gpu-12", "login1"}),
    ("sbatch -xgpu-01 --exclude gpu-02 job.sh", {"gpu-01", "gpu-02"}),
    ("sbatch --wrap=\"sleep 1 | cat\" --exclude='gpu-01'", {"gpu-01"}),
    ("sbatch --wrap='it is -x gpu-01", {"gpu-01"}),  # nobody closed the quote
    ("sbatch --exclusive train.sh", set()),
    ("sbatch train.sh --exclude=gpu-01 -x gpu-02", set()),
    ("", set()),
])  # fmt: skip
def test_an_option_names_nodes_as_it_was_typed(typed: str, nodes: set[str]) -> None:
    assert left_out(typed) == nodes


@pytest.mark.parametrize(("listed", "names"), [
    ("r[1-2]c[1-2]", ("r1c1", "r1c2", "r2c1", "r2c2")),
    ("gpu-[3-1]", ()),
    ("gpu-[-,a]", ("gpu-", "-", "a")),
    ("gpu-[1-", ("gpu-", "1-")),
    ("gpu-[-]", ()),
    ("./bad-nodes.txt", ()),
    (f"gpu-[1-{MOST}]", tuple(f"gpu-{number}" for number in range(1, MOST + 1))),
    (f"gpu-[0-{MOST}]", ()),
    ("gpu-[1-999999999]x[1-999999999]", ()),
])  # fmt: skip
def test_a_list_is_expanded_as_slurm_does_and_no_further(listed: str, names: tuple[str, ...]) -> None:
    """What is no list names nodes that nobody has."""
    assert hosts(listed) == names


def test_a_job_counts_once_for_each_node_and_an_array_is_one_job() -> None:
    """Lines that are no rows of ours are the rest of one, or say nothing."""
    told = excluded(
        [
            f"101_1|{WHEN}|sbatch -x gpu-03 a.sh\n",
            f"101_[2-9]|{WHEN}|sbatch -x gpu-03 a.sh\n",
            f"102|{WHEN}|sbatch -x gpu-[03-04] --wrap=echo a|b\n",
            "the rest of it -x gpu-05\n",
            "7|yesterday|srun -x gpu-06\n",
            "8|Unknown|srun -x gpu-06\n",
            f"9|{WHEN}|\n",
            f"10|{WHEN}|srun -x gpu-06 {'a' * LONGEST}\n",
        ]
    )
    assert told == ({"gpu-03": {"101": AT, "102": AT}, "gpu-04": {"102": AT}}, True)


def test_a_slurm_that_keeps_no_lines_tells_nothing_and_one_without_jobs_does() -> None:
    assert excluded([f"9|{WHEN}|\n", f"10|{WHEN}|\n"]) == ({}, False)
    assert excluded([f"9|{WHEN}|\n", f"10|{WHEN}|srun id\n"]) == ({}, True)
    assert excluded([]) == ({}, True)


@given(st.lists(st.text("1|_-x[],=\"' gpu9/\n") | st.text()))
def test_no_line_that_a_user_types_is_trouble(typed: list[str]) -> None:
    for nodes in (left_out(line) for line in typed):
        assert len(nodes) <= MOST * len("".join(typed))
    excluded(f"1|{WHEN}|{line}" for line in typed)
