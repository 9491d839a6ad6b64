"""Does a node write to another one over the fabric as fast as it should?"""

from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import PROGRAM, Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import perftest
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.shared.write_rate import LARGE, write_gbitps
from fleet_runner.core.checks.verdicts import Remedy, Result
from fleet_runner.core.inventory import profile

NAME = "ib_write_pair"
SECTION = f"active.{NAME}"
MARK = "write_gbitps_min"

APART = "apart"
"""What is observed where both ends met over TCP, and their adapters did not reach each other: perftest's own word."""

NOT_REACHED = ("Unable to Connect the HCA's through the link", "Failed status 12", "Failed status 13")
"""What perftest says then: the address was not resolved, or no answer came after all retries (IBV_WC_RETRY_EXC_ERR
and IBV_WC_RNR_RETRY_EXC_ERR of libibverbs)."""

WAIT_SECONDS = 120
"""How long one end waits for the other one: Ansible may need a while to begin all of a large round."""

SPARE_SECONDS = 60
"""What connecting hundreds of queue pairs takes besides, at most."""


def judge(readings: Readings, expected: Expected) -> Result:
    """Judge what one end of a pair saw: either end, or the way between them, may be slow, so it is only watched.

    Which of them it is, several pairs tell together (`fabric_paths`).
    """
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job)
    if still is not None:
        return still
    (run, *more) = perftest.measured(jobs.output_of(job, expected)) or (None,)
    if run is None or more:
        raise EvidenceError(f"{1 + len(more) if run else 0} measurements were printed, expected one of this pair")
    gbitps = write_gbitps(run.table) if run.table is not None else None
    observed: dict[str, Any] = {"adapter": run.rail, "peer": run.peer}
    observed |= {MARK: wanted.number(MARK)} if wanted.has(MARK) else {}
    if gbitps is None:
        why = run.trouble or f"no message of {LARGE} bytes or more was measured"
        observed |= {APART: why} if any(words in why for words in NOT_REACHED) else {}
        unread = f"{run.rail or 'the adapter'} and {run.peer or 'its peer'} measured nothing: {why}"
        return unless_unread(conclude(NAME, (), "", observed), [unread])
    low = missed(wanted, MARK, gbitps, " Gb/s")
    slow = about(expected.node, "ib_write_pair.slow", run.rail)(
        message=f"{run.rail} and {run.peer} write at {low} each way; see fleet-runner cabling paths --run",
        remedy=Remedy.WATCH,
    )
    passed = f"{run.rail} and {run.peer} write at {gbitps:.4g} Gb/s each way"
    return conclude(NAME, [slow] if low else [], passed, observed | {"gbitps": gbitps})


def order(expected: Expected) -> Order:
    """Return one end of a pair, which only whoever chose the pair knows (`fleet-runner cabling paths --run`)."""
    pair = expected.run.get("pair")
    if not isinstance(pair, Mapping):
        raise EvidenceError(f"{expected.node} is in no pair; fleet-runner cabling paths --run tests pairs")
    words = ["--rails", str(pair["adapter"]), "--interface", str(pair["interface"]), "--peer", str(pair["peer"])]
    words += ["--port", f"{pair['port']}", "--flows", f"{pair['flows']}", "--seconds", f"{pair['seconds']}"]
    words += ["--to", str(pair["server"])] if pair["server"] else ["--serve"]
    words += ["--wait", f"{WAIT_SECONDS}"]
    seconds = float(WAIT_SECONDS + SPARE_SECONDS + pair["seconds"])
    return Order(("python3", PROGRAM, *words), seconds, "ib_write.py")


CHECK = Check(
    name=NAME,
    question="Does a node write to another one over the fabric as fast as it should?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("ib_write_pair.slow", (Remedy.WATCH,), f"two nodes write to each other at less than `{SECTION}.{MARK}`"),
    ),
    source="perftest's ib_write_bw, both ways at once; the number is of one way. Marks depend on the site's fabric.",
    measures=(Measure("gbitps", f"{SECTION}.{MARK}"),),
)
