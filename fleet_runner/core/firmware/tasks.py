"""What a BMC says of a task, a task monitor or a job of its own kind, as one value. Nothing in it is trusted."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from fleet_runner.core.base.printable import printable
from fleet_runner.core.firmware.flash import Task, TaskEnd
from fleet_runner.core.firmware.inventory import hashed, lasting

MOST_MESSAGES = 8
MOST_LETTERS = 240
MOST_PAYLOAD = 100_000
MOST_TARGETS = 1000

OK, ACCEPTED, NO_CONTENT = 200, 202, 204
"""What a task monitor answers: its task ended well with an answer, goes on, ended well without one (DSP0266)."""

ENDS = {
    "completed": TaskEnd.DONE,
    "exception": TaskEnd.FAILED,
    "killed": TaskEnd.FAILED,
    "cancelled": TaskEnd.FAILED,
    # Dell's jobs, which are also its tasks.
    "completedwitherrors": TaskEnd.FAILED,
    "failed": TaskEnd.FAILED,
    "rebootcompleted": TaskEnd.DONE,
    "rebootfailed": TaskEnd.FAILED,
    # JobService, and Lenovo's and HPE's own words.
    "invalid": TaskEnd.FAILED,
    "complete": TaskEnd.DONE,
    "error": TaskEnd.FAILED,
}
"""The states in which nothing goes on any more, in small letters. Every other one, also "Interrupted", which is
expected to go on (DMTF), and a word that nobody knows, is a task that runs: its time limit ends the wait."""

STAGED = frozenset({"scheduled", "pendingreboot", "rebootpending"})
"""Dell's words for a job that its Lifecycle Controller begins when the host starts next."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_FAILED = frozenset({"fail", "failed", "fails", "failure", "failures", "aborted"})
_DENIED = frozenset({"no", "not", "without", "zero"})
_PERCENT = re.compile(r"\s*(\d{1,4})(?:\.\d{0,6})?\s*%?(?:\s.{0,80})?")
_T = TypeVar("_T")
_UNSET_YEAR = 2000
"""Clocks that were never set, and "no such time", lie at or before it."""


def read(uri: str, body: Mapping[str, Any], skew: float = 0.0) -> Task:
    """Return a task from its resource. `skew` is what the BMC's clock must be put forward by to show our time."""
    said = [each for each in _listed(body.get("Messages")) if isinstance(each, Mapping)]
    bad = [each for each in said if _bad(each)]
    return Task(
        uri=uri,
        state=_state(body, said_bad=bool(bad)),
        name=_text(body.get("Name") or body.get("Description") or ""),
        percent=_first(percent(found) for found in _said(body, "PercentComplete")),
        messages=_texts(bad, [each for each in said if each not in bad], body),
        started_at=_shifted(body.get("StartTime"), skew),
        ended_at=_first(_shifted(body.get(name), skew, zoned=True) for name in ("EndTime", "CompletionTime")),
        **_payload(body.get("Payload")),
    )


def answered(uri: str, status: int, body: Mapping[str, Any] | None, skew: float = 0.0) -> Task:
    """Return a task from what its resource or its monitor answered, with a status that says that there is one.

    A monitor answers 202 as long as its task runs, and then whatever the operation came to; so does a task of Dell's.
    """
    if body is not None and is_task(body):
        found = read(uri, body, skew)
        # A monitor that still waits knows better than the end of the task that it shows.
        return _running(found) if status == ACCEPTED and found.state in ENDS.values() else found
    said = body or {}
    if status == ACCEPTED:
        return Task(uri, TaskEnd.RUNNING)
    failed = status not in {OK, NO_CONTENT, 201} or any(
        _bad(each) for each in _error_messages(said) if isinstance(each, Mapping)
    )
    messages = _texts([each for each in _error_messages(said) if isinstance(each, Mapping)], [], said)
    return Task(uri, TaskEnd.FAILED if failed else TaskEnd.DONE, messages=messages)


def is_task(body: Mapping[str, Any]) -> bool:
    """Tell if a body is a task's or a job's."""
    kind = str(body.get("@odata.type", "")).rpartition(".")[2].lower()
    return kind in {"task", "job", "delljob"} or "TaskState" in body or "JobState" in body


