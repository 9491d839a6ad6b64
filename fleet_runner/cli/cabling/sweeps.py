"""fleet-runner cabling sweeps: which looks at a fabric are stored."""

from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.cli.base.session import console, known, opened, print_json, stamp
from fleet_runner.cli.cabling.captures import answer
from fleet_runner.cli.cabling.captures import sweeps as stored
from fleet_runner.cli.cabling.options import AsJson
from fleet_runner.core.lifecycle.runs import Run

if TYPE_CHECKING:
    from fleet_runner.adapters.store import Store


def sweeps(
    fabric: Annotated[str | None, typer.Argument(help="one fabric; default: all", metavar="[FABRIC]")] = None,
    limit: Annotated[int, typer.Option(min=1, help="the newest so many of each fabric")] = 20,
    json: AsJson = False,
) -> None:
    """List the stored sweeps of fabrics, oldest first: their runs can be compared with `cabling diff`."""
    with opened() as (_, store):
        names = [known(store, fabric).name] if fabric else [node.name for node in store.fabrics()]
        rows = [_row(store, run) for name in names for run in stored(store, name)[-limit:]]
    if json:
        print_json(rows)
        return
    if not rows:
        console.print("no sweep yet; fleet-runner cabling check sweeps now, fleet-runner serve on a schedule")
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("RUN", "WHEN", "FABRIC", "LINKS", "FAULTS", "ENDED"):
        table.add_column(title, overflow="fold", justify="right" if title in {"RUN", "LINKS", "FAULTS"} else "left")
    for row in rows:
        links = f"{row['matched']}/{row['designed']}" if row["designed"] is not None else "-"
        faults = "-" if row["faults"] is None else f"{row['faults']}"
        table.add_row(f"{row['run']}", stamp(row["at"]), row["fabric"], links, faults, Text(row["ended"]))
    console.print(table)


def _row(store: "Store", run: Run) -> dict[str, Any]:
    found = answer(store, run)
    observed = found.result.observed if found is not None else {}
    return {
        "run": run.id,
        "fabric": run.node,
        "at": run.opened_at,
        "ended": run.outcome.value if run.outcome is not None else "running",
        "designed": observed.get("designed"),
        "matched": observed.get("matched"),
        "faults": len(found.result.findings) if found is not None else None,
        "suspect": observed.get("suspect", ""),
        "detail": run.detail,
    }
