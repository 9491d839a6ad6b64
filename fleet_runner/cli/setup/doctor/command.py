"""fleet-runner doctor: what is missing or wrong in an installation, and what to type."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Annotated

import typer
from rich.text import Text

from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import Exit, console, print_json
from fleet_runner.cli.setup.doctor import configuration, machine, software, sources, storage, upgrade
from fleet_runner.cli.setup.doctor.finding import Finding, Grade, Site, limited
from fleet_runner.core.base.printable import printable
from fleet_runner.settings import Settings

COLOURS = {Grade.OK: "green", Grade.WARNING: "yellow", Grade.WRONG: "bold red"}
INDENT = 8

LOOKS: tuple[tuple[str, Callable[[Site], Iterable[Finding]], float], ...] = (
    ("playbooks", software.project, 10.0),
    ("overrides", upgrade.overrides, 10.0),
    ("unit", upgrade.units, 10.0),
    ("store", storage.store, 10.0),
    ("disk", storage.disk, 10.0),
    ("source", sources.truth, 60.0),  # a large NetBox is read page by page
    ("inventory", configuration.inventory, 20.0),
    ("values", upgrade.values, 10.0),
    ("policy", configuration.rules, 20.0),
    ("bmc", sources.bmcs, 20.0),
    ("ssh", machine.ssh, 10.0),
    ("scheduler", machine.scheduler, 40.0),
    ("trackers", configuration.told, 10.0),
    ("notifications", configuration.notified, 10.0),
    ("boot", machine.boot, 20.0),
    ("clock", machine.clock, 10.0),
)
"""Every part with the seconds that it may take, in the order in which a new fleet is set up."""


def doctor(
    *,
    reach: Annotated[bool, typer.Option("--reach", help="also ask three BMCs for their service root")] = False,
    json: Json = False,
) -> None:
    """Check an installation: one line for each part, and what to type where something is missing or wrong.

    Nothing is changed, and no node is asked; with --reach three BMCs are, without a password. Exit code 1: something
    is wrong; warnings do not count.
    """
    found: list[Finding] = []
    for each in examine(reach=reach):
        found.append(each)
        if not json:
            for line in lines(each):
                console.print(line, soft_wrap=True)
    counted = Counter(each.grade for each in found)
    if json:
        print_json({"wrong": counted[Grade.WRONG], "warnings": counted[Grade.WARNING], "findings": found})
    else:
        several = "warning" if counted[Grade.WARNING] == 1 else "warnings"
        console.print(f"{counted[Grade.OK]} ok, {counted[Grade.WARNING]} {several}, {counted[Grade.WRONG]} wrong")
    if counted[Grade.WRONG]:
        raise typer.Exit(Exit.NO)


def examine(*, reach: bool) -> Iterator[Finding]:
    """Look at every part, one after the other; where the settings cannot be used, at what needs none."""
    yield from limited(software.PART, software.versions, LOOKS[0][2])
    loaded: list[Settings] = []
    yield from limited(configuration.PART, partial(configuration.load, loaded), LOOKS[0][2])
    if not loaded:
        return
    site = Site(loaded[0])
    asked = (("reach", sources.reach, sources.REACH_SECONDS * (sources.MOST_REACHED + 1)),) if reach else ()
    for part, look, seconds in (*LOOKS, *asked):
        yield from limited(part, partial(look, site), seconds)


def lines(finding: Finding) -> Iterator[Text]:
    """Return a finding as it is shown: its grade, its part, what was found; below it what to type."""
    grade = Text(f"{finding.grade:<{INDENT}}", COLOURS[finding.grade])
    yield grade.append(f"{finding.part:<14}", "bold").append(printable(finding.found), "default")
    if finding.todo:
        yield Text(f"{'':{INDENT}}{'':<14}→ {printable(finding.todo)}", "default")
