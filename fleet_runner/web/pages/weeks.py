"""The last weeks drawn: failures by cause, how long repairs and bring-ups took, and time in service."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, NamedTuple

from fastapi import APIRouter, HTTPException, Path, Request, Response
from fastapi.responses import HTMLResponse

from fleet_runner.core.access.tenants import cell
from fleet_runner.core.reliability.report.picture import bar
from fleet_runner.core.reliability.report.picture_weeks import OTHERS, Bars, stacked
from fleet_runner.core.reliability.report.text import duration
from fleet_runner.core.reliability.trends import stored
from fleet_runner.core.schedules.retention import DAY
from fleet_runner.core.tickets.work_orders.queue import by_rack
from fleet_runner.web.access import Sees
from fleet_runner.web.pages.trends import body, sentences
from fleet_runner.web.rendering import page
from fleet_runner.web.site import Here

router = APIRouter()

HOUR = 3_600.0

WEEK = 7 * DAY

RACKS = 10
"""Racks that are shown, those with most faults."""

Row = tuple[str | float, ...]


class Table(NamedTuple):
    """A table: what its columns are called, and its rows."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


class Lane(NamedTuple):
    """A bar beside its name: how often, and the seconds: the first of them is the bar's, if there are any."""

    name: str
    times: int
    seconds: tuple[float, ...]
    still: int = 0
    share: float = 0.0


@router.get("/trends/weeks")
def weeks(request: Request, here: Here, who: Sees) -> HTMLResponse:
    """Show what the reports of the last weeks say, beside each other."""
    found = here.store.analysis("weeks")
    told = body(found)
    every = stored.rows(told, "weeks", "week", "causes", "lost")
    repairs, waited = _repairs(told), _waited(told)
    failures = _drawn(every, _faults)
    fleet = here.fleet()
    racks = by_rack(here.store.tickets_since(here.clock() - WEEK), fleet) if fleet is not None else ()
    return page(
        request,
        who,
        "trends-weeks.html",
        found=found,
        sentences=sentences(found),
        tables=_tables(told),
        failures=failures,
        service=_drawn(every, _hours, " h", failures),
        available=[stored.number(week, "availability") for week in every],
        repairs=repairs,
        waited=waited,
        brought_up=int(_number(told or {}, "brought_up")),
        racks=racks[:RACKS],
        more_racks=max(0, len(racks) - RACKS),
        known=fleet is not None,
        bar=bar,
        duration=duration,
    )


@router.get("/trends/weeks/{name}.csv")
def table(here: Here, who: Sees, name: Annotated[str, Path(max_length=20)]) -> Response:
    """Give one of the tables as a spreadsheet takes it."""
    del who
    found = _tables(body(here.store.analysis("weeks"))).get(name)
    if found is None:
        raise HTTPException(404, f"there is no table {name!r}; /trends/weeks has those that are there")
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(found.columns)
    writer.writerows([cell(each) if isinstance(each, str) else each for each in row] for row in found.rows)
    headers = {"content-disposition": f'attachment; filename="{name}.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=headers)


def _tables(told: stored.Body | None) -> Mapping[str, Table]:
    every = stored.rows(told, "weeks", "week", "causes", "lost")
    return {
        "failures": Table(
            ("week", "cause", "faults"),
            tuple((str(week["week"]), cause, int(many)) for week in every for cause, many in _faults(week).items()),
        ),
        "repairs": Table(
            ("cause", "repairs", "mean hours", "median hours", "longest hours", "still out"),
            tuple(
                (each.name, each.times, *(_in_hours(each.seconds) or ("",) * 3), each.still)
                for each in _repairs(told)
            ),
        ),
        "bring-up": Table(
            ("state", "nodes", "median hours", "ninetieth hours", "percent of the time"),
            tuple(
                (each.name, each.times, *_in_hours(each.seconds), round(100 * each.share, 1))
                for each in _waited(told)
            ),
        ),
        "service": Table(
            ("week", "nodes", "hours in service", "hours out", "percent in service"),
            tuple(
                (str(week["week"]), int(_number(week, "nodes")), round(_number(week, "served_seconds") / HOUR, 2),
                 round(_number(week, "lost_seconds") / HOUR, 2), _percent(week))
                for week in every
            ),
        ),
    }  # fmt: skip


def _repairs(told: stored.Body | None) -> list[Lane]:
    rows = stored.rows(told, "repairs", "cause", "times")
    return [
        Lane(str(each["cause"]), int(_number(each, "times")),
             _seconds(each, "mean", "median", "longest") if _number(each, "times") else (),
             still=int(_number(each, "still")))
        for each in rows
    ]  # fmt: skip


def _waited(told: stored.Body | None) -> list[Lane]:
    rows = stored.rows(told, "waited", "state", "nodes")
    return [
        Lane(str(each["state"]), int(_number(each, "nodes")), _seconds(each, "median", "ninetieth"),
             share=_number(each, "share"))
        for each in rows
    ]  # fmt: skip


def _seconds(each: stored.Body, *names: str) -> tuple[float, ...]:
    return tuple(_number(each, name) for name in names)


def _in_hours(seconds: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(round(each / HOUR, 2) for each in seconds)


def _percent(week: stored.Body) -> float | str:
    """Return the share of time in service; nothing where no node was there to serve."""
    share = stored.number(week, "availability")
    return "" if share is None else round(100 * share, 2)


def _number(each: stored.Body, name: str) -> float:
    return stored.number(each, name) or 0.0


def _drawn(
    every: Sequence[stored.Body],
    numbers: Callable[[stored.Body], dict[str, float]],
    unit: str = "",
    like: Bars | None = None,
) -> Bars | None:
    told = [(str(week["week"]), numbers(week)) for week in every]
    return stacked(told, unit, like) if any(value for _, mine in told for value in mine.values()) else None


def _faults(week: stored.Body) -> dict[str, float]:
    told = {str(each["cause"]): _number(each, "faults") for each in stored.rows(week, "causes", "cause", "faults")}
    others = _number(week, "other_faults")
    return {**told, **({OTHERS: others} if others else {})}


def _hours(week: stored.Body) -> dict[str, float]:
    rows = stored.rows(week, "lost", "cause", "seconds")
    others = _number(week, "other_lost_seconds") / HOUR
    told = {str(each["cause"]): _number(each, "seconds") / HOUR for each in rows}
    return {**told, **({OTHERS: others} if others else {})}
