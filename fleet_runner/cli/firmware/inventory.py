"""fleet-runner firmware inventory: what a node's BMC says of its firmware, beside what the catalogue says."""

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters import redfish
from fleet_runner.adapters.redfish.updates import Updates
from fleet_runner.cli.base.options import Json
from fleet_runner.cli.base.session import console, errors, opened, print_json
from fleet_runner.cli.firmware import bmc as asking
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware import inventory
from fleet_runner.core.firmware.catalogue import Catalogue, Component
from fleet_runner.core.firmware.inventory import Entry
from fleet_runner.core.firmware.matching import match, numbered


def list_inventory(
    name: Annotated[str, typer.Argument(help="the node", metavar="NODE")],
    json: Json = False,
) -> None:
    """List the firmware that a node's BMC reports, and the catalogue row for each entry.

    Images that lie in the BMC and do not run (backup, golden, staging, previous) are left out, as from every plan.
    """
    with opened() as (settings, store):
        device, url = asking.where(settings, asking.a_node(store, name).name)
        try:
            rows, _ = asking.wanted(settings, device)
        except FleetError as error:  # one that is being written; the BMC can be listed all the same
            errors.print(f"warning: {error}", markup=False, soft_wrap=True)
            rows = Catalogue()
        with redfish.opened(settings, url, name=name) as bmc:
            updates = Updates(bmc)
            entries, boards = inventory.entries(updates.inventory()), updates.boards()
    mine = {entry.id: row for row, found in match(rows, entries).rows for entry in found}
    listed = sorted(inventory.running(entries).values(), key=lambda entry: numbered(entry.id))
    if json:
        found = [{"entry": entry, "component": mine[entry.id].name if entry.id in mine else None} for entry in listed]
        print_json({"node": name, "boards": boards, "entries": found})
        return
    console.print(Text(f"{name}, boards {printable(', '.join(boards)) or 'unnamed'}", style="bold"))
    console.print(_table(listed, mine))


def _table(entries: list[Entry], mine: dict[str, Component]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in ("ENTRY", "VERSION", "COMPONENT", ""):
        table.add_column(column, overflow="fold")
    for entry in entries:
        row = mine.get(entry.id)
        named = f" ({printable(entry.name)})" if entry.name and entry.name != entry.id else ""
        table.add_row(
            Text(printable(entry.id)).append(named, style="dim"),
            printable(entry.version) or "not reported",
            row.name if row else "-",
            _word(entry, row),
        )
    return table


def _word(entry: Entry, row: Component | None) -> Text:
    if row is None:
        return Text("in no row", style="dim")
    if entry.version == row.target:
        return Text("on target", style="green")
    if entry.version in row.accepted:
        return Text("accepted", style="yellow")
    return Text("drift" if entry.version else "unknown", style="red" if entry.version else "yellow")
