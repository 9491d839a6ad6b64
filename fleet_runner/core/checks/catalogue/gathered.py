"""Was everything gathered that a person may want to look at? Nothing of it is judged."""

from fleet_runner.core.checks.answers import text_of
from fleet_runner.core.checks.check import Check, Readings
from fleet_runner.core.checks.collect import READ, parse
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Result, Verdict

NAME = "gathered"


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS once there is anything; what there is not is said, with why: a dead node has only what its BMC tells."""
    del expected
    files = parse(text_of(readings[READ]))
    there = [each for each in files if each["bytes"]]
    missing = "; ".join(f"{each['name']}: {each['why'] or 'empty'}" for each in files if not each["bytes"])
    observed = {"files": list(files)}
    if not there:
        return Result(
            NAME, Verdict.UNKNOWN, f"nothing could be gathered: {missing or 'nothing was requested'}", (), observed
        )
    size = sum(each["bytes"] for each in there) / 1e6
    message = f"{len(there)} files were gathered, {size:.1f} MB" + (f"; not: {missing}" if missing else "")
    return Result(NAME, Verdict.PASS, message[:2000], observed=observed)


CHECK = Check(
    name=NAME,
    question="Were the logs and reports collected that a person needs to diagnose the node?",
    reads=(READ,),
    judge=judge,
    source="What NVIDIA's support asks for first (nvidia-bug-report.sh), and the logs that a boot would lose.",
)
