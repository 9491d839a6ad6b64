"""fleet-runner signals list and status: the alarms that stand, and how much was heard of whom."""

import time
from collections.abc import Iterable
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from fleet_runner.adapters.store.faults.signal_counters import SignalCount
from fleet_runner.cli.base.session import age, console, known, opened, print_json
from fleet_runner.core.base.printable import printable
from fleet_runner.core.faults.signals.alarm import UNPROVEN, Alarm
from fleet_runner.services.signals.counters import LISTENER, SILENT_SECONDS

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]


def list_alarms(
    *,
    node: Annotated[str, typer.Option("--node", "-n", help="only this node's", metavar="NODE")] = "",
    every: Annotated[bool, typer.Option("--all", help="also alarms that have cleared, or do not count yet")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="with --all: the newest so many")] = 200,
    json: Json = False,
) -> None:
    """List active alarms: how often, since when, and what follows from them."""
    now = time.time()
    with opened() as (_, store):
        if node:
            known(store, node)
        found = store.past_alarms(node or None, limit) if every else _counting(store.standing_alarms(), node)
    if json:
        print_json(found)
        return
    for each in found:
        console.print(_line(each, now))
    if not found:
        console.print(f"no alarm {'was ever raised' if every else 'stands'}{f' on {node}' if node else ''}")


def status(*, json: Json = False) -> None:
    """Show the last signals, what became of them, and whether a listener runs."""
    now = time.time()
    with opened() as (_, store):
        found = store.heard()
        standing = _counting(store.standing_alarms(), "")
    listeners = [each for each in found if each.source == LISTENER]
    heard = [each for each in found if each.source != LISTENER]
    if json:
        print_json({"listeners": listeners, "heard": heard, "alarms": len(standing)})
        return
    for sentence in _listening(listeners, now):
        console.print(sentence, markup=False, soft_wrap=True)
    console.print(f"{len(standing)} alarm{'' if len(standing) == 1 else 's'} standing")
    if heard:
        console.print(_table(heard, now))


def _counting(alarms: Iterable[Alarm], node: str) -> tuple[Alarm, ...]:
    return tuple(each for each in alarms if each.raised_at is not None and node in {"", each.node})


def _line(alarm: Alarm, now: float) -> Text:
    """Return "gpu-03  xid.79 of GPU 0000:0f:00.0, 3 times in 5 min: POWER_CYCLE at once" and its message."""
    about = f"{alarm.code} of {alarm.component}" if alarm.component else alarm.code
    times = f"{alarm.count} times" if alarm.count > 1 else "once"
    line = Text(printable(alarm.node), style="bold")
    line.append(f"  {printable(about)}, {times}, first {age(now - alarm.first_at)} ago: ", style="not bold")
    line.append(_follows(alarm, now), style="not bold yellow" if alarm.cleared_at is None else "not bold dim")
    line.append(f"\n    {printable(alarm.message)} ({alarm.source})", style="not bold dim")
    return line


def _follows(alarm: Alarm, now: float) -> str:
    if alarm.cleared_at is not None:
        return f"cleared {age(now - alarm.cleared_at)} ago, {printable(alarm.cleared_because)}"
    if alarm.raised_at is None:
        return "does not count yet"
    if not alarm.authenticated:
        return UNPROVEN
    return f"{alarm.remedy}{' at once' if alarm.at_once else ''}"


def _listening(listeners: Iterable[SignalCount], now: float) -> list[str]:
    alive = [each for each in listeners if now - each.last_at < SILENT_SECONDS]
    if not alive:
        return ["no listener runs; set signals_listen for fleet-runner serve, or run fleet-runner signals serve"]
    return [f"{each.what}: heard {age(now - each.last_at)} ago, {each.detail}" for each in alive]


def _table(heard: Iterable[SignalCount], now: float) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), expand=True)
    table.add_column("SOURCE", no_wrap=True)
    table.add_column("WHAT", no_wrap=True)
    table.add_column("COUNT", justify="right", no_wrap=True)
    table.add_column("LAST", justify="right", no_wrap=True)
    table.add_column("OF", ratio=1, overflow="fold")
    for each in heard:
        words = (each.source, each.what, f"{each.count:,}", age(now - each.last_at), printable(each.detail))
        table.add_row(*map(Text, words))
    return table
