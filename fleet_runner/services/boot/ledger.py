"""What the boot service tells the store, many things to a transaction, and the open boots as the store has them.

One thread speaks with the store; what is told while it writes goes into its next transaction. The event loop never
waits for the database: open boots are answered from memory and looked up where somebody else armed one.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, Self, TypeVar

import structlog

from fleet_runner.adapters.store import Store
from fleet_runner.core.base.errors import StoreError
from fleet_runner.core.boot.boots import Boot, Milestone, Told
from fleet_runner.core.boot.identity import Armed
from fleet_runner.services.boot.open_boots import OpenBoots

log = structlog.get_logger()

Answer = TypeVar("Answer")

_STOPPING = StoreError("store: the boot service is stopping and takes nothing more; ask another one, or later")


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds between two looks at what others changed, between two looks at everything, and after a failed write.

    `linger` is the least time between two transactions under load: each costs as much as fifty rows. At most
    `batch` things go into one; at most `kept` wait for it.
    """

    look: float = 0.5
    reload: float = 30.0
    retry: float = 1.0
    linger: float = 0.02
    batch: int = 1_000
    kept: int = 20_000


class _Waiting(NamedTuple):
    told: Told
    answer: asyncio.Future[bool] | None


class Ledger:
    """The store, for one event loop: `async with Ledger(store) as ledger`. It does not close the store.

    `dropped` counts notes that were lost: too many waited, or the store could not be written until the end.
    """

    def __init__(self, store: Store, pace: Pace | None = None) -> None:
        self._store = store
        self._pace = pace or Pace()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ledger")
        self._waiting: deque[_Waiting] = deque()
        self._late: deque[Told] = deque()
        self._late_most = 1
        self._asked: list[asyncio.Future[None]] = []
        self._boots = OpenBoots()
        self._look_at = self._reload_at = self._retry_at = self._write_at = 0.0
        self._wake = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._closing = False
        self._troubles: dict[str, str] = {}
        self.dropped = 0

    async def __aenter__(self) -> Self:
        """Read every open boot; where that fails, it is tried again later."""
        self._work = asyncio.create_task(self._run(), name="ledger")
        with contextlib.suppress(StoreError):
            await self._look_now()
        return self

    async def __aexit__(self, *_: object) -> None:
        """Write what still waits, once more if the store refuses it, and let go."""
        self._closing = True
        self._wake.set()
        if self._work is not None:
            await self._work
        self._thread.shutdown()

    @property
    def trouble(self) -> str:
        """What is wrong with the store, in a sentence; "" where nothing is."""
        return next(iter(self._troubles.values()), "")

    @property
    def open(self) -> Mapping[str, Boot]:
        """The open boots by node, as they were at the last look."""
        return self._boots.by_node

    @property
    def armed(self) -> Armed:
        """Who is expected by the open boots."""
        return self._boots.armed

    def boot(self, number: int) -> Boot | None:
        """Return an open boot from memory, or None."""
        return self._boots.by_number.get(number)

    async def boot_of(self, node: str, now: float = 0.0) -> Boot | None:
        """Return a node's open boot, or None.

        Where memory has none, or one that has had its script or its time, the node may have been armed anew a moment
        ago: the store is asked.

        Raises:
            StoreError: it is to be asked and cannot be read.
        """
        boot = self._boots.by_node.get(node)
        if boot is None or Milestone.SCRIPT in boot.reached or boot.claimed_at is not None or now >= boot.expires_at:
            await self._look_now()
        return self._boots.by_node.get(node)

    async def look(self) -> None:
        """Look at the store now, for what others have armed since.

        Raises:
            StoreError: the store cannot be read.
        """
        await self._look_now()

    async def read(self, number: int) -> Boot | None:
        """Return a boot as the store has it now, also one that is closed.

        Raises:
            StoreError: the store cannot be read.
        """
        return await self._in_thread(lambda: self._store.boot(number))

    async def tell(self, told: Told) -> bool:
        """Tell the store, and return whether it was news once it is durable.

        Raises:
            StoreError: it is not in the store, because that cannot be written or too much waits for it.
        """
        if self._closing:
            raise StoreError(str(_STOPPING))
        if len(self._waiting) >= self._pace.kept:
            raise StoreError(
                f"store: {len(self._waiting)} things wait to be written, nothing more is taken; ask later"
            )
        answer: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append(_Waiting(told, answer))
        self._wake.set()
        return await answer

    def note(self, told: Told) -> None:
        """Tell the store when it can be written, without waiting; dropped where too much waits already."""
        if self._closing or len(self._waiting) >= self._pace.kept:
            self.dropped += 1
            return
        self._waiting.append(_Waiting(told, None))
        self._wake.set()

    async def _run(self) -> None:
        while not self._closing or self._waiting:
            await self._pause()
            if self._waiting:
                await self._write()
            if self._late and _now() >= self._retry_at:
                await self._write_late()
            if self._asked or _now() >= self._look_at:
                await self._look()
        self._late_most = self._pace.batch
        while self._late and await self._write_late():
            pass
        self.dropped += len(self._late)
        _answer(self._asked, _STOPPING)

    async def _pause(self) -> None:
        """Wait until something is to be done, and for what else comes in the meantime while much does."""
        until = min(self._look_at, self._retry_at) if self._late else self._look_at
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, until - _now())):
                await self._wake.wait()
        if not self._closing:
            await asyncio.sleep(max(0.0, self._write_at - _now()))
        self._wake.clear()

    async def _write(self) -> None:
        batch = [self._waiting.popleft() for _ in range(min(len(self._waiting), self._pace.batch))]
        self._write_at = _now() + self._pace.linger
        if self._waiting or self._closing:
            self._wake.set()
        try:
            answers = await self._in_thread(lambda: self._store.tell([each.told for each in batch]))
        except StoreError as error:
            self._failed(batch, error)
            return
        self._well("written")
        for each, news in zip(batch, answers, strict=True):
            if news:
                self._boots.learn(each.told)
            if each.answer is not None and not each.answer.done():
                each.answer.set_result(news)

    async def _write_late(self) -> bool:
        """Try notes again that the store refused: apart, so that nobody's answer hangs on them.

        One at first, in turn, as one that can never be written must not stop the others; then more at a time. Return
        whether they were written.
        """
        batch = [self._late.popleft() for _ in range(min(len(self._late), self._late_most))]
        try:
            answers = await self._in_thread(lambda: self._store.tell(batch))
        except StoreError as error:
            self._late.extend(batch)
            self._late_most = 1
            self._retry_at = _now() + self._pace.retry
            self._ill("written", error)
            return False
        self._well("written")
        self._late_most = min(self._pace.batch, self._late_most * 4)
        for told, news in zip(batch, answers, strict=True):
            if news:
                self._boots.learn(told)
        return True

    def _failed(self, batch: Iterable[_Waiting], error: StoreError) -> None:
        self._ill("written", error)
        self._retry_at = _now() + self._pace.retry
        for told, answer in batch:
            if answer is None:
                self._keep(told)
            elif not answer.done():
                answer.set_exception(StoreError(str(error)))

    def _keep(self, note: Told) -> None:
        if len(self._late) < self._pace.kept:
            self._late.append(note)
        else:
            self.dropped += 1

    async def _look_now(self) -> None:
        """Wait for a look at the store that begins after now."""
        if self._closing:
            raise StoreError(str(_STOPPING))
        seen: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._asked.append(seen)
        self._wake.set()
        await seen

    async def _look(self) -> None:
        asked, self._asked = self._asked, []
        boots, whole = self._boots, self._boots.line is None or _now() >= self._reload_at
        since, own = (None if whole else boots.line), boots.own
        try:
            line, found = await self._in_thread(lambda: self._store.boots_after(since, own))
        except StoreError as error:
            self._ill("read", error)
            _answer(asked, error)
            return
        finally:
            self._look_at = _now() + self._pace.look
        if whole:
            self._reload_at = _now() + self._pace.reload
            boots.replace(line, found)
        else:
            boots.change(line, found)
        self._well("read")
        _answer(asked, None)

    async def _in_thread(self, call: Callable[[], Answer]) -> Answer:
        """Do something with the store in its thread; whatever goes wrong there is a StoreError."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except StoreError:
            raise
        except Exception as error:  # the loop must go on, and whoever waits must be answered
            raise StoreError(f"store: {error!r} while it was spoken with; please report this") from error

    def _ill(self, what: str, error: StoreError) -> None:
        if what not in self._troubles:
            log.warning("the store fails", cannot_be=what, why=str(error))
        self._troubles[what] = str(error)

    def _well(self, what: str) -> None:
        if self._troubles.pop(what, None) is not None:
            log.info("the store is well again", can_be=what, dropped=self.dropped)


def _now() -> float:
    return asyncio.get_running_loop().time()


def _answer(asked: Iterable[asyncio.Future[None]], error: StoreError | None) -> None:
    for each in asked:
        if each.done():
            continue
        if error is None:
            each.set_result(None)
        else:
            each.set_exception(StoreError(str(error)))
