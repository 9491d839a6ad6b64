"""Options that several cabling commands share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.core.base.errors import FleetError

Expected = Annotated[
    list[Path] | None,
    typer.Option(
        help="cables as CSV (NetBox's list, too), Excel, topology file or DOT, the option once for each file; or one"
        " folder of site files; default: the source of truth",
        show_default=False,
    ),
]
Observed = Annotated[
    list[Path] | None,
    typer.Option(
        help="what ibnetdiscover, iblinkinfo or ibdiagnet (db_csv, lst, net_dump) wrote, or UFM's links; - is"
        " standard input. For Ethernet, what lldpctl -f json or a switch prints of its LLDP neighbours, in files"
        " named after the devices (gpu-01.json): their folder, or the option once for each",
        show_default=False,
    ),
]
FabricName = Annotated[
    str | None,
    typer.Option("--fabric", help="one fabric of the site, where it has several", show_default=False),
]
Names = Annotated[
    Path | None,
    typer.Option(help="a CSV of what the fabric calls the design's ports: device,interface,adapter,guid,name"),
]
Svg = Annotated[Path | None, typer.Option(help="draw the faults into this file", metavar="FILE")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]
Csv = Annotated[bool, typer.Option("--csv", help="print CSV instead of text, one row a thing to do")]


def both_files(expected: Sequence[Path] | None, observed: Sequence[Path] | None) -> None:
    """Refuse a design in files with nothing to hold against it: sweeps are of the source of truth."""
    file = next((each for each in expected or () if each.is_file()), None)
    if file is not None and not observed:
        raise FleetError(
            f"--observed is missing: {file} is a file, so name the capture of the fabric, too; without both options"
            " the source of truth is compared with what sweeps saw"
        )


def one_form(*, json: bool, csv: bool) -> None:
    """Refuse two forms at once: standard output holds one."""
    if json and csv:
        raise FleetError("--json and --csv both want standard output; give one of them")
