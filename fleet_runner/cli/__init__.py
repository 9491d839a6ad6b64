"""The command line: fleet-runner."""

import gc
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperGroup
from typer.main import get_command

from fleet_runner.cli.base.session import Exit, called, errors
from fleet_runner.core.base.errors import BmcError, FleetError, SourceError, StoreError

SERVER = "--server"


class Named(NamedTuple):
    """A command: its heading in help, its function or group ("module:name"), and its line in help."""

    panel: str
    place: str
    help: str


SEE = "See the fleet"
BRING_IN = "Bring nodes in"
WORK_ON = "Work on a node"
HARDWARE = "Hardware and checks"
AUTOMATION = "Control automation"
RUN = "Run fleet-runner"

COMMANDS = {
    "status": Named(SEE, "lifecycle.status:status", "List nodes: state, since when, what is next"),
    "node": Named(SEE, "lifecycle.show:node", "Show one node or fabric: state, checks, tickets"),
    "explain": Named(SEE, "lifecycle.show:explain", "Explain why a node is in its state"),
    "tickets": Named(SEE, "tickets.listing:tickets", "List open tickets: one per physical fix"),
    "history": Named(SEE, "lifecycle.show:history", "List what happened to a node, oldest first"),
    "results": Named(SEE, "checks.results:results", "List check results, newest first"),
    "evidence": Named(SEE, "lifecycle.show:evidence", "Print one piece of evidence as it was read"),
    "job": Named(SEE, "jobs.job:job", "Find out why a job died, or who slows it"),
    "trends": Named(SEE, "reliability.trends:app", "Forecasts, failure rates, parts that fail again"),
    "report": Named(SEE, "reliability.report:report", "Write the weekly report as one HTML page"),
    "adopt": Named(BRING_IN, "lifecycle.adopt:adopt", "Take nodes in service into production as they are"),
    "provision": Named(BRING_IN, "lifecycle.intents:provision", "Network-boot a registered node: start of Day 0"),
    "certify": Named(BRING_IN, "lifecycle.intents:certify", "Confirm that a node is built as designed"),
    "retry": Named(BRING_IN, "lifecycle.intents:retry", "Retry failed firmware, or Day 0"),
    "run": Named(BRING_IN, "lifecycle.intents:run", "Run a stage on a node or fabric now"),
    "hold": Named(WORK_ON, "lifecycle.intents:hold", "Stop all automation on a node"),
    "maintenance": Named(WORK_ON, "lifecycle.intents:maintenance", "Begin planned work: checks only, no remedies"),
    "release": Named(WORK_ON, "lifecycle.intents:release", "End a hold or planned work"),
    "reset": Named(WORK_ON, "lifecycle.intents:reset", "Reset all GPUs of a production node when it is idle"),
    "reboot": Named(WORK_ON, "lifecycle.intents:reboot", "Reboot a production node when it is idle"),
    "triage": Named(WORK_ON, "lifecycle.intents:triage", "Take a node out of production for inspection"),
    "debug": Named(WORK_ON, "lifecycle.intents:debug", "Mark a node in triage as being worked on"),
    "repaired": Named(WORK_ON, "lifecycle.intents:repaired", "Mark a node as repaired; it is verified again"),
    "cancel": Named(WORK_ON, "lifecycle.intents:cancel", "Cancel a pending remedy"),
    "bundle": Named(WORK_ON, "checks.bundle:bundle", "Pack all that is known of a node for support"),
    "ticket": Named(WORK_ON, "tickets.ticket:app", "Show, note and close tickets; sync trackers"),
    "rma": Named(WORK_ON, "tickets.rma:app", "Track parts and nodes returned to the vendor"),
    "wipe": Named(WORK_ON, "lifecycle.wipe:wipe", "Erase all disks and the TPM; cannot be undone"),
    "retire": Named(WORK_ON, "lifecycle.intents:retire", "Remove a node from the fleet; cannot be undone"),
    "check": Named(HARDWARE, "checks.check:app", "List, explain and run health checks"),
    "cabling": Named(HARDWARE, "cabling.commands:app", "Compare cables with the design"),
    "firmware": Named(HARDWARE, "firmware.commands:app", "Compare firmware with its pins; update it"),
    "bmc": Named(HARDWARE, "bmc.look:app", "Look at any BMC: health, parts, firmware"),
    "profile": Named(HARDWARE, "bmc.profile:app", "Propose a device type's profile from good nodes"),
    "drift": Named(HARDWARE, "inventory.drift:drift", "Compare observed hardware with the source of truth"),
    "allreduce": Named(HARDWARE, "checks.allreduce:allreduce", "Test collectives across nodes; find slow ones"),
    "baseline": Named(HARDWARE, "checks.baseline:baseline", "Propose pass marks learned from good nodes"),
    "replay": Named(HARDWARE, "checks.results:replaying", "Judge stored evidence by a changed profile"),
    "mode": Named(AUTOMATION, "budgets.modes:app", "Set what automation may do: observe, advise, act"),
    "policy": Named(AUTOMATION, "faults.policy:app", "Show and check which remedy follows a fault"),
    "simulate": Named(AUTOMATION, "faults.simulate:simulate", "Try a policy on recorded history"),
    "budget": Named(AUTOMATION, "budgets.budget:show_budget", "Show how many nodes may be out of service"),
    "breaker": Named(AUTOMATION, "budgets.budget:app", "Show and reset the circuit breaker"),
    "schedules": Named(AUTOMATION, "schedules.schedules:app", "List, pause and trigger scheduled work"),
    "queue": Named(AUTOMATION, "lifecycle.queue:app", "Show and pause running and waiting stages"),
    "runners": Named(AUTOMATION, "lifecycle.queue:runners", "List the runners and their load"),
    "notifications": Named(AUTOMATION, "tickets.notifications:app", "Check and test notification channels"),
    "init": Named(RUN, "setup.init:init", "Create the folder of a new fleet"),
    "doctor": Named(RUN, "setup.doctor.command:doctor", "Check the installation: what is missing, what to type"),
    "env": Named(RUN, "setup.env:env", "Print the environment to run playbooks by hand"),
    "serve": Named(RUN, "lifecycle.serve:serve", "Run the control loop until Ctrl-C"),
    "tick": Named(RUN, "lifecycle.serve:tick", "Run the control loop once"),
    "web": Named(RUN, "web.commands:app", "Serve pages, API and metrics; tokens, sessions"),
    "boot": Named(RUN, "boot.commands:app", "Serve network boots; check templates and images"),
    "signals": Named(RUN, "faults.signals.commands:app", "Receive alarms and events; tokens, subscriptions"),
    "netbox": Named(RUN, "inventory.netbox.commands:app", "Set up, sync and inspect NetBox"),
    "kubernetes": Named(RUN, "lifecycle.kubernetes:app", "Show and clear conditions of a cluster's nodes"),
    "db": Named(RUN, "db.commands:app", "Back up, migrate, copy and prune the store"),
    "lab": Named(RUN, "lab.lab:app", "Run a simulated data centre on this computer"),
}
"""Every command by its name, in the order of help."""


