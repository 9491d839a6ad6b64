"""Jobs of PyTorch that really go wrong: whoever did it is found by the dumps that their ranks write."""

from pathlib import Path

import pytest

from fleet_runner.core.jobs.collectives import analyse
from tests.active.interpreter import with_flight_recorder
from tests.recording.cases import CASES, Case, dumps_in
from tests.recording.jobs import SECONDS, record


@pytest.mark.nightly
@pytest.mark.timeout(2 * SECONDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_went_wrong_is_found(case: Case, tmp_path: Path) -> None:
    """Ranks that hang, leave, are stopped, come late, or do something else than the others."""
    record(case, with_flight_recorder(), tmp_path)
    dumps = dumps_in(tmp_path)
    assert set(range(case.ranks)) - set(dumps) <= set(case.silent)
    found = analyse(dumps, case.ranks)
    assert (found[0].code, found[0].rank, found[0].area) == case.found
