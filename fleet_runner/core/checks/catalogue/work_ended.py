"""Has the node's work ended, so that something may be done to it that would end it?"""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.answers import text_of
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.verdicts import Result, Verdict

NAME, READ = "work_ended", "work_progress"

MOST_WHY = 300


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS where it has; UNKNOWN with what runs, and nothing is done to the node meanwhile."""
    del expected
    why = json_object(text_of(readings[READ]), "what is known of the node's work").get("why")
    if not isinstance(why, str):
        raise EvidenceError(f"what is known of the node's work is {why!r:.60}, expected a text")
    if why:
        return Result(NAME, Verdict.UNKNOWN, f"{printable(why)[:MOST_WHY]}; nothing was done", (), {"ended": False})
    return Result(NAME, Verdict.PASS, "no work runs on it", (), {"ended": True})


CHECK = Check(
    name=NAME,
    question="Has the node's work ended, before something is done that would end it?",
    reads=(READ,),
    judge=judge,
    source="The node's processes (`gpu_usage`) and its scheduler (`scheduler`), asked right before it"
    " (`docs/remedies.md`).",
)
