"""The command line: fleet-runner."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from fleet_runner.cli.base import logs
from fleet_runner.cli.base.session import Exit, called, errors
from fleet_runner.core.base.errors import BmcError, FleetError, SourceError, StoreError

SERVER = "--server"


class Named(NamedTuple):
    """A command: under which heading help lists it, its function or group ("module:name"), and a group's help."""

    panel: str
    place: str
    help: str = ""


COMMANDS = {
    "status": Named("Look", "lifecycle.show:status"),
    "node": Named("Look", "lifecycle.show:node"),
    "history": Named("Look", "lifecycle.show:history"),
    "explain": Named("Look", "lifecycle.show:explain"),
    "evidence": Named("Look", "lifecycle.show:evidence"),
    "tickets": Named("Look", "lifecycle.show:tickets"),
    "results": Named("Look", "checks.results:results"),
    "adopt": Named("Ask", "lifecycle.adopt:adopt"),
    "provision": Named("Ask", "lifecycle.intents:provision"),
    "certify": Named("Ask", "lifecycle.intents:certify"),
    "hold": Named("Ask", "lifecycle.intents:hold"),
    "maintenance": Named("Ask", "lifecycle.intents:maintenance"),
    "release": Named("Ask", "lifecycle.intents:release"),
    "cancel": Named("Ask", "lifecycle.intents:cancel"),
    "reboot": Named("Ask", "lifecycle.intents:reboot"),
    "triage": Named("Ask", "lifecycle.intents:triage"),
    "debug": Named("Ask", "lifecycle.intents:debug"),
    "repaired": Named("Ask", "lifecycle.intents:repaired"),
    "retry": Named("Ask", "lifecycle.intents:retry"),
    "wipe": Named("Ask", "lifecycle.wipe:wipe"),
    "retire": Named("Ask", "lifecycle.intents:retire"),
    "run": Named("Ask", "lifecycle.intents:run"),
    "tick": Named("Work", "lifecycle.serve:tick"),
    "serve": Named("Work", "lifecycle.serve:serve"),
    "bundle": Named("Look", "checks.bundle:bundle"),
    "replay": Named("Look", "checks.results:replaying"),
    "simulate": Named("Look", "faults.simulate:simulate"),
    "report": Named("Look", "reliability.report:report"),
    "budget": Named("Look", "budgets.budget:show_budget"),
    "trends": Named("Look", "reliability.trends:app", "What stored results say about tomorrow."),
    "baseline": Named("Look", "checks.baseline:baseline"),
    "drift": Named("Look", "inventory.drift:drift"),
    "mode": Named("Ask", "budgets.modes:app", "See and set how far automation may go."),
    "runners": Named("Look", "lifecycle.queue:runners"),
    "allreduce": Named("Work", "checks.allreduce:allreduce"),
    "boot": Named("Work", "boot:app", "Serve nodes that boot over the network."),
    "cabling": Named("Work", "cabling:app", "Hold cables against their design."),
    "check": Named("Look", "checks.check:app", "Ask nodes questions."),
    "db": Named("Work", "db:app", "See, save, move and bound the store."),
    "firmware": Named("Work", "firmware:app", "Bring firmware to what is pinned."),
    "netbox": Named("Work", "inventory.netbox:app", "Work with the NetBox that a site has."),
    "queue": Named("Look", "lifecycle.queue:app", "See and steer what runs and waits."),
    "schedules": Named("Look", "schedules.schedules:app", "See and steer what comes by the clock."),
    "signals": Named("Work", "faults.signals:app", "Take what is pushed, and raise alarms."),
    "policy": Named("Look", "faults.policy:app", "See what follows from which fault."),
    "ticket": Named("Look", "tickets.ticket:app", "What technicians have to do, and who is told."),
    "notifications": Named("Look", "tickets.notifications:app", "Who is notified of what."),
    "breaker": Named("Look", "budgets.budget:app", "What stops automation when too much fails."),
    "rma": Named("Ask", "tickets.rma:app", "Follow what goes back to its vendor."),
    "web": Named("Work", "web:app", "Serve pages, the API and metrics."),
    "lab": Named("Work", "lab.lab:app", "A simulated data centre on this computer."),
}
"""Every command by its name, in the order of help."""


def command_line(first: str = "") -> typer.Typer:
    """Return the command line; where its first word is a command's name, with that one alone.

    To import them all takes a second, and three of four commands need a third of that.
    """
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
    app.callback()(_begin)
    for name, named in {first: COMMANDS[first]}.items() if first in COMMANDS else COMMANDS.items():
        module, _, attribute = named.place.partition(":")
        found = getattr(import_module(f"{__name__}.{module}"), attribute)
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name, rich_help_panel=named.panel, help=named.help)
        else:
            app.command(name, rich_help_panel=named.panel)(found)
    return app


def _begin(
    context: typer.Context,
    server: Annotated[
        str, typer.Option(SERVER, help="ask a server (https://fleet.example) instead of a store", metavar="URL")
    ] = "",
) -> None:
    """Note what the command is told before its name; and keep one alone from being taken for the whole line."""
    called(context.invoked_subcommand or "", server)


def first(words: Sequence[str]) -> str:
    """Return the command's name: the first word that is neither an option nor its value."""
    word = next(iter(words), "")
    if word == SERVER or word.startswith(f"{SERVER}="):
        return first(words[2 if word == SERVER else 1 :])
    return word


def main() -> None:
    """Run a command; an error a person can act on is one line and an exit code, never a traceback."""
    _open_what_is_closed()
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
        command_line(first(sys.argv[1:]))(prog_name="fleet-runner")
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