def percent(found: object) -> int | None:
    """Return 0 to 100 from a number or a text like "42%"; None where it says nothing of the kind."""
    match found:
        case bool():
            return None
        case int():
            number = found
        case float():
            if not math.isfinite(found):
                return None
            number = int(found)
        case str():
            matched = _PERCENT.fullmatch(found)
            if matched is None:
                return None
            number = int(matched[1])
        case _:
            return None
    return min(number, 100) if number >= 0 else None


def moment(found: object, *, zoned: bool = False) -> float | None:
    """Return a time as epoch seconds, of UTC where it does not say; None where it is none, or one that never was.

    With `zoned`, none that does not say: Dell's jobs give local time, which may be hours off either way.
    """
    if not isinstance(found, str):
        return None
    try:
        parsed = datetime.fromisoformat(found)
    except ValueError:
        return None
    if parsed.year <= _UNSET_YEAR or (zoned and parsed.tzinfo is None):
        return None
    return (parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)).timestamp()


def _state(body: Mapping[str, Any], *, said_bad: bool) -> TaskEnd:
    """Return the state: ended badly where any part of it says so, running where none says that it ended."""
    words = [str(found).lower() for name in ("TaskState", "JobState") for found in _said(body, name)]
    ends = [ENDS[word] for word in words if word in ENDS]
    if not ends:
        return TaskEnd.STAGED if STAGED.intersection(words) else TaskEnd.RUNNING
    critical = any(str(body.get(name)).lower() == "critical" for name in ("TaskStatus", "JobStatus"))
    return TaskEnd.FAILED if TaskEnd.FAILED in ends or critical or said_bad else TaskEnd.DONE


def _said(body: Mapping[str, Any], name: str) -> list[object]:
    """Return what the resource and its vendor's part say under a name."""
    oem = body.get("Oem")
    parts = [body, *(oem.values() if isinstance(oem, Mapping) else ())]
    return [part[name] for part in parts if isinstance(part, Mapping) and part.get(name) is not None]


def _bad(message: Mapping[str, Any]) -> bool:
    severity = message.get("MessageSeverity") or message.get("Severity")
    words = [word.lower() for word in _WORD.findall(str(message.get("MessageId", "")).rpartition(".")[2])]
    denied = any(word in _DENIED for word in words)
    return str(severity).lower() == "critical" or (not denied and any(word in _FAILED for word in words))


def _texts(bad: Sequence[Any], other: Sequence[Any], body: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what is worth reading: first what went wrong, then the newest of the rest; none of it twice."""
    half = MOST_MESSAGES // 2
    texts = [_text(each.get("Message") or each.get("MessageId") or "") for each in [*bad[:half], *other[-half:]]]
    texts.extend(_text(found) for found in _said(body, "Message") if isinstance(found, str))
    return tuple(dict.fromkeys(text for text in texts if text))[:MOST_MESSAGES]


def _error_messages(body: Mapping[str, Any]) -> Sequence[Any]:
    error = body.get("error")
    within = error if isinstance(error, Mapping) else body
    return _listed(within.get("@Message.ExtendedInfo"))


def _listed(found: object) -> Sequence[Any]:
    return found if isinstance(found, list) else ()


def _text(found: object) -> str:
    return " ".join(printable(str(found)[: MOST_LETTERS * 4]).split())[:MOST_LETTERS]


def _first(found: Iterable[_T | None]) -> _T | None:
    return next((each for each in found if each is not None), None)


def _shifted(found: object, skew: float, *, zoned: bool = False) -> float | None:
    at = moment(found, zoned=zoned)
    return None if at is None else at + skew


def _running(task: Task) -> Task:
    return replace(task, state=TaskEnd.RUNNING, ended_at=None)


def _payload(found: object) -> dict[str, Any]:
    """Return what a task says of the request that began it (DSP0268, Task.Payload); its body is a text."""
    payload = found if isinstance(found, Mapping) else {}
    text = payload.get("JsonBody")
    try:
        body = json.loads(text) if isinstance(text, str) and len(text) <= MOST_PAYLOAD else {}
    except (ValueError, RecursionError):
        body = {}
    body = body if isinstance(body, Mapping) else {}
    targets = [each for each in _listed(body.get("Targets"))[:MOST_TARGETS] if isinstance(each, str)]
    image = body.get("ImageURI")
    return {
        "asked": _text(payload.get("TargetUri") or ""),
        "targets": tuple(_text(lasting(each)) for each in targets if not hashed(each)),
        "image": _text(image.partition("?")[0].rpartition("/")[2]) if isinstance(image, str) else "",
    }
