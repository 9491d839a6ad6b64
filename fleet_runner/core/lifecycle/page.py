"""The page about the lifecycle, as Markdown: every row of every table in `lifecycle`, as it stands there."""

from collections.abc import Iterable, Sequence

from fleet_runner.core.boot.progress import AWAITED
from fleet_runner.core.checks.catalogue.network_boot import STOPS
from fleet_runner.core.lifecycle.diagram import limit
from fleet_runner.core.lifecycle.states import MOVING, SERVING, STAGES, STATES, TRANSITIONS, Event, State

_HEAD = """# The lifecycle of a node

Generated from `fleet_runner/core/lifecycle/states.py` by `make docs`: change the tables there, never this page.

![The states of a node and what moves it between them](lifecycle.svg)

Only the runner moves a node, and only along a row of the second table; the row's sentence goes into the node's
history. A *held* node never moves, whoever asks. Every path from `registered` to `production` leads through
`burn_in`, except for a node that a person adopts because it is already in service.

A *watched* fabric is not a node: it is swept on a schedule, and only retirement moves it.
"""

_STATES = """## States

A state with stages is *moving*: the runner works towards the next one, within the deadline. A stage without a
verdict (a node that does not answer, a tool that hangs) is tried again, at most as often as the table says.
A missing look never ends a stay: if a try came late, because the runner was away, or its queue paused or full, the
deadline counts only after another try. Our own failures count as no try, and no deadline ends on them: a run that
was lost or could not begin, a lease that another process holds, a store, a scheduler or a boot service that is
away, a login or a route that our ssh lacks, a test that was not requested. `status` then says "not the node", and
why; the stage is repeated within 15 minutes. While no boot service reports, no node is switched off or on for a
network boot.
"""

_TRANSITIONS = """## Transitions

The history records the row's sentence. `passed`, `failed` and `overdue` come from the runner, `start` from the
source of truth, `reboot_needed` and `triage_needed` from a fault that a check found, or from a person,
`firmware_needed` from a person or a rollout, never from a check that found drift; the others from people.
"""

_RESTS = """## What a node's way to a person rests on

Each move to `onboard`, `triage`, `rma` or `firmware_failed`, and what it requires. Our own failures never cause one.
"""

RESTS = {
    Event.PASSED: "every check of the stage passed",
    Event.FAILED: "a check's FAIL: what the node or its BMC reported, stored with the result",
    Event.OVERDUE: "a run on the node that ended without a verdict: it or its BMC did not answer, or not well",
    Event.TRIAGE_NEEDED: "a fault that a check confirmed by what the node or BMC reported; or a person's request",
    Event.RMA: "a person's request",
    Event.REPAIRED: "a person's request",
    Event.REPLACED: "a person's request",
}
"""What each event takes by which a node comes to a person."""

WAITS_FOR_A_PERSON = (State.ONBOARD, State.TRIAGE, State.RMA, State.FIRMWARE_FAILED)

_STAGES = """## Stages

Each is the playbook of its name. A run over its deadline is ended; a run whose end was not seen is *lost*, and is
repeated, so a repetition must do no harm.
"""

_MILESTONES = """## Milestones of a network boot

`provision` and `reboot` watch a node that boots from the fleet's own boot service, milestone by milestone. The wait
ends when a milestone is not reached within its limit, by the runner's own clock, and the finding of its row
then has a ticket. If a machine reports another identity than expected of the node, from the node's own
address, the finding is `boot.identity` instead; if the node is off according to its BMC, `boot.off`.

A node answers only for itself, and nobody else can make it fail. The check is UNKNOWN, says what to check, and
the stage is repeated without counting as a try, if

- no boot service reported lately, or one began to serve, or was away, while the node waited;
- no DHCP server reported since the node was armed;
- the boot service refused something: an image, a document, an address without a reported lease;
- another machine asked in the node's place from elsewhere;
- several nodes stopped at the same place, and none came past it lately;
- the node leased an address but did not get iPXE, no other node got it lately, and its boot before this one did not
  stop there;
- the runner's ssh fails by itself: it has no route, no login, or knows other host keys.
"""


def page() -> str:
    """The whole page."""
    states = _table(("state", "also called", "what it means", "stages", "deadline", "tries"), map(_state, STATES))
    transitions = _table(
        ("from", "event", "to", "sentence"),
        ((f"`{row.state}`", f"`{row.event}`", f"`{row.to}`", row.sentence) for row in TRANSITIONS.values()),
    )
    rests = _table(
        ("from", "event", "to", "rests on"),
        (
            (f"`{row.state}`", f"`{row.event}`", f"`{row.to}`", RESTS[row.event])
            for row in TRANSITIONS.values()
            if row.to in WAITS_FOR_A_PERSON
        ),
    )
    stages = _table(
        ("stage", "what it does", "deadline", "why it may be tried again"),
        ((f"`{name}`", work.meaning, limit(work.deadline), work.why) for name, work in STAGES.items()),
    )
    milestones = _table(
        ("milestone", "what it means", "limit", "because", "if it is missed"),
        (
            (f"`{step}`", row.meaning, limit(row.seconds), row.why, f"`{STOPS[step].code}`")
            for step, row in AWAITED.items()
        ),
    )
    tables = f"{_HEAD}\n{_STATES}\n{states}\n{_TRANSITIONS}\n{transitions}\n{_RESTS}\n{rests}\n{_STAGES}\n{stages}"
    return f"{tables}\n{_MILESTONES}\n{milestones}"


def _state(state: State) -> Sequence[str]:
    place = STATES[state]
    meaning = f"{place.meaning} *(serving)*" if state in SERVING else place.meaning
    stages = ", ".join(f"`{stage}`" for stage in place.stages)
    tries = str(place.attempts) if state in MOVING else ""
    deadline = "" if place.deadline is None else limit(place.deadline)
    return (f"`{state}`", place.also, meaning, stages, deadline, tries)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = (head, ["---"] * len(head), *rows)
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
