"""fleet-runner wipe: has everything on a node erased, after showing what; or shows what proves that it was."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.adapters.plays.project import variables
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import Exit, errors, explained, known, opened, print_json
from fleet_runner.cli.lifecycle.intents import By, Nodes, Reason, Wait, ask
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.checks.catalogue.wiped import NAME
from fleet_runner.core.lifecycle.runs import IntentKind, Node
from fleet_runner.core.lifecycle.states import Event, Refusal, step
from fleet_runner.core.lifecycle.wipe import certificate
from fleet_runner.settings import Settings


def wipe(
    nodes: Nodes,
    reason: Reason = "",
    by: By = None,
    wait: Wait = 10.0,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="skip the look and the question")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only show what would be erased")] = False,
    report: Annotated[bool, typer.Option("--report", help="show what the last wipe did, with the proof")] = False,
    json: Annotated[bool, typer.Option("--json", help="print the report as JSON")] = False,
) -> None:
    """Erase every disk of a node and clear its TPM. This cannot be undone.

    The node must be in triage, debug, rma or onboard, and up. What it would lose is shown first, then asked for.
    Exit code 1: it may not be wiped now, or there is no wipe to report.
    """
    if report:
        _report(nodes, json=json)
        return
    if not dry_run and not reason.strip():
        raise FleetError("a wipe needs a reason, which goes into the history; give one with --reason")
    with opened() as (settings, store):
        found = [(name, step(row.state, Event.WIPE, frozenset(row.conditions))) for name, row in _rows(store, nodes)]
    refused = [f"{name}: {answer.sentence}" for name, answer in found if isinstance(answer, Refusal)]
    if dry_run or not (yes or refused):
        with explained("nothing was erased or requested"):
            _look(settings, nodes)
    for sentence in refused:
        errors.print(f"no: {sentence}", markup=False, soft_wrap=True)
    if refused:
        raise typer.Exit(Exit.NO)
    if dry_run:
        return
    if not yes:
        typer.confirm(f"Erase all of that on {', '.join(nodes)}, for good?", abort=True)
    with explained(f"the request stays; to stop it: fleet-runner triage {' '.join(nodes)}"):
        ask(IntentKind.WIPE, nodes, reason, by, wait)


def _rows(store: Store, nodes: list[str]) -> list[tuple[str, Node]]:
    return [(name, known(store, name)) for name in nodes]


def look_command(settings: Settings, nodes: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the command that only looks, and the environment that it needs."""
    program = Path(sys.executable).with_name("ansible-playbook")
    words = ["-i", str(settings.inventory_file), "--check", "--limit", ",".join(nodes)]
    return [str(program), *words, str(settings.playbook("wipe"))], {**variables(settings), "LC_ALL": "C.UTF-8"}


def _look(settings: Settings, nodes: list[str]) -> None:
    """Have Ansible's check mode read the nodes' disks; it prints what would be erased."""
    argv, more = look_command(settings, nodes)
    answer = subprocess.run(argv, env={**os.environ, **more}, cwd=settings.project_dir, check=False)  # noqa: S603  no shell, our own program
    if answer.returncode:
        errors.print(f"the reading ended with {answer.returncode}; nothing was erased or requested")
        raise typer.Exit(Exit.TROUBLE)


def _report(nodes: list[str], *, json: bool) -> None:
    with opened() as (_, store):
        found = [(known(store, name).name, store.latest_results(name)) for name in nodes]
    last = [(name, next((each for each in results if each.result.check == NAME), None)) for name, results in found]
    stored = [each for _, each in last if each is not None]
    if json:
        print_json([{"result": each, "text": certificate.text(each)} for each in stored])
    else:
        sys.stdout.write("\n".join(certificate.text(each) for each in stored))
    never = [name for name, each in last if each is None]
    for name in never:
        why = (
            f"no: {name} was never wiped, as far as this store knows; fleet-runner history {name} shows what was done"
        )
        errors.print(why, markup=False, soft_wrap=True)
    if never:
        raise typer.Exit(Exit.NO)
