"""The answer about a job on one screen: the conclusion, what happened in its order, what was done, what to do."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from rich.text import Text

from fleet_runner.cli.base.session import console, stamp
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.event import Area, Event, Role
from fleet_runner.core.jobs.job import Job

MOST = 12
"""Kinds of events that are shown; --json has all."""

COLOURS = {Area.HARDWARE: "red", Area.FABRIC: "yellow", Area.STORAGE: "yellow", Area.SOFTWARE: "cyan"}

SPAN = 60.0
"""Seconds of blur from which on an event is shown as a span of time."""


def show(answer: Answer) -> None:
    """Print an answer."""
    job = answer.job
    console.print(Text(printable(_title(job)), style="bold"), soft_wrap=True)
    _indented(printable(_when(job)), 2)
    console.print()
    for line in Text(printable(answer.sentence), style=COLOURS.get(answer.area, "magenta")).wrap(
        console, console.width
    ):
        line.rstrip()
        console.print(line, soft_wrap=True)
    _timeline(answer)
    _listed("Already done", answer.done)
    _listed("What to do", answer.todo)
    _listed("Not sure", answer.unsure)


def _title(job: Job) -> str:
    name = f"Job {job.id}" if job.id else "The job"
    about = [job.name, job.owner and f"of {job.owner}", counted(len(job.nodes), "node") if job.nodes else ""]
    about.append(counted(job.gpus, "GPU") if job.gpus else "")
    told = ", ".join(filter(None, about))
    return f"{name}: {told}" if told else name


def _when(job: Job) -> str:
    if not job.begun:
        return "when it ran is not known"
    ended = stamp(job.ended) if job.ended is not None else "now: it still runs"
    state = f", {job.state}" if job.state else ""
    code = f" (exit code {job.exit_code})" if job.exit_code else ""
    return f"{stamp(job.begun)} to {ended} UTC{state}{code}"


def _timeline(answer: Answer) -> None:
    kinds = Counter(_kind(each) for each in answer.timeline)
    shown: dict[tuple[str, str], Event] = {}
    for each in answer.timeline:
        shown.setdefault(_kind(each), each)
    if answer.origin is not None:
        shown[_kind(answer.origin)] = answer.origin
    if not shown:
        return
    console.print()
    console.print(Text("What happened", style="bold"))
    chosen = _chosen(answer, list(shown.values()))
    for each in chosen:
        more = kinds[_kind(each)] - 1
        _event(each, answer, f", and {counted(more, 'more')} like it".replace("mores", "more") if more else "")
    if len(shown) > len(chosen):
        _indented(f"and {len(shown) - len(chosen)} other kinds; --json has all", 2, "dim")


def _kind(event: Event) -> tuple[str, str]:
    """Return what makes events alike: symptoms of many ranks are one line, causes are one each."""
    if event.rank is not None or event.role is not Role.CAUSE:
        return event.code, ""
    return event.code, event.component if event.area is Area.STORAGE else f"{event.node} {event.component}"


def _chosen(answer: Answer, events: Sequence[Event]) -> list[Event]:
    """Return the events to show: the origin, further causes, then others as they came, up to MOST."""
    first = [each for each in events if each is answer.origin or each in answer.others or each is answer.symptom]
    rest = [each for each in events if each not in first]
    kept = [*first, *rest][:MOST]
    return [each for each in events if each in kept]


def _event(event: Event, answer: Answer, more: str) -> None:
    style = COLOURS.get(event.area, "magenta") if event is answer.origin else ""
    mark = "began here: " if event is answer.origin else ""
    places = filter(None, (event.node, f"rank {event.rank}" if event.rank is not None else "", event.component))
    words = f"{mark}{', '.join(places)}: {event.what}{more}" if event.node or event.rank is not None else (
        f"{mark}{event.what}{more}"
    )  # fmt: skip
    _indented(printable(words), 12, style, before=f"  {_clock(event)}  ")
    if event.line and (event is answer.origin or event in answer.others):
        _indented(_fitting(printable(event.line)), 12, "dim")
        _indented(printable(event.source), 12, "dim")


def _clock(event: Event) -> str:
    """Return eight characters: the time of day in UTC, or that it is not told."""
    if event.at is None:
        return "  --    "
    told = datetime.fromtimestamp(event.at, UTC).strftime("%H:%M:%S")
    return told if event.blur < SPAN else f"~{told[:5]}  "


def _listed(head: str, sentences: Iterable[str]) -> None:
    told = list(sentences)
    if not told:
        return
    console.print()
    console.print(Text(head, style="bold"))
    for each in told:
        _indented(printable(each), 2)


def _fitting(line: str) -> str:
    room = max(console.width - 16, 20)
    return f"| {line}" if len(line) <= room else f"| {line[: room - 1]}…"


def _indented(text: str, by: int, style: str = "", before: str = "") -> None:
    """Print wrapped text; `before` stands in the first line's indentation."""
    lines = Text(text, style=style).wrap(console, max(console.width - by, 20)) if text else ()
    for number, line in enumerate(lines):
        line.rstrip()
        console.print(Text(before if before and not number else " " * by).append_text(line), soft_wrap=True)
