"""What analyses came to, as people read it: their own sentences, one a line."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer
from rich.text import Text

from fleet_runner.cli.base.session import age, console, opened, print_json, stamp
from fleet_runner.cli.base.wrapped import say
from fleet_runner.core.base.printable import printable
from fleet_runner.core.reliability.forecasts import Analysis, StoredForecast

Json = Annotated[bool, typer.Option("--json", help="print JSON instead of text")]

ANALYSES = ("drift", "heat", "parts", "lemons", "lifetimes", "worth", "limits")
"""Every analysis, as it is kept."""

NEVER = "no analysis yet: it runs each night (fleet-runner schedules); to run it now: fleet-runner trends run"

LISTED = 40
"""Lines of a list that are shown; JSON has all that is kept."""


def foretell(each: StoredForecast, now: float) -> None:
    """Print "gpu-03  GPU 3: trend for 5 d" and its sentence below."""
    told = Text(printable(each.what.node), style="bold")
    about = f"  {printable(each.what.component)}: " if each.what.component else "  "
    told.append(about, style="not bold")
    told.append(str(each.what.kind), style="not bold yellow" if each.ended_at is None else "not bold dim")
    since = f" for {age(now - each.first_at)}"
    told.append(since if each.ended_at is None else f", over {age(now - each.ended_at)} ago", style="not bold dim")
    say(told, rest="    ")
    say(each.what.sentence, first="    ", rest="    ")


def made(name: str) -> Analysis | None:
    """Return what an analysis came to last; None where it was never made."""
    with opened() as (_, store):
        return store.analysis(name)


def part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a part of an analysis; nothing where an older version kept none."""
    found: object = body.get(name)
    return found if isinstance(found, Mapping) else {}


def show(name: str, *, json: bool, lists: tuple[str, ...], one: tuple[str, ...] = ()) -> None:
    """Print an analysis: its own sentences, then those of its lists and of its single parts."""
    found = made(name)
    if json:
        print_json(found)
        return
    if found is None:
        say(NEVER)
        return
    told = [str(sentence) for sentence in _some(found.body.get("sentences"))]
    for sentence in told:
        say(sentence, "bold")
    for each in (*(part(found.body, single) for single in one), *_rows(found.body, lists)):
        if isinstance(each, Mapping) and each.get("sentence") and each["sentence"] not in told:
            say(_named(each), first="- ")
    console.print(Text(f"as of {stamp(found.at)} UTC; --json has all of it", "dim"))


def _named(row: Mapping[str, Any]) -> str:
    """Return a row's sentence, with its node before it where it does not name that itself."""
    sentence, node = str(row["sentence"]), str(row.get("node", ""))
    return sentence if node in sentence else f"{node}: {sentence}"


def _rows(body: Mapping[str, Any], lists: tuple[str, ...]) -> list[object]:
    found: list[object] = []
    for name in lists:
        rows = _some(body.get(name))
        found += rows[:LISTED]
        if len(rows) > LISTED:
            found.append({"sentence": f"{len(rows) - LISTED:,} more of {name}"})
    return found


def _some(found: object) -> list[object]:
    return list(found) if isinstance(found, list | tuple) else []
