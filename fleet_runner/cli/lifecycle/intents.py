"""Commands by which people ask for something: each leaves a request that the reconciler answers."""

import time
from collections.abc import Callable
from typing import Annotated

import typer

from fleet_runner.adapters.plays import wake
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.remote import remote, signed
from fleet_runner.cli.base.session import ByNode, Exit, console, errors, known, opened, split
from fleet_runner.core.lifecycle.losses import losses
from fleet_runner.core.lifecycle.runs import IntentKind
from fleet_runner.core.lifecycle.states import Stage, State
from fleet_runner.settings import Settings

Nodes = Annotated[list[str], typer.Argument(help="one or more nodes", metavar="NODE...")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="goes into the history")]
By = Annotated[str | None, typer.Option("--by", help="who asks; default: the user who runs the command")]
Wait = Annotated[float, typer.Option("--wait", min=0, help="seconds to wait for the answer; 0: do not wait")]

ASK_AGAIN = 0.2


def _command(intent: IntentKind, does: str) -> Callable[..., None]:
    """Return a command that leaves a request for nodes; `does` is its help."""

    def leave(nodes: Nodes, reason: Reason = "", by: By = None, wait: Wait = 10.0) -> None:
        ask(intent, nodes, reason, by, wait)

    leave.__doc__ = does
    return leave


certify = _command(
    IntentKind.CERTIFY, "Confirm that a node is built as designed; its parts, power and cabling are verified next."
)
hold = _command(
    IntentKind.HOLD, "Stop all automation on a node until it is released. A hold has priority over everything."
)
maintenance = _command(
    IntentKind.MAINTENANCE,
    "Start planned work on a node: checks continue, and no remedy follows until it is released.",
)
release = _command(IntentKind.RELEASE, "End a hold, or planned work if the node is not held.")
cancel = _command(
    IntentKind.CANCEL, "Cancel a pending remedy; the same fault triggers no remedy until it has cleared."
)
reset = _command(
    IntentKind.RESET, "Reset all GPUs of a production node when it is idle, and verify it before it serves again."
)
reboot = _command(
    IntentKind.REBOOT, "Reboot a production node when it is idle, and verify it before it serves again."
)
triage = _command(IntentKind.TRIAGE, "Take a node out of production when it is idle, for a person to inspect.")
debug = _command(IntentKind.DEBUG, "Mark a node in triage as being worked on in place.")
repaired = _command(IntentKind.REPAIRED, "Mark a node as repaired; it passes every stage again before production.")
retry = _command(
    IntentKind.RETRY, "Retry what failed: firmware after a firmware failure, Day 0 from triage, debug or RMA."
)


def provision(
    nodes: Nodes,
    reason: Reason = "",
    by: By = None,
    wait: Wait = 10.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
) -> None:
    """Start Day 0 of a registered node, even if something may run on it: it is booted over the network."""
    if not yes:
        typer.confirm(
            f"Boot {', '.join(nodes)} over the network? Running work ends, and its data is lost", abort=True
        )
    ask(IntentKind.PROVISION, nodes, reason, by, wait)


def retire(
    nodes: Nodes,
    reason: Reason = "",
    by: By = None,
    wait: Wait = 10.0,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
) -> None:
    """Remove a node from the fleet; its history stays. This cannot be undone."""
    if not yes:
        with opened() as (_, store):
            lost = [each for name in nodes for each in losses(known(store, name), None, store.tickets(node=name))]
        console.print("\n".join(lost), markup=False, soft_wrap=True)
        typer.confirm(f"Retire {', '.join(nodes)} for good?", abort=True)
    ask(IntentKind.RETIRE, nodes, reason, by, wait)


def run(
    stage: Annotated[Stage, typer.Argument(help="the stage", metavar="STAGE")],
    nodes: Annotated[list[str], ByNode],
    reason: Reason = "",
    by: By = None,
    wait: Wait = 10.0,
) -> None:
    """Run a stage now: on a fabric, fabric; on a node, verify, health_passive, cabling, or its state's own.

    health_active tests a node that nobody uses: in production while it is idle, in triage and debug.
    """
    ask(IntentKind.RUN, split(nodes), reason, by, wait, detail=stage.value)


def ask(intent: IntentKind, nodes: list[str], reason: str, by: str | None, wait: float, *, detail: str = "") -> None:
    """Leave a request for each node and wait for the answers."""
    with opened() as (settings, store):
        for name in nodes:
            if known(store, name).state is State.RETIRED:
                why = f"no: {name} is retired and takes no requests; its history stays readable"
                errors.print(why, markup=False, soft_wrap=True)
                raise typer.Exit(Exit.NO)
        who = signed(store, by)
        left = {
            name: store.leave_intent(name, intent, who, reason=reason, detail=detail, now=time.time())
            for name in nodes
        }
        awaited(settings, store, left, wait)


def awaited(settings: Settings, store: Store, left: dict[str, int], wait: float) -> None:
    """Have requests about nodes heard at once, and wait for the answers; typer.Exit where one is no or missing."""
    if remote(store) is None:  # a server does that by itself
        wake.wake(settings.state_dir, store)
    refused = _answers(store, left, wait)
    if refused:
        raise typer.Exit(refused)


def _answers(store: Store, left: dict[str, int], wait: float) -> int:
    code = Exit.OK
    until = time.monotonic() + wait
    while left:
        for name, answer in [(name, store.answer(intent)) for name, intent in left.items()]:
            if answer is not None:
                accepted, sentence = answer
                console.print(f"{name}: {sentence}", markup=False)
                code = code if accepted else Exit.NO
                del left[name]
        if left and time.monotonic() >= until:
            errors.print(
                f"{', '.join(left)}: asked, not answered yet; fleet-runner serve (or tick) answers, "
                f"fleet-runner history {next(iter(left))} shows it"
            )
            return code or Exit.WAITING
        time.sleep(ASK_AGAIN if left else 0)
    return code
