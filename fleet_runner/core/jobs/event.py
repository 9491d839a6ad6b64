"""Something that happened to a job or to one of its nodes, at a time, whoever tells of it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Area(StrEnum):
    """Whose doing it is."""

    HARDWARE = "hardware"
    FABRIC = "fabric"
    STORAGE = "storage"
    SOFTWARE = "software"
    UNKNOWN = "unknown"


class Role(StrEnum):
    """What an event can be in a job's death.

    A CAUSE can end a job by itself: a GPU that fell off the bus, an OOM kill, an exception in one rank. A SYMPTOM
    follows from something else, which may be on another node: a collective's timeout, a peer that closed its
    connection. CONTEXT is worth showing and decides nothing: a throttled GPU, a drain that waited for the job's end.
    """

    CAUSE = "cause"
    SYMPTOM = "symptom"
    CONTEXT = "context"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `at` is in epoch seconds, None where its source tells no time, or no date.

    `blur` is by how many seconds `at` may be wrong: 1 for a signal that is timed by its sender; for what a sweep
    found, the time since the sweep before, when it was not there yet (it happened in [at - blur, at]). `node` and
    `rank` are "" and None where they are not told. `component` is the part ("GPU 0000:9b:00.0", "port mlx5_0/1",
    "collective 1204"); `code` the kind, as findings name it ("xid.79"), or one of a job's own ("job.exception").
    `message` is one sentence; `line` the first piece of evidence as it stood there, "" where there is none. `source`
    says who told of it, in a few words ("kernel log, pushed", "check gpu_health", "the job's output").
    """

    at: float | None
    area: Area
    role: Role
    code: str
    message: str
    node: str = ""
    rank: int | None = None
    component: str = ""
    line: str = ""
    source: str = ""
    blur: float = 1.0

    @property
    def what(self) -> str:
        """Return the message without the part that it may begin with."""
        return self.message.removeprefix(f"{self.component}: ") if self.component else self.message

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON types."""
        return {
            "at": self.at,
            "blur": self.blur,
            "area": self.area.value,
            "role": self.role.value,
            "code": self.code,
            "node": self.node,
            "rank": self.rank,
            "component": self.component,
            "message": self.message,
            "line": self.line,
            "source": self.source,
        }
