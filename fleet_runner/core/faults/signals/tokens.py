"""What a token lets its holder do: push signals of some sources about some nodes, or look as a role."""

from dataclasses import dataclass
from fnmatch import fnmatchcase

from fleet_runner.core.faults.signals.signal import Source

INGEST = "ingest"
"""The scope of those who push signals."""


@dataclass(frozen=True, slots=True)
class Token:
    """Who may push what, without the token itself, which is kept nowhere. Times in epoch seconds.

    `digest` is the SHA-256 of the token, in hex. `sources` and `nodes` (names, or globs such as gpu-0*) bound what it
    is good for; empty, it is good for all. It ends at `until`, where that is given, and once it is revoked.
    """

    name: str
    digest: str
    made_at: float
    by: str
    scope: str = INGEST
    sources: tuple[Source, ...] = ()
    nodes: tuple[str, ...] = ()
    tenant: str = ""
    until: float | None = None
    used_at: float | None = None
    revoked_at: float | None = None
    id: int = 0

    def refusal(self, now: float) -> str:
        """Say why it is good for nothing now, in a word; "" where it is good."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.until is not None and now >= self.until else ""

    def speaks_for(self, source: Source) -> bool:
        """Whether signals of a source may come with it."""
        return not self.sources or source in self.sources

    def speaks_of(self, node: str) -> bool:
        """Whether signals about a node may come with it."""
        return not self.nodes or any(fnmatchcase(node, each) for each in self.nodes)

    @property
    def node(self) -> str:
        """The one node that it is about, "" where that may be several: a BMC does not say whose it is."""
        alone = self.nodes[0] if len(self.nodes) == 1 else ""
        return "" if set(alone) & set("*?[") else alone
