"""Raw evidence: what to read from a node, a BMC or a fabric, and what came back."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from hashlib import sha256
from typing import Any, Self


class ReadKind(StrEnum):
    """Who carries a read out."""

    COMMAND = "command"  # on the node, by the fleet_collect module
    FILE = "file"  # likewise
    FILES = "files"  # likewise: small ones by their patterns, as JSON {path: text, or null where unreadable}
    REDFISH = "redfish"  # by the controller, from the node's BMC


class ReadEnd(StrEnum):
    """How a read ended; everything but OK makes the checks that need it UNKNOWN, unless they say otherwise."""

    OK = "ok"  # it ran; `rc` may still be non-zero
    MISSING = "missing"  # no such tool, file or resource
    TIMEOUT = "timeout"  # ended by its time limit, with everything it had started
    TRUNCATED = "truncated"  # more output than the limit; `text` is its beginning
    UNREACHABLE = "unreachable"  # the node or BMC did not answer
    ERROR = "error"  # anything else; `error` says what


@dataclass(frozen=True, slots=True)
class Read:
    """One thing to read. `argv` for a command, or the patterns of files; `path` for a file or a Redfish URI.

    A Redfish read with `argv` is many: patterns of `adapters.redfish.bulk`, whose answer is {URI: body, or null
    for what could not be read}.

    `seconds` is its time limit, `max_bytes` the most it may return. `by_adapter` tools read a whole fabric and take
    the adapter to read it through (`-C`, `-P`). Of a command's output only lines in which `lines` (a regular
    expression) is found come back; "" keeps all.
    """

    name: str
    kind: ReadKind
    argv: tuple[str, ...] = ()
    path: str = ""
    seconds: float = 20.0
    max_bytes: int = 4_000_000
    by_adapter: bool = False
    lines: str = ""

    def through(self, adapter: str) -> Self:
        """Return this read through an adapter ("mlx5_0") or one of its ports ("mlx5_0/2"), if it is one of those."""
        if not self.by_adapter:
            return self
        name, _, port = adapter.partition("/")
        return replace(self, argv=(*self.argv, "-C", name, "-P", port or "1"))

    def to_json(self) -> dict[str, Any]:
        """Return the plain form that the fleet_collect module takes."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "argv": list(self.argv),
            "path": self.path,
            "seconds": self.seconds,
            "max_bytes": self.max_bytes,
            "lines": self.lines,
        }


@dataclass(frozen=True)
class Reading:
    """What one read brought back. `at` is the node's own clock (seconds since the epoch) when it ended."""

    name: str
    end: ReadEnd
    text: str = ""
    rc: int = 0
    error: str = ""
    at: float = 0.0
    seconds: float = 0.0

    @cached_property
    def hash(self) -> str:
        """Return the SHA-256 (hex) under which the store keeps this text."""
        return sha256(self.text.encode()).hexdigest()

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> Self:
        """Read one entry of what the fleet_collect module returned."""
        return cls(
            name=str(raw["name"]),
            end=ReadEnd(raw["end"]),
            text=str(raw.get("text", "")),
            rc=int(raw.get("rc", 0)),
            error=str(raw.get("error", "")),
            at=float(raw.get("at", 0.0)),
            seconds=float(raw.get("seconds", 0.0)),
        )


@dataclass(frozen=True, slots=True)
class Expected:
    """What a check holds a node against.

    `profile` is the device type's definition of healthy (`inventory/group_vars/device_type_<slug>.yml`, the value of
    `fleet_profile`), as plain JSON. `device` is the node's own record (`core.inventory.ansible.hostvars`), with its
    parts. `fabric` is every designed link (`core.inventory.ansible.fabric`), only for checks that say they need it.
    `run` is the run's own data: `since` (epoch seconds at which the node entered its state), `id`, `attempt`.
    `profiles` are the profiles of all device types, by slug, for the same checks: each may have a part in a fabric.
    """

    node: str
    profile: Mapping[str, Any] = field(default_factory=dict[str, Any])
    device: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fabric: Mapping[str, Any] = field(default_factory=dict[str, Any])
    run: Mapping[str, Any] = field(default_factory=dict[str, Any])
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
