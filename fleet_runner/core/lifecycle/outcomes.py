"""How a run ended, from what its play said and what its checks answered."""

from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.verdicts import OWN, PREEMPTED, Result, Verdict
from fleet_runner.core.lifecycle.runs import Outcome, Run
from fleet_runner.core.lifecycle.spool import Ended, PlayEnd
from fleet_runner.core.lifecycle.states import Stage

NO_WORD = "the play ended without a result for this node"
NO_ANSWER = "no check gave an answer"
UNREACHABLE = "unreachable: "
TASK_FAILED = "a task failed: "
OURS = "not the node: "
UNTESTED = f"{OURS}no test of this burn-in ran and passed: fleet_profile.burn_in.tests lists the tests to run"


def judge(results: tuple[Result, ...], ended: Ended | None, stage: Stage | None = None) -> tuple[Outcome, str]:
    """Return the outcome of a run and one sentence for people.

    A FAIL stands however the play went on. Without one, only a play that ended well and whose checks all passed
    is PASSED: a tool, a task or a connection that failed says nothing about hardware. While one of its tests goes on,
    the run is WORKING, whatever the others say. Checks that nobody asks for do not count, unless all are such; a test
    that gave way has to be run again, so nothing has passed. A burn-in has passed only if a test of it ran.

    Each answer stands for itself, whatever the outcome: tickets and remedies follow from results.
    """
    failed = [result for result in results if result.verdict is Verdict.FAIL]
    if failed:
        return Outcome.FAILED, _sentence(failed)
    silence = _silence(results, ended)
    if silence:
        return Outcome.UNKNOWN, silence
    open_questions = [result for result in results if result.verdict is Verdict.UNKNOWN]
    if open_questions:
        return _open(open_questions, sum(result.verdict is Verdict.PASS for result in results))
    skipped = [result for result in results if result.verdict is Verdict.SKIPPED]
    gave_way = [result for result in skipped if result.observed.get(PREEMPTED) is True]
    if gave_way or len(skipped) == len(results):
        return Outcome.SKIPPED, _sentence(gave_way or skipped)
    if stage is Stage.BURN_IN and not any(_is_tested(result) for result in results):
        return Outcome.UNKNOWN, UNTESTED
    return Outcome.PASSED, f"{len(results) - len(skipped)} checks passed"


def is_silent(run: Run) -> bool:
    """Whether a run ended without having learned anything: the node was not reached, or a task failed before."""
    return run.outcome is Outcome.UNKNOWN and run.detail.startswith(
        (NO_WORD, NO_ANSWER, UNREACHABLE, TASK_FAILED, OURS)
    )


def is_own(run: Run) -> bool:
    """Whether a run ended without a verdict for something of ours, or because nothing was asked.

    Neither the node nor its BMC said anything, or failed to: it is no try, and nobody is condemned by it.
    """
    match run.outcome:
        case Outcome.LOST | Outcome.SKIPPED | Outcome.CANCELLED:
            return True
        case Outcome.UNKNOWN:
            return run.detail.startswith((OURS, NO_WORD, NO_ANSWER))
        case _:
            return False


def _is_tested(result: Result) -> bool:
    check = CHECKS.get(result.check)
    return check is not None and check.job is not None and result.verdict is Verdict.PASS


def _silence(results: tuple[Result, ...], ended: Ended | None) -> str:
    """Say why the checks' answers cannot carry a verdict; empty when they can."""
    if ended is None:
        return NO_WORD
    if ended.end is PlayEnd.UNREACHABLE:
        return f"{UNREACHABLE}{ended.message or 'no reason given'}"
    if ended.end is PlayEnd.OWN:
        return f"{OURS}{ended.message or 'no reason given'}"
    if ended.end is PlayEnd.FAILED:
        return f"{TASK_FAILED}{ended.message or 'no reason given'}"
    return "" if results else NO_ANSWER


def _open(unknown: list[Result], passed: int) -> tuple[Outcome, str]:
    """Say which checks have no answer and why; those that one BMC would have answered have the same reason."""
    names: dict[str, list[str]] = {}
    for result in unknown:
        head, _, why = result.message.partition(": ")
        check = CHECKS.get(result.check)
        reads = (*check.reads, *check.also) if check is not None else ()
        names.setdefault(why if head in reads and why else result.message, []).append(result.check)
    told = "; ".join(f"{', '.join(checks)}: {why}" for why, checks in names.items())
    if any(result.observed.get("working") is True for result in unknown):
        return Outcome.WORKING, told
    own = OURS if all(result.observed.get(OWN) is True for result in unknown) else ""
    return Outcome.UNKNOWN, f"{own}{told}; {passed} checks passed" if passed else f"{own}{told}"


def _sentence(results: list[Result]) -> str:
    return "; ".join(f"{result.check}: {result.message}" for result in results)
