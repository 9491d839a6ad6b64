"""Every metric by its name: what it is, what tells its series apart, what it says. docs/metrics.md is made of it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What Prometheus makes of a metric."""

    GAUGE = "gauge"
    COUNTER = "counter"
    HISTOGRAM = "histogram"


class Metric(NamedTuple):
    """A metric. `name` of a counter has no `_total`, as the format wants it."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    says: str


_G, _C, _H = Kind.GAUGE, Kind.COUNTER, Kind.HISTOGRAM

FLEET = (
    Metric("fleet_info", _G, ("version",), "1, with the release of this process"),
    Metric("fleet_nodes", _G, ("state", "site", "device_type"), "nodes, and fabrics, whose site is unknown"),
    Metric("fleet_nodes_condition", _G, ("condition",), "nodes with a condition, but for retired ones"),
    Metric(
        "fleet_nodes_older", _G, ("state", "over_seconds"), "nodes that have been in their state for longer than that"
    ),
    Metric("fleet_nodes_oldest_seconds", _G, ("state",), "longest time of a node in the state"),
    Metric("fleet_nodes_due", _G, (), "nodes that are due for the runner now"),
    Metric("fleet_source_known", _G, (), "1 where the source of truth could be read, else 0 and no site is known"),
)
HISTORY = (
    Metric("fleet_counted", _G, (), "1 once the whole history is counted; counters are exported from then on"),
    Metric("fleet_transitions", _C, ("from", "event", "to"), "transitions, by the rows of the lifecycle"),
    Metric("fleet_stay_seconds", _H, ("state",), "ended stays in a state"),
    Metric("fleet_repair_seconds", _H, ("cause",), "from leaving production to the return, by cause"),
    Metric("fleet_bring_up_seconds", _H, (), "from Day 0 to a node's first time in production"),
    Metric("fleet_runs", _C, ("stage", "outcome"), "runs that have ended"),
    Metric("fleet_run_seconds", _H, ("stage",), "how long runs took, from opened to ended"),
    Metric("fleet_check_results", _C, ("check", "verdict"), "results of checks"),
)
WORK = (
    Metric("fleet_check_oldest_seconds", _G, ("check",), "age of the oldest latest result of a node in production"),
    Metric("fleet_runs_open", _G, ("stage",), "runs that have not ended"),
    Metric("fleet_runs_open_oldest_seconds", _G, ("stage",), "age of the oldest of them"),
    Metric("fleet_queue_batches", _G, ("standing",), "batches that wait, or run"),
    Metric("fleet_queue_oldest_seconds", _G, (), "longest time that a batch waits; 0 for none"),
    Metric("fleet_queue_line_nodes", _G, (), "nodes that wait because as many plays run as allowed (SQLite)"),
    Metric("fleet_queue_paused", _G, (), "1 where a person paused the queue"),
    Metric("fleet_runners", _G, ("standing",), "runners, by whether they are alive"),
    Metric("fleet_runner_beat_seconds", _G, ("runner",), "seconds since a runner last reported; of the newest 50"),
    Metric("fleet_runner_slots", _G, ("runner", "standing"), "batches that a runner runs, and its capacity"),
    Metric("fleet_deciding", _G, (), "1 where a runner decides"),
    Metric("fleet_schedule_late_seconds", _G, ("schedule",), "how long a schedule is overdue; 0: in time"),
    Metric("fleet_schedule_failed", _G, ("schedule",), "1 where the last firing failed"),
    Metric("fleet_schedule_ended_seconds", _G, ("schedule",), "seconds since the last firing ended"),
    Metric("fleet_schedule_paused", _G, ("schedule",), "1 where a person paused it"),
)
LIMITS = (
    Metric("fleet_budget_out", _G, (), "nodes of the fleet that automation has out of service"),
    Metric("fleet_budget_limit", _G, (), "how many it may have out at a time"),
    Metric("fleet_breaker_open", _G, (), "1 while the circuit breaker is open"),
    Metric("fleet_tickets_open", _G, ("remedy",), "open tickets"),
    Metric("fleet_tickets_older", _G, ("over_seconds",), "tickets that are open for longer than that"),
    Metric("fleet_alarms", _G, ("source",), "active alarms"),
    Metric("fleet_flashes_open", _G, (), "open flashes of firmware"),
    Metric(
        "fleet_telling_tries", _G, ("kind", "name"), "tries since a tracker, or a channel, last accepted an update"
    ),
    Metric("fleet_signals", _C, ("source", "outcome"), "received signals, by outcome"),
    Metric("fleet_listeners", _G, (), "listeners for signals that are alive"),
    Metric("fleet_boot_beat_seconds", _G, ("part",), "seconds since a part of the boot path last reported"),
    Metric("fleet_store_bytes", _G, ("what",), "bytes of the store: on disk, free for reuse there, and of evidence"),
    Metric("fleet_store_evidence_limit_bytes", _G, (), "limit of the bytes of evidence; 0: no limit"),
)
HERE = (
    Metric("fleet_runner_rounds", _C, (), "rounds of the runner's loop in this process"),
    Metric("fleet_runner_longest_round_seconds", _G, (), "the longest of them"),
    Metric("fleet_runner_moved_seconds", _G, (), "seconds since that loop last moved"),
    Metric("fleet_runner_trouble", _G, ("what",), "1 where its rounds fail, or the source of truth cannot be read"),
    Metric("fleet_web_requests", _C, ("route", "method", "status"), "requests that this process answered"),
    Metric("fleet_web_request_seconds", _H, ("route",), "how long answers took, except streams"),
    Metric("fleet_web_streams", _G, (), "open event streams of this process"),
)

PARTS = {
    "Nodes": FLEET,
    "What happened": HISTORY,
    "Work": WORK,
    "Limits, tickets, signals, the store": LIMITS,
    "This process alone": HERE,
}
METRICS: Mapping[str, Metric] = {each.name: each for part in PARTS.values() for each in part}


def shown(metric: Metric) -> str:
    """Return a metric's name as queries write it."""
    return f"{metric.name}_total" if metric.kind is Kind.COUNTER else metric.name


def page() -> str:
    """Return the tables of docs/metrics.md."""
    lines: list[str] = []
    for title, part in PARTS.items():
        lines += ["", f"### {title}", "", "| metric | kind | labels | says |", "| --- | --- | --- | --- |"]
        for each in part:
            labels = ", ".join(f"`{label}`" for label in each.labels)
            lines.append(f"| `{shown(each)}` | {each.kind} | {labels} | {each.says} |")
    return "\n".join([*lines, "", ""])
