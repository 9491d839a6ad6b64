"""What checks over the kernel's log share: a table of messages, with the remedy of each and what it means."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fleet_runner.core.checks.answers import about, fault_key, text_of
from fleet_runner.core.checks.evidence import Expected, Reading
from fleet_runner.core.checks.parsers import kernel_log
from fleet_runner.core.checks.parsers.kernel_log import Event, Rule
from fleet_runner.core.checks.shared.treated_faults import untreated
from fleet_runner.core.checks.verdicts import Finding, Remedy

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


def findings(
    reading: Reading, table: Sequence[Known], expected: Expected, named: Callable[[str], str] = str
) -> Iterator[Finding]:
    """Yield a finding for each part and kind of message, however often it was logged since its last treatment.

    `named` turns the kernel's name of a part ("nvme4n1") into the one that no reboot changes.
    """
    known = {each.rule.code: each for each in reversed(table)}
    seen: set[str] = set()
    for event in kernel_log.parse(text_of(reading), [each.rule for each in table]):
        part = known[event.code].part.format("" if event.component == event.code else named(event.component)).strip()
        fault = fault_key(expected.node, event.code, part)
        if fault not in seen and untreated([event], fault, expected, reading.at):
            seen.add(fault)
            yield _finding(event, part, known[event.code], expected.node)


def _finding(event: Event, part: str, known: Known, node: str) -> Finding:
    said = f": {event.text:.120}" if event.text else ""
    return about(node, event.code, part)(
        message=f"{part}: {known.meaning}; {event.told}{said}",
        remedy=known.remedy,
        steps=tuple(step.format(part) for step in known.steps) if known.remedy in HANDS else (),
    )
