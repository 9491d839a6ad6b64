"""The command line: fleet-runner."""

import os
import sys
from collections.abc import Callable

import typer

from fleet_runner.cli import (
    allreduce,
    baseline,
    boot,
    bundle,
    cabling,
    checking,
    db,
    demo,
    drift,
    firmware,
    lab,
    limits,
    logs,
    netbox,
    policy,
    queue,
    reading,
    rma,
    running,
    schedules,
    signals,
    simulating,
    stored,
    ticket,
    wiping,
    wishing,
)
from fleet_runner.cli.session import Exit, errors
from fleet_runner.core.errors import BmcError, FleetError, SourceError, StoreError

app = typer.Typer(
    name="fleet-runner",
    help="Takes GPU servers from the loading dock into production and keeps them there.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Settings: `fleet.toml` in the working directory or where FLEET_CONFIG points. "
    "Exit codes: 0 done, 1 the answer is no, 2 unusable input, 3 trouble, 4 not answered in time.",
)

_PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Look": (
        reading.status, reading.node, reading.history, reading.explain, reading.evidence, reading.tickets,
        stored.results,
    ),
    "Ask": (
        wishing.certify, wishing.hold, wishing.maintenance, wishing.release, wishing.cancel, wishing.reboot,
        wishing.triage, wishing.debug, wishing.repaired, wishing.retry, wiping.wipe, wishing.retire, wishing.run,
    ),
    "Work": (running.tick, running.serve),
}  # fmt: skip

for panel, commands in _PANELS.items():
    for command in commands:
        app.command(rich_help_panel=panel)(command)
app.command("bundle", rich_help_panel="Look")(bundle.bundle)
app.command("replay", rich_help_panel="Look")(stored.replaying)
app.command("simulate", rich_help_panel="Look")(simulating.simulate)
app.command("budget", rich_help_panel="Look")(limits.show_budget)
app.command("baseline", rich_help_panel="Look")(baseline.baseline)
app.command("drift", rich_help_panel="Look")(drift.drift)
app.command("runners", rich_help_panel="Look")(queue.runners)
app.command("allreduce", rich_help_panel="Work")(allreduce.allreduce)
lab.app.command()(demo.demo)
app.add_typer(boot.app, name="boot", rich_help_panel="Work", help="Serve nodes that boot over the network.")
app.add_typer(cabling.app, name="cabling", rich_help_panel="Work", help="Hold cables against their design.")
app.add_typer(checking.app, name="check", rich_help_panel="Look", help="Ask nodes questions.")
app.add_typer(db.app, name="db", rich_help_panel="Work", help="See, save, move and bound the store.")
app.add_typer(firmware.app, name="firmware", rich_help_panel="Work", help="Bring firmware to what is pinned.")
app.add_typer(netbox.app, name="netbox", rich_help_panel="Work", help="Work with the NetBox that a site has.")
app.add_typer(queue.app, name="queue", rich_help_panel="Look", help="See and steer what runs and waits.")
app.add_typer(schedules.app, name="schedules", rich_help_panel="Look", help="See and steer what comes by the clock.")
app.add_typer(signals.app, name="signals", rich_help_panel="Work", help="Take what is pushed, and raise alarms.")
app.add_typer(policy.app, name="policy", rich_help_panel="Look", help="See what follows from which fault.")
app.add_typer(ticket.app, name="ticket", rich_help_panel="Look", help="What technicians have to do, and who is told.")
app.add_typer(limits.app, name="breaker", rich_help_panel="Look", help="What stops automation when too much fails.")
app.add_typer(rma.app, name="rma", rich_help_panel="Ask", help="Follow what goes back to its vendor.")
app.add_typer(lab.app, name="lab", rich_help_panel="Work", help="A simulated data centre on this computer.")


def main() -> None:
    """Run a command; an error a person can act on is one line and an exit code, never a traceback."""
    logs.begin()
    try:
        _answer()
    except (StoreError, SourceError, BmcError) as error:
        errors.print(f"error: {error}", markup=False, soft_wrap=True)
        sys.exit(Exit.TROUBLE)
    except FleetError as error:
        errors.print(f"error: {error}", markup=False, soft_wrap=True)
        sys.exit(Exit.USAGE)
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)
    except BrokenPipeError:
        _say_no_more()
        sys.exit(Exit.OK)
    except OSError as error:
        if error.filename is not None:
            raise
        _say_no_more()
        errors.print(f"error: standard output: {error.strerror}; write to a file system with room", soft_wrap=True)
        sys.exit(Exit.TROUBLE)


def _answer() -> None:
    """What is still to be written is written here, where it can be told that it could not."""
    try:
        app(prog_name="fleet-runner")
    finally:
        sys.stdout.flush()


def _say_no_more() -> None:
    """Python writes what is left when it ends; nobody takes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
