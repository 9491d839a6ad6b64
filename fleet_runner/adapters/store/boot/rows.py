"""Rows of boots as values; without SQLAlchemy, which the store's reader does not load."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fleet_runner.core.boot.boots import Boot, Identity, Milestone
from fleet_runner.core.boot.steps import LEASE


def boots(rows: Iterable[Any], events: Iterable[Sequence[Any]]) -> tuple[Boot, ...]:
    """Return rows of boots as values, by number; `events` are boot, kind, moment and source of their steps."""
    steps: dict[int, dict[str, tuple[float, str]]] = {}
    for boot, kind, at, source in events:
        steps.setdefault(boot, {})[kind] = (at, source)
    return tuple(_boot(row, steps.get(row.id, {})) for row in sorted(rows, key=lambda row: row.id))


def _boot(row: Any, steps: Mapping[str, tuple[float, str]]) -> Boot:
    expected = row.expected
    return Boot(
        id=row.id,
        node=row.node,
        run=row.run,
        armed_at=row.armed_at,
        expires_at=row.expires_at,
        expected=Identity(
            frozenset(expected["macs"]), expected["serial"], expected["uuid"], frozenset(expected["addresses"])
        ),
        nonce_hash=row.nonce_hash,
        proved_by=row.proved_by,
        claimed_at=row.claimed_at,
        claimed_by=row.claimed_by,
        reached={milestone: steps[milestone][0] for milestone in Milestone if milestone in steps},
        host_keys=tuple(row.host_keys),
        refused=row.refused,
        closed_at=row.closed_at,
        closed_because=row.closed_because,
        sources={milestone: steps[milestone][1] for milestone in Milestone if milestone in steps},
        leased=frozenset(
            source for kind, (_, source) in steps.items() if kind == Milestone.DHCP or kind.startswith(LEASE)
        ),
    )
