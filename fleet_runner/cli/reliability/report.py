"""fleet-runner report: one page of a week, which needs nothing else to be read."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fleet_runner.cli.base.session import console, errors, opened, print_json
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.reliability.report import picture
from fleet_runner.core.reliability.report import text as words
from fleet_runner.core.reliability.report.figures import POINTS, Figures, Remedied, figures
from fleet_runner.core.reliability.report.rows import Span, last_week, week

if TYPE_CHECKING:
    from fleet_runner.cli.reliability.report_ahead import Ahead
    from fleet_runner.cli.reliability.report_bring_up import Shown
    from fleet_runner.core.reliability.interruptions.analyse import JobFigures

QUIET = 2.0
"""Seconds after which it is said what is being read."""

LISTED = 200
"""Rows of a list in JSON."""

LONGEST = 400 * 86_400.0
"""Seconds that one report tells of."""


def report(
    *,
    week_: Annotated[
        str, typer.Option("--week", metavar="WEEK", help="like 2026-W46, in UTC; default: the last whole week")
    ] = "",
    since: Annotated[str, typer.Option(metavar="DAY", help="instead: from this day on, like 2026-11-09")] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="up to this day, exclusive; default: now")] = "",
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="default: report-WEEK.html here")] = None,
    force: Annotated[bool, typer.Option("--force", help="overwrite an existing file")] = False,
    json: Annotated[bool, typer.Option("--json", help="print figures as JSON and write no page")] = False,
    checkpoint_minutes: Annotated[
        float, typer.Option(metavar="MINUTES", help="between two checkpoints of a job; half is taken to be lost")
    ] = 60.0,
    restart_minutes: Annotated[
        float, typer.Option(metavar="MINUTES", help="from a job's start to its first new step")
    ] = 5.0,
) -> None:
    """Write the weekly report as one HTML page: bring-up times, failures by cause, remedies, nodes to watch."""
    now = time.time()
    from fleet_runner.cli.reliability import report_ahead, report_bring_up, report_jobs  # noqa: PLC0415  other commands draw nothing
    from fleet_runner.core.reliability.interruptions import words as job_words  # noqa: PLC0415  it needs numpy
    from fleet_runner.reconcile.lifecycle.queue import away  # noqa: PLC0415  other commands queue nothing

    assumed = report_jobs.assumed(checkpoint_minutes, restart_minutes)
    span = _span(week_, since, until, now)
    path = output or Path(_name(span, week_))
    if not json and not force and path.exists():
        raise FleetError(f"{path}: the file exists already; name another, or overwrite it with --force")
    with opened() as (settings, store):
        found = store.report_rows(span, progress(time.monotonic()))
        ways = store.bring_ups(span, now, found.stories)
        waiting = away(settings, store)
        jobs = report_jobs.job_figures(store, found.stories, span, now, assumed)
        tomorrow = report_ahead.ahead(store)
    this, before = figures(found, span, now), figures(found, span.before(), now)
    if json:
        more = {"jobs": report_jobs.plain(jobs), "ahead": report_ahead.plain(tomorrow)}
        print_json({**plain(this, before), "bring_up": report_bring_up.plain(ways, waiting), **more})
        return
    up = report_bring_up.Shown(ways, waiting)
    _write(path, html(this, before, now, tomorrow, jobs, up=up, notice=settings.notice))
    for sentence in (*words.summary(this, before), job_words.summary(jobs), *filter(None, [settings.notice])):
        console.print(sentence, markup=False, soft_wrap=True)
    console.print(f"written to {path}", markup=False, soft_wrap=True)


def progress(began: float) -> Callable[[str], None]:
    """Return what says on standard error what is read, once that has taken a while."""

    def say(what: str) -> None:
        if time.monotonic() - began > QUIET:
            errors.print(f"reading {what} …", markup=False)

    return say


def html(
    found: Figures,
    before: Figures,
    now: float,
    tomorrow: "Ahead | None" = None,
    jobs: "JobFigures | None" = None,
    *,
    up: "Shown | None" = None,
    notice: str = "",
) -> str:
    """Return the page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  other commands render nothing

    from fleet_runner.cli.reliability import report_bring_up  # noqa: PLC0415  likewise
    from fleet_runner.cli.reliability.report_ahead import NOTHING, sheet  # noqa: PLC0415  likewise
    from fleet_runner.core.base.printable import printable  # noqa: PLC0415  likewise
    from fleet_runner.core.reliability.bring_up import words as bring_up_words  # noqa: PLC0415  likewise
    from fleet_runner.core.reliability.interruptions import words as job_words  # noqa: PLC0415  it needs numpy
    from fleet_runner.core.reliability.interruptions.analyse import JobFigures  # noqa: PLC0415  likewise
    from fleet_runner.core.reliability.interruptions.interruption import Assumed  # noqa: PLC0415  likewise

    loader = PackageLoader("fleet_runner.cli")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters["printable"] = printable
    stays = words.stays(found.bring_ups)
    return environment.get_template("report.html").render(
        found=found,
        notice=notice,
        ahead=tomorrow or NOTHING,
        jobs=jobs or JobFigures(Assumed()),
        up=up or report_bring_up.Shown(),
        up_words=bring_up_words,
        job_words=job_words,
        sheet=sheet(),
        now=now,
        end=min(now, found.span.until),
        heading=words.heading(found.span),
        summary=words.summary(found, before),
        changes=words.changes(found, before),
        earlier={row.code: row.faults for row in before.causes},
        middle=words.middle(found.bring_ups),
        most=words.most(found.bring_ups),
        stays=stays,
        stack=picture.stack(stays),
        strip=picture.strip([each.seconds for each in found.bring_ups]),
        points=POINTS,
        words_of=helped,
        picture=picture,
        duration=words.duration,
        hours=words.hours,
        share=words.share,
        moment=words.moment,
    )