class Commands(TyperGroup):
    """The commands: help lists them by their lines alone, and the module of one is imported when that one is typed.

    To import them all takes seconds.
    """

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the name of the command that was typed, the command, and what stands behind its name."""
        name, command, rest = super().resolve_command(ctx, args)
        found = _loaded(name) if name in COMMANDS else command
        gc.freeze()
        gc.enable()
        return name, found, rest


def command_line() -> typer.Typer:
    """Return the command line."""
    app = typer.Typer(
        cls=Commands,
        name="fleet-runner",
        help="Takes GPU servers from the loading dock into production and keeps them there.",
        no_args_is_help=True,
        rich_markup_mode="markdown",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        epilog="Settings: `fleet.toml` in the working directory or where FLEET_CONFIG points. "
        "Exit codes: 0 done, 1 the answer is no, 2 unusable input, 3 trouble, 4 not answered in time.",
    )
    app.callback()(_begin)
    for name, named in COMMANDS.items():
        app.command(name, rich_help_panel=named.panel, short_help=named.help)(_listed)
    return app


def _listed() -> None:
    """Stand for a command in help."""


def _loaded(name: str) -> Any:
    """Return a command with its options, which takes importing its module."""
    named = COMMANDS[name]
    module, _, attribute = named.place.partition(":")
    found = getattr(import_module(f"{__name__}.{module}"), attribute)
    around = typer.Typer(add_completion=False, rich_markup_mode="markdown", pretty_exceptions_enable=False)
    around.callback()(_listed)
    if isinstance(found, typer.Typer):
        around.add_typer(found, name=name)
    else:
        around.command(name)(found)
    return cast("TyperGroup", get_command(around)).commands[name]


def _tell_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415  other commands need none

        typer.echo(f"fleet-runner {version('fleet-runner')}")
        raise typer.Exit


def _begin(
    context: typer.Context,
    server: Annotated[
        str, typer.Option(SERVER, help="ask a server (https://fleet.example) instead of a store", metavar="URL")
    ] = "",
    version: Annotated[
        bool, typer.Option("--version", help="show the version", is_eager=True, callback=_tell_version)
    ] = False,
) -> None:
    """Note what the command is told before its name."""
    del version  # the callback has told it
    from fleet_runner.cli.base import logs  # noqa: PLC0415  help needs none

    logs.begin()
    called(context.invoked_subcommand or "", server)


def main() -> None:
    """Run a command; an error a person can act on is one line and an exit code, never a traceback."""
    _open_what_is_closed()
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
        command_line()(prog_name="fleet-runner")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # Typer ends with 1 then, which is the code of faults
            raise end.__context__ from None
        raise
    finally:
        sys.stdout.flush()


def _open_what_is_closed() -> None:
    """After `>&-` what is opened next, were it the store, would take the place of standard output."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  open to the end


def _say_no_more() -> None:
    """Python writes what is left when it ends; nobody takes it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
