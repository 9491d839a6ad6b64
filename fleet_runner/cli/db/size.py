"""fleet-runner db stats and prune: how large the store and its folders are, and what of them goes."""

import math
import time
from typing import Annotated, Any

import typer
from rich.table import Table

from fleet_runner.adapters.plays import artifacts
from fleet_runner.adapters.store.maintenance.size import Kind, Weighed
from fleet_runner.cli.base.session import age, console, opened, print_json, stamp
from fleet_runner.core.schedules.retention import DAY, Artifact, Pruned, size
from fleet_runner.reconcile.schedules.retention import BUNDLES, pruned

WINDOW = 7
"""Days whose rows tell how much comes in a day."""

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


def stats(*, json: Json = False) -> None:
    """Show what the store and its folders hold, how fast they grow, and what `db prune` would delete now.

    Every table is read once: with some gigabytes that takes its time.
    """
    now = time.time()
    with opened() as (settings, store):
        weighed = store.weighed(now - WINDOW * DAY)
        would = pruned(settings, store, now, seconds=math.inf, dry=True)
    kinds = [_row(kind, now) for kind in weighed.kinds]
    folders = {
        "batch folders": artifacts.found(settings.batches_dir, "*"),
        BUNDLES: artifacts.found(settings.state_dir / BUNDLES, "*/*"),
    }
    kinds += [_folders(name, found, now) for name, found in folders.items()]
    grows = sum(row["bytes_a_day"] or 0 for row in kinds)
    if json:
        about: dict[str, Any] = {"schema": weighed.schema, "store": weighed.where, "bytes": weighed.size}
        print_json(about | {"bytes_free": weighed.free, "bytes_a_day": grows, "kinds": kinds, "prune": would})
        return
    _show(weighed, kinds, grows, would)


def prune(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="show what would be deleted, and delete nothing")
    ] = False,
    json: Json = False,
) -> None:
    """Delete everything older than the settings keep it (keep_...); serve does so by itself."""
    with opened() as (settings, store):
        done = pruned(settings, store, time.time(), seconds=math.inf, dry=dry_run)
    if json:
        print_json(done)
    else:
        console.print(_capital(done.sentence(would=dry_run)), markup=False, soft_wrap=True)


def _row(kind: Kind, now: float) -> dict[str, Any]:
    """Return a kind as it is printed; what it grows by in a day follows from the newest week, or all there is."""
    days = min(WINDOW, max(1.0, (now - kind.oldest) / DAY)) if kind.oldest is not None else WINDOW
    each = kind.size / kind.rows if kind.size is not None and kind.rows else 0.0
    grows = round(kind.lately / days * each) if kind.size is not None else None
    row = {"kind": kind.name, "rows": kind.rows, "bytes": kind.size, "oldest": kind.oldest, "newest": kind.newest}
    return row | {"rows_a_day": round(kind.lately / days), "bytes_a_day": grows}


def _folders(name: str, found: tuple[Artifact, ...], now: float) -> dict[str, Any]:
    times = [each.at for each in found]
    whole = sum(each.size for each in found)
    lately = sum(at >= now - WINDOW * DAY for at in times)
    kind = Kind(name, len(found), whole, min(times, default=None), max(times, default=None), lately)
    return _row(kind, now)


def _show(weighed: Weighed, kinds: list[dict[str, Any]], grows: float, would: Pruned) -> None:
    free = f", {size(weighed.free)} of it free for reuse" if weighed.free else ""
    about = f"{weighed.where}: schema {weighed.schema}, {size(weighed.size)} on disk{free}"
    console.print(about, markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("kind", "rows", "size", "oldest", "newest", "a day"):
        table.add_column(head, justify="left" if head in {"kind", "oldest", "newest"} else "right")
    for row in kinds:
        told = [_at(row["oldest"]), _age(row["newest"])]
        weight = size(row["bytes"]) if row["bytes"] is not None else "?"
        per_day = f"{row['rows_a_day']:,} ({size(row['bytes_a_day'] or 0)})" if row["rows_a_day"] else "-"
        table.add_row(row["kind"], f"{row['rows']:,}", weight, *told, per_day)
    console.print(table)
    console.print(f"It grows by about {size(grows)} a day before retention.", soft_wrap=True)
    console.print(f"db prune: {would.sentence(would=True)}.", markup=False, soft_wrap=True)


def _at(moment: float | None) -> str:
    return stamp(moment)[:10] if moment is not None else "-"


def _age(moment: float | None) -> str:
    return f"{age(time.time() - moment)} ago" if moment is not None else "-"


def _capital(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}."
