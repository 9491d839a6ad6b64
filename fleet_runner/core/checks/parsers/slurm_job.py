"""One job as Slurm's accounting has it: `sacct --parsable2 --duplicates --jobs=ID`, with its steps.

A job that was requeued has a row for each of its runs; the tasks of an array and the parts of a heterogeneous job
have rows of their own. The rows of steps follow that of their run.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.slurm_excluded import hosts
from fleet_runner.core.checks.parsers.slurm_jobs import moment
from fleet_runner.core.jobs.endings import ended
from fleet_runner.core.jobs.event import Event
from fleet_runner.core.jobs.job import Job
from fleet_runner.core.jobs.record import KINDS, Record

NEWER = ("FailedNode", "Restarts")
"""Fields that older releases do not have (22.05 has neither)."""

FIELDS: tuple[str, ...] = (
    "JobID", "JobIDRaw", "State", "ExitCode", "DerivedExitCode", "Submit", "Start", "End", "NodeList", "AllocTRES",
    "User", "Account", *NEWER, "JobName",
)  # fmt: skip
"""Fields that are asked for, in their order: a job's name is free text, so it comes last."""

MOST_NODES = 20_000
MOST_ROWS = 200_000
"""Nodes of a job, and rows of it and its steps: a job may have started a step every second for two days."""

MOST_STEPS = 50
"""Steps that are told of, those that ended first."""

LONGEST = 200_000
"""Characters of a line: the names of 20,000 nodes, each written out."""

_ASKED = re.compile(r"\d{1,10}(?:_\d{1,10}|\+\d{1,5})?", re.ASCII)
_ROW = re.compile(r"\d{1,10}(?:[_+][^|.\s]{1,40})?(?:\.[\w+]{1,40})?\|", re.ASCII)
_GPUS = re.compile(r"gres/gpu(?P<kind>:[^=,]{1,60})?=(?P<count>\d{1,8})", re.ASCII)
OUT_OF_MEMORY = 125
"""What Slurm gives for the signal of a step that ran out of memory (SIG_OOM); the kernel has no such signal."""

_CODE = re.compile(r"(\d{1,3}):(\d{1,3})", re.ASCII)

ENDS = {
    "NODE_FAIL": "job.node_failed",
    "BOOT_FAIL": "job.node_failed",
    "OUT_OF_MEMORY": "job.out_of_memory",
    "TIMEOUT": "job.out_of_time",
    "DEADLINE": "job.out_of_time",
    "CANCELLED": "job.cancelled",
    "REVOKED": "job.cancelled",
    "PREEMPTED": "job.preempted",
    "FAILED": "job.failed",
}
"""Slurm's words for an end that is none to be glad of; what else there is runs, waits, or went well."""

FOLLOWS = {"job.cancelled", "job.preempted"}
"""Ends of steps that only follow from the end of their job."""

_SAID = {
    "job.node_failed": "ended because Slurm lost a node of it",
    "job.out_of_memory": "was ended because it used more memory than it had asked for",
    "job.out_of_time": "was ended because its time limit was over",
    "job.preempted": "was ended by Slurm to make room for another job",
    "job.cancelled": "was cancelled",
}


class Row(NamedTuple):
    """A job's run, or a step of it, with its steps in the order in which Slurm keeps them."""

    said: dict[str, str]
    steps: "list[Row]"

    @property
    def state(self) -> str:
        """Return Slurm's word for how it is, without who did it."""
        return self.said["State"].partition(" ")[0]


def asked(text: str) -> str:
    """Return a job's number as a person types it; EvidenceError for what is none."""
    if not _ASKED.fullmatch(text):
        raise EvidenceError(
            f"{text!r:.60} is no job of Slurm; expected a number like 4711, 4711_3 for a task of an array, or 4711+1"
            " for a part of a heterogeneous job"
        )
    return text


def parse(lines: Iterable[str], wanted: str, fields: Sequence[str] = FIELDS) -> Record:
    """Read the job with a number, of those runs that Slurm keeps the newest that has begun.

    Raises:
        EvidenceError: there is none, it has not begun, it is an array of several, or a row cannot be read.
    """
    kept = list(_rows(lines, fields))
    names = dict.fromkeys(each.said["JobID"] for each in kept)
    if not names:
        raise EvidenceError(
            f"no job {wanted} is known; is it of another cluster, or older than what slurmdbd keeps? Give"
            " `--node --from --to` in its place"
        )
    if wanted in names:
        names = {wanted: None}
    elif not all("+" in name for name in names):
        if len(names) > 1:
            raise EvidenceError(f"job {wanted} is an array of {len(names)} tasks; name one of them: {_tasks(kept)}")
        wanted = next(iter(names))
    return _record(wanted, [[each for each in kept if each.said["JobID"] == name] for name in names], fields)


def _rows(lines: Iterable[str], fields: Sequence[str]) -> Iterator[Row]:
    """Yield runs with their steps; a line that begins with no job is the rest of the name of the one before it."""
    run: Row | None = None
    count = 0
    for line in lines:
        if not _ROW.match(line):
            continue
        count += 1
        words = [word.strip() for word in line.rstrip("\n").split("|", len(fields) - 1)]
        if len(words) != len(fields) or len(line) > LONGEST or count > MOST_ROWS:
            raise EvidenceError(
                f"sacct printed {line.strip()!r:.80} as row {count}, expected {'|'.join(fields)} in at most"
                f" {MOST_ROWS} rows"
            )
        said = {
            name: "" if word in {"None assigned", "(null)", "None"} else word
            for name, word in zip(fields, words, strict=True)
        }
        if "." not in said["JobID"]:
            if run is not None:
                yield run
            run = Row(said, [])
        elif run is not None and said["JobIDRaw"].partition(".")[0] == run.said["JobIDRaw"]:
            run.steps.append(Row(said, []))
    if run is not None:
        yield run


