"""What people asked for: each request is answered exactly once, in one sentence."""

from collections.abc import Callable

from fleet_runner.core.budgets.modes import READING
from fleet_runner.core.cabling.sweeps import NO_OBSERVER
from fleet_runner.core.checks.active_schedule import TAKEN
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.needs import ORDER
from fleet_runner.core.firmware.rollout import number
from fleet_runner.core.inventory.records import Management
from fleet_runner.core.lifecycle import adoption
from fleet_runner.core.lifecycle.actions import Action, Answer, ClearCondition, Identify, Move, OpenRun, SetCondition
from fleet_runner.core.lifecycle.idle import idle
from fleet_runner.core.lifecycle.pending import clear, pend, waive
from fleet_runner.core.lifecycle.runs import INTENT_EVENTS, Held, Intent, IntentKind, is_of_cluster
from fleet_runner.core.lifecycle.states import FABRICS, SERVING, STATES, Condition, Event, Refusal, Stage, State, step
from fleet_runner.core.lifecycle.view import View

READ_ONLY = frozenset({Stage.VERIFY, Stage.HEALTH_PASSIVE, Stage.CABLING})
"""Stages that a person may run on a node in any state."""

AT_HAND = frozenset({State.TRIAGE, State.DEBUG})
"""States in which a person may have a node tested: nobody else uses it."""

OF_FABRICS = frozenset({Stage.FABRIC})
"""Stages that a person may run on a fabric; they only read, too."""


RECORD = "record"
"""The detail of `replaced` where the machine is the same one, and only its record was wrong."""

WITHDRAWN = "withdrawn"
"""The detail of `cancel` where whoever asked for a remedy takes back that request alone: no fault is waived by it."""

ASIDE = frozenset({Stage.COLLECT})
"""Stages that no request waits for: nobody asked for them. A run that a request starts waits for their end."""


def answer(view: View, newest: float) -> tuple[Action, ...]:
    """Return what the oldest request that can be answered now leads to; nothing when none can.

    A request that would move a node, or start a stage, waits for its open run to end. What was seen of a node's use
    at `newest` (epoch seconds) or before says nothing about now.
    """
    for intent in view.intents:
        if view.barred and is_of_cluster(intent.by) and intent.kind is not IntentKind.CANCEL:
            continue  # it may wait, as what a fault asks for does
        aside = view.run is None or (view.run.stage in ASIDE and intent.kind is not IntentKind.RUN)
        if aside or intent.kind in _AT_ONCE:
            if view.refused is not None and not _is_harmless(view, intent):
                return _no(intent, f"It is unclear which machine this is: {view.refused.sentence}.")
            if intent.kind is IntentKind.RUN:
                return _run(view, intent, newest)
            return _ANSWERS.get(intent.kind, _event)(view, intent)
    return ()


def _yes(intent: Intent, sentence: str, *actions: Action) -> tuple[Action, ...]:
    return (*actions, Answer(intent.id, accepted=True, sentence=sentence))


def _no(intent: Intent, sentence: str) -> tuple[Action, ...]:
    return (Answer(intent.id, accepted=False, sentence=sentence),)


def _event(view: View, intent: Intent) -> tuple[Action, ...]:
    row = step(view.node.state, INTENT_EVENTS[intent.kind], frozenset(view.node.conditions))
    if isinstance(row, Refusal):
        return _no(intent, row.sentence)
    return _yes(intent, row.sentence, Move(row, intent.by, intent.reason))


def _adopt(view: View, intent: Intent) -> tuple[Action, ...]:
    """Adopt what a survey saw serve; where none has lately, it is looked at first, and the request waits for that."""
    row = step(view.node.state, Event.ADOPTED, frozenset(view.node.conditions))
    if isinstance(row, Refusal):
        return _no(intent, row.sentence)
    last = adoption.survey(view, intent.at)
    if last is None:
        return (OpenRun(Stage.SURVEY, f"{intent.by} wants it adopted", intent.by),)
    reasons = adoption.reasons(view)
    if reasons:
        return _no(intent, f"Left as it is: {'; '.join(reasons)}.")
    return _yes(intent, row.sentence, Move(row, intent.by, intent.reason, adoption.evidence(view), last.id))


def _hold(_view: View, intent: Intent) -> tuple[Action, ...]:
    held = Held(intent.at, intent.reason, intent.by)
    return _yes(intent, "Held: nothing moves it until it is released.", SetCondition(Condition.HELD, held))


def _maintain(_view: View, intent: Intent) -> tuple[Action, ...]:
    sentence = "In maintenance: findings are kept, and nothing follows until it is released."
    return _yes(intent, sentence, SetCondition(Condition.MAINTENANCE, Held(intent.at, intent.reason, intent.by)))


