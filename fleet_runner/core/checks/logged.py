"""What checks over the kernel's log share: a table of messages, with the remedy of each and what it means."""

from collections.abc import Sequence
from typing import NamedTuple

from fleet_runner.core.checks.answers import about, text_of
from fleet_runner.core.evidence import Reading
from fleet_runner.core.parsers import kernel_log
from fleet_runner.core.parsers.kernel_log import Event, Rule
from fleet_runner.core.verdicts import Finding, Remedy

HANDS = frozenset({Remedy.TRIAGE, Remedy.RMA, Remedy.RECABLE})
"""Remedies that need somebody to be told what to do."""


class Known(NamedTuple):
    """A message that is looked for, its remedy, what it means, and what hands do about it.

    Rows with one code say one thing, so they have one remedy and meaning: the first one's. `part` is how a finding
    names what the message is about ("{}" stands for it; without a "what" in the rule's pattern, it has no place).
    """

    rule: Rule
    remedy: Remedy
    meaning: str
    part: str = "{}"
    steps: tuple[str, ...] = ()


def findings(reading: Reading, table: Sequence[Known], node: str) -> list[Finding]:
    """Return a finding for each part and kind of message, however often it was logged."""
    known = {each.rule.code: each for each in reversed(table)}
    events = kernel_log.parse(text_of(reading), [each.rule for each in table])
    return [_finding(event, known[event.code], node) for event in events]


def _finding(event: Event, known: Known, node: str) -> Finding:
    part = known.part.format("" if event.component == event.code else event.component).strip()
    said = f": {event.text:.120}" if event.text else ""
    return about(node, event.code, part)(
        message=f"{part}: {known.meaning}; {event.told}{said}",
        remedy=known.remedy,
        steps=tuple(step.format(part) for step in known.steps) if known.remedy in HANDS else (),
    )
