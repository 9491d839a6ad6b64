"""Whether a store is this fleet's, and not an emptied, a strange or an older one.

Each store has an identity. Whoever decides by it remembers, beside its settings, which one that was and the last
line of its history. A store that is another one, or that lacks that line, does nothing before a person accepted it.
"""

from dataclasses import dataclass

NEXT = "if it is the right one all the same: fleet-runner db accept --reason …"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a store says of itself: its id, and the source of truth that its nodes are of."""

    id: str
    source: str


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a runner remembers of its store: its id, and the number and moment (epoch seconds) of its last line."""

    id: str
    line: int
    at: float


def refusal(store: Identity | None, remembered: Remembered | None, source: str, line_at: float | None) -> str:
    """Say why nothing is done by a store, "" where it is this fleet's.

    `line_at` is the moment of the remembered line in this store, None where it has none of that number. A store
    without an identity that nobody remembers is new: nobody has said that anything may be done by it.
    """
    if store is None:
        return f"the store is new, or was emptied: it is not the one served before; {NEXT}" if remembered else ""
    if remembered is not None and remembered.id != store.id:
        return f"the store is another one than was served before; see state_dir and database_url; {NEXT}"
    if store.source != source:
        return f"the store is of {store.source}, and the settings' source is {source}; {NEXT}"
    if remembered is not None and remembered.line and line_at != remembered.at:
        return f"the store is older than the one served before: line {remembered.line} of its history is lost; {NEXT}"
    return ""
