"""A job, as its scheduler or a person names it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Job:
    """Which nodes it ran on, from when to when, and how its scheduler says it ended.

    `id` is the scheduler's ("4711", "team-a/pretrain"), "" where nodes and times were given by hand. `ended` is None
    while it runs. `state` and `exit_code` are the scheduler's words ("NODE_FAIL", "1:0"), "" where it says none.
    `failed_node` is the node that the scheduler names as the one that failed. `ranks` maps ranks to nodes, as far as
    it is known. `gpus` is how many it held on all nodes, 0 where that is not told. Times are epoch seconds.
    """

    id: str
    nodes: tuple[str, ...]
    begun: float
    ended: float | None = None
    scheduler: str = ""
    name: str = ""
    owner: str = ""
    tenant: str = ""
    state: str = ""
    exit_code: str = ""
    failed_node: str = ""
    gpus: int = 0
    restarts: int = 0
    ranks: Mapping[int, str] = field(default_factory=dict[int, str])

    @property
    def label(self) -> str:
        """Return how it is named in a sentence."""
        return f"job {self.id}" if self.id else f"the work on {len(self.nodes)} nodes"
