"""fleet-runner wipe: has everything on a node erased, after showing what; or shows what proves that it was."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.cli.session import Exit, errors, known, opened, print_json
from fleet_runner.cli.wishing import By, Nodes, Reason, Wait, ask
from fleet_runner.core.checks.wiped import NAME
from fleet_runner.core.errors import FleetError
from fleet_runner.core.lifecycle import Event, Refusal, step
from fleet_runner.core.runs import Stored, Wish
from fleet_runner.core.wipe import certificate
from fleet_runner.settings import Settings

LOOK = "playbooks/wipe.yml"


def wipe(
    nodes: Nodes,
    reason: Reason = "",
    by: By = None,
    wait: Wait = 10.0,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not look first, and do not ask")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only show what would be erased")] = False,
    report: Annotated[bool, typer.Option("--report", help="show what the last wipe did, and what proves it")] = False,
    json: Annotated[bool, typer.Option("--json", help="print the report as JSON")] = False,
) -> None:
    """Erase every disk of a node and clear its TPM. This cannot be undone.

    The node must be in triage, debug, rma or onboard, and up. What it would lose is shown first, then asked for.
    """
    if report:
        _report(nodes, json=json)
        return
    if not dry_run and not reason.strip():
        raise FleetError("a wipe needs a reason, which goes into the history; give one with --reason")
    with opened() as (settings, store):
        for row in [known(store, name) for name in nodes]:
            refused = step(row.state, Event.WIPE, frozenset(row.conditions))
            if isinstance(refused, Refusal) and not dry_run:
                errors.print(f"no: {row.name}: {refused.sentence}", markup=False, soft_wrap=True)
                raise typer.Exit(Exit.NO)
    if dry_run or not yes:
        _look(settings, nodes)
    if dry_run:
        return
    if not yes:
        typer.confirm(f"Erase all of that on {', '.join(nodes)}, for good?", abort=True)
    ask(Wish.WIPE, nodes, reason, by, wait)


def look_command(settings: Settings, nodes: list[str]) -> tuple[list[str], dict[str, str]]:
    """Return the command that only looks, and the environment that it needs."""
    program = Path(sys.executable).with_name("ansible-playbook")
    argv = [str(program), "-i", str(settings.inventory_file), "--check", "--limit", ",".join(nodes), LOOK]
    return argv, {"ANSIBLE_CONFIG": str(settings.project_dir / "ansible.cfg"), "LC_ALL": "C.UTF-8"}


def _look(settings: Settings, nodes: list[str]) -> None:
    """Have Ansible's check mode read the nodes' disks; it prints what would be erased."""
    argv, more = look_command(settings, nodes)
    answer = subprocess.run(argv, env={**os.environ, **more}, cwd=settings.project_dir, check=False)  # noqa: S603  no shell, our own program
    if answer.returncode:
        errors.print(f"the look ended with {answer.returncode}; nothing was erased, and nothing was asked for")
        raise typer.Exit(Exit.TROUBLE)


def _report(nodes: list[str], *, json: bool) -> None:
    with opened() as (_, store):
        found = [(known(store, name).name, store.latest_results(name)) for name in nodes]
    stored = [_last(name, results) for name, results in found]
    if json:
        print_json([{"result": each, "text": certificate.text(each)} for each in stored])
    else:
        sys.stdout.write("\n".join(certificate.text(each) for each in stored))


def _last(name: str, results: tuple[Stored, ...]) -> Stored:
    found = next((each for each in results if each.result.check == NAME), None)
    if found is None:
        raise FleetError(f"{name} was never wiped, as far as this store knows")
    return found
