"""A schedule's plan in words, for those who do not read cron."""

import re

from fleet_runner.core.base.durations import age
from fleet_runner.core.schedules.schedule import Missed, Schedule, Scope
from fleet_runner.core.schedules.times import Cron, Every

DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
"""By cron's number of a day of the week; Sunday is 7 as well."""

FORMS = (
    (re.compile(r"(?P<minute>\d{1,2}) \* \* \* \*"), "every hour at minute {minute}"),
    (re.compile(r"(?P<minute>\d{1,2}) (?P<hour>\d{1,2}) \* \* \*"), "every day at {hour:02d}:{minute:02d}"),
    (
        re.compile(r"(?P<minute>\d{1,2}) (?P<hour>\d{1,2}) \* \* (?P<day>[0-7])"),
        "every {weekday} at {hour:02d}:{minute:02d}",
    ),
    (
        re.compile(r"(?P<minute>\d{1,2}) (?P<hour>\d{1,2}) (?P<day>\d{1,2}) \* \*"),
        "on day {day} of every month at {hour:02d}:{minute:02d}",
    ),
)
"""Forms of cron, and how each is said."""

WHOSE = {
    Scope.NODE: "each node at its own time",
    Scope.RUNNER: "each runner for itself",
    Scope.FLEET: "one runner for the fleet",
}

MISSED = {
    Missed.CATCH_UP: "of missed ones one is made up for",
    Missed.SKIP: "missed ones are skipped",
}


def words(schedule: Schedule, whose: Scope) -> str:
    """Return when a schedule comes, over what it is spread, whose it is, and what becomes of missed moments."""
    if schedule.is_off:
        return "never"
    spread = f", spread over {age(schedule.jitter)}" if schedule.jitter else ""
    return f"{_moments(schedule)}{spread}; {WHOSE[whose]}; {MISSED[schedule.missed]}"


def _moments(schedule: Schedule) -> str:
    match schedule.times:
        case Every(pause=pause):
            return f"every {age(pause)}"
        case Cron(text=text, zone=zone):
            return f"{_cron(text)} ({zone})"
        case _:
            return schedule.text


def _cron(text: str) -> str:
    """Return the commonest forms in words; others stay as they are, for no words are better than wrong ones."""
    for form, said in FORMS:
        if found := form.fullmatch(text):
            fields = {name: int(value) for name, value in found.groupdict().items()}
            return said.format(**fields, weekday=DAYS[fields.get("day", 0) % len(DAYS)])
    return f"cron {text}"
