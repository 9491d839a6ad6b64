"""What the worth of checks is judged from: what happened to nodes, and what looking at them took."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet_runner.core.lifecycle.states import State

DAY, HOUR, MINUTE = 86_400.0, 3_600.0, 60.0
WEEK_DAYS = 7.0

SICK = frozenset({State.TRIAGE, State.DEBUG, State.RMA})
"""Where a node is that turned out bad."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A node that went from one state to another; `mended` says that somebody repaired it, or sent a part back."""

    node: str
    at: float
    state: State
    to: State
    mended: bool = False


@dataclass(frozen=True, slots=True)
class Remedied:
    """A remedy against faults, by their keys, and whether it helped: None while nobody knows."""

    node: str
    faults: tuple[str, ...]
    at: float
    helped: bool | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a check takes: looks at a node in service a day, and seconds of a look; None where nobody could tell."""

    check: str
    looks_a_day: float
    seconds_a_look: float | None


@dataclass(frozen=True, slots=True)
class FleetPast:
    """A span of a fleet's past. `here` is where each node is now; `tickets` are faults that people took care of."""

    since: float
    until: float
    here: Mapping[str, State] = field(default_factory=dict[str, State])
    moves: tuple[Moved, ...] = ()
    remedied: tuple[Remedied, ...] = ()
    tickets: frozenset[str] = frozenset()
    costs: tuple[Cost, ...] = ()

    @property
    def days(self) -> float:
        """Return how long it is."""
        return (self.until - self.since) / DAY


class StateHistory:
    """Where each node was at any moment of a past, told from its moves and from where it is now."""

    def __init__(self, past: FleetPast) -> None:
        self._here = past.here
        self._moves: dict[str, list[Moved]] = {}
        for move in sorted(past.moves, key=lambda move: move.at):
            self._moves.setdefault(move.node, []).append(move)

    def at(self, node: str, moment: float) -> State | None:
        """Return the state of a node at a moment; None of a node that is not known."""
        mine = self._moves.get(node, ())
        later = next((move.state for move in mine if move.at > moment), None)
        return later if later is not None else self._here.get(node)

    def sick_after(self, node: str, moment: float) -> float | None:
        """Return when a node went where bad ones go, at or after a moment; None if it did not."""
        return next((move.at for move in self._moves.get(node, ()) if move.at >= moment and move.to in SICK), None)

    def is_mended_after(self, node: str, moment: float) -> bool:
        """Whether a node was repaired within two weeks after a moment."""
        until = moment + 14 * DAY
        return any(move.mended and moment <= move.at <= until for move in self._moves.get(node, ()))
