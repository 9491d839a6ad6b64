"""What stored results say about tomorrow, one sentence at a time; each can be looked up, and each can be wrong."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Self


class Kind(StrEnum):
    """What kind of thing is foreseen; each is the code of a finding, too ("foresight.shift")."""

    SHIFT = "shift"  # a number jumped, and its peers' did not
    TREND = "trend"  # a number goes steadily where its pass mark lies, and its peers' do not
    SPREAD = "spread"  # a number scatters more than before, and than its peers' do
    SLOT = "slot"  # one part after the other fails in the same place
    PART = "part"  # the same part fails wherever it is
    LEMON = "lemon"  # a node causes more work than others


DRIFTS = frozenset({Kind.SHIFT, Kind.TREND, Kind.SPREAD})
"""Kinds that say what a number does; the others rest on what has befallen a place, a part or a node."""

PREFIX = "foresight."
"""Before a kind, in the code of a finding or alarm."""


@dataclass(frozen=True, slots=True)
class Foresight:
    """One thing foreseen of a node, or of a component of it.

    `sentence` says to a person what is seen, against what, and since when; `numbers` are what it rests on, each under
    a plain name with its unit ("slope_per_day", "peers_median", "crosses_in_days"). `metric` is "" where it is not
    about one. `serial` is that of the part in question, "" where it is the place, the node, or not known.
    """

    kind: Kind
    node: str
    component: str
    sentence: str
    metric: str = ""
    serial: str = ""
    numbers: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType(dict[str, Any]()))

    @property
    def code(self) -> str:
        """Return the code of its finding: "foresight.shift"."""
        return f"{PREFIX}{self.kind}"

    @property
    def key(self) -> str:
        """Return what stays the same from night to night while it is the same thing."""
        return f"{self.kind}/{self.node}/{self.component}/{self.metric}/{self.serial}"

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        words = {"node": self.node, "component": self.component, "metric": self.metric, "serial": self.serial}
        return {"kind": self.kind.value, **words, "sentence": self.sentence, "numbers": dict(self.numbers)}

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote."""
        told = {name: str(raw[name]) for name in ("node", "component", "sentence", "metric", "serial")}
        return cls(Kind(raw["kind"]), numbers=dict(raw["numbers"]), **told)


@dataclass(frozen=True, slots=True)
class StoredForecast:
    """A foresight as it is stored: since when it is seen, when it was seen last, and when it was no longer seen."""

    id: int
    what: Foresight
    first_at: float
    last_at: float
    ended_at: float | None = None


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a night changed: what is foreseen since then, and what is not any more."""

    begun: tuple[StoredForecast, ...]
    ended: tuple[StoredForecast, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What an analysis of the whole fleet came to when it was made last, and how many seconds it took."""

    name: str
    at: float
    seconds: float
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was read anew: results, numbers of them, and what came of it.

    `panels` are days of metrics that were written, `stays` parts that were seen in a place for the first time,
    `episodes` faults that began or went on. `left_out` says how many results or numbers were not believed, by why:
    "clock" (told of a time to come, or long past), "garbage" (no number), "absurd" (none that can be),
    "crowd" (more parts or faults than a node has).
    """

    results: int = 0
    numbers: int = 0
    panels: int = 0
    stays: int = 0
    episodes: int = 0
    left_out: Mapping[str, int] = field(default_factory=lambda: MappingProxyType(dict[str, int]()))