def helped(row: Remedied) -> str:
    """Return in words how often a remedy helped, of the times of which that is known."""
    known = row.helped + row.failed
    return f"helped {row.helped} of {known} times" if known else words.NOTHING


def plain(found: Figures, before: Figures) -> dict[str, Any]:
    """Return the figures as a program takes them; long lists are cut at LISTED."""

    def some(rows: tuple[Any, ...]) -> list[Any]:
        return list(rows[:LISTED])

    return {
        "since": found.span.since,
        "until": found.span.until,
        "summary": list(words.summary(found, before)),
        "availability": found.availability,
        "production_seconds": found.production,
        "lost_seconds": found.lost_seconds,
        "nodes": found.nodes,
        "left_production": found.left,
        "bring_ups": [
            {"node": each.node, "at": each.at, "seconds": each.seconds, "states": each.states}
            for each in found.bring_ups[:LISTED]
        ],
        "lost": some(found.lost),
        "out": [{"node": node, "seconds": seconds} for node, seconds in found.out[:LISTED]],
        "causes": some(found.causes),
        "remedies": some(found.remedies),
        "watch": some(found.watch),
        "unknown": some(found.unread),
        "tickets": {"opened": found.opened, "closed": found.closed, "open": some(found.standing)},
        "held": some(found.kept),
        "before": {
            "availability": before.availability,
            "lost_seconds": before.lost_seconds,
            "bring_ups": len(before.bring_ups),
            "left_production": before.left,
            "tickets_opened": before.opened,
        },
    }


def _span(name: str, since: str, until: str, now: float) -> Span:
    if name and (since or until):
        raise FleetError("--week and --since or --until: give one of the two")
    if until and not since:
        raise FleetError("--until without --since: say from which day on, too")
    if name:
        try:
            found = week(name)
        except (ValueError, OverflowError):
            raise FleetError(f"--week {name!r:.40}: expected a week such as 2026-W46") from None
    elif since:
        found = Span(_day("--since", since), _day("--until", until) if until else now)
    else:
        found = last_week(now)
    if not found.since < min(found.until, now):
        raise FleetError("this span has not begun, or ends before it begins; expected past days")
    if found.seconds > LONGEST:
        raise FleetError(
            f"this span is {words.duration(found.seconds)} long; expected at most {words.duration(LONGEST)}"
        )
    return found


def _day(option: str, text: str) -> float:
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise FleetError(f"{option} {text!r:.40}: expected a day such as 2026-11-09, or a moment after it") from None


def _name(span: Span, name: str) -> str:
    begins = datetime.fromtimestamp(span.since, UTC)
    year, number, _ = begins.isocalendar()
    whole = name or words.heading(span).startswith("Week ")
    return f"report-{year}-W{number:02}.html" if whole else f"report-{begins:%Y-%m-%d}.html"


def _write(path: Path, text: str) -> None:
    """Write the page as a whole, or not at all; nobody else can read it before its owner lets them."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        part.touch(0o600)
        part.write_text(text, encoding="utf-8", errors="replace")
        part.replace(path)
    except OSError as error:
        raise FleetError(f"{path}: {error.strerror}; nothing was written") from error
    finally:
        if part.parent.is_dir():
            part.unlink(missing_ok=True)
