"""Bootstrap tokens for the event loop: calls to the API server run in a few threads, and not more than some wait."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import structlog

from fleet_runner.adapters.join.kubernetes import Cluster, Timeouts, Token, TokenIssuer
from fleet_runner.core.base.errors import FleetError, JoinError

log = structlog.get_logger()
T = TypeVar("T")

WAITING = 512
"""Calls that may be under way or wait; who comes later is told to ask again."""


class Tokens:
    """Mints for one cluster at a time; when `boot_join` names another, for that one from then on."""

    def __init__(self, patience: Timeouts | None = None) -> None:
        self._patience = patience or Timeouts()
        self._threads = ThreadPoolExecutor(self._patience.calls, thread_name_prefix="tokens")
        self._minter: tuple[Cluster, TokenIssuer] | None = None
        self._under_way = 0

    async def mint(self, cluster: Cluster, reason: str, now: float) -> Token:
        """Return a new token, or raise JoinError."""
        return await self._call(lambda: self._minter_of(cluster).mint(reason, now), cluster.server)

    async def revoke(self, cluster: Cluster, token: Token) -> None:
        """Take a token back; where that fails it ends by itself, so it is only logged."""
        try:
            await self._call(lambda: self._minter_of(cluster).revoke(token), cluster.server)
        except FleetError as error:
            log.warning("a bootstrap token was not taken back", token=token.id, error=str(error))

    def close(self) -> None:
        """End threads and connections; what is under way is waited for."""
        self._threads.shutdown(cancel_futures=True)
        if self._minter is not None:
            self._minter[1].close()

    async def _call(self, call: Callable[[], T], server: str) -> T:
        if self._under_way >= WAITING:
            raise JoinError(f"{server} is too slow: {WAITING} nodes wait for a token; the node asks again by itself")
        self._under_way += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, call)
        finally:
            self._under_way -= 1

    def _minter_of(self, cluster: Cluster) -> TokenIssuer:
        if self._minter is None or self._minter[0] != cluster:
            self._minter = (cluster, TokenIssuer(cluster, self._patience))
        return self._minter[1]
