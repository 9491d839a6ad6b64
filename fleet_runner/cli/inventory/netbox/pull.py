"""fleet-runner netbox pull: what a NetBox says, as a folder of site files."""

from pathlib import Path
from typing import Annotated

import typer

from fleet_runner.adapters.sitefiles import pulling
from fleet_runner.adapters.sitefiles.pulling import Change
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import Exit, console, print_json
from fleet_runner.cli.inventory.netbox.connection import TokenFile, Url, reached
from fleet_runner.cli.inventory.netbox.progress import progress
from fleet_runner.core.base.errors import FleetError, SourceError
from fleet_runner.core.base.printable import printable

Folder = Annotated[Path, typer.Argument(help="a folder for site files, new or pulled before", metavar="FOLDER")]


def pull(
    folder: Folder,
    *,
    check: Annotated[bool, typer.Option("--check", help="show what would be written; exit 1 if anything")] = False,
    force: Annotated[
        bool, typer.Option("--force", help="overwrite what somebody wrote or edited; no copy is kept")
    ] = False,
    url: Url = "",
    token_file: TokenFile = None,
    json: Json = False,
) -> None:
    """Write site files from a NetBox; they describe the same fleet.

    The same NetBox gives the same files. One that somebody edited since it was pulled, or wrote by hand, is not
    written over without --force. Site files of other names are never touched, and a folder that has any is refused.
    """
    from fleet_runner.adapters import netbox  # noqa: PLC0415  its client is slow to load

    there = reached(url, token_file)
    with progress() as tell:
        tell(f"reads {there.url}", 0, 0)
        fleet = netbox.load(there.url, there.token)
        if fleet.unread:
            name, why = min(fleet.unread.items())
            text = f"{len(fleet.unread)} devices cannot be read (first: {name}: {why})"
            raise SourceError(
                f"{there.url}: {text}; nothing is pulled, or the files would lack them: correct it there"
            )
        tell("reads again what it would write", 0, 0)
        found = pulling.plan(fleet, folder, there.url)
        refused = found.of(Change.FOREIGN, *([] if force else [Change.EDITED]))
        if not check and not refused:
            pulling.write(found)
    due = found.of(Change.NEW, Change.CHANGED, Change.EDITED, Change.GONE)
    if json:
        print_json({"files": found.changes, "notes": fleet.notes})
    else:
        for name in sorted({*due, *refused}):
            console.print(f"{name}: {found.changes[name]}", markup=False, soft_wrap=True)
        for note in fleet.notes:
            console.print(printable(f"note: {note}"), markup=False, soft_wrap=True)
        counted = f"{_count(len(fleet.devices), 'device')}, {_count(len(fleet.cables), 'cable')}"
        did = "would be written" if check or refused else "written"
        files = f"{len(due)} of {len(found.changes)} files {did}"
        console.print(f"{folder}: {counted}; {files if due else 'no file changed'}", markup=False, soft_wrap=True)
    if refused:
        raise FleetError(_refusal(folder, found, refused))
    if check and due:
        raise typer.Exit(Exit.NO)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _refusal(folder: Path, found: pulling.Pull, refused: list[str]) -> str:
    foreign = found.of(Change.FOREIGN)
    if foreign:
        text = f"{folder / foreign[0]} is a site file that no pull from there wrote, and that would be read as well"
        return f"{text}; name another folder, or remove it. Nothing was written"
    text = f"{folder / refused[0]} is not as a pull from there wrote it: edited, a link, or from another source"
    return f"{text}; push it first, remove it, or overwrite it with --force. Nothing was written"
