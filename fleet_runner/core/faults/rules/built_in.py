"""The rules that hold unless the policy file says otherwise; where several speak of a code, the last one wins.

What a check or a signal proposes stands where no rule names a remedy. Each says whether it is a fact of NVIDIA's
published Xid catalogue or our judgement.
"""

from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.rule import Rule
from fleet_runner.core.lifecycle.states import HOUR, MINUTE

DAY = 24 * HOUR

_CATALOGUE = "built in, from NVIDIA's Xid catalogue"
_JUDGEMENT = "built in, by our judgement"

BUILT_IN: tuple[Rule, ...] = (
    Rule(("*",), at_once=False, repeats=1, within=10 * MINUTE, beside=(), hold=0.0, quiet=1 * HOUR,
         source=_JUDGEMENT),
    # An alert knows its limits but not this fleet: it is shown until the policy says more. Alertmanager tells it
    # again every few hours, and when it has ended.
    Rule(("alert.*",), remedy=Remedy.WATCH, quiet=1 * DAY, source=_JUDGEMENT),
    # A silent GPU is no healed one: what needs a remedy stands until that, or a check, has proved it gone.
    Rule(("xid.*", "sxid.*", "gpu.driver_*"), quiet=2 * DAY, source=_JUDGEMENT),
    # Only power taken away brings the GPU back, and the work that used it has died with it; that of the others may be
    # well, and is waited for.
    Rule(("xid.79",), remedy=Remedy.POWER_CYCLE, at_once=True, source=_CATALOGUE),
    # Memory that ECC could not correct, or rows that could not be remapped; failed remapping shows in gpu_errors.
    Rule(("xid.48", "xid.64", "xid.95", "xid.140"), remedy=Remedy.RESET, source=_CATALOGUE),
    # A row to be remapped: whether that is pending, or failed, is for gpu_errors to say.
    Rule(("xid.63",), remedy=Remedy.RECORD, source=_CATALOGUE),
    # The GPU's system processor: its bug report is kept before it is reset.
    Rule(("xid.119", "xid.120"), remedy=Remedy.RESET, source=_CATALOGUE),
    # The application's own. Again and again on one GPU they are not: a person has it diagnosed.
    Rule(("xid.43", "xid.45", "xid.94"), remedy=Remedy.RECORD, quiet=1 * HOUR, source=_CATALOGUE),
    Rule(("xid.31",), remedy=Remedy.TRIAGE, repeats=2, within=1 * DAY, source=_CATALOGUE),
    Rule(("xid.13",), remedy=Remedy.TRIAGE, repeats=5, within=1 * DAY, source=_JUDGEMENT),
    # A queue that stands still once is opened anew by its driver; one that does so all day needs a person.
    Rule(("hca.queue_timeout", "nic.queue_timeout"), remedy=Remedy.TRIAGE, repeats=20, within=1 * DAY,
         source=_JUDGEMENT),
    # What is foreseen is no fault yet, and is said once a night: what is not said for some nights is over.
    Rule(("foresight.*",), remedy=Remedy.WATCH, quiet=3 * DAY, source=_JUDGEMENT),
    # A service is started anew before a node is booted anew.
    Rule(("fabric_manager.down",), remedy=Remedy.RESTART, source=_JUDGEMENT),
)  # fmt: skip
