"""Who asked what, written around every request, so that no route can forget it.

It is written behind the answer: whoever asks does not wait for it, and gets an answer where it cannot be written.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from http import HTTPStatus

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.core.access.roles import AuditLine, Role, Who
from fleet_runner.core.base.errors import StoreError
from fleet_runner.services.http.limits import Limits
from fleet_runner.services.http.requests import Scope

log = structlog.get_logger()

NOTE = "fleet_runner.note"
"""Where a request's scope has its note."""

NOBODY = Who("", Role.INGEST)

WAITING = 2_000
"""Lines that may wait for a store that is away; of more the oldest are lost, and the log says so."""

USED_SECONDS = 60.0
"""When tokens were last used is written so often."""

REFUSED = frozenset({401, 403})

LONGEST = 300
"""Characters of a path or a detail."""


async def _nobody() -> Who:
    return NOBODY


@dataclass(slots=True)
class Note:
    """What is known of a request so far: who asks, and what its line in the audit log says beside the rest.

    `token` is the id of the token that was shown, 0 where there was none; `body` is the whole body, for whoever looks
    at it before the one who answers; `again` asks anew who it is, where an answer takes long. With a
    detail a line is always written.
    """

    who: Who = NOBODY
    token: int = 0
    detail: str = ""
    body: bytes = b""
    again: Callable[[], Awaitable[Who]] = _nobody


def note_of(scope: Scope) -> Note:
    """Return a request's note."""
    found: Note = scope.setdefault(NOTE, Note())
    return found


class Ledger:
    """What is to be written, until it is. Who hammers at the door gets a bounded number of lines."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lines: deque[AuditLine] = deque()
        self._used: dict[int, float] = {}
        self._used_at = float("-inf")
        self._each = Limits(per_second=0.2, burst=30.0)
        self._all = Limits(per_second=1.0, burst=300.0, most=1)
        self._untold = 0
        self._writing = asyncio.Lock()
        self._away = False

    def add(self, asked: AuditLine, steady: float) -> None:
        """Have a line written; of what came to nothing only so many of one address, and so many in all."""
        asked = replace(asked, path=asked.path[:LONGEST], detail=asked.detail[:LONGEST])
        if not asked.name or asked.status >= HTTPStatus.BAD_REQUEST:
            if not (self._each.take(asked.source, steady) and self._all.take("", steady)):
                self._untold += 1
                return
            if self._untold:
                told = f"{self._untold} refusals before this one were not recorded one by one"
                asked = replace(asked, detail=f"{asked.detail}; {told}".removeprefix("; "))
                self._untold = 0
        self._lines.append(asked)
        if len(self._lines) > WAITING:
            self._lines.popleft()
            log.error("a line of the audit log is lost: the store cannot be written", waiting=WAITING)

    def used(self, token: int, at: float) -> None:
        """Have it kept that a token was used."""
        self._used[token] = at

    async def written(self, steady: float) -> None:
        """Write what waits, in one transaction; what cannot be written now waits for the next request."""
        if not self._lines and (not self._used or steady - self._used_at < USED_SECONDS):
            return
        async with self._writing:
            lines, used = tuple(self._lines), self._used
            self._used = {}
            if not lines and not used:
                return
            try:
                await asyncio.to_thread(self._store.note_asked, lines, used)
            except StoreError as error:
                self._used = used | self._used
                if not self._away:
                    log.error(  # noqa: TRY400  the sentence says it; where in the code is no news
                        "the audit log cannot be written; its lines wait", why=str(error), lines=len(lines)
                    )
                self._away = True
                return
            self._away, self._used_at = False, steady
            for _ in range(min(len(lines), len(self._lines))):
                self._lines.popleft()
