"""What is known of a job on a node."""

import pytest

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.job import Job, parse
from tests.core.checks.catalogue.judging import burn_job


def test_a_jobs_state_reads_as_it_is_written() -> None:
    """Seconds are seconds."""
    assert parse(burn_job("x", state="running", elapsed=3)) == Job("running", 0, 3.0, 100.0, "x")


@pytest.mark.parametrize(
    ("changed", "message"),
    [({"state": "gone"}, "expected one of"), ({"reason": 1}, "reason"),
     ({"state": None}, "expected one of"), ({"output": 1}, "output"),
     ({"rc": "0"}, "exit status"), ({"elapsed": -1}, "elapsed"), ({"seconds": True}, "seconds"),
     ({"seconds": 10**400}, "seconds")],
)  # fmt: skip
def test_a_state_that_is_none_is_refused(changed: dict[str, object], message: str) -> None:
    """The message names the key."""
    with pytest.raises(EvidenceError, match=message):
        parse(burn_job("x", **changed))
