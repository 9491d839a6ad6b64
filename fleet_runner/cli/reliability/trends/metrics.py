"""fleet-runner trends metric: one number over the days, drawn with characters, with its peers' band."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from fleet_runner.cli.base import remote
from fleet_runner.cli.base.session import Exit, console, known, opened, print_json
from fleet_runner.cli.base.wrapped import say
from fleet_runner.cli.reliability.trends.text import NEVER, Json
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.printable import printable
from fleet_runner.core.reliability.trends import stored
from fleet_runner.core.reliability.trends.metrics import BY_NAME

STEPS = "▁▂▃▄▅▆▇█"

COLUMNS = 60
"""Characters of a line; of more days the newest are drawn."""

Row = tuple[str, Sequence[float | None]]


def metric(
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="a metric; default: list all that are followed")] = "",
    *,
    node: Annotated[str, typer.Option("--node", "-n", help="the parts of this node", metavar="NODE")] = "",
    json: Json = False,
) -> None:
    """Draw one metric day by day: the median of each device type, or each part of a node beside its peers."""
    if not name:
        _list(json=json)
        return
    if name not in BY_NAME:
        near = ", ".join(sorted(each for each in BY_NAME if each.split("_")[0] == name.split("_")[0])[:8])
        raise FleetError(
            f"there is no metric {printable(name)!r}{f'; near it are {near}' if near else ''};"
            " fleet-runner trends metric lists all"
        )
    foreseen = False
    with opened() as (_, store):
        heat = store.analysis("heat")
        if node:
            rows = _of_node(store, name, node)
        else:
            told = stored.metric_of(heat.body if heat is not None else None, name)
            rows = [(str(each["device_type"]) or "unknown type", each["middle"]) for each in stored.bands(told)]
        if not rows and not node:
            foreseen = any(each.what.metric == name for each in store.foresights())
    if json:
        print_json(_plain(name, rows))
        return
    if not rows:
        say(_silent(name, node, analysed=heat is not None, foreseen=foreseen))
        raise typer.Exit(Exit.NO)
    say(f"{name}, {BY_NAME[name].unit}: {BY_NAME[name].meaning}")
    for row in drawn(rows):
        console.print(row, soft_wrap=True)


def _silent(name: str, node: str, *, analysed: bool, foreseen: bool) -> str:
    """Say what is stored where the analysis has no picture of a metric."""
    if node:
        return f"no number of {name} is stored for {node}"
    if not analysed:
        return NEVER
    drift = "its drift is predicted (fleet-runner trends)" if foreseen else "its drift is not analysed"
    return (
        f"no part reported {name} in the seven days before the last analysis, and {drift}; other numbers are"
        f" stored by node: fleet-runner trends metric {name} --node NODE"
    )


def _list(*, json: bool) -> None:
    """Print every metric that is followed: its unit, and what it says."""
    if json:
        print_json({each.name: {"unit": each.unit, "meaning": each.meaning} for each in BY_NAME.values()})
        return
    for each in BY_NAME.values():
        console.print(Text(each.name, "bold").append(f"  {each.unit}", style="not bold"), soft_wrap=True)
        say(each.meaning, first="    ", rest="    ")


def _of_node(store: Any, name: str, node: str) -> list[Row]:
    """Return each part's numbers, then the band of its peers."""
    row = known(store, node)
    far = remote.remote(store)
    if far is not None:
        told = far.followed(node, name)
    else:
        from fleet_runner.web.series import followed  # noqa: PLC0415  it needs numpy

        told = followed(store, row, name)
    rows: list[Row] = [(each.name, each.numbers) for each in told.parts]
    return rows + [(f"peers, {end}", numbers) for end, numbers in told.peers.items()]


def _plain(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    return {
        "metric": name,
        "unit": BY_NAME[name].unit,
        "rows": [{"name": label, "numbers": list(numbers)} for label, numbers in rows],
    }


def drawn(rows: Sequence[Row]) -> list[Text]:
    """Return rows as lines of characters, all on one scale; a day without a number is a blank."""
    every = [value for _, numbers in rows for value in numbers[-COLUMNS:] if value is not None]
    if not every:
        return [Text("no number on any of these days")]
    low, high = min(every), max(every)
    width = max(len(label) for label, _ in rows)
    lines = [Text(f"{printable(label):<{width}} {_line(numbers, low, high)}") for label, numbers in rows]
    return [*lines, Text(f"{'':<{width}} from {low:.4g} to {high:.4g}, the newest day at the right", "dim")]


def _line(numbers: Sequence[float | None], low: float, high: float) -> str:
    scale = (len(STEPS) - 1) / (high - low) if high > low else 0.0
    return "".join(" " if value is None else STEPS[round((value - low) * scale)] for value in numbers[-COLUMNS:])
