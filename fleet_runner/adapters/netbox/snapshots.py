"""Everything that is kept of a NetBox at one moment: read whole, or kept and followed by NetBox's change log."""

import time
from dataclasses import dataclass, replace
from pathlib import Path

from fleet_runner.adapters.netbox import changes, keeping, reading
from fleet_runner.adapters.netbox.changes import Mark
from fleet_runner.adapters.netbox.client import Client, ForbiddenError, Patience
from fleet_runner.adapters.netbox.reading import Lists
from fleet_runner.adapters.netbox.rows import Rows

WHOLE_SECONDS = 86_400.0
"""After which everything is read again: a change that NetBox does not log (made in its database) is seen by then."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read, from where its changes are asked for, in how many requests, and how ("nothing changed").

    `mark` is None where the token may not see NetBox's change log. `notes` are sentences for NetBox's owner. `of` is
    the fingerprint of the NetBox and the token.
    """

    rows: Rows
    mark: Mark | None
    requests: int
    how: str
    notes: tuple[str, ...] = ()
    of: str = ""


def snapshot(
    url: str,
    token: str,
    patience: Patience | None = None,
    kept: Path | None = None,
    before: Snapshot | None = None,
) -> Snapshot:
    """Read a NetBox: only what changed since `before` or what a file keeps, and everything where that is not known.

    The file is shared by all processes of a machine; without one, everything is read. Raises SourceError.
    """
    with Client(url, token, patience or Patience()) as client:
        lists = Lists(client)
        if kept is None:
            return _told(lists, reading.everything(lists), None, "everything")
        print_ = keeping.fingerprint(client.url, token)
        with keeping.locked(kept):
            base = keeping.load(kept, print_) if before is None or before.of != print_ else (before.rows, before.mark)
            found = (_followed(lists, *base) if base else None) or _whole(lists)
            if found.mark and (base is None or found.mark != base[1]):
                keeping.save(kept, print_, found.rows, found.mark)
            return replace(found, of=print_)


def _followed(lists: Lists, rows: Rows, mark: Mark | None) -> Snapshot | None:
    """Read what changed since; nothing where that cannot be told, or everything is due."""
    now = time.time()
    if mark is None or not 0 <= now - mark.whole_at < WHOLE_SECONDS:
        return None
    try:
        log = lists.client.newest(changes.PATH, changes.FIELDS, changes.MOST, id__gte=mark.first)
    except ForbiddenError:
        return None
    followed = changes.go_on(mark, log, now)
    if followed is None:
        return None
    fresh, mark = followed
    due = changes.due(fresh, rows)
    if due.everything:
        return None
    if not due:
        return _told(lists, rows, mark, "nothing changed")
    return _told(lists, reading.again(lists, rows, due), mark, str(due))


def _whole(lists: Lists) -> Snapshot:
    notes: tuple[str, ...] = ()
    try:
        mark = changes.begin(lists.client.newest(changes.PATH, changes.FIELDS, changes.MOST), time.time())
    except ForbiddenError:
        mark = None
        text = "the token may not see NetBox's change log, so that everything is read each time"
        notes = (f"{lists.client.url}: {text}; give its user the permission core.view_objectchange",)
    rows = reading.everything(lists)
    meanwhile = _followed(lists, rows, mark)  # a cable may be newer than the list of what it ends at
    if meanwhile is not None:
        rows, mark = meanwhile.rows, meanwhile.mark
    return _told(lists, rows, mark, "everything", notes)


def _told(lists: Lists, rows: Rows, mark: Mark | None, how: str, notes: tuple[str, ...] = ()) -> Snapshot:
    if lists.old:
        names = ", ".join(reading.LISTS[name].path for name in lists.old)
        text = f"its export templates of {names} are not those of this version"
        notes = (*notes, f"{lists.client.url}: {text}; run `fleet-runner netbox init`")
    return Snapshot(rows, mark, lists.client.sent, how, notes)
