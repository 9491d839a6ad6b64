"""What `cloud-init status --format json` says."""

from dataclasses import dataclass

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.json_text import json_object


@dataclass(frozen=True, slots=True)
class CloudInit:
    """`status` is "done", "running", "error", "not started" or "disabled"; `errors` are the fatal ones' texts.

    `degraded` says that it got through, but not everything it was told could be done.
    """

    status: str
    errors: tuple[str, ...]
    degraded: bool


SPELLINGS = {
    "done": "done",
    "running": "running",
    "error": "error",
    "disabled": "disabled",
    "not run": "not started",
    "not started": "not started",
    "not-started": "not started",
}
"""Its words of different releases, and ours; a "degraded" before the word is read beside it."""


def parse(text: str) -> CloudInit:
    """Read the answer; EvidenceError for anything that is none."""
    raw = json_object(text, "cloud-init's status")
    # Releases from 24.1 on say in extended_status what status no longer tells.
    said = str(raw.get("extended_status") or raw.get("status") or "").strip()
    word = said.removeprefix("degraded ").split(" - ")[0]
    status = SPELLINGS.get(word)
    if status is None:
        raise EvidenceError(f"cloud-init's status is {said!r:.60}, expected one of {', '.join(sorted(SPELLINGS))}")
    errors = raw.get("errors", [])
    if not isinstance(errors, list):
        raise EvidenceError(f"cloud-init's errors are {errors!r:.60}, expected a list")
    return CloudInit(status, tuple(str(error) for error in errors), said.startswith("degraded "))
