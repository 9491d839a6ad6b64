"""What a tenant reads about a job of theirs that died: whose doing it was, where it began, and what to do.

Of findings and signals only the meaning of their kind is told, whatever their code is called: their own words may
name a neighbour's node or a switch. What the job's own output and its scheduler said is the tenant's own.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from fleet_runner.core.jobs.event import Area
from fleet_runner.core.jobs.kept import KeptAnswer
from fleet_runner.core.jobs.kinds import meaning
from fleet_runner.core.jobs.known import OTHERS

SAID: Mapping[Area, tuple[str, str]] = {
    Area.HARDWARE: (
        "hardware",
        "A part of a node failed. Your program is not at fault: start it again without that node.",
    ),
    Area.FABRIC: (
        "network",
        "A link of a node failed. Your program is not at fault: start it again without that node.",
    ),
    Area.STORAGE: ("storage", "A file system failed or was full; your nodes are not at fault."),
    Area.SOFTWARE: ("software", "Nothing was found against your nodes: the program or its settings ended the job."),
    Area.UNKNOWN: ("not known", "Nothing that ends a job was found on your nodes."),
}
"""Each area in a word and a sentence."""


class TenantJob(NamedTuple):
    """A job as its tenant reads of it. `where` is a node of theirs, or ""; `ended` is in epoch seconds."""

    job: str
    ended: float
    word: str
    sentence: str
    where: str
    what: str


def jobs(answers: Iterable[KeptAnswer], mine: Collection[str]) -> Iterator[TenantJob]:
    """Yield jobs that ended and ran on nothing but a tenant's own nodes; `answers` have their bodies."""
    own = frozenset(mine)
    for each in answers:
        nodes = each.body.get("job", {}).get("nodes", ())
        if each.job and each.ended is not None and nodes and own.issuperset(nodes):
            yield _told(each, each.ended, own)


def _told(answer: KeptAnswer, ended: float, own: frozenset[str]) -> TenantJob:
    word, sentence = SAID[answer.area]
    origin: Mapping[str, Any] = answer.body.get("origin") or {}
    code = str(origin.get("code", ""))
    if not code:
        what = ""
    elif code.startswith("job.") and not str(origin.get("source", "")).startswith(OTHERS):
        what = str(origin.get("message", ""))
    else:
        what = meaning(code)
    return TenantJob(answer.job, ended, word, sentence, answer.node if answer.node in own else "", what)
