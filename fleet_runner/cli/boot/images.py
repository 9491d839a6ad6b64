"""fleet-runner boot images: the images that nodes may boot, each held against its manifest."""

from dataclasses import dataclass
from typing import Annotated

import typer
from rich.table import Table

from fleet_runner import settings
from fleet_runner.cli.base.session import Exit, console, print_json
from fleet_runner.core.base.errors import ImageError
from fleet_runner.services.boot.images import names, verified
from fleet_runner.settings import Settings


@dataclass(frozen=True, slots=True)
class Row:
    """One image: what it is made of, or why no node can boot it."""

    name: str
    build: str = ""
    kernel: str = ""
    packages: int = 0
    megabytes: int = 0
    trouble: str = ""


def images(json: Annotated[bool, typer.Option("--json", help="print the images as JSON")] = False) -> None:
    """List the boot images; exit code 1 if a file differs from its manifest, or the nodes' image is missing."""
    chosen = settings.load()
    wanted = {*names(chosen.images_dir), chosen.boot_image}
    rows = [_row(chosen, name) for name in sorted(wanted)]
    if json:
        print_json(rows)
    else:
        console.print(_table(rows))
        for row in rows:
            if row.trouble:
                console.print(f"{row.name}: {row.trouble}", markup=False, soft_wrap=True)
    if any(row.trouble for row in rows):
        raise typer.Exit(Exit.NO)


def _row(chosen: Settings, name: str) -> Row:
    try:
        found = verified(chosen.images_dir, name)
    except ImageError as error:
        return Row(name, trouble=str(error))
    its = found.manifest
    size = sum(file.size for file in its.files.values())
    return Row(name, found.build, its.kernel_version, len(its.packages), round(size / 1e6))


def _table(rows: list[Row]) -> Table:
    table = Table("IMAGE", "BUILD", "KERNEL", "PACKAGES", "MB", "", box=None, pad_edge=False)
    for row in rows:
        build = row.build.rpartition("@")[2] if "@" in row.build else ""
        counts = ("", "") if row.trouble else (str(row.packages), str(row.megabytes))
        table.add_row(row.name, build, row.kernel, *counts, "unusable" if row.trouble else "as its manifest says")
    return table