def _tasks(rows: Sequence[Row]) -> str:
    """Name some tasks of an array, first those that did not go well."""
    ordered = sorted(rows, key=lambda row: row.state not in ENDS)
    told = [f"{row.said['JobID']} ({row.state})" for row in ordered]
    return ", ".join(dict.fromkeys(told[:5])) + (", …" if len(told) > 5 else "")  # noqa: PLR2004  as many as fit


def _record(wanted: str, parts: Sequence[Sequence[Row]], fields: Sequence[str]) -> Record:
    """Return a job of one part, or of several: it began with the first, and ended when all of them had."""
    chosen: list[Row] = []
    for runs in parts:
        begun = [row for row in runs if moment(row.said["Start"]) is not None and row.said["NodeList"]]
        if not begun:
            state = runs[-1].said["State"]
            raise EvidenceError(f"job {wanted} has not begun ({state:.60}); there is no run to explain")
        chosen.append(max(begun, key=lambda row: moment(row.said["Start"]) or 0.0))
    first = next((row for row in chosen if row.state in ENDS), chosen[0])
    ends = [moment(row.said["End"]) for row in chosen]
    job = Job(
        id=wanted,
        nodes=tuple(dict.fromkeys(name for row in chosen for name in _nodes(row))),
        begun=min(moment(row.said["Start"]) or 0.0 for row in chosen),
        ended=None if None in ends else max(at for at in ends if at is not None),
        scheduler="slurm",
        name=first.said["JobName"][:200],
        owner=first.said["User"] + (f" ({first.said['Account']})" if first.said["Account"] else ""),
        state=first.said["State"],
        exit_code=first.said["ExitCode"],
        failed_node=next((name for row in chosen if (name := _failed(row))), ""),
        gpus=sum(map(_gpus, chosen)),
        restarts=max(_restarts(runs, row) for runs, row in zip(parts, chosen, strict=True)),
    )
    return Record(job, tuple(found for row in chosen for found in _events(row)), _notes(wanted, parts, fields))


def _nodes(row: Row) -> tuple[str, ...]:
    found = hosts(row.said["NodeList"], MOST_NODES)
    if not found:
        raise EvidenceError(
            f"sacct names the nodes {row.said['NodeList']!r:.80}, expected a list like gpu-[01-04] of at most"
            f" {MOST_NODES}"
        )
    return found


def _failed(row: Row) -> str:
    """Return the node that Slurm names as the one that failed, "" where it names none or several."""
    found = hosts(row.said.get("FailedNode", ""))
    return found[0] if len(found) == 1 else ""


def _gpus(row: Row) -> int:
    """Return how many GPUs were given: Slurm counts all of them, and those of each kind where it knows kinds."""
    told = [(found["kind"], int(found["count"])) for found in _GPUS.finditer(row.said["AllocTRES"])]
    whole = [count for kind, count in told if kind is None]
    return whole[0] if whole else sum(count for _, count in told)


def _restarts(runs: Sequence[Row], row: Row) -> int:
    told = row.said.get("Restarts", "")
    return int(told) if told.isascii() and told.isdigit() and len(told) < 6 else len(runs) - 1  # noqa: PLR2004  sane


def _notes(wanted: str, parts: Sequence[Sequence[Row]], fields: Sequence[str]) -> tuple[str, ...]:
    notes: list[str] = []
    most = max(map(len, parts))
    if most > 1:
        notes.append(
            f"Slurm keeps {most} runs of job {wanted}, which was requeued; this is the newest that has begun."
        )
    if "FailedNode" not in fields:
        notes.append("This release of Slurm does not report which node of a job failed (23.02 or later does).")
    return tuple(notes)


def _events(run: Row) -> Iterator[Event]:
    """Yield how steps ended, and how the run did unless a step tells the same."""
    steps = [row for row in run.steps if ENDS.get(row.state, "job.cancelled") not in FOLLOWS]
    told = [_event(row, f"its {_step(row)}") for row in sorted(steps, key=_order)[:MOST_STEPS]]
    yield from told
    code = ENDS.get(run.state, "")
    if code and code not in {each.code for each in told}:
        yield _event(run, f"job {run.said['JobID']}")


def _order(row: Row) -> tuple[str, bool]:
    """Put steps in the order of their ends; within a second the script that started the others ends last."""
    return row.said["End"], row.said["JobID"].endswith((".batch", ".extern"))


def _step(row: Row) -> str:
    name = row.said["JobID"].partition(".")[2]
    return {"batch": "batch script", "extern": "external step"}.get(name, f"step {name}")


def _event(row: Row, who: str) -> Event:
    code = ENDS[row.state]
    where = hosts(row.said["NodeList"])
    node = _failed(row) or (where[0] if len(where) == 1 else "")
    said = _SAID.get(code, "failed")
    why = _ended(row.said["ExitCode"])
    return Event(
        moment(row.said["End"]),
        *KINDS[code],
        code,
        f"{who} {said}{f': {why}' if why else ''}",
        node=node,
        line=f"{row.said['JobID']} {row.said['State']} {row.said['ExitCode']} {row.said['NodeList']}"[:300],
        source="Slurm's accounts",
    )


def _ended(code: str) -> str:
    """Say "1:0" and "0:9" in words; "" where nothing went wrong, or nothing more is told than by the state."""
    found = _CODE.fullmatch(code)
    return "" if found is None or int(found[2]) == OUT_OF_MEMORY else ended(int(found[1]), int(found[2]))
