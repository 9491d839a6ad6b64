"""What the catalogue tells people of a check is what stands in it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fleet_runner.core.checks import page
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected, Read, ReadKind
from fleet_runner.core.checks.reads import READS
from fleet_runner.core.checks.verdicts import Remedy, Result, Verdict


def judge(readings: Readings, expected: Expected) -> Result:
    """Say PASS to anything."""
    return Result("some", Verdict.PASS, "Well.")


CHECK = Check(
    name="some",
    question="Is it well?",
    reads=("dmesg",),
    judge=judge,
    codes=(Code("some.fault", (Remedy.WATCH, Remedy.RMA), "it is not well"),),
    source="Ours.",
)


def told(**changed: Any) -> str:
    return page.page(replace(CHECK, **changed))


@pytest.mark.parametrize("name", sorted(CHECKS))
def test_a_page_names_everything_of_its_check(name: str) -> None:
    check, text = CHECKS[name], page.page(CHECKS[name])
    assert text.startswith(f"# {name}\n")
    assert check.question in text
    assert all(f"| `{each}` |" in text for each in (*check.reads, *check.also))
    assert all(f"| `{code.code}` | {code.meaning} |" in text for code in check.codes)
    assert text.endswith(f"\n{check.source}\n")


def test_the_index_names_every_check_and_every_remedy() -> None:
    text = page.index(CHECKS)
    assert all(f"| [{name}]({name}.md) | " in text for name in CHECKS)
    assert all(f"| {remedy} | " in text for remedy in Remedy)


def test_a_page_says_who_asks_and_how() -> None:
    passive, active = told(), told(active=True, section="active.some")
    assert "It is passive: it leaves the GPUs alone" in passive
    assert "asked of every node" in passive
    assert "It is active: it uses the node's hardware" in active
    assert "asked of nodes whose device type has `active.some`; else it is SKIPPED" in active
    assert ("remembers" in told(remembers=True), "remembers" in passive) == (True, False)
    assert ("designed cables" in told(needs_fabric=True), "designed cables" in passive) == (True, False)


def test_a_page_names_the_stages_that_ask() -> None:
    assert "- Stages: `verify`, `drain`." in page.page(CHECK, ["verify", "drain"])
    assert "- Stages: no stage runs it yet." in page.page(CHECK)


def test_a_finding_is_told_with_its_remedies() -> None:
    assert "| `some.fault` | it is not well | WATCH, RMA |" in told()
    assert "No fault: its result is a fact that other checks use." in told(codes=())
    slow = Code("some.slow", (Remedy.TRIAGE,), "it is slow", twice=True)
    assert "two rounds in a row must find `some.slow`:" in told(codes=(*CHECK.codes, slow))
    assert "two rounds" not in told()


def test_pass_marks_are_told_with_their_direction() -> None:
    text = told(measures=(Measure("gpus.*.gbps", "active.some.gbps"), Measure("us", "active.some.us", higher=False)))
    assert "| `gpus.*.gbps` | `active.some.gbps` | at least |" in text
    assert "| `us` | `active.some.us` | at most |" in text
    assert "What it measures" not in told()


KINDS: Mapping[str, tuple[Read, str]] = {
    "command": (Read("x", ReadKind.COMMAND, ("a", "-b")), "| `x` | `a -b` | 20 s |"),
    "pipe": (Read("x", ReadKind.COMMAND, ("a", "b|c"), seconds=1.5), "| `x` | `a b\\|c` | 1.5 s |"),
    "file": (Read("x", ReadKind.FILE, path="/proc/x"), "| `x` | `/proc/x` | 20 s |"),
    "files": (Read("x", ReadKind.FILES, ("/sys/a/*", "/sys/b")), "| `x` | `/sys/a/*`, `/sys/b` | 20 s |"),
    "redfish": (Read("x", ReadKind.REDFISH, path="/redfish/v1/X"), "| `x` | Redfish `/redfish/v1/X` | 20 s |"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_read_is_told_as_somebody_would_type_it(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, line = KINDS[kind]
    monkeypatch.setitem(READS, "x", read)
    assert line in told(reads=("x",))
    assert line.replace(" | 20 s |", " (if there) | 20 s |").replace(" | 1.5", " (if there) | 1.5") in told(
        also=("x",)
    )


def test_what_a_role_brings_has_no_time_limit_here() -> None:
    assert "| `boot_progress` | brought by the role that does the work |  |" in told(reads=("boot_progress",))
    job = told(reads=("some_job",), active=True, job=lambda _: Order((), 1.0))
    assert "| `some_job` | the state of the job that it has the node run, and what that printed |  |" in job
