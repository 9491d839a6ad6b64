"""Everything that is kept of a NetBox at one moment: read whole, or kept and followed by NetBox's change log."""

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fleet_runner.adapters.netbox import cache, changes
from fleet_runner.adapters.netbox import lists as reading
from fleet_runner.adapters.netbox.cache import Kept
from fleet_runner.adapters.netbox.changes import Due, Mark
from fleet_runner.adapters.netbox.client import Client, ForbiddenError, Timeouts
from fleet_runner.adapters.netbox.lists import Lists
from fleet_runner.adapters.netbox.rows import Rows
from fleet_runner.core.base.errors import SourceError
from fleet_runner.core.inventory.consistency import show

WHOLE_SECONDS = 86_400.0
"""After which everything is read again: a change that NetBox does not log (made in its database) is seen by then."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read, from where its changes are asked for, in how many requests, and how ("nothing changed").

    `mark` is None where the token may not see NetBox's change log. `notes` are sentences for NetBox's owner. `of` is
    the fingerprint of the NetBox and the token; `file` keeps the rows, if one does, and `sum` tells them from others.
    """

    rows: Rows
    mark: Mark | None
    requests: int
    how: str
    notes: tuple[str, ...] = ()
    of: str = ""
    file: Path | None = None
    sum: str = ""


def snapshot(
    url: str,
    token: str,
    patience: Timeouts | None = None,
    kept: Path | None = None,
    before: Snapshot | None = None,
) -> Snapshot:
    """Read a NetBox: only what changed since `before` or what a file keeps, and everything where that is not known.

    The file is shared by all processes of a machine; without one, everything is read. Raises SourceError.
    """
    with Client(url, token, patience or Timeouts()) as client:
        lists = Lists(client)
        if kept is None:
            return _told(lists, reading.everything(lists), None, "everything")
        print_ = cache.fingerprint(client.url, token)
        with cache.locked(kept, wait=before is None):
            base = _base(kept, print_, before)
            found = _followed(lists, base.rows, base.mark) if base else None
            if found is None:
                found = _whole(lists)
                if base:
                    _present(lists, base.rows, base.mark, found, kept)
            file = base.file if isinstance(base, Snapshot) else kept if base else None
            sum_ = base.sum if base else ""
            if found.mark and (base is None or found.mark != base.mark):
                sum_ = cache.save(kept, print_, found.rows, found.mark)
                file = kept if sum_ else None
            return replace(found, of=print_, file=file, sum=sum_)


def as_kept(url: str, token: str, file: Path) -> Snapshot | None:
    """Return what a file keeps of a NetBox, which is not asked; None where it keeps nothing that can be used."""
    with Client(url, token, Timeouts()) as client:
        print_ = cache.fingerprint(client.url, token)
    found = cache.load(file, print_)
    if found is None:
        return None
    return Snapshot(found.rows, found.mark, 0, "as it was kept", of=print_, file=file, sum=found.sum)


def _base(kept: Path, print_: str, before: Snapshot | None) -> Kept | Snapshot | None:
    """Return what changes are asked for since: `before`, unless somebody deleted the file that kept it."""
    if before is None or before.of != print_ or (before.file and not kept.exists()):
        return cache.load(kept, print_)
    return before


def _present(lists: Lists, rows: Rows, mark: Mark | None, found: Snapshot, kept: Path) -> None:
    """Refuse a fleet that lacks devices which nobody deleted or moved: the token may see fewer than before.

    NetBox's change log has no line of permissions. Without the log, only a fleet that is empty now is refused; in
    another log, of a database that was restored, there is nothing to look for.
    """
    gone = sorted(rows.devices.keys() - found.rows.devices.keys())
    seen = mark is not None and found.mark is not None
    if not gone or (not seen and found.rows.devices):
        return
    some = gone[: reading.MANY]
    if mark is not None and seen:
        since: dict[str, Any] = {"changed_object_type": changes.DEVICE, "changed_object_id": some}
        log = lists.client.newest(changes.PATH, changes.FIELDS, changes.MOST, id__gte=mark.first, **since)
        changed = {row["changed_object_id"] for row in log if row["changed_object_type"] == changes.DEVICE}
        some = [number for number in some if number not in changed]
        if not some or not changes.same(lists.client.newest(changes.PATH, changes.FIELDS, 1, id=mark.change), mark):
            return
    first = show(rows.devices[some[0]].name or f"#{some[0]}")
    text = f"no longer shows {len(gone)} devices (first: {first}), and its change log gives no reason"
    next_step = "give the token's user the permission dcim.view_device for them again"
    raise SourceError(f"{lists.client.url}: {text}; {next_step}, or, if they were removed on purpose, delete {kept}")


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
    due = changes.due(fresh, rows) if fresh else Due()
    if not due:
        return _told(lists, rows, mark, "nothing changed")
    read = reading.again(lists, rows, due)
    if rows.devices.keys() - read.devices.keys() - due.deleted:
        return None  # it was changed, and is not shown any more: others may be hidden as well
    return _told(lists, read, mark, str(due))


def _whole(lists: Lists) -> Snapshot:
    notes: tuple[str, ...] = ()
    try:
        mark = changes.begin(lists.client.newest(changes.PATH, changes.FIELDS, changes.MOST), time.time())
    except ForbiddenError:
        mark = None
        text = "the token may not see NetBox's change log, so everything is read each time"
        notes = (f"{lists.client.url}: {text}; give its user the permission core.view_objectchange",)
    rows = reading.everything(lists)
    meanwhile = _followed(lists, rows, mark)  # a cable may be newer than the list of what it ends at
    if meanwhile is not None:
        rows, mark = meanwhile.rows, meanwhile.mark
    return _told(lists, rows, mark, "everything", notes)


def _told(lists: Lists, rows: Rows, mark: Mark | None, how: str, notes: tuple[str, ...] = ()) -> Snapshot:
    if lists.old:
        names = ", ".join(reading.LISTS[name].path for name in lists.old)
        text = f"its export templates of {names} are of another version"
        notes = (*notes, f"{lists.client.url}: {text}; run `fleet-runner netbox init`")
    return Snapshot(rows, mark, lists.client.sent, how, notes)
