"""Has the node stayed up since its burn-in began?"""

from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.errors import EvidenceError
from fleet_runner.core.evidence import Expected
from fleet_runner.core.parsers import uptime
from fleet_runner.core.parsers.json_text import number
from fleet_runner.core.verdicts import Remedy, Result

ROUNDING_SECONDS = 2.0
"""uptime -s prints whole seconds and works them out anew each time."""

SLOW_SECONDS = 120.0
"""The longest that the other reads of a visit take: only after them the controller looks at its clock."""

STEPS = (
    "Look at the BMC's event log for power, temperature and watchdog events around that time.",
    "Look for a kernel panic or a machine check: the console's log, pstore, and the last lines of the journal.",
    "Check the power supplies and their feeds; a node that falls over under load is not to serve.",
)


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL where the node booted after it came to its state; by hand, without a stay, only the boot's time is told.

    Only ages are compared, the boot's by the node's clock and the stay's by the controller's: neither need be right.
    """
    reading = readings["uptime"]
    booted = uptime.parse(text_of(reading))
    age = reading.at - booted
    if age < -ROUNDING_SECONDS:
        raise EvidenceError(
            f"{expected.node} says it booted {-age:.0f} s in its own future; its clock jumped, ask again"
        )
    observed = {"booted_at": booted, "age_seconds": round(age, 3)}
    since, now = number(expected.run.get("since")), number(expected.run.get("now"))
    stay = now - since if since is not None and now is not None else 0.0
    if age + ROUNDING_SECONDS + SLOW_SECONDS >= stay:
        return conclude("steady", [], f"the node has been up for {age:.0f} s", observed)
    finding = about(expected.node, "burn_in.rebooted", "node")(
        message=f"the node booted {stay - age:.0f} s after its burn-in began, expected it to stay up",
        remedy=Remedy.TRIAGE,
        steps=STEPS,
    )
    return conclude("steady", [finding], "", observed)


CHECK = Check(
    name="steady",
    question="Has the node stayed up since its burn-in began?",
    reads=("uptime",),
    judge=judge,
    section="burn_in",
    codes=(Code("burn_in.rebooted", (Remedy.TRIAGE,), "the node booted in the middle of its burn-in"),),
    source="`uptime -s` of procps, against the runner's own record of when the burn-in began",
)
