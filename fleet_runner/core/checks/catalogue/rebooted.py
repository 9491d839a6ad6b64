"""Has the node booted since its reboot was requested?"""

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import uptime
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.verdicts import Remedy, Result

ROUNDING_SECONDS = 2.0
"""uptime -s prints whole seconds and works them out anew each time."""

SKEW_SECONDS = 60.0
"""How far a node's clock may be from the controller's without anybody noticing."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Compare the node's boot with the moment from which a boot counts; without one, only tell the boot's time.

    That moment (`since`) is the controller's clock, the boot the node's. Where the run says what the controller's
    clock was when the reading came back (`now`), only ages are compared, and no clock need be right. Else the clocks
    are compared as they are; a node whose clock shows an earlier time than the run's opening is corrected by as much
    and gets SKEW_SECONDS on top, because then the clocks are known to differ.
    """
    reading = readings["uptime"]
    booted = uptime.parse(text_of(reading))
    age = reading.at - booted
    if age < -ROUNDING_SECONDS:
        raise EvidenceError(
            f"{expected.node} says it booted {-age:.0f} s in its own future; its clock jumped, check again"
        )
    observed = {"booted_at": booted, "age_seconds": round(age, 3)}
    since = number(expected.run.get("since"))
    if since is None:
        return conclude("rebooted", [], f"the node booted {age:.0f} s ago", observed)
    early = _seconds_too_early(age, reading.at, since, expected)
    if early <= 0:
        return conclude("rebooted", [], f"the node booted {age:.0f} s ago, after its reboot was requested", observed)
    finding = about(expected.node, "node.not_rebooted", "node")(
        message=f"the node booted {age:.0f} s ago, {early:.0f} s before its reboot was requested",
        remedy=Remedy.TRIAGE,
        steps=(
            "Look at the node's console and its BMC's event log: did it take the power action?",
            "Power-cycle it from the BMC; if it does not restart, pull its power.",
        ),
    )
    return conclude("rebooted", [finding], "", observed)


def _seconds_too_early(age: float, at: float, since: float, expected: Expected) -> float:
    now = number(expected.run.get("now"))
    if now is not None:
        return age - (now - since) - ROUNDING_SECONDS
    opened = number(expected.run.get("opened_at"))
    behind = max(0.0, opened - at) if opened is not None else 0.0
    allowance = SKEW_SECONDS if behind else 0.0
    return since - (at - age + behind) - ROUNDING_SECONDS - allowance


CHECK = Check(
    name="rebooted",
    question="Has the node booted since its reboot was requested?",
    reads=("uptime",),
    judge=judge,
    codes=(Code("node.not_rebooted", (Remedy.TRIAGE,), "the node has not booted since its reboot was requested"),),
    source="The moment at which the runner asked for the boot; ages are compared, so no clock need be right.",
)
