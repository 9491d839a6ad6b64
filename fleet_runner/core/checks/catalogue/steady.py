"""Has the node stayed up since its burn-in began?"""

import re
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import uptime
from fleet_runner.core.checks.parsers.json_text import number
from fleet_runner.core.checks.verdicts import Remedy, Result

ROUNDING_SECONDS = 2.0
"""uptime -s prints whole seconds and works them out anew each time."""

BOOT_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

STEPS = (
    "Look at the BMC's event log for power, temperature and watchdog events around that time.",
    "Look for a kernel panic or a machine check: the console's log, pstore, and the last lines of the journal.",
    "Check the power supplies and their feeds; a node that crashes under load must not serve.",
)


def judge(readings: Readings, expected: Expected) -> Result:
    """FAIL where the node runs another boot than at its first answer in this stay; no clock has a say in that.

    The kernel's id of the boot is remembered with the stay it was first seen in. It is asked before the tests begin,
    so a boot before the first answer is none in the burn-in. By hand, without a stay, only the boot's time is told,
    and what was remembered stays.
    """
    reading = readings["uptime"]
    age = reading.at - (booted := uptime.parse(text_of(reading)))
    if age < -ROUNDING_SECONDS:
        raise EvidenceError(
            f"{expected.node} says it booted {-age:.0f} s in its own future; its clock jumped, check again"
        )
    boot = text_of(readings["boot_id"]).strip()
    if BOOT_ID.fullmatch(boot) is None:
        raise EvidenceError(
            f"{expected.node} gives {boot!r:.60} for its boot's id, expected 32 digits in five groups"
        )
    since = number(expected.run.get("since"))
    first = _first(expected)
    if since is not None and (first is None or first["since"] != since):
        first = {"since": since, "boot": boot}
    observed = {"booted_at": booted, "age_seconds": round(age, 3), **({"first": first} if first is not None else {})}
    if since is None or first is None or first["boot"] == boot:
        return conclude("steady", [], f"the node has been up for {age:.0f} s", observed)
    finding = about(expected.node, "burn_in.rebooted", "node")(
        message=f"the node booted {age:.0f} s ago, in the middle of its burn-in; expected it to stay up",
        remedy=Remedy.TRIAGE,
        steps=STEPS,
    )
    return conclude("steady", [finding], "", observed)


def _first(expected: Expected) -> dict[str, Any] | None:
    """Return the stay and the boot that were remembered, None where nothing was."""
    known: Any = expected.run.get("before", {}).get("steady") or {}
    observed = known.get("observed")
    first = observed.get("first") if isinstance(observed, Mapping) else None
    return {"since": first.get("since"), "boot": first.get("boot")} if isinstance(first, Mapping) else None


CHECK = Check(
    name="steady",
    question="Has the node stayed up since its burn-in began?",
    reads=("uptime", "boot_id"),
    judge=judge,
    remembers=True,
    section="burn_in",
    codes=(Code("burn_in.rebooted", (Remedy.TRIAGE,), "the node booted in the middle of its burn-in"),),
    source="The kernel's `random/boot_id` (proc(5)), against that of the check's first answer in the burn-in;"
    " `uptime -s` of procps shows when",
)
