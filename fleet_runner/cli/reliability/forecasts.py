"""What is foreseen of one node, as people read it; nothing where nothing is."""

from rich.text import Text

from fleet_runner.cli.base.session import age, console
from fleet_runner.cli.base.wrapped import say
from fleet_runner.core.reliability.forecasts import Kind
from fleet_runner.core.reliability.trends.answers import Ahead, Days, Expected

BELOW = "see below"


def brief_alarm(line: str, ahead: Ahead) -> str:
    """Return an alarm's line without the sentence that is told with what is foreseen."""
    for each in ahead.foreseen:
        line = line.replace(each.sentence, BELOW)
    return line


def tell(ahead: Ahead, now: float) -> None:
    """Print what is foreseen: each with since when, the days until its mark, and the next step."""
    lemon = ahead.lemon
    if lemon is not None and any(each.kind is Kind.LEMON for each in ahead.foreseen):
        lemon = None  # what is foreseen says the same
    if not (ahead.foreseen or lemon or ahead.parts):
        return
    console.print(Text("foreseen", style="bold"))
    for each in ahead.foreseen:
        _expected(each, now)
    if lemon is not None:
        say(f"as a lemon: {lemon.sentence}", first="  ", rest="    ")
    for sentence in ahead.parts:
        say(sentence, first="  ", rest="    ")


def _expected(each: Expected, now: float) -> None:
    where = f"{each.component}, " if each.component else ""
    say(f"{where}{each.kind} for {age(now - each.since)}{_mark(each.mark_in)}", "yellow", first="  ", rest="    ")
    say(each.sentence, first="    ", rest="    ")
    for failure in each.failures:
        say(failure, "dim", first="    - ", rest="      ")
    if each.next:
        say(f"next: {each.next}", first="    ", rest="    ")


def _mark(days: Days | None) -> str:
    if days is None:
        return ""
    latest = f"{days.latest:.0f}" if days.latest is not None else "unknown"
    return f", {days.likely:.0f} d to its mark ({days.soonest:.0f} to {latest})"
