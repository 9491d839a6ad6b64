"""Messages of the kernel's log that rules look for.

A message counts only if it begins as a rule says: others may quote one, and a process may be named like one. The log
is searched for each rule's word, not split into lines, most of which are of no interest.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.kernel_lines import bare, readable

MAX_LINES = 500_000
"""A kernel log longer than this is not a kernel's ring buffer."""

MOST_COMPONENTS = 64
"""Parts of a node that one rule tells apart; what comes after them counts for the last one."""


class Rule(NamedTuple):
    """What to look for: a word that every such line holds, and how the message begins.

    The pattern's group "what" names the part that it is about (without one, the rule's code stands for it), its group
    "why" what is said of it.
    """

    code: str
    word: str
    pattern: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Event:
    """What a rule found about one part: how often, when last (the log's own words), and what was said last."""

    code: str
    component: str
    count: int
    at: str
    text: str

    @property
    def told(self) -> str:
        """Return how often and when, in words."""
        times = f"{self.count} times" if self.count > 1 else "once"
        return f"logged {times}" + (f", last at {readable(self.at)}" if self.at else "")


def parse(text: str, rules: Iterable[Rule]) -> tuple[Event, ...]:
    """Return what the rules find, part by part; EvidenceError for an empty log: a booted kernel said something."""
    if not text or text.isspace():
        raise EvidenceError("the kernel log is empty, expected at least the boot's messages; was it cleared?")
    if text.count("\n") > MAX_LINES:
        raise EvidenceError(
            f"the kernel log has over {MAX_LINES} lines, which no ring buffer holds; look at the node"
        )
    found: dict[tuple[str, str], Event] = {}
    for rule in rules:
        parts: list[str] = []
        for at, message in _messages(text, rule.word):
            match = rule.pattern.match(message)
            if match is None:
                continue
            groups = match.groupdict()
            part = (groups.get("what") or rule.code)[:80]
            if part not in parts:
                parts = parts if len(parts) == MOST_COMPONENTS else [*parts, part]
                part = parts[-1]
            known = found.get((rule.code, part))
            count = known.count + 1 if known else 1
            found[(rule.code, part)] = Event(rule.code, part, count, at, (groups.get("why") or message).strip()[:200])
    return tuple(found.values())


def _messages(text: str, word: str) -> Iterator[tuple[str, str]]:
    """Yield time and message of each whole line with a word; the last line of a cut log has no end and is none."""
    at = text.find(word)
    while at >= 0:
        begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
        if end < 0:
            return
        yield bare(text[begin : min(end, begin + 1200)])
        at = text.find(word, end)
