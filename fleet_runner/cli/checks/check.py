"""fleet-runner check: the questions that the product can ask a node, and asking them by hand."""

from typing import Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import ByNode, Exit, console, errors, print_json, split
from fleet_runner.cli.checks.log import log
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.checks import page
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Check
from fleet_runner.core.checks.on_demand import nearest, refusal
from fleet_runner.core.lifecycle.states import Stage

app = typer.Typer(no_args_is_help=True)

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Names = Annotated[list[str], typer.Argument(help="names of checks; check list shows them", metavar="NAME...")]
Stages = dict[str, tuple[Stage, ...]]

app.command("log")(log)


@app.callback()
def checking() -> None:
    """List, explain and run health checks; judge logs that you have."""


@app.command("list")
def listing(
    active: Annotated[
        bool | None,
        typer.Option("--active/--passive", help="only checks that need an idle node, or only those that do not"),
    ] = None,
    stage: Annotated[Stage | None, typer.Option(help="only checks of this stage")] = None,
    json: Json = False,
) -> None:
    """List the checks: passive or active, and what each asks."""
    asked = _stages() if json or stage is not None else {}
    found = [
        check
        for name, check in sorted(CHECKS.items())
        if active in {None, check.active} and (stage is None or stage in asked[name])
    ]
    if json:
        print_json([_brief(check, asked) for check in found])
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column("CHECK", no_wrap=True)
    table.add_column("KIND", no_wrap=True)
    table.add_column("QUESTION", ratio=1)
    for check in found:
        table.add_row(check.name, Text(page.kind(check), style="magenta" if check.active else ""), check.question)
    console.print(table)
    console.print(f"{len(found)} checks; fleet-runner check show NAME explains one", style="dim")


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="a check's name", metavar="NAME")],
    json: Json = False,
) -> None:
    """Show a check: what it reads, what it can find and what follows, and where its rules come from."""
    (check,) = known([name])
    asked = _stages()
    if json:
        codes = [{"code": each.code, "meaning": each.meaning, "remedies": each.remedies} for each in check.codes]
        reads = [{"name": each.name, "how": each.how, "seconds": each.seconds} for each in page.asked(check)]
        marks = [each._asdict() for each in check.measures]
        more = {"reads": reads, "codes": codes, "measures": marks, "source": check.source}
        print_json({**_brief(check, asked), **more})
        return
    console.print(Text(check.name, style="bold").append(f"  {page.kind(check)}", style="default"))
    console.print(check.question, markup=False)
    _line("Profile", page.section(check).replace("`", ""))
    _line("Stages", ", ".join(asked[name]) or "no stage runs it yet")
    _line("By hand", refusal(check, asked[name]) or f"fleet-runner check run {name} --node NODE")
    _head("It reads")
    for each in page.asked(check):
        limit = f", at most {each.seconds:g} s" if each.seconds is not None else ""
        _line(each.name, f"{each.how.replace('`', '')}{limit}{', if it is there' if each.also else ''}")
    _head("It can find")
    for code in check.codes:
        _line(code.code, f"{code.meaning.replace('`', '')} → {', '.join(each.value for each in code.remedies)}")
    if not check.codes:
        _line("nothing", "its result is a fact that other checks use")
    _tell_remedies(check)
    if check.measures:
        _head("It measures")
    for mark in check.measures:
        _line(mark.observed, f"{'at least' if mark.higher else 'at most'} {mark.mark}")
    _head("Its rules come from")
    console.print(Padding(Text(check.source.replace("`", "")), (0, 0, 0, 2)))


@app.command()
def run(
    names: Names,
    nodes: Annotated[list[str], ByNode],
    json: Json = False,
) -> None:
    """Run passive checks on nodes now, through Ansible, and record the results.

    They count as any others: the runner opens a ticket, or takes a node out of service, for what they find.

    Exit code 1: a check failed; 3: none failed, but not every one had an answer, or of a node all were SKIPPED.
    """
    from fleet_runner.cli.checks.ask import ask  # noqa: PLC0415  a store and a play, which other commands do without

    checks = known(names)
    asked = _stages()
    refused = [why for why in (refusal(check, asked[check.name]) for check in checks) if why]
    for why in refused:
        errors.print(f"no: {why}", markup=False, soft_wrap=True)
    if refused:
        raise typer.Exit(Exit.NO)
    code = ask([check.name for check in checks], split(nodes), json=json)
    if code:
        raise typer.Exit(code)


def known(names: list[str]) -> list[Check]:
    """Return checks by name, each once, or say which names are near."""
    for name in names:
        if name not in CHECKS:
            near = nearest(name, CHECKS)
            meant = f"did you mean {' or '.join(near)}?" if near else "fleet-runner check list names all"
            raise FleetError(f"no check {name!r}; {meant}")
    return [CHECKS[name] for name in dict.fromkeys(names)]


def _stages() -> Stages:
    """Return the stages that ask each check."""
    from fleet_runner import settings  # noqa: PLC0415  a list for people needs none
    from fleet_runner.adapters.plays import stage_checks  # noqa: PLC0415  likewise

    return stage_checks.stages(*settings.load().places)


def _brief(check: Check, stages: Stages) -> dict[str, object]:
    return {
        "name": check.name,
        "active": check.active,
        "question": check.question,
        "section": check.section,
        "stages": stages[check.name],
        "by_hand": not refusal(check, stages[check.name]),
    }


def _tell_remedies(check: Check) -> None:
    called = {remedy for code in check.codes for remedy in code.remedies}
    if called:
        _head("What follows")
    for remedy in (each for each in page.FOLLOWS if each in called):
        _line(remedy.value, page.FOLLOWS[remedy])


def _head(title: str) -> None:
    console.print(Text(f"\n{title}", style="bold"))


def _line(name: str, told: str) -> None:
    table = Table.grid(padding=(0, 1), expand=True)
    table.add_column(width=max(18, len(name)), no_wrap=True)
    table.add_column(ratio=1)
    table.add_row(Text(name), Text(told))
    console.print(Padding(table, (0, 0, 0, 2)))
