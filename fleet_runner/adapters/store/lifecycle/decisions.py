"""Carrying out a decision: all of its actions, or none."""

from sqlalchemy import Connection, bindparam, delete, update

from fleet_runner.adapters.store.engine.database import insert
from fleet_runner.adapters.store.faults import alarms, attempts
from fleet_runner.adapters.store.lifecycle import history, intents, machines, renaming
from fleet_runner.adapters.store.runs import runs
from fleet_runner.adapters.store.schema.core import conditions, nodes
from fleet_runner.adapters.store.tickets import tickets
from fleet_runner.core.base.errors import ConflictError
from fleet_runner.core.lifecycle.actions import (
    Action,
    Answer,
    BeginAttempt,
    ClearAlarm,
    ClearCondition,
    CloseTicket,
    Decision,
    EndAttempt,
    Identify,
    Move,
    OpenRun,
    OpenTicket,
    SetCondition,
)
from fleet_runner.core.lifecycle.runs import Entry, Node, Run


def apply(connection: Connection, node: Node, decision: Decision, now: float) -> tuple[Run, ...]:
    """Make a decision true in the caller's transaction; return the runs it opened.

    Raises:
        ConflictError: the node is no longer as it was when the decision was made.
    """
    fence = _claim(connection, node, decision, now)
    opened: list[Run] = []
    for action in decision.actions:
        if isinstance(action, OpenRun):
            fence += 1
            opened.append(runs.start(connection, _run(node, action, fence, now)))
        _act(connection, node, action, now)
    return tuple(opened)


_CLAIM = (
    update(nodes)
    .where(nodes.c.name == bindparam("_name"), nodes.c.version == bindparam("_version"))
    .values(
        state=bindparam("_state"),
        since=bindparam("_since"),
        version=nodes.c.version + 1,
        fence=nodes.c.fence + bindparam("_taken"),
        waiting=bindparam("_waiting"),
        wake_at=bindparam("_wake_at"),
    )
    .returning(nodes.c.fence)
)


def _claim(connection: Connection, node: Node, decision: Decision, now: float) -> int:
    """Write the node's row if it is still the one that was read; return its fence from before."""
    state, since = node.state, node.since
    for move in (action for action in decision.actions if isinstance(action, Move)):
        if move.transition.state is not state:
            raise ConflictError(
                f"node {node.name}: it is in {state}, the decision moves it out of {move.transition.state}; "
                f"nothing was changed; read it again and decide again"
            )
        state, since = move.transition.to, now
    taken = sum(isinstance(action, OpenRun) for action in decision.actions)
    written = {"_name": node.name, "_version": node.version, "_state": state.value, "_since": since, "_taken": taken}
    written |= {"_waiting": decision.waiting, "_wake_at": decision.wake_at}
    fence = connection.execute(_CLAIM, written).scalar_one_or_none()
    if fence is None:
        raise ConflictError(
            f"node {node.name}: it has changed since version {node.version} was read; nothing was changed; "
            f"read it again and decide again"
        )
    return int(fence) - taken


def _act(connection: Connection, node: Node, action: Action, now: float) -> None:
    """Write the rows of one action, and what the history says about it; runs are opened by the caller."""
    history.add(connection, _done(connection, node, action, now))


def _done(connection: Connection, node: Node, action: Action, now: float) -> list[Entry]:  # noqa: C901, PLR0911  a case each
    match action:
        case Move():
            return [_moved(node, action, now)]
        case SetCondition():
            return _set(connection, node, action, now)
        case ClearCondition():
            return _clear(connection, node, action, now)
        case OpenTicket():
            return tickets.see(connection, node.name, action, now)
        case CloseTicket():
            return tickets.close(connection, node.name, action, now)
        case Answer():
            return [intents.answer(connection, node.name, action, now)]
        case BeginAttempt():
            attempts.begin(connection, node, action, now)
            return []
        case EndAttempt():
            return attempts.end(connection, node.name, action, now)
        case ClearAlarm():
            return alarms.clear(connection, action.alarm, action.because, now)
        case Identify():
            machines.put(connection, {node.name: action.machine})
            return [Entry(0, node.name, now, renaming.KIND, action.sentence, action.by)]
        case OpenRun():
            return []


def _moved(node: Node, action: Move, now: float) -> Entry:
    row = action.transition
    sentence = f"{row.sentence} {action.because}" if action.because else row.sentence
    ends = (row.state, row.event, row.to)
    return Entry(0, node.name, now, "transition", sentence, action.by, *ends, action.results, action.run)


def _set(connection: Connection, node: Node, action: SetCondition, now: float) -> list[Entry]:
    held = action.held
    words = {"since": held.since, "reason": held.reason, "by": held.by, "detail": held.detail}
    written = insert(connection, conditions).values(node=node.name, condition=action.condition.value, **words)
    connection.execute(written.on_conflict_do_update(index_elements=["node", "condition"], set_=words))
    before = node.conditions.get(action.condition)
    if before is not None and (before.reason, before.detail) == (held.reason, held.detail):
        return []
    name = action.condition.value.replace("_", " ").capitalize()
    return [Entry(0, node.name, now, "condition", f"{name}: {held.reason}", held.by, results=action.results)]


def _clear(connection: Connection, node: Node, action: ClearCondition, now: float) -> list[Entry]:
    gone = delete(conditions).where(conditions.c.node == node.name, conditions.c.condition == action.condition.value)
    if connection.execute(gone).rowcount != 1:
        return []
    return [Entry(0, node.name, now, "condition", action.sentence, action.by)]


def _run(node: Node, action: OpenRun, fence: int, now: float) -> Run:
    return Run(
        id=0,
        node=node.name,
        stage=action.stage,
        fence=fence,
        batch=action.batch,
        opened_at=max(now, node.since),  # a clock that was set back must not hide a run from its state
        by=action.by,
        reason=action.reason,
    )
