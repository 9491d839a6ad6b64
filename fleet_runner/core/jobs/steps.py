"""Steps that a program tells of in its output: an error after which it makes more of them did not end it."""

import re
from collections import deque

from fleet_runner.core.jobs.lines import Line

_STEP = re.compile(
    r"\b(?:steps?|iter(?:ation)?s?|epochs?|batch|loss|tokens)\b[^\n]{0,40}?\d|\d/\d{1,12} \[\d\d:\d\d",
    re.IGNORECASE | re.ASCII,
)
"""A line of a program that makes progress, or a bar of tqdm."""

_NUMBER = re.compile(
    r"\b(?:step|iter(?:ation)?|epoch|batch)s?\b[^\w\n]{0,12}(\d{1,12}(?:\.\d{1,6})?)|(\d{1,12})/\d{1,12} \[\d\d:\d\d",
    re.IGNORECASE | re.ASCII,
)

RANKS_APART = 8
"""Steps that ranks tell of in turn, because they are not equally fast."""

SURVIVED = 10
"""Steps after an error that show that it was no end: ranks run on for a few."""

SURVIVED_SECONDS = 120.0
"""The same in time, where steps and the error tell theirs."""


class Steps:
    """How many different steps were told of (`made`), and when last, in epoch seconds, None without times."""

    def __init__(self) -> None:
        self.made = 0
        self.at: float | None = None
        self._last: deque[tuple[tuple[str, str], ...]] = deque(maxlen=RANKS_APART)

    def take(self, line: Line) -> None:
        """Take a line, if it tells of a step."""
        if not _STEP.search(line.text):
            return
        self.at = line.at if line.at is not None else self.at
        numbers = tuple(_NUMBER.findall(line.text[:400]))
        if numbers and numbers not in self._last:
            self._last.append(numbers)
            self.made += 1

    def survived(self, made: int, at: float | None) -> bool:
        """Return whether an error was no end: of the moment `at`, when so many steps had been made."""
        if self.at is not None and at is not None and self.at - at <= SURVIVED_SECONDS:
            return False
        return self.made - made >= SURVIVED
