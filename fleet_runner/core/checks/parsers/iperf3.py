"""What iperf3 measures between two nodes (its JSON output, version 3)."""

from dataclasses import dataclass
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object, number


@dataclass(frozen=True, slots=True)
class Measured:
    """Gb/s (10^9 bits per second) as the receiver counted them; retransmitted segments as a share of those sent.

    The share is None where the sender does not tell it (UDP, or a system that is not Linux).
    """

    gbitps: float
    retransmit_share: float | None
    streams: int


def parse(output: str) -> Measured:
    """Read a test that came to its end; EvidenceError for one that says an error, or that moved nothing."""
    begin = output.find("{")
    told = json_object(output[max(begin, 0) :], "iperf3's report")
    if told.get("error"):
        raise EvidenceError(f"iperf3: {told['error']!s:.160}; is its server up, and free?")
    end = told.get("end")
    sent, received = _sum(end, "sum_sent"), _sum(end, "sum_received")
    rate = number(received.get("bits_per_second"))
    if rate is None or rate <= 0:
        raise EvidenceError(
            f"iperf3's receiver counted {received.get('bits_per_second')!r:.30} bits/s, expected some"
        )
    return Measured(rate / 1e9, _share(sent, told.get("start")), _streams(end))


def _sum(end: Any, name: str) -> dict[str, Any]:
    """Return a sum; without the receiver's or the sender's one (UDP) there is one for both."""
    found = end.get(name, end.get("sum")) if isinstance(end, dict) else None
    if not isinstance(found, dict):
        raise EvidenceError(f"iperf3's report has no {name}, so its test did not come to its end")
    return found


def _share(sent: dict[str, Any], start: Any) -> float | None:
    again, data = number(sent.get("retransmits")), number(sent.get("bytes"))
    segment = number(start.get("tcp_mss_default", start.get("tcp_mss"))) if isinstance(start, dict) else None
    if again is None or not data or not segment or min(again, data, segment) < 0:
        return None
    return again * segment / data


def _streams(end: Any) -> int:
    streams = end.get("streams") if isinstance(end, dict) else None
    return len(streams) if isinstance(streams, list) else 0
