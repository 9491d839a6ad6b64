"""fleet-runner signals send: what a person saw, as a signal like any other."""

import re
import time
from typing import Annotated

import typer

from fleet_runner.adapters.files import policy as policy_file
from fleet_runner.adapters.plays.wakeup import ring
from fleet_runner.cli.base.session import Exit, console, known, opened, whoami
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.fields import Unfit
from fleet_runner.core.faults.rules import policy as reading
from fleet_runner.core.faults.signals.memory import Outcome
from fleet_runner.core.faults.signals.signal import Signal, Source
from fleet_runner.services.signals.send import send as sent

CODE = re.compile(r"[^\s.*?\[\]]+(\.[^\s.*?\[\]]+)+")
"""A family and a kind, both without what a glob has."""

LONGEST_CODE = 120
LONGEST_PART = 200
LONGEST_MESSAGE = 1000

REFUSED = {
    Outcome.REPEATED: "already reported; the alarm is active",
    Outcome.LATE: "already ended",
    Outcome.STAYS: "alarms of this node come and go too often; this one clears in an hour unless reported again",
    Outcome.REFUSED: "this node has too many active alarms; see fleet-runner signals list",
}


def send(
    node: Annotated[str, typer.Argument(metavar="NODE", help="the node that it is about")],
    code: Annotated[str, typer.Argument(metavar="CODE", help="the kind of fault, as rules name it: xid.79")],
    *,
    component: Annotated[str, typer.Option("--component", "-c", help='the part: "GPU 0000:0f:00.0"')] = "",
    message: Annotated[str, typer.Option("--message", "-m", help="what was seen, as text for people")] = "",
    ended: Annotated[bool, typer.Option("--ended", help="end an earlier report")] = False,
) -> None:
    """Report a fault of a node, or its end; the policy says what follows."""
    for name, given, most in (("CODE", code, LONGEST_CODE), ("--component", component, LONGEST_PART),
                              ("--message", message, LONGEST_MESSAGE)):  # fmt: skip
        if len(given) > most or not given.isprintable():
            raise FleetError(f"{name}: expected at most {most} characters that can be shown")
    if not code.strip():
        raise FleetError("CODE is empty; expected a kind of fault such as xid.79")
    if not ended:
        _is_a_code(code)
    now = time.time()
    with opened() as (settings, store):
        known(store, node)
        said = message or f"{whoami()} says so"
        signal = Signal(node, code, component, now, Source.OPERATOR, said, ended=ended, authenticated=True)
        became = sent(store, policy_file.rules(settings), signal, now)
        ring(settings.state_dir)
        mine = [each for each in store.past_alarms(node) if (each.code, each.component) == (code, component)]
    if became is not Outcome.TAKEN:
        console.print(f"{node}: {REFUSED[became]}", markup=False)
        raise typer.Exit(Exit.NO)
    if not mine or mine[-1].cleared_at is not None:
        console.print(f"{node}: no alarm {code} is active{' any more' if mine else ''}", markup=False)
    elif mine[-1].raised_at is None:
        console.print(f"{node}: {code} is noted, and does not count yet: the rules ask for more", markup=False)
    else:
        follows = f"{mine[-1].remedy}{' at once' if mine[-1].at_once else ''}"
        console.print(f"{node}: alarm {code}: {follows}; fleet-runner explain {node} has more", markup=False)


def _is_a_code(given: str) -> None:
    """Refuse what is no code, or nearly a known one: a slip of the pen would stand as an alarm of its own."""
    try:
        reading.code(given)
    except Unfit as error:
        raise FleetError(f"CODE {given!r}: expected {error}") from error
    if CODE.fullmatch(given) is None:
        raise FleetError(f"CODE {given!r}: expected FAMILY.KIND without spaces, such as xid.79 or fan.noisy")
