"""What tests of the host's checks share: evidence in small files, bent one file at a time."""

import json
from collections.abc import Mapping
from typing import Any

from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import Result
from tests.core.checks.catalogue.judging import DEVICE, EXPECTED, HEALTHY, NODE, PROFILE, READ_AT, judged


def edited(text: str, **texts: str | None) -> str:
    """Return files with other texts where a path ends as a keyword says ("__" for "/"); None takes files away."""
    found: dict[str, Any] = json.loads(text)
    for ending, said in texts.items():
        tail = ending.replace("__", "/")
        paths = [path for path in found if path.endswith(tail)]
        assert paths, f"no file ends with {tail}"
        for path in paths:
            if said is None:
                del found[path]
            else:
                found[path] = said
    return json.dumps(found)


def asked(name: str, changes: Mapping[str, Any], within: str = "") -> Expected:
    """Return what is expected with other values in a check's section; None takes one out."""
    key = within or name
    head, _, tail = key.partition(".")
    section = PROFILE[head][tail] if tail else PROFILE[head]
    values = {each: value for each, value in (section | changes).items() if value is not None}
    profile = PROFILE | {head: (PROFILE[head] | {tail: values}) if tail else values}
    return Expected(NODE, profile, DEVICE, run=EXPECTED.run)


def host(name: str, expected: Expected = EXPECTED, **texts: str | None) -> Result:
    """Judge a healthy host's evidence with other texts by the names of reads; None leaves one out."""
    mine = {**HEALTHY[name], **texts}
    return judged(name, {read: text for read, text in mine.items() if text is not None}, expected)


def later(name: str, first: Result, seconds: float, expected: Expected = EXPECTED) -> Expected:
    """Return what is expected in a look some seconds after another one that the check remembers."""
    before = {name: {"at": READ_AT, "observed": json.loads(json.dumps(dict(first.observed)))}}
    run = {**expected.run, "before": before, "now": READ_AT + seconds}
    return Expected(expected.node, expected.profile, expected.device, run=run)
