"""How much one address may ask: a bucket of tokens each, in bounded memory."""

from fleet_runner.services.http.recent import Recent

PER_SECOND = 20.0
"""Requests that one address may make for long; a node's whole boot is a dozen."""

BURST = 200.0
"""Requests that one address may make at once."""

MOST_SOURCES = 50_000

NETWORK_GROUPS = 4
"""Groups of an IPv6 address that count: whoever has one address of a /64 has all of them."""


class Limits:
    """Token buckets by source address; one that nobody asked from for a while is full again anyway."""

    __slots__ = ("_buckets", "_burst", "_per_second")

    def __init__(self, per_second: float = PER_SECOND, burst: float = BURST, most: int = MOST_SOURCES) -> None:
        self._per_second = per_second
        self._burst = burst
        self._buckets = Recent[str, tuple[float, float]](burst / per_second, most)

    def take(self, source: str, now: float) -> bool:
        """Take a token for a request; False where there is none left."""
        key, left = self._left(source, now)
        allowed = left >= 1.0
        self._buckets.put(key, (left - 1.0 if allowed else left, now), now)
        return allowed

    def spent(self, source: str, now: float) -> bool:
        """Whether there is no token left for a request; none is taken."""
        return self._left(source, now)[1] < 1.0

    def _left(self, source: str, now: float) -> tuple[str, float]:
        key = network(source) if ":" in source else source
        left, at = self._buckets.get(key) or (self._burst, now)
        return key, min(self._burst, left + max(0.0, now - at) * self._per_second)


def network(address: str) -> str:
    """Return the first half of an IPv6 address."""
    head, _, tail = address.partition("%")[0].partition("::")
    groups = head.split(":") if head else []
    missing = 2 * NETWORK_GROUPS - len(groups) - len(tail.split(":") if tail else [])
    filled = [*groups, *["0"] * missing, *tail.split(":")] if "::" in address else groups
    return ":".join(filled[:NETWORK_GROUPS])
