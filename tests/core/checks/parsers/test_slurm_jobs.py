"""What Slurm's accounting tells of jobs that a node's failure ended."""

from datetime import UTC, datetime

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.slurm_jobs import LONGEST, alone, failures
from fleet_runner.core.reliability.lemons.signals import Job

AT = datetime(2026, 11, 2, 3, 4, 5, tzinfo=UTC).timestamp()
END = "2026-11-02T03:04:05"


def test_a_failure_is_held_against_the_node_that_is_named() -> None:
    told = failures(
        [
            f"101|8|{END}|gpu-[01-08]|gpu-03\n",
            f"102|1|{END}|gpu-04|\n",
            f"102|1|{END}|gpu-04|(null)\n",  # requeued, and failed again
            "\n",
        ]
    )
    assert told.jobs == (Job(AT, "gpu-03", 8), Job(AT, "gpu-04", 1), Job(AT, "gpu-04", 1))
    assert told.unblamed == 0


def test_nobody_is_blamed_where_nobody_is_named() -> None:
    told = failures(
        [
            f"103|8|{END}|gpu-[01-08]|",
            f"104|8|{END}|gpu-[01-08]|gpu-[01,02]",
            "105|1|Unknown|gpu-04|",
            f"106|1|{END}|None assigned|",
        ]
    )
    assert (told.jobs, told.unblamed) == ((), 4)


def test_an_older_slurm_that_names_no_failed_node_is_read_too() -> None:
    assert failures([f"107|1|{END}|gpu-04", f"108|2|{END}|gpu-[04-05]"]) == ((Job(AT, "gpu-04", 1),), 1)


def test_jobs_on_one_node_are_counted_by_when_they_ended() -> None:
    told = alone([f"{END}|gpu-04", f"{END}|gpu-04", f"{END}|gpu-05", "Unknown|gpu-04", f"{END}|", f"{END}|gpu-[1-2]"])
    assert told == {"gpu-04": [AT, AT], "gpu-05": [AT]}


@pytest.mark.parametrize(("line", "why"), [
    ("sacct: error: Slurm accounting storage is disabled", "sacct printed"),
    (f"1|1|{END}|{'a' * LONGEST}|", "sacct printed"),
    (f"1|many|{END}|gpu-1|", "had 'many' nodes, expected a number"),
    (f"1|٣|{END}|gpu-1|", "nodes, expected a number"),
    (f"1|{'9' * 9}|{END}|gpu-1|", "nodes, expected a number"),
    ("1|1|yesterday|gpu-1|", "ended at 'yesterday', expected a date and time"),
])  # fmt: skip
def test_what_is_no_accounting_is_refused(line: str, why: str) -> None:
    with pytest.raises(EvidenceError, match=why):
        failures([line])
