"""Refusals: the same one again within a minute of the last is counted, not written again.

Anybody can be refused as often as he likes, so the lines are bounded, and a node's history, which is kept for good,
tells only once an hour that somebody was refused there for the same reason.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, func, select, update

from fleet_runner.adapters.store.boot import boots, events
from fleet_runner.adapters.store.boot.boots import OpenBootState
from fleet_runner.adapters.store.boot.events import Line, News
from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.lifecycle import nodes
from fleet_runner.adapters.store.schema.core import REFUSED
from fleet_runner.adapters.store.schema.core import boot_events as event_rows
from fleet_runner.adapters.store.schema.core import boots as boot_rows
from fleet_runner.core.boot.boots import Refused
from fleet_runner.core.lifecycle.runs import Entry

SECONDS = 60.0
"""Between two refusals that are one."""

LOUD_SECONDS = 3600.0
"""Between two refusals for one reason that a node's history tells."""

LONGEST = 300
"""Characters of a sentence, which may quote whoever was refused."""

NEVER = float("-inf")


def take(connection: Connection, standing: Mapping[int, OpenBootState], told: Sequence[Refused]) -> list[News | None]:
    """Count the refusals that were said already; return what is to be written of each other, None for these."""
    if not told:
        return []
    lines = [_line(each) for each in told]
    known = _recent(connection, lines)
    loud, fresh = _loud(_heard(connection, lines), lines), _sort(known, lines)
    existing = nodes.existing(connection, {line["node"] for line, said in zip(lines, loud, strict=True) if said})
    _count(connection, [line for line in known if line["times"]])
    refused = Counter(each.boot for each in told if each.boot in standing)
    boots.change(connection, _REFUSED, [{"_id": boot, "_times": times} for boot, times in sorted(refused.items())])
    entries = [
        _entry(standing.get(line["boot"]), line) if said and line["node"] in existing else None
        for line, said in zip(lines, loud, strict=True)
    ]
    return [News(line, entry) if new else None for line, entry, new in zip(lines, entries, fresh, strict=True)]


_REFUSED = {boot_rows.c.refused.name: boot_rows.c.refused + bindparam("_times")}


_KNOWN = ("id", "node", "boot", "code", "source", "last_at")


def _line(each: Refused) -> Line:
    node, source, code = bounds.key(each.node), bounds.key(each.source), bounds.key(each.code)
    sentence = bounds.words(each.sentence[:LONGEST])
    boot = each.boot if each.boot is not None and abs(each.boot) < boots.MANY else None
    return events.row(node, boot, each.at, "refused", sentence, source=source, code=code)


def _recent(connection: Connection, lines: Iterable[Line]) -> list[Line]:
    """Return the lines that the new ones may repeat, the oldest first; none of their `times` is counted yet."""
    names, since = {line["node"] for line in lines}, min(line["at"] for line in lines) - SECONDS
    mine = select(*(event_rows.c[name] for name in _KNOWN)).where(
        event_rows.c.node.in_(bindparam("names", expanding=True)), REFUSED
    )
    query = mine.where(event_rows.c.last_at >= since).order_by(event_rows.c.id)
    rows = (row for chunk in boots.chunked(names) for row in connection.execute(query, {"names": chunk}).all())
    return [{**dict(zip(_KNOWN, row, strict=True)), "times": 0} for row in rows]


def _sort(known: Iterable[Line], lines: Iterable[Line]) -> list[bool]:
    """Return of each line whether it is news; the others are counted where they were said first."""
    newest, answers = {_who(line): line for line in known}, list[bool]()
    for line in lines:
        same = newest.setdefault(_who(line), line)
        news = same is line or line["at"] - same["last_at"] > SECONDS
        if news:
            newest[_who(line)] = line
        else:
            same["times"] += 1
            same["last_at"] = max(same["last_at"], line["at"])
        answers.append(news)
    return answers


def _who(line: Line) -> tuple[Any, ...]:
    return (line["node"], line["boot"], line["code"], line["source"])


def _count(connection: Connection, lines: Iterable[Line]) -> None:
    rows = [{"_id": line["id"], "_times": line["times"], "_at": line["last_at"]} for line in lines]
    if rows:
        again = update(event_rows).where(event_rows.c.id == bindparam("_id"))
        values = {"times": event_rows.c.times + bindparam("_times"), "last_at": bindparam("_at")}
        connection.execute(again.values(values), rows)


def _heard(connection: Connection, lines: Iterable[Line]) -> dict[tuple[str, str], float]:
    """Return when anybody was last refused at a node for a reason, within the hour before the first of the lines."""
    names, since = {line["node"] for line in lines}, min(line["at"] for line in lines) - LOUD_SECONDS
    what = (event_rows.c.node, event_rows.c.code)
    mine = select(*what, func.max(event_rows.c.last_at)).where(
        event_rows.c.node.in_(bindparam("names", expanding=True)), REFUSED
    )
    query = mine.where(event_rows.c.last_at >= since).group_by(*what)
    rows = (row for chunk in boots.chunked(names) for row in connection.execute(query, {"names": chunk}).all())
    return {(node, code): at for node, code, at in rows}


def _loud(heard: dict[tuple[str, str], float], lines: Iterable[Line]) -> list[bool]:
    """Return of each line whether the node's history tells it: nobody was refused there for it in the hour before."""
    loud = list[bool]()
    for line in lines:
        what = (line["node"], line["code"])
        loud.append(line["at"] - heard.get(what, NEVER) > LOUD_SECONDS)
        heard[what] = max(line["at"], heard.get(what, NEVER))
    return loud


def _entry(boot: OpenBootState | None, line: Line) -> Entry:
    sentence = f"Refused {line['source']}: {line['sentence']}"
    return Entry(0, line["node"], line["at"], boots.KIND, sentence, boots.BY, run=boot.run if boot else None)
