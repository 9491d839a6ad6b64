"""The command line: fleet-runner."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from fleet_runner.cli import logs
from fleet_runner.cli.session import Exit, called, errors
from fleet_runner.core.errors import BmcError, FleetError, SourceError, StoreError

SERVER = "--server"


class Named(NamedTuple):
    """A command: under which heading help lists it, its function or group ("module:name"), and a group's help."""

    panel: str
    place: str
    help: str = ""


COMMANDS = {
    "status": Named("Look", "reading:status"),
    "node": Named("Look", "reading:node"),
    "history": Named("Look", "reading:history"),
    "explain": Named("Look", "reading:explain"),
    "evidence": Named("Look", "reading:evidence"),
    "tickets": Named("Look", "reading:tickets"),
    "results": Named("Look", "stored:results"),
    "adopt": Named("Ask", "adoption:adopt"),
    "provision": Named("Ask", "wishing:provision"),
    "certify": Named("Ask", "wishing:certify"),
    "hold": Named("Ask", "wishing:hold"),
    "maintenance": Named("Ask", "wishing:maintenance"),
    "release": Named("Ask", "wishing:release"),
    "cancel": Named("Ask", "wishing:cancel"),
    "reboot": Named("Ask", "wishing:reboot"),
    "triage": Named("Ask", "wishing:triage"),
    "debug": Named("Ask", "wishing:debug"),
    "repaired": Named("Ask", "wishing:repaired"),
    "retry": Named("Ask", "wishing:retry"),
    "wipe": Named("Ask", "wiping:wipe"),
    "retire": Named("Ask", "wishing:retire"),
    "run": Named("Ask", "wishing:run"),
    "tick": Named("Work", "running:tick"),
    "serve": Named("Work", "running:serve"),
    "bundle": Named("Look", "bundle:bundle"),
    "replay": Named("Look", "stored:replaying"),
    "simulate": Named("Look", "simulating:simulate"),
    "report": Named("Look", "report:report"),
    "budget": Named("Look", "limits:show_budget"),
    "trends": Named("Look", "trends:app", "What stored results say about tomorrow."),
    "baseline": Named("Look", "baseline:baseline"),
    "drift": Named("Look", "drift:drift"),
    "mode": Named("Ask", "modes:app", "See and set how far automation may go."),
    "runners": Named("Look", "queue:runners"),
    "allreduce": Named("Work", "allreduce:allreduce"),
    "boot": Named("Work", "boot:app", "Serve nodes that boot over the network."),
    "cabling": Named("Work", "cabling:app", "Hold cables against their design."),
    "check": Named("Look", "checking:app", "Ask nodes questions."),
    "db": Named("Work", "db:app", "See, save, move and bound the store."),
    "firmware": Named("Work", "firmware:app", "Bring firmware to what is pinned."),
    "netbox": Named("Work", "netbox:app", "Work with the NetBox that a site has."),
    "queue": Named("Look", "queue:app", "See and steer what runs and waits."),
    "schedules": Named("Look", "schedules:app", "See and steer what comes by the clock."),
    "signals": Named("Work", "signals:app", "Take what is pushed, and raise alarms."),
    "policy": Named("Look", "policy:app", "See what follows from which fault."),
    "ticket": Named("Look", "ticket:app", "What technicians have to do, and who is told."),
    "notifications": Named("Look", "notifying:app", "Who is notified of what."),
    "breaker": Named("Look", "limits:app", "What stops automation when too much fails."),
    "rma": Named("Ask", "rma:app", "Follow what goes back to its vendor."),
    "web": Named("Work", "web:app", "Serve pages, the API and metrics."),
    "lab": Named("Work", "lab:app", "A simulated data centre on this computer."),
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
