"""What DCGM's error numbers ask for, where its own severities do not say it, or say too much.

The numbers are those of DCGM's public header `dcgm_errors.h`; they have not changed from version 2.4 to 4.6.
"""

from fleet_runner.core.checks.parsers.dcgm import CONFIGURATION, DEPLOYMENT, Outcome, Warned
from fleet_runner.core.checks.verdicts import Remedy

BY_SEVERITY: dict[int, Remedy] = {
    0: Remedy.RECORD,  # nothing
    1: Remedy.WATCH,  # can do its work, look at it more often
    2: Remedy.TRIAGE,  # cannot do its work: take it out
    3: Remedy.TRIAGE,  # DCGM does not know
    4: Remedy.TRIAGE,  # a person must look
    CONFIGURATION: Remedy.RECORD,  # set wrongly, nothing about the hardware
    6: Remedy.RESET,
}
"""DCGM's severities, and what follows."""

BY_ERROR: dict[int, Remedy] = {
    9: Remedy.TRIAGE,  # corrupt InfoROM
    25: Remedy.RECORD,  # graphics processes are running: DCGM would reset the GPU for that
    80: Remedy.RMA,  # row remapping failed (NVIDIA's RMA policy; DCGM: reset)
    84: Remedy.RECORD,  # rows were remapped, rightly: they stay counted for the GPU's whole life
    118: Remedy.RMA,  # SRAM errors over their threshold (NVIDIA's RMA policy; DCGM: isolate)
    120: Remedy.REBOOT,  # fallen off the bus, as Xid 79
    126: Remedy.REBOOT,  # the driver asks for a reboot
}
"""Where NVIDIA's other documents say something else than the severity of its error table, and known false alarms."""

OWN_TROUBLE = frozenset(
    {
        18,  # a file that cannot be read
        21,  # a bad parameter
        22,  # a library that cannot be opened
        26,  # no connection to the host engine
        27,  # a field that cannot be asked for
        32,  # a field without a tag
        37,  # a field of an unknown type
        44,  # an internal error
        47,  # ended by a signal
        49,  # telemetry that is not there
        53,  # watches that cannot be set
        56,  # no memory left on the GPU: another process holds it
        64,  # a call of an interface that failed
        67,  # likewise, DCGM's own
        69,  # more errors than fit
        73,  # no memory left on the host
        82,  # no GPU was given to the test
        89,  # the field diagnostic (EUD): its permissions
        90,  # it needs root
        91,  # it did not start
        92,  # it took too long
        93,  # it did not end
        94,  # it exited with an error
        96,  # a file that cannot be written
        97,  # pausing DCGM failed
        108,  # the fabric manager does not run
        112,  # it has not finished training
        122,  # IMEX is not healthy
        124,  # the permissions of a test's program
        130,  # it asks to be run again
    }
)
"""Errors of the diagnostic or of the software below it: the test did not test, and says nothing about hardware."""

OWN_WORDS = (
    "aborted early due to user signal",
    "couldn't allocate at least",
    "cannot allocate",
    "error using dcgm api",
    "no valid gpus passed",
    "internal error during the test",
    "host engine",
    "permission",
    "could not be accessed directly",
    "cannot open library",
)
"""The same in the words of versions that give no numbers, in lower case."""

HARDWARE_TESTS = frozenset({"page_retirement_row_remap", "page_retirement", "inforom"})
"""Deployment tests that look at the GPU all the same."""


def own_trouble(outcome: Outcome) -> bool:
    """Whether a test failed for reasons of its own and of no other kind."""
    return bool(outcome.warned) and all(_is_own(each) for each in outcome.warned)


def remedy(outcome: Outcome, test: str) -> Remedy:
    """Return what a failed test asks for, by its hardest message; where none tells, by what the test looks at."""
    asked = [found for each in outcome.warned if not _is_own(each) and (found := _asked(each)) is not None]
    if asked:
        return max(asked, key=list(Remedy).index)
    software = outcome.category.lower() == DEPLOYMENT and test not in HARDWARE_TESTS
    return Remedy.RECORD if software or outcome.status == "warn" else Remedy.TRIAGE


def _asked(warned: Warned) -> Remedy | None:
    if warned.severity is None:
        return None
    if warned.error in BY_ERROR:
        return BY_ERROR[warned.error]
    return BY_SEVERITY.get(warned.severity, Remedy.TRIAGE)


def _is_own(warned: Warned) -> bool:
    if warned.error is not None:
        return warned.error in OWN_TROUBLE and warned.severity != CONFIGURATION
    return any(words in warned.text.lower() for words in OWN_WORDS)
