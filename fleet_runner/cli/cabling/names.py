"""fleet-runner cabling names: propose what the fabric calls the design's devices, adapters and ports."""

import csv
import io
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.cli.base.session import Exit, print_json
from fleet_runner.cli.cabling.captures import Neighbours, from_files
from fleet_runner.cli.cabling.design import Design, design, uncollected
from fleet_runner.cli.cabling.look import device_named
from fleet_runner.cli.cabling.options import AsJson, Expected
from fleet_runner.cli.cabling.text import note
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.cabling import proposed_ports
from fleet_runner.core.cabling.aliases import called
from fleet_runner.core.cabling.proposed_names import Proposal, Rule, propose

Known = Annotated[
    Path | None, typer.Option("--names", help="a CSV of names that are known already", show_default=False)
]
COLUMNS = ("device", "interface", "adapter", "guid", "name")


def names(
    *,
    observed: Annotated[
        list[Path],
        typer.Option(
            help="what ibnetdiscover, iblinkinfo, ibdiagnet or UFM wrote, or LLDP captures of devices or their"
            " folder; - is standard input"
        ),
    ],
    expected: Expected = None,
    known: Known = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="write the names into this file", metavar="FILE")
    ] = None,
    json: AsJson = False,
) -> None:
    """Propose what a fabric calls the design's devices, adapters and ports, as a file for `--names`.

    Of the ways to read the names the one is proposed by which most cables that are seen are as designed. Look the
    file through before you use it: `cabling check --names FILE` believes it. What fits two ways is not proposed.

    Exit code 0: everything could be told; 2: a file cannot be used; 3: some names could not be told, as standard
    error says.
    """
    with uncollected():
        should = design(expected, known)
        found = _proposed(should, observed)
    if json:
        print_json(found)
    elif found.rules and output is not None:
        _write(output, _sheet(found))
    elif found.rules:
        typer.echo(_sheet(found), nl=False)
    _beside(found, output)
    raise typer.Exit(Exit.TROUBLE if found.untold else Exit.OK)


def _proposed(should: Design, observed: list[Path]) -> Proposal:
    seen = from_files(observed, lambda name: device_named(should, name))
    types = {name: device.device_type for name, device in should.fleet.devices.items()} if should.fleet else {}
    if isinstance(seen, Neighbours):
        wire = should.ethernet
        return proposed_ports.propose(wire.links, should.heard(seen), wire.names, wire.macs, types)
    links = called(seen.discovery.links, should.aliases)
    return propose(should.links, links, should.names, should.places.servers, types)


def _sheet(found: Proposal) -> str:
    """Return the names as CSV, each rule below a comment that says how well it fits."""
    sheet = io.StringIO()
    write = csv.writer(sheet, lineterminator="\n").writerow
    write(COLUMNS)
    for rule in found.rules:
        sheet.write(f"# {_says(rule)}\n")
        for row in rule.rows:
            write((row.device, row.interface, row.adapter, "", row.name))
    return sheet.getvalue()


def _says(rule: Rule) -> str:
    return printable(
        f"{rule.sort} of {rule.devices}: {rule.links} of {rule.cables} cables are as designed by these names"
    )


def _write(path: Path, sheet: str) -> None:
    try:
        path.write_text(sheet, encoding="utf-8")
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror}; name a file that can be written") from error


def _beside(found: Proposal, output: Path | None) -> None:
    """Say what is proposed and what is not, on standard error."""
    for sentence in found.untold:
        note(f"not proposed: {sentence}")
    counts = (
        f"{found.before} of {found.designed} designed links are there without these names, {found.after} with them"
    )
    if not found.rules:
        note(
            f"No names are proposed: {found.before} of {found.designed} designed links are there by the known names."
        )
    else:
        file = output or "FILE"
        note(f"{counts}. Look them through, then: fleet-runner cabling check --names {file}, with the same files.")
