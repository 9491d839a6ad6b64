"""fleet-runner firmware settle, allow-power: what only a person who has looked can say, each with its reason."""

import re
import time
from typing import Annotated, NoReturn

import typer

from fleet_runner.cli.base.session import Exit, age, console, errors, known, opened, stamp, whoami
from fleet_runner.cli.firmware import flash_text
from fleet_runner.cli.lifecycle.intents import By
from fleet_runner.core.base.errors import ConflictError, FleetError
from fleet_runner.core.firmware.flash_text import short
from fleet_runner.core.lifecycle.states import State

NodeName = Annotated[str, typer.Argument(help="the node", metavar="NODE")]
Reason = Annotated[str, typer.Option("--reason", "-r", help="what you saw; goes into the history")]

UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
MOST_SECONDS = 86_400.0
"""For longer than a day nobody can have looked."""

_SPAN = re.compile(r"([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(s|min|m|h)")

WHAT_IT_MEANS = (
    "Settle a flash only if the BMC does not write the image any more, and nobody sends it: otherwise what follows"
    " can ruin the node. Check the BMC's own pages, or its tasks over Redfish, first."
)


def settle(
    name: NodeName,
    reason: Reason,
    by: By = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
) -> None:
    """Declare a node's open flash as ended, so that its power may be switched again.

    Refused while somebody is at it. What the node runs is read anew before anything is sent.
    """
    because = _told(reason, "--reason, what you saw at the BMC")
    with opened() as (_, store):
        row = known(store, name)
        now = time.time()
        flash = store.open_flash(name)
        if flash is None:
            _no(f"{name} has no open flash; fleet-runner firmware show {name} lists those that ended")
        if (holder := flash_text.holder(store, name, now)) is not None:
            left = age(holder.until - now)
            _no(f"{holder.name} works on the firmware of {name}, for {left} more; wait, or end that process first")
        if not yes:
            console.print(f"{short(flash, now)}: {flash_text.meaning(flash)}.\n{WHAT_IT_MEANS}", markup=False)
            typer.confirm(f"Settle flash {flash.id} of {name}?", abort=True)
        try:
            settled = store.settle_flash(name, by or whoami(), because, time.time())
        except ConflictError as error:
            _no(str(error))
        if not settled:
            _no(f"flash {flash.id} of {name} ended meanwhile; fleet-runner firmware show {name}")
        console.print(f"{name}: flash {flash.id} is settled; {_next(row.state, name)}", markup=False)


def allow_power(
    name: NodeName,
    reason: Reason,
    by: By = None,
    how_long: Annotated[
        str, typer.Option("--for", metavar="SPAN", help="90s, 30m or 1h; the newest permission counts")
    ] = "1h",
) -> None:
    """Allow power actions on a node for a while, even during a flash.

    A node whose power goes away while an image is written may be ruined: none is sent meanwhile, and of one that is
    open already you know that it does no harm.
    """
    because = _told(reason, "--reason, why that cannot harm")
    seconds = span(how_long)
    with opened() as (_, store):
        known(store, name)
        now = time.time()
        store.allow_power(name, by or whoami(), because, now, seconds)
        flash = store.open_flash(name)
        console.print(f"{name}: power actions are allowed until {stamp(now + seconds)} UTC", markup=False)
        if flash is not None:
            errors.print(f"warning: {short(flash, now)}", markup=False, soft_wrap=True)


def span(text: str) -> float:
    """Return the seconds of "90s", "30m" or "1h"; FleetError for anything else, and for more than a day."""
    found = _SPAN.fullmatch(text.strip().lower())
    seconds = float(found[1]) * UNITS[found[2]] if found else 0.0
    if not 0 < seconds <= MOST_SECONDS:
        raise FleetError(f"--for {text!r}: expected a span such as 90s, 30m or 1h, of at most 24h")
    return seconds


def _next(state: State, name: str) -> str:
    if state is State.FIRMWARE:
        return "fleet-runner serve reads the versions and continues"
    if state is State.FIRMWARE_FAILED:
        return f"once you know why, fleet-runner retry {name} reads the versions and continues"
    return f"fleet-runner firmware plan {name} shows what it runs"


def _told(reason: str, what: str) -> str:
    if not reason.strip():
        raise FleetError(f"say with {what}; it goes into the history")
    return reason.strip()


def _no(sentence: str) -> NoReturn:
    errors.print(f"no: {sentence}", markup=False, soft_wrap=True)
    raise typer.Exit(Exit.NO)
