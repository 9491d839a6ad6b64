"""How fast adapters wrote, from perftest's tables."""

from fleet_runner.core.checks.parsers.perftest import Table

LARGE = 2**16
"""Bytes of a message from which on bandwidth is the link's and not the processor's."""


def write_gbitps(table: Table) -> float | None:
    """Return the best of the large messages, one way, in Gb/s; None where none was measured."""
    rates = [row.gbitps for row in table.rows if row.gbitps is not None and row.bytes >= LARGE]
    return round(max(rates) / (2 if table.both_ways else 1), 2) if rates else None
