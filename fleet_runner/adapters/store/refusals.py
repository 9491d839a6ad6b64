"""Refusals: the same one again within a minute of the last is counted, not written again."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, select, update

from fleet_runner.adapters.store import boot_events, boots, history, nodes, untrusted
from fleet_runner.adapters.store.boots import Standing
from fleet_runner.adapters.store.schema import REFUSED
from fleet_runner.adapters.store.schema import boot_events as event_rows
from fleet_runner.adapters.store.schema import boots as boot_rows
from fleet_runner.core.boot.boots import Refused
from fleet_runner.core.runs import Entry

SECONDS = 60.0
"""Between two refusals that are one."""

Line = dict[str, Any]


def take(connection: Connection, standing: Mapping[int, Standing], told: Sequence[Refused]) -> list[bool]:
    """Write the refusals that are news, count the others; return of each whether it was news."""
    if not told:
        return []
    lines = [_line(each) for each in told]
    known = _recent(connection, lines)
    answers = _sort(known, lines)
    fresh = [line for line, news in zip(lines, answers, strict=True) if news]
    _count(connection, [line for line in known if line["times"]])
    boot_events.add(connection, fresh)
    boot_events.prune(connection, {line["node"] for line in fresh})
    refused = Counter(each.boot for each in told if each.boot in standing)
    boots.change(connection, _REFUSED, [{"_id": boot, "_times": times} for boot, times in sorted(refused.items())])
    _tell(connection, standing, known, fresh)
    return answers


_REFUSED = {boot_rows.c.refused.name: boot_rows.c.refused + bindparam("_times")}


_KNOWN = ("id", "node", "boot", "code", "source", "last_at")


def _line(each: Refused) -> Line:
    node, source, code = untrusted.key(each.node), untrusted.key(each.source), untrusted.key(each.code)
    sentence = untrusted.words(each.sentence)
    return boot_events.row(node, each.boot, each.at, "refused", sentence, source=source, code=code)


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
    """Return of each new line whether it is one; the others are counted where they were said first."""
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


def _tell(
    connection: Connection, standing: Mapping[int, Standing], known: Iterable[Line], fresh: Iterable[Line]
) -> None:
    """Add to the nodes' histories what was not refused there for the same reason, to anyone, a minute ago."""
    quiet = {(line["node"], line["code"]) for line in known}
    loud = {(line["node"], line["code"]): line for line in fresh if (line["node"], line["code"]) not in quiet}
    existing = nodes.existing(connection, {line["node"] for line in loud.values()})
    told = [line for line in loud.values() if line["node"] in existing]
    history.add(connection, [_entry(standing.get(line["boot"]), line) for line in told])


def _entry(boot: Standing | None, line: Line) -> Entry:
    sentence = f"Refused {line['source']}: {line['sentence']}"
    return Entry(0, line["node"], line["at"], boots.KIND, sentence, boots.BY, run=boot.run if boot else None)
