"""What was pushed and waits to be judged: bounded, and shared fairly between those who push.

Each sender has a lane of its own and the lanes take turns, so that whoever floods waits for himself. What finds no
room is not taken: its sender is told so, and is expected to come again.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Condition
from typing import NamedTuple

from fleet_runner.core.faults.signals.tokens import Token


class Outcome(NamedTuple):
    """What became of a parcel: a status as HTTP has them, and a sentence or the counts of what it held."""

    status: int
    said: str = ""
    taken: int = 0
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """What came at once from one sender: texts of one kind, as they were sent.

    `kind` is a way in (see `doors`); `node` is whom it is about, where that is known from outside; `token` is None
    where a sender is known by its address. `answer` is called once, from another thread.
    """

    kind: str
    sender: str
    texts: tuple[bytes, ...]
    at: float
    answer: Callable[[Outcome], None]
    token: Token | None = None
    node: str = ""

    @property
    def size(self) -> int:
        """Bytes that it takes, with what goes with it."""
        return OVERHEAD + sum(map(len, self.texts))


OVERHEAD = 512
"""Bytes that a parcel takes beside its texts: so many small ones are no way around the bounds."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most bytes that wait, of all senders and of one, and that are taken at once."""

    all: int = 32 * 1024 * 1024
    one: int = 8 * 1024 * 1024
    batch: int = 256 * 1024


class InboxFullError(Exception):
    """There is no room for a parcel; `alone` where there is for those of other senders."""

    def __init__(self, *, alone: bool) -> None:
        super().__init__("too much of this sender waits" if alone else "too much waits")
        self.alone = alone


class Inbox:
    """Parcels in lanes, for any number of threads that put and one that takes."""

    def __init__(self, bounds: Bounds | None = None) -> None:
        self._bounds = bounds or Bounds()
        self._lanes: OrderedDict[str, deque[Delivery]] = OrderedDict()
        self._sizes: dict[str, int] = {}
        self._size = self._parcels = 0
        self._changed = Condition()
        self._closed = False

    def put(self, parcel: Delivery) -> None:
        """Have a parcel wait.

        Raises:
            FullError: there is no room for it, or nothing is taken any more.
        """
        with self._changed:
            mine = self._sizes.get(parcel.sender, 0)
            if self._closed or self._size + parcel.size > self._bounds.all:
                raise InboxFullError(alone=False)
            if mine and mine + parcel.size > self._bounds.one:
                raise InboxFullError(alone=True)
            self._lanes.setdefault(parcel.sender, deque()).append(parcel)
            self._sizes[parcel.sender] = mine + parcel.size
            self._size += parcel.size
            self._parcels += 1
            self._changed.notify_all()

    def take(self, seconds: float) -> list[Delivery]:
        """Return what is next, one of each lane in turn, after so many seconds at the latest; [] for nothing."""
        with self._changed:
            if not self._lanes and not self._closed:
                self._changed.wait(seconds)
            found: list[Delivery] = []
            size = 0
            while self._lanes and size < self._bounds.batch:
                parcel = self._next()
                size += parcel.size
                found.append(parcel)
            return found

    def waiting(self) -> tuple[int, int]:
        """Return how many parcels wait, and how many bytes they take."""
        with self._changed:
            return self._parcels, self._size

    def close(self) -> None:
        """Take nothing more; what waits is still given out."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _next(self) -> Delivery:
        sender, lane = self._lanes.popitem(last=False)
        parcel = lane.popleft()
        self._size -= parcel.size
        self._parcels -= 1
        if lane:
            self._lanes[sender] = lane
            self._sizes[sender] -= parcel.size
        else:
            del self._sizes[sender]
        return parcel
