"""What happened on an emulated BMC, in order."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True, init=False)
class Event:
    """Something that happened; `at` is in epoch seconds. `event["name"]` gives a detail."""

    at: float
    kind: str
    details: Mapping[str, Any]

    def __init__(self, at: float, kind: str, **details: Any) -> None:
        object.__setattr__(self, "at", at)
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "details", MappingProxyType(details))

    def __getitem__(self, name: str) -> Any:
        return self.details[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return a detail, or the default where the event has none of that name."""
        return self.details.get(name, default)


@dataclass(slots=True)
class Log:
    """All events; `on` hears each before anything of it can be seen from outside."""

    on: Callable[[Event], None] | None = None
    events: list[Event] = field(default_factory=list)

    def emit(self, kind: str, **details: Any) -> Event:
        """Write an event down, and tell it."""
        event = Event(time.time(), kind, **details)
        self.events.append(event)
        if self.on is not None:
            self.on(event)
        return event

    def of(self, *kinds: str) -> Iterator[Event]:
        """Return the events of some kinds, oldest first."""
        return (event for event in list(self.events) if event.kind in kinds)