def _release(view: View, intent: Intent) -> tuple[Action, ...]:
    """A hold may have been set on top of planned work: it ends first, and alone."""
    holding = [each for each in (Condition.HELD, Condition.MAINTENANCE) if each in view.node.conditions]
    if not holding:
        return _no(intent, "The node is neither held nor in maintenance.")
    more = "; it is still in maintenance: release it again to end that" if holding[1:] else ""
    sentence = f"Released{more}." if more else "Released: automation continues."
    return _yes(intent, sentence, ClearCondition(holding[0], intent.by, sentence))


def _reset(view: View, intent: Intent) -> tuple[Action, ...]:
    return _remedy(view, intent, Remedy.RESET)


def _reboot(view: View, intent: Intent) -> tuple[Action, ...]:
    return _remedy(view, intent, Remedy.REBOOT)


def _firmware(view: View, intent: Intent) -> tuple[Action, ...]:
    """A person's request takes the place of whatever is pending; a rollout's takes no place."""
    pending = view.node.conditions.get(Condition.PENDING)
    if pending is not None and number(intent.by) is not None:
        return _no(intent, f"{pending.detail} is pending already: {pending.reason}")
    return _remedy(view, intent, Remedy.REFLASH)


def _wipe(view: View, intent: Intent) -> tuple[Action, ...]:
    """What is erased is gone for good: nobody is asked twice, but the history must say why."""
    if not intent.reason.strip():
        return _no(intent, "A wipe needs a reason, because it cannot be undone; ask again with --reason.")
    return _event(view, intent)


def _replaced(view: View, intent: Intent) -> tuple[Action, ...]:
    """The machine that the source of truth gives it now is its own; where it is another one, it begins anew."""
    said = view.refused.machine if view.refused is not None else None
    if said is None or view.refused is None:
        why = view.refused.sentence if view.refused is not None else "the source of truth has the serial that it had"
        return _no(intent, f"It is not recorded as another machine: {why}.")
    identify = Identify(said, intent.by, f"Its machine has serial {said.serial} from now on.")
    if intent.detail == RECORD:
        return _yes(intent, f"Only its record was wrong: its serial is {said.serial}; the node continues.", identify)
    if view.node.state in {State.REGISTERED, State.ONBOARD}:
        return _yes(intent, f"Its chassis was replaced: its serial is {said.serial} now.", identify)
    if view.node.state in SERVING:
        held = Held(intent.at, intent.reason or f"{intent.by} says that its chassis was replaced", intent.by)
        sentence = f"Its serial is {said.serial} now; it leaves production once it is idle: say repaired then."
        return _yes(intent, sentence, identify, *pend(Remedy.TRIAGE, held))
    moved = _event(view, intent)
    return (identify, *moved) if len(moved) > 1 else moved


def _is_harmless(view: View, intent: Intent) -> bool:
    """Whether a request about a node whose machine nobody knows makes nothing happen to any machine."""
    if intent.kind is IntentKind.RUN:
        return any(stage.value == intent.detail for stage in READING)
    if intent.kind is IntentKind.TRIAGE:
        return view.node.state not in SERVING
    return intent.kind in _OF_RECORDS


def _triage(view: View, intent: Intent) -> tuple[Action, ...]:
    """A cluster takes a node out of production alone: one that is being reset, or wiped, only looks unwell to it."""
    if view.node.state is not State.PRODUCTION and not is_of_cluster(intent.by):
        row = step(view.node.state, Event.TRIAGE_NEEDED, frozenset(view.node.conditions))
        return (
            _no(intent, row.sentence)
            if isinstance(row, Refusal)
            else _yes(intent, row.sentence, Move(row, intent.by, intent.reason))
        )
    return _remedy(view, intent, Remedy.TRIAGE)


def _remedy(view: View, intent: Intent, remedy: Remedy) -> tuple[Action, ...]:
    if view.node.state is not State.PRODUCTION:
        return _no(intent, f"'{intent.kind}' is for a node in production; this one is in {view.node.state}.")
    pending = view.node.conditions.get(Condition.PENDING)
    if pending is not None and is_of_cluster(intent.by):
        return _joined(intent, remedy, Remedy(pending.detail))
    held = Held(intent.at, intent.reason or f"{intent.by} asked for it", intent.by)
    return _yes(intent, f"{remedy} is pending: it waits until the node is idle.", *pend(remedy, held))


