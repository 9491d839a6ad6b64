"""The tables of docs/foresight.md that come from the code: signals of lemons, and why drift is silent."""

import re

from fleet_runner.core.reliability.lemons.score import MARK, SIGNALS_NEEDED
from fleet_runner.core.reliability.lemons.weights import SIGNALS
from fleet_runner.core.reliability.trends.silence import SENTENCES, UNJUDGED

LEMONS = re.compile(r"(?<=<!-- lemons -->\n).*(?=<!-- end of lemons)", re.DOTALL)
SILENCES = re.compile(r"(?<=<!-- silences -->\n).*(?=<!-- end of silences)", re.DOTALL)
"""Where they stand."""


def filled(page: str) -> str:
    """Return the page with its tables."""
    page = LEMONS.sub(lambda _: f"\n{signals()}\n\n", page)
    return SILENCES.sub(lambda _: f"\n{silences()}\n\n", page)


def signals() -> str:
    """Return what is counted for a score, and what it weighs."""
    rows = [f"| `{name}` | {each.meaning} | {each.weight:g} | {each.most:g} |" for name, each in SIGNALS.items()]
    head = ["| signal | what is counted in 28 days | points for each | at most |", "| --- | --- | --- | --- |"]
    return "\n".join([*head, *rows, "", f"Triage is suggested from {MARK:g} points of {SIGNALS_NEEDED} signals on."])


def silences() -> str:
    """Return each reason for which nothing is foreseen of a series, and whether it could be judged."""
    rows = [f"| `{why}` | {said} | {'no' if why in UNJUDGED else 'yes'} |" for why, said in SENTENCES.items()]
    return "\n".join(["| reason | message | judged |", "| --- | --- | --- |", *rows])
