"""What follows from one kind of fault on one type of device: what the rules say, taken together."""

from dataclasses import dataclass

from fleet_runner.core.checks.verdicts import Remedy


@dataclass(frozen=True, slots=True)
class Following:
    """When signals of a code become an alarm that counts, when it clears, and what follows. Seconds throughout.

    `remedy` is None where what the finding or signal proposes stands. `at_once` says that the fault has ended work:
    the remedy does not wait for an idle node where that was all of it (`core.lifecycle.preflight.work`). An alarm
    counts once `repeats` signals happened `within` so long (with 1 the first does), another code that matches one of
    the globs `beside` was told of the same node within that time too (none asked for: at once), and it has lasted for
    `hold`. It clears by itself when nothing more was heard of it for `quiet`, which is above 0.
    """

    remedy: Remedy | None = None
    at_once: bool = False
    repeats: int = 1
    within: float = 600.0
    beside: tuple[str, ...] = ()
    hold: float = 0.0
    quiet: float = 3600.0

    @property
    def counts(self) -> bool:
        """Whether one signal of the code is not enough."""
        return self.repeats > 1 or bool(self.beside)
