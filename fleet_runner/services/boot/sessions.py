"""What this process remembers of boots that are under way; made again from the store where another began it."""

import asyncio
from collections.abc import Collection, Hashable
from dataclasses import dataclass, field

from fleet_runner.core.boot.boots import Boot, Milestone
from fleet_runner.core.boot.facts import Facts
from fleet_runner.core.boot.keys import boot_of, key_of
from fleet_runner.services.boot.images import Image

Origin = tuple[Hashable, ...]
"""What a boot's documents rest on: equal to another where they would be the same."""


@dataclass(slots=True)
class Made:
    """What was made for a boot from one origin: facts, documents without secrets, and the script of an image."""

    origin: Origin = field(repr=False)
    facts: Facts = field(repr=False)
    documents: dict[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    script: tuple[Image, bytes] | None = field(default=None, repr=False)


@dataclass(slots=True)
class Session:
    """One boot: its key, the MAC address that its script went to, and addresses that it was leased through here.

    `made` is what its answers are made from, by the MAC address that it asks with: as of its last script, and before
    that as of when it was prepared. `told` are milestones that the store was told of. Who asks for secrets waits for
    `filling`, so that of two at once the second finds what the first has done.
    """

    number: int
    node: str
    key: str = field(repr=False)
    mac: str = ""
    leased: frozenset[str] = frozenset()
    made: dict[str, Made] = field(default_factory=dict[str, Made], repr=False)
    told: set[Milestone] = field(default_factory=set[Milestone])
    filling: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)


class Sessions:
    """The sessions by boot."""

    __slots__ = ("_keys", "_secret", "_sessions")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._sessions: dict[int, Session] = {}
        self._keys: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._sessions)

    def of(self, boot: Boot) -> Session:
        """Return a boot's session."""
        found = self._sessions.get(boot.id)
        if found is None:
            found = self._sessions[boot.id] = _begun(boot, key_of(self._secret, boot.id, boot.armed_at))
            self._keys[found.key] = boot.id
        return found

    def number(self, key: str) -> int | None:
        """Return which boot a key is of, or None."""
        return self._keys.get(key) or boot_of(self._secret, key)

    def forget(self, but: Collection[int]) -> None:
        """Forget all boots but these."""
        for number in self._sessions.keys() - but:
            self._keys.pop(self._sessions.pop(number).key)


def _begun(boot: Boot, key: str) -> Session:
    """Return a session as another process, or this one before it ended, may have begun it."""
    macs = boot.expected.macs
    return Session(boot.id, boot.node, key, mac=next(iter(macs)) if len(macs) == 1 else "")
