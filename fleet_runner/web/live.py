"""What happens, told to open pages as it does: server-sent events, one look at the store for all who look at a thing.

A look is made in a thread, and only while somebody is there. Who is told gets a part of a page, as HTML, whenever it
has become another one. A stream ends by itself, at the latest when somebody's right to it is to be asked for anew;
browsers come back by themselves.
"""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import structlog
from fastapi import HTTPException, Request
from fastapi.responses import StreamingResponse

from fleet_runner.core.base.errors import FleetError
from fleet_runner.services.http.requests import source_of
from fleet_runner.web.audit import Note, note_of

log = structlog.get_logger()

OVER = "over"
"""The event after which nothing more comes: htmx closes the stream (sse-close)."""

STALE = "stale"
"""The event that says whether what was told is old by now, for nothing can be read: "yes" or "no" (`live.js`)."""

LOOK_SECONDS = 1.0
"""Pause between two looks at the store."""

STOP_SECONDS = 0.25
"""How often a stream asks if the service ends."""

HEARTBEAT_SECONDS = 15.0
"""How often something is sent, so that a client that went away is noticed."""

STILL_SECONDS = 10.0
"""How often whoever is told is asked for anew: a token or a session may have ended meanwhile."""

LONGEST_SECONDS = 900.0
"""After so long a stream ends; whoever comes back shows anew that they may."""

MOST_OF_ADDRESS, MOST = 32, 400
"""Streams of one address, and of all."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One look. Where `value` equals the last one's nothing is drawn; `over` says that nothing more will change."""

    value: Any
    over: bool = False


@dataclass(frozen=True, slots=True)
class SharedView:
    """What many may look at together, by its key: `draw` makes the parts of a page of what `look` saw, by name."""

    key: Hashable
    look: Callable[[], Seen]
    draw: Callable[[Any], Mapping[str, str]]
    every: float = LOOK_SECONDS


@dataclass(slots=True)
class _Feed:
    """A scene while somebody looks at it: its parts as they are, each with a number that grows as it changes."""

    scene: SharedView
    parts: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])
    seen: Seen | None = None
    over: bool = False
    viewers: int = 0
    looks: int = 0
    trouble: bool = False
    gone: bool = False
    news: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None

    def look(self) -> Mapping[str, str]:
        """Look once, in a thread; return the parts where there is news."""
        self.looks += 1
        seen, before = self.scene.look(), self.seen
        parts = self.scene.draw(seen.value) if before is None or seen.value != before.value else {}
        self.seen = seen
        return parts

    def tell(self, parts: Mapping[str, str]) -> None:
        """Put what has changed before everybody."""
        assert self.seen is not None  # noqa: S101  it was looked at just now
        changed = {name: html for name, html in parts.items() if self.parts.get(name, (0, None))[1] != html}
        self.parts |= {name: (self.parts.get(name, (0, ""))[0] + 1, html) for name, html in changed.items()}
        self.over = self.seen.over
        if changed or self.over:
            self.wake()

    def be_stale(self, *, stale: bool) -> None:
        """Know whether the last look failed, and put that before everybody where it is news."""
        if self.trouble is not stale:
            self.trouble = stale
            self.wake()

    def wake(self) -> None:
        """Have everybody who waits look at the parts; who waits from now on waits for what comes next."""
        self.news.set()
        self.news = asyncio.Event()


class Live:
    """All streams of a service; `stop` is set when it ends."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop
        self._feeds: dict[Hashable, _Feed] = {}
        self.streams: Counter[str] = Counter()

    def looks(self, key: Hashable) -> int:
        """Return how often a scene that somebody looks at was looked at."""
        return self._feeds[key].looks if key in self._feeds else 0

    def stream(self, request: Request, scene: SharedView) -> StreamingResponse:
        """Return the answer that tells somebody of a scene; 503 where there are too many."""
        source = source_of(request.scope)
        if self.streams[source] >= MOST_OF_ADDRESS or self.streams.total() >= MOST:
            raise HTTPException(
                503, "too many pages with live updates are open; load this one again", {"Retry-After": "30"}
            )
        headers = {"X-Accel-Buffering": "no"}  # a proxy that collects an answer would keep all of it back
        return StreamingResponse(
            self._told(source, scene, note_of(request.scope)), media_type="text/event-stream", headers=headers
        )

    async def _told(self, source: str, scene: SharedView, note: Note) -> AsyncIterator[bytes]:
        self.streams[source] += 1
        feed = self._feeds.setdefault(scene.key, _Feed(scene))
        feed.viewers += 1
        if feed.task is None:
            feed.task = asyncio.create_task(self._follow(feed))
        try:
            async for each in self._events(feed, note):
                yield each
        finally:
            feed.viewers -= 1
            self.streams[source] -= 1
            if not self.streams[source]:
                del self.streams[source]

    async def _events(self, feed: _Feed, note: Note) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        until, told, seen, stale = loop.time() + LONGEST_SECONDS, dict[str, int](), loop.time(), False
        yield b"retry: 2000\n\n"
        while not self._stop.is_set() and not feed.gone and loop.time() < until:
            news = feed.news
            if loop.time() - seen >= STILL_SECONDS:
                if not await _still(note):
                    return
                seen = loop.time()
            for name, (number, html) in list(feed.parts.items()):
                if told.get(name) != number:
                    told[name] = number
                    yield event(name, html)
            if feed.trouble is not stale:
                stale = feed.trouble
                yield event(STALE, "yes" if stale else "no")
            if feed.over:
                yield event(OVER, "")
                return
            if not await self._came(news):
                yield b": still here\n\n"

    async def _came(self, news: asyncio.Event) -> bool:
        """Wait for news; False where there are none for long. The end of the service is news."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await news.wait()
                return True
        return False

    async def _follow(self, feed: _Feed) -> None:
        """Look for as long as somebody is there; what cannot be read is looked at again."""
        try:
            while feed.viewers and not feed.over and not self._stop.is_set():
                try:
                    feed.tell(await asyncio.to_thread(feed.look))
                    feed.be_stale(stale=False)
                except HTTPException:  # what was looked at is there no more
                    feed.over = True
                except FleetError as error:
                    if not feed.trouble:
                        log.warning("a page's live updates failed; trying again", why=str(error))
                    feed.be_stale(stale=True)
                await self._pause(feed)
        finally:
            del self._feeds[feed.scene.key]
            feed.gone = not feed.over  # who still waits is to come back
            feed.wake()

    async def _pause(self, feed: _Feed) -> None:
        """Wait until the next look; not where the service ends or nobody is there any more."""
        loop = asyncio.get_running_loop()
        until = loop.time() + feed.scene.every
        while (  # noqa: ASYNC110  that the service ends is said by an event of threads
            loop.time() < until and feed.viewers and not feed.over and not self._stop.is_set()
        ):
            await asyncio.sleep(min(STOP_SECONDS, max(0.0, until - loop.time())))


async def _still(note: Note) -> bool:
    """Whether what somebody showed is good still; while the store is away it is."""
    try:
        await note.again()
    except HTTPException:
        return False
    except FleetError:
        return True
    return True


def event(name: str, html: str) -> bytes:
    """Return an event as it is sent: a line of it for each of the text's, however those end."""
    lines = "".join(f"data: {line}\n" for line in html.splitlines() or [""])
    return f"event: {name}\n{lines}\n".encode()
