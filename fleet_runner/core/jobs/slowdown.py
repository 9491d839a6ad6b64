"""The answer about a job that nothing ended: which node holds the others back, or that none is known to.

By dumps and by times of its ranks a node is known to hold the others back. What only its machine shows may do so, or
not: then the answer says that it may. Neither condemns a node, and neither has it left out of a new start.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from fleet_runner.core.base.plural import counted
from fleet_runner.core.jobs.answer import Answer
from fleet_runner.core.jobs.cause import STATES
from fleet_runner.core.jobs.event import Role
from fleet_runner.core.jobs.node_measures import NodesCompared
from fleet_runner.core.jobs.sentences import CLEAN, STOPPED
from fleet_runner.core.jobs.slow_ranks import Compared
from fleet_runner.core.jobs.straggler import Straggler

MOST = 3
"""Facts of a kind that a sentence has."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known of a job's speed: from dumps, from times of its ranks, and from its nodes' sweeps."""

    straggler: Straggler | None = None
    ranks: Compared = field(default_factory=Compared)
    nodes: NodesCompared = field(default_factory=NodesCompared)


def answered(answer: Answer, found: Evidence) -> Answer:
    """Return an answer with who slows the job; one about a job that something ended stays as it is."""
    if answer.origin is not None:
        return answer
    if found.straggler is not None:
        return _by_dumps(answer, found.straggler, found)
    if answer.symptom is not None or answer.look_at or not _went_on(answer):
        return answer
    answer = replace(answer, unsure=(*answer.unsure, *found.ranks.unsure))
    if found.ranks.slow:
        return _by_times(answer, found)
    named = list(dict.fromkeys(each.node for each in found.nodes.odd if each.measure.alone))
    if named and not found.ranks.measures:
        return _by_machine(answer, named, found)
    return _by_nothing(answer, named, found)


def _by_dumps(answer: Answer, slow: Straggler, found: Evidence) -> Answer:
    node = answer.job.ranks.get(slow.rank, "")
    place = f"rank {slow.rank} on {node}" if node else f"rank {slow.rank}"
    return _held(answer, (f"Slowed by one rank: {place} {slow.sentence}",), (place, node), found)


def _by_times(answer: Answer, found: Evidence) -> Answer:
    """Say who is slow by the times of ranks, and by which; who is slow by less is told as unsure."""
    first = found.ranks.slow[0]
    mine = [each for each in found.ranks.slow if (each.node or each.rank) == (first.node or first.rank)]
    rest = [each for each in found.ranks.slow if each not in mine]
    who = f"{first.node} (rank {first.rank})" if first.node and first.rank is not None else first.place
    said = f"Slowed by one {'node' if first.node else 'rank'}: {who} holds the others back"
    answer = replace(
        answer, unsure=(*answer.unsure, *(f"{each.place} is slow too: {each.sentence}" for each in rest))
    )
    return _held(answer, (said, *(each.sentence for each in mine[:MOST])), (first.place, first.node), found)


def _by_machine(answer: Answer, named: Sequence[str], found: Evidence) -> Answer:
    """Say which node's machine differs; it is not known that the job feels it."""
    node = named[0]
    unsure = [f"{each} differs, too: {'; '.join(_facts(found, each, alone=True))}" for each in named[1:]]
    unsure.append("how long each rank works is not known; the job's output or dumps may tell whether it feels that")
    said = f"{_begun(answer)}One node differs from the others, and may hold them back: {node}"
    return _held(replace(answer, unsure=(*answer.unsure, *unsure)), (said,), (node, node), found)


def _held(answer: Answer, said: Sequence[str], place: tuple[str, str], found: Evidence) -> Answer:
    """Return the answer about who holds the others back, with what is known of its node alone."""
    named, node = place
    facts = _facts(found, node)
    head, *rest = said
    why = _alone(answer, node)
    sentence = f"{head}: {'; '.join((*rest, *facts))}" if rest or facts else head
    return replace(
        answer,
        sentence=f"{sentence}.{f' Only there: {why}.' if why else ''}",
        held_by=node or named,
        look_at=(named,),
        todo=(f"compare {named} with the others: GPU clocks, power, PCIe, NVLink, processes on its node, its data",),
    )


def _by_nothing(answer: Answer, named: Sequence[str], found: Evidence) -> Answer:
    """Say that nobody is known to hold the others back, where anything was compared."""
    by = (*found.ranks.measures, *found.nodes.measures)
    unsure = [
        f"{node} differs, which the times of its ranks do not show: {'; '.join(_facts(found, node, alone=True))}"
        for node in named
    ]
    if not by:
        return answer
    count = f" of {counted(found.nodes.nodes, 'node')}" if found.nodes.nodes else ""
    told = f"No node holds the others back by what is known: {', '.join(by)}{count} are alike."
    return replace(
        answer, sentence=f"{_begun(answer) or f'{answer.sentence} '}{told}", unsure=(*answer.unsure, *unsure)
    )


def _went_on(answer: Answer) -> bool:
    """Return whether a job was at work until its end, as far as its scheduler says: it ended well, or was stopped."""
    job = answer.job
    return job.ended is None or not job.state or job.state in CLEAN or bool(_stopped(job.state))


def _stopped(state: str) -> str:
    return next((STOPPED[why] for word, why in STATES.items() if state.startswith(word)), "")


def _begun(answer: Answer) -> str:
    """Return how a sentence begins about a job that goes on, ended well or was stopped, "" for any other."""
    job = answer.job
    if job.ended is None and job.begun:
        return "It still runs. "
    if job.state in CLEAN:
        return "It ended well. "
    stopped = _stopped(job.state)
    return f"It {stopped}. " if stopped else ""


def _facts(found: Evidence, node: str, *, alone: bool = False) -> list[str]:
    """Return in what a node's machine differs from the others; `alone`: only what names a node by itself."""
    mine = [each for each in found.nodes.odd if each.node == node and (each.measure.alone or not alone)][:MOST]
    parts = ["", *(each.name for each in mine)]
    return [f"{'it' if each.name == before else f'its {each.name}'} {each.sentence}"
            for each, before in zip(mine, parts, strict=False)]  # fmt: skip


def _alone(answer: Answer, node: str) -> str:
    """Return what happened on a node and on no other: what all have slows none of them more than the others."""
    told = [each for each in answer.timeline if each.node and each.role is not Role.SYMPTOM]
    elsewhere = {each.code for each in told if each.node != node}
    mine = [each for each in told if each.node == node and each.code not in elsewhere]
    return "; ".join(dict.fromkeys(f"{each.component}: {each.what}" for each in mine[:MOST]))
