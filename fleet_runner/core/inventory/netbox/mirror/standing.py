"""How far a NetBox is told of each node."""

from dataclasses import dataclass

from fleet_runner.core.inventory.netbox.mirror.fields import NEVER, MirroredState


@dataclass(frozen=True, slots=True)
class Written:
    """A node's fields: where it is, what was written last, and what was sent since without an answer.

    `conflict` is what somebody else put there; `detail` says why it is not written, not before `due_at`.
    """

    node: str
    wanted: MirroredState
    written: MirroredState = NEVER
    written_at: float | None = None
    asked: tuple[MirroredState, ...] = ()
    conflict: str = ""
    tries: int = 0
    due_at: float = 0.0
    detail: str = ""

    @property
    def ours(self) -> tuple[MirroredState, ...]:
        """Return all that may stand there from here."""
        return (self.written, *self.asked)


@dataclass(frozen=True, slots=True)
class JournalPosition:
    """A node's history: lines up to `told` are in its journal, those up to `doubted` may be, of those up to `newest`.

    `asked_at` is when some were sent last; `detail` says why they are not told, not before `due_at`.
    """

    node: str
    newest: int
    told: int
    doubted: int = 0
    asked_at: float = 0.0
    tries: int = 0
    due_at: float = 0.0
    detail: str = ""
