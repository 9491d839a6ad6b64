"""fleet-runner check log: what follows from a log or a report that somebody has, without a store or any setting."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from fleet_runner.cli.base.session import Exit, console, errors, print_json
from fleet_runner.cli.checks import pasted_files
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.pasted.text import Read
from fleet_runner.core.checks.pasted.told import Group, Told, automation, by_hand, ordered, plain, repeats

MOST = 40
"""Findings of a kind that are printed; `--json` has all."""

HEADS: dict[Group, str] = {
    Group.OVER: "Dealt with since",
    Group.APPLICATION: "Nobody's hardware: the application's own",
    Group.RECORDED: "Recorded only: nothing follows",
}
"""What stands above each kind of finding that asks for nothing."""

COLOURS = {"RECABLE": "yellow", "WATCH": "yellow", "RMA": "red", "TRIAGE": "red"}

Files = Annotated[list[Path], typer.Argument(help="logs and reports; - is standard input", metavar="FILE...")]
Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


def log(files: Files, json: Json = False) -> None:
    """Judge logs that you have: what is wrong, which remedy follows, and why. Needs no settings, changes nothing.

    Reads kernel logs of one or many nodes (dmesg, journalctl, syslog), nvidia-smi -q, dcgmi diag, NCCL's output,
    ipmitool sel, Redfish logs, smartctl, Fabric Manager's log and more, as they are pasted: with prompts, quoted,
    in colours, in UTF-16, gzipped. What a file is, its content tells.

    Exit code 0: nothing asks for an action; 1: something does; 2: a file cannot be used; 3: it cannot be told.
    """
    read = [pasted_files.read(path, alone=len(files) == 1) for path in files]
    if json:
        print_json(_plain(read))
    else:
        _tell(read)
    code = _ending(read)
    if code:
        raise typer.Exit(code)


def _ending(read: Sequence[Read]) -> Exit:
    if any(each.group is Group.ACTION for one in read for each in one.told):
        return Exit.NO
    if any(one.useless for one in read):
        return Exit.USAGE
    return Exit.TROUBLE if any(one.unsure for one in read) else Exit.OK


def _plain(read: Sequence[Read]) -> dict[str, object]:
    return {
        "found": [plain(each) for each in ordered(each for one in read for each in one.told)],
        "cannot_tell": [sentence for one in read for sentence in one.unsure],
        "notes": [sentence for one in read for sentence in one.notes],
        "read": [
            {
                "file": one.label,
                "lines": one.lines,
                "forms": [part.name for part in one.parts],
                "useless": one.useless,
            }
            for one in read
        ],
        "changed": False,
    }


def _tell(read: Sequence[Read]) -> None:
    told = ordered(each for one in read for each in one.told)
    asking = [each for each in told if each.group is Group.ACTION]
    _asking(asking)
    for group, head in HEADS.items():
        _listed(head, [each for each in told if each.group is group])
    unsure = list(dict.fromkeys(sentence for one in read for sentence in one.unsure))
    if unsure:
        _head("Not decidable from this")
    for sentence in unsure[:MOST]:
        _indented(printable(sentence), 2)
    if any(not one.useless for one in read):
        _head("Read")
    for one in read:
        for sentence in one.notes:
            _indented(printable(sentence), 2, "dim")
        if not one.useless:
            _indented(printable(f"{one.label}: {one.summary}"), 2)
    for one in read:
        if one.useless:
            errors.print(printable(f"error: {one.label}: {one.useless}"), markup=False, soft_wrap=True)
    console.print(_conclusion(asking, read), markup=False)


def _conclusion(asking: Sequence[Told], read: Sequence[Read]) -> str:
    usable = [one for one in read if not one.useless]
    if not usable:
        return "Nothing could be judged. Nothing was changed or stored."
    lines = counted(sum(one.lines for one in usable), "line")
    found = counted(len(asking), "finding")
    asks = f"{found} {'asks' if len(asking) == 1 else 'ask'} for an action" if asking else "No action needed"
    open_ = ", but some questions stay open" if any(one.unsure for one in usable) else ""
    return f"{asks} in {lines}{open_}. Nothing was changed or stored."


def _asking(told: Sequence[Told]) -> None:
    node = ""
    for each in told[:MOST]:
        if each.node != node:
            _head(printable(each.node))
            node = each.node
        finding = each.finding
        head = Text(printable(finding.component), style="bold")
        head.append(f"  {finding.remedy.value}", style=COLOURS.get(finding.remedy.value, "magenta"))
        head.append(f"  {finding.code}", style="dim")
        console.print(Text("  ").append_text(head))
        _indented(printable(finding.message), 4)
        _indented(_seen(each), 4)
        if each.line:
            _indented(_fitting(each.line), 4, "dim")
        _indented(f"fleet-runner: {automation(finding)}", 4)
        for step in by_hand(finding):
            _indented(f"by hand: {printable(step)}", 4)
    _more(told)


def _listed(head: str, told: Sequence[Told]) -> None:
    if told:
        _head(head)
    for each in told[:MOST]:
        _indented(
            f"{printable(each.node)}, {printable(each.finding.component)}: {printable(each.finding.message)}", 2
        )
        _indented(". ".join(filter(None, (_seen(each), each.over, repeats(each)))), 4, "dim")
    _more(told)


def _more(told: Sequence[Told]) -> None:
    if len(told) > MOST:
        _indented(f"and {len(told) - MOST} more; --json has all", 2)


def _seen(each: Told) -> str:
    """Return how often and when: "seen 41 times, 2026-11-28 02:11:04 to 03:40:10 UTC"."""
    times = f"seen {each.count:,} times" if each.count > 1 else "seen once"
    if not each.first:
        last = f", last at {printable(each.last)}" if each.last else ""
        return f"{times}{last}" if each.count > 1 else ""
    first, last = printable(each.first), printable(each.last)
    if first == last:
        return f"{times}, {first}"
    day = first[:11]
    alike = day[4:5] == "-" and day == last[:11]
    return f"{times}, {first.removesuffix(' UTC') if alike else first} to {last[11:] if alike else last}"


def _fitting(line: str) -> str:
    """Return a line of evidence on two lines of the terminal at most."""
    room = 2 * max(console.width - 8, 20)
    return f"| {line}" if len(line) <= room else f"| {line[: room - 1]}…"


def _head(title: str) -> None:
    console.print(Text(title, style="bold"))


def _indented(text: str, by: int, style: str = "") -> None:
    for line in Text(text, style=style).wrap(console, max(console.width - by, 20)) if text else ():
        line.rstrip()
        console.print(Text(" " * by).append_text(line), soft_wrap=True)
