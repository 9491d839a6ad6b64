"""Does the node answer over ssh, and since when is it up?"""

from fleet_runner.core.base import durations
from fleet_runner.core.checks.answers import conclude, text_of
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import uptime
from fleet_runner.core.checks.verdicts import Result

NAME = "node_up"


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS where it answers: an operating system runs, whatever its BMC says. `age_seconds` is since its boot."""
    del expected
    reading = readings["uptime"]
    age = max(0.0, reading.at - uptime.parse(text_of(reading)))
    return conclude(NAME, [], f"it answers over ssh, up {durations.age(age)}", {"age_seconds": round(age, 3)})


CHECK = Check(
    name=NAME,
    question="Does the node answer over ssh, and since when is it up?",
    reads=("uptime",),
    judge=judge,
    source="`uptime -s` on the node.",
)
