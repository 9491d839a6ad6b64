"""fleet-runner policy: what follows from which fault here, which rule says so, and what is wrong with the file."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from fleet_runner import settings
from fleet_runner.adapters.files import policy as policy_file
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import Exit, age, console, errors, opened, print_json
from fleet_runner.core.base.errors import FleetError, StoreError
from fleet_runner.core.faults.rules import policy as reading
from fleet_runner.core.faults.rules.rule import SAID, Rule
from fleet_runner.core.faults.rules.rules import Rules

app = typer.Typer(no_args_is_help=True)

ANY = "any"
"""Stands for a device type that no rule names."""

WORDS: dict[str, str] = {
    "remedy": "the remedy, if a rule sets it",
    "at_once": "do not wait for an idle node if all its work is lost",
    "repeats": "signals until it counts",
    "within": "that must come within",
    "beside": "another code that must come with it",
    "hold": "how long it must last",
    "quiet": "silence after which it is over",
}
"""What each field of a rule says, in words."""

SPANS = frozenset({"within", "hold", "quiet", "pause", "longest"})
"""Fields that are seconds."""


@app.callback()
def policy() -> None:
    """See what follows from which fault, and check the file that says so."""


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="default: the one in use", metavar="FILE")] = None,
    json: Json = False,
) -> None:
    """Check a policy file: one line for each error, with file and line first. Exit code 1 if there is any."""
    path = file or settings.load().policy
    if path is None:
        raise FleetError(
            "no policy file is in use, so the built-in rules apply; name one: fleet-runner policy check FILE"
        )
    checked = policy_file.check(path)
    if json:
        print_json([asdict(slip) | {"file": str(slip.file)} for slip in checked.slips])
    else:
        for slip in checked.slips:
            console.print(f"{_near(slip.file)}:{slip.line}: {slip.text}", markup=False, soft_wrap=True)
        own = sum(rule.source.startswith(str(path)) for rule in checked.rules.rules)
        wrong = f"{len(checked.slips)} {'slip' if len(checked.slips) == 1 else 'slips'}"
        good = f"no errors; {own} {'rule' if own == 1 else 'rules'} in addition to the built-in ones"
        console.print(f"{_near(path)}: {wrong if checked.slips else good}", markup=False, soft_wrap=True)
    for sentence in _strangers(checked.rules, _device_types()):
        errors.print(f"warning: {sentence}", markup=False, soft_wrap=True)
    if checked.slips:
        raise typer.Exit(Exit.NO)


@app.command()
def show(
    code: Annotated[
        str | None, typer.Argument(help="a fault's code, like xid.79; without one, all rules", metavar="CODE")
    ] = None,
    device_type: Annotated[str, typer.Option("--device-type", help="on nodes of this device type")] = ANY,
    json: Json = False,
) -> None:
    """Show what follows from a fault code, and which rule says so; without a code, the whole policy."""
    found = settings.load()
    rules = policy_file.rules(found)
    if code is None:
        _show_all(rules, found.drain_deadline_seconds, json=json)
        return
    meant = reading.strange(code, rules.rules)
    following, said = rules.of(device_type, code), rules.sayings(device_type, code)
    if json:
        says = {name: rule.source for name, rule in said.items()}
        print_json({"known": meant is None, "near": meant or "", "following": following, "says": says})
        return
    if meant is not None:
        near = f"; did you mean {meant}?" if meant else ""
        words = f"no check, no signal and no rule knows {code}{near} What would follow if it was pushed:"
        console.print(words, style="yellow", markup=False, soft_wrap=True)
    console.print(
        f"{code} on {'every device type' if device_type == ANY else device_type}", style="bold", markup=False
    )
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 2), show_header=False)
    for name in SAID:
        rule = said.get(name)
        table.add_row(name, WORDS[name], _value(name, getattr(following, name)), _source(rule))
    console.print(table)


def _device_types() -> set[str]:
    """Return the device types of the nodes in the store; none where there is no store, as on a reviewer's machine."""
    try:
        with opened() as (_, store):
            return {node.device_type for node in store.nodes()}
    except StoreError:
        return set()


def _strangers(rules: Rules, known: set[str]) -> Iterator[str]:
    """Say which rules are about device types that no node has: a fleet may get them, or the name is a slip."""
    for rule in rules.rules:
        for glob in rule.device_types:
            if known and not any(fnmatchcase(each, glob) for each in known):
                yield f"{_source(rule)}: no node has the device type {glob}; there are {', '.join(sorted(known))}"


def _show_all(rules: Rules, usual: float, *, json: bool) -> None:
    if json:
        print_json({**_plain(rules, usual), "rules": [asdict(rule) for rule in rules.rules]})
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("CODES", "DEVICE TYPES", "SAYS", "SOURCE"):
        table.add_column(name)
    for rule in rules.rules:
        says = ", ".join(
            f"{name} {_value(name, value)}" for name in SAID if (value := getattr(rule, name)) is not None
        )
        table.add_row(", ".join(rule.codes), ", ".join(rule.device_types) or "all", says, _source(rule))
    console.print(table)
    console.print("If several rules match a code, the last one that sets a field wins.", style="dim")
    for name, value in _plain(rules, usual).items():
        console.print(f"{name}: {value}", markup=False)


def _plain(rules: Rules, usual: float) -> dict[str, Any]:
    """Return what a policy says beside its rules, as people read it; `usual` is the settings' deadline of a drain."""
    deadline = f"{age(usual)}, from the settings" if rules.deadline is None else age(rules.deadline)
    return {
        "observe": "yes: no action" if rules.observe else "no",
        "ladder": " → ".join((*rules.ladder, "TRIAGE")),
        "caps": ", ".join(f"{remedy} {cap.most} in {age(cap.within)}" for remedy, cap in rules.caps.items()),
        "memory": age(rules.memory),
        "deadline": f"{deadline}, then {rules.at_deadline}",
        "budget": ", ".join(f"{name} {most:g}" for name, most in rules.budget.items()) or "from the settings",
        "breaker": ", ".join(f"{name} {_value(name, most)}" for name, most in asdict(rules.breaker).items()),
    }


def _value(name: str, value: object) -> str:
    if name in SPANS and isinstance(value, float | int):
        return age(value)
    if value is None:
        return "as it proposes"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) or "none" if isinstance(value, tuple) else str(value)


def _source(rule: Rule | None) -> str:
    if rule is None:
        return ""
    path, _, line = rule.source.rpartition(":")
    return f"{_near(Path(path))}:{line}" if path else rule.source


def _near(path: Path) -> str:
    """Return a path as it is typed here, where it lies below the working directory."""
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
