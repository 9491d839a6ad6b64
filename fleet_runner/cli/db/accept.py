"""fleet-runner db accept: the store is this fleet's, says a person, although what is remembered tells otherwise."""

import time
from typing import Annotated

import typer

from fleet_runner.cli.base.session import Exit, console, opened, whoami
from fleet_runner.core.base.errors import FleetError
from fleet_runner.reconcile.loop import store_ownership


def accept(
    reason: Annotated[str, typer.Option("--reason", "-r", help="why it is the right store; recorded in the store")],
    by: Annotated[
        str | None, typer.Option("--by", help="who says so; default: the user who runs the command")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
) -> None:
    """Confirm that this store belongs to this fleet, so that work goes on with it.

    A store that is new where one was served before, another fleet's, or older than the one served before is not
    decided by until then. What happened since an older one was saved is not known to it: look at its nodes first.
    """
    if not reason.strip():
        raise FleetError("--reason is empty; say why this is the right store")
    with opened() as (settings, store):
        why = store_ownership.refused(settings, store)
        if not why:
            console.print("already accepted; nothing was changed")
            raise typer.Exit(Exit.NO)
        console.print(f"{settings.store_url}: {why}", markup=False, soft_wrap=True)
        console.print(f"it has {len(store.nodes())} nodes", markup=False)
        if not yes:
            typer.confirm("Continue with this store?", abort=True)
        store_ownership.accept(settings, store, by or whoami(), reason.strip(), time.time())
        console.print("accepted: from the next tick on, decisions use this store")
