"""What is known of a node's work right before something is done to it."""

import pytest

from fleet_runner.core.checks.verdicts import Verdict
from tests.core.checks.catalogue.judging import judged


def test_work_that_runs_is_told_and_nothing_is_done() -> None:
    """UNKNOWN: it is asked again, and says nothing against the node."""
    result = judged("work_ended", {"work_progress": '{"why": "its work has not ended: job 7\\u001b[2J on it"}'})
    assert result.verdict is Verdict.UNKNOWN
    assert result.message == "its work has not ended: job 7\ufffd[2J on it; nothing was done"


@pytest.mark.parametrize("text", ["{}", '{"why": null}', '{"why": 0}', "[]"])
def test_an_answer_without_words_is_no_answer(text: str) -> None:
    """An empty one would be a promise."""
    result = judged("work_ended", {"work_progress": text})
    assert (result.verdict, result.observed) == (Verdict.UNKNOWN, {})