def _joined(intent: Intent, remedy: Remedy, pending: Remedy) -> tuple[Action, ...]:
    """A cluster's request takes no other's place: it waits with what is pending, if that is no milder."""
    if ORDER.index(pending) >= ORDER.index(remedy):
        return _yes(intent, f"{pending} is pending already.")
    return _no(intent, f"{pending} is pending already; ask again once it has ended.")


def _cancel(view: View, intent: Intent) -> tuple[Action, ...]:
    pending = view.node.conditions.get(Condition.PENDING)
    if pending is None:
        return _no(intent, "No remedy is pending.")
    if intent.detail == WITHDRAWN:
        if pending.by != intent.by:
            return _no(intent, f"What {intent.by} asked for is not pending any more.")
        sentence = "The request was withdrawn; the node stays in service."
        return _yes(intent, sentence, *clear(view, intent.by, sentence))
    sentence = "The pending remedy is cancelled; the node stays in service."
    held = Held(intent.at, intent.reason or f"{intent.by} cancelled the remedy", intent.by)
    return _yes(intent, sentence, *clear(view, intent.by, sentence), *waive(view, held))


def _run(view: View, intent: Intent, newest: float) -> tuple[Action, ...]:
    fabric = view.node.state in FABRICS
    known = OF_FABRICS if fabric else READ_ONLY | set(STATES[view.node.state].stages) | _tests(view) | _survey(view)
    stage = next((stage for stage in known if stage.value == intent.detail), None)
    if stage is None:
        names = ", ".join(sorted(known))
        return _no(
            intent, f"Stage '{intent.detail}' cannot be run on a node in {view.node.state}; it can run: {names}."
        )
    refusal = _untestable(view, newest) if stage is Stage.HEALTH_ACTIVE else ""
    if refusal:
        return _no(intent, refusal)
    if fabric and not view.observers:
        return _no(intent, NO_OBSERVER)
    if Condition.HELD in view.node.conditions and stage not in READ_ONLY | OF_FABRICS:
        return _no(intent, f"The node is held; release it before '{stage}' can run.")
    return _yes(intent, f"{stage} starts.", OpenRun(stage, intent.reason or f"{intent.by} asked for it", intent.by))


def _untestable(view: View, newest: float) -> str:
    """Say why active tests may not run on a node now; "" where they may."""
    if view.node.state is not State.PRODUCTION:
        return ""
    if not view.tested:
        return f"The profile of {view.node.device_type} names no tests (health_active.tests): no test can run."
    if view.node.management is not Management.FULL:
        return f"The node's management is '{view.node.management}': tests run only on fully managed nodes."
    taken = sorted(TAKEN & view.node.conditions.keys() - {Condition.HELD, Condition.IN_USE})
    if taken:
        return f"The node is {', '.join(taken)}: tests run only where nothing else is planned."
    if not idle(view, newest):
        return "The node is in use, or it is unknown whether it is idle: tests would disturb a tenant."
    return ""


def _survey(view: View) -> frozenset[Stage]:
    return frozenset({Stage.SURVEY}) if view.node.state is State.REGISTERED else frozenset()


def _tests(view: View) -> frozenset[Stage]:
    """Return the stage of active tests where a person may ask for it; only an idle node is tested in service."""
    return frozenset({Stage.HEALTH_ACTIVE}) if view.node.state in AT_HAND | {State.PRODUCTION} else frozenset()


_OF_RECORDS = frozenset({
    IntentKind.HOLD, IntentKind.MAINTENANCE, IntentKind.RELEASE, IntentKind.CANCEL, IntentKind.DEBUG, IntentKind.RMA,
    IntentKind.REPLACED, IntentKind.RETIRE,
})  # fmt: skip
"""Requests that change what is known of a node, and nothing at any machine."""

_AT_ONCE = frozenset({IntentKind.HOLD, IntentKind.MAINTENANCE, IntentKind.RELEASE, IntentKind.CANCEL})
"""Requests that do not wait for an open run to end."""

_ANSWERS: dict[IntentKind, Callable[[View, Intent], tuple[Action, ...]]] = {
    IntentKind.ADOPT: _adopt,
    IntentKind.HOLD: _hold,
    IntentKind.MAINTENANCE: _maintain,
    IntentKind.RELEASE: _release,
    IntentKind.RESET: _reset,
    IntentKind.REBOOT: _reboot,
    IntentKind.TRIAGE: _triage,
    IntentKind.WIPE: _wipe,
    IntentKind.FIRMWARE: _firmware,
    IntentKind.CANCEL: _cancel,
    IntentKind.REPLACED: _replaced,
}
"""How each request is answered; the others are events of the lifecycle."""
