"""What a scenario left, for its testinfra: results, calls of tools, what the BMC was told."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.lifecycle.spool import Decoded, Ended, Judged, PlayEnd

FOLDER = Path(os.environ["MOLECULE_EPHEMERAL_DIRECTORY"])
PROJECT = Path(__file__).resolve().parents[2]
RUNS = 2
"""Converge and idempotence."""

PASS, FAIL, UNKNOWN = Verdict.PASS, Verdict.FAIL, Verdict.UNKNOWN


def results() -> dict[str, tuple[Result, ...]]:
    """Return each check's results, of the first run and of the second; no play failed.

    A role may ask a check several times, but in each run as often. A check for which the scenario's profile has no
    section is left out: nobody asked.
    """
    data = (FOLDER / "spool.jsonl").read_bytes()
    decoded = Decoded.of(data)
    assert (decoded.used, decoded.bad) == (len(data), 0)
    assert {line.end for line in decoded.lines if isinstance(line, Ended)} == {PlayEnd.OK}
    told: defaultdict[str, list[Result]] = defaultdict(list)
    for line in decoded.lines:
        if isinstance(line, Judged) and line.result.verdict is not Verdict.SKIPPED:
            told[line.result.check].append(line.result)
    assert {name: len(each) % RUNS for name, each in told.items()} == dict.fromkeys(told, 0)
    return {name: tuple(each) for name, each in told.items()}


def verdicts() -> dict[str, Verdict]:
    """Return {check: verdict}; both runs found the same."""
    found = {name: {each.verdict for each in told} for name, told in results().items()}
    assert all(len(each) == 1 for each in found.values()), found
    return {name: verdict for name, (verdict,) in found.items()}


def asked() -> list[str]:
    """Return the calls of the scenario's tools, with their words, in alphabetical order."""
    log = FOLDER / "asked"
    return sorted(line.rstrip() for line in log.read_text().splitlines()) if log.exists() else []


def events(*kinds: str) -> list[dict[str, Any]]:
    """Return what happened to the BMC, of some kinds, oldest first."""
    log = FOLDER / "bmc.jsonl"
    lines = log.read_text().splitlines() if log.exists() else []
    return [each for each in map(json.loads, lines) if each["kind"] in kinds]


@contextmanager
def _bmc() -> Iterator[Any]:
    from fleet_runner import settings  # noqa: PLC0415  most scenarios have no BMC
    from fleet_runner.adapters import redfish  # noqa: PLC0415  likewise

    with redfish.opened(settings.load(), (FOLDER / "bmc.url").read_text(), name="gpu-01") as bmc:
        yield bmc


def shown(path: str) -> Any:
    """Return a resource of the BMC."""
    with _bmc() as bmc:
        return bmc.read(path)[path]
