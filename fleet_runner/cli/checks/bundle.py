"""fleet-runner bundle: everything known of a node as one archive, with a proposed diagnosis."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from fleet_runner.adapters import source
from fleet_runner.adapters.files import archive, known_secrets
from fleet_runner.adapters.files.archive import Archive
from fleet_runner.adapters.plays import batch_folder
from fleet_runner.adapters.store import Store
from fleet_runner.cli.base.session import console, errors, known, opened, plain, stamp
from fleet_runner.core.base.errors import FleetError
from fleet_runner.core.base.redaction import Scrubber
from fleet_runner.core.checks.catalogue import parts_gpu
from fleet_runner.core.checks.verdicts import Verdict
from fleet_runner.core.faults.diagnosis import Known, Seen, Suspect, diagnose
from fleet_runner.core.inventory.records import Fleet
from fleet_runner.core.lifecycle.runs import Stored
from fleet_runner.settings import Settings

RUNS, ENTRIES, ALARMS = 200, 2000, 500
SHOWN = 3
"""Suspects that are printed; the archive names all."""

LOG_BYTES = 16_000_000


def bundle(
    node: Annotated[str, typer.Argument(metavar="NODE", help="a node")],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="a new .tar.gz or .tar.zst; default: in here")
    ] = None,
) -> None:
    """Pack all that is known of a node into one archive: results, evidence, logs, history, likely causes.

    Secrets are taken out. What the node and its BMC said themselves is in it if it was gathered: the runner does so
    once a node comes to triage; by hand, ansible-playbook playbooks/collect.yml --limit NODE.
    """
    with opened() as (settings, store):
        known(store, node)
        now = time.time()
        name = f"bundle-{node}-{datetime.fromtimestamp(now, UTC):%Y%m%dT%H%M%SZ}"
        path = out or Path(f"{name}.tar.gz")
        fleet = _fleet(settings)
        scrubber = Scrubber(known_secrets.known(settings, fleet))
        with archive.writing(path, name, scrubber) as into:
            suspects = diagnose(_known(store, node))
            _fill(into, settings, store, node)
            into.text("README.txt", _readme(store, node, suspects, into))
    words = f"{path}: {len(into.names)} files; {_scrubbed(scrubber)}"
    console.print(words, markup=False, soft_wrap=True)
    for each in into.left_out:
        console.print(f"  left out: {each}", markup=False, soft_wrap=True)
    for suspect in suspects[:SHOWN]:
        console.print(f"  suspect: {_called(suspect)}: {suspect.evidence[0]}", markup=False, soft_wrap=True)


def _fleet(settings: Settings) -> Fleet | None:
    try:
        return source.read(settings)
    except FleetError as error:
        errors.print(f"warning: {error}", markup=False, soft_wrap=True)
        return None


def _known(store: Store, node: str) -> Known:
    latest = store.latest_results(node)
    failed = [each for each in latest if each.result.verdict is Verdict.FAIL]
    seen = tuple(Seen(each.at, each.result.check, found) for each in failed for found in each.result.findings)
    gpus = next((each.result.observed for each in latest if each.result.check == parts_gpu.CHECK.name), {})
    slots: dict[str, str] = dict(gpus.get("slots") or {})
    return Known(seen, store.past_alarms(node, ALARMS), store.attempts(node), store.cases(node), slots)


def _fill(into: Archive, settings: Settings, store: Store, node: str) -> None:
    """Add what the store has, then the logs of runs, then what was gathered."""
    latest, runs = store.latest_results(node), store.runs(node, limit=RUNS)
    told: Mapping[str, Any] = {
        "node": store.node(node),
        "results": latest,
        "firmware": [each for each in latest if each.result.check.startswith("firmware")],
        "alarms": store.past_alarms(node, ALARMS),
        "attempts": store.attempts(node),
        "cases": store.cases(node),
        "tickets": store.tickets(node=node, open_only=False),
        "history": store.history(node, ENTRIES),
        "runs": runs,
    }
    for name, value in told.items():
        into.json(f"{name}.json", plain(value))
    for each in latest:
        _evidence(into, store, each)
    for batch in dict.fromkeys(run.batch for run in runs):
        _log(into, batch_folder.log_of(settings.batches_dir, batch), node, batch)
    above = settings.state_dir / "bundles" / node
    stays = sorted(each for each in above.iterdir() if each.is_dir()) if above.is_dir() else []
    if not stays:
        into.left_out.append("gathered/: nothing was gathered from the node and its BMC yet")
    for path in sorted(stays[-1].iterdir()) if stays else ():
        into.file(f"gathered/{path.name}", path)


def _evidence(into: Archive, store: Store, stored: Stored) -> None:
    for at, digest in enumerate(stored.result.evidence, start=1):
        text = store.evidence(digest)
        if text is None:
            into.left_out.append(f"evidence of {stored.result.check}: it was not kept")
        else:
            into.text(f"evidence/{stored.result.check}-{at}.txt", text)


def _log(into: Archive, path: Path, node: str, batch: str) -> None:
    """Add the lines of a play's log that name the node: the others are about other nodes."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            lines = [line for line in file.read(LOG_BYTES).splitlines(keepends=True) if node in line]
    except OSError:
        return  # discarded once it was over
    if lines:
        into.text(f"logs/{batch}.log", "".join(lines))


def _readme(store: Store, node: str, suspects: tuple[Suspect, ...], into: Archive) -> str:
    row = known(store, node)
    lines = [
        f"{node} ({row.device_type}), {row.state} since {stamp(row.since)} UTC; packed {stamp(time.time())} UTC",
        "",
        "PROPOSED DIAGNOSIS: for a person to judge; the likeliest suspect first.",
    ]
    for number, each in enumerate(suspects, start=1):
        lines += ["", f"{number}. {_called(each)}", *(f"   - {found}" for found in each.evidence)]
        lines += ["   Try:", *(f"   - {step}" for step in each.tries)] if each.tries else []
        lines += ["   Its vendor will ask for:", *(f"   - {step}" for step in each.asks)] if each.asks else []
    lines += [] if suspects else ["", "No fault is known."]
    lines += ["", "FILES", *(f"  {name}" for name in into.names)]
    lines += ["", "LEFT OUT", *(f"  {each}" for each in into.left_out)] if into.left_out else []
    lines += [
        "",
        f"{_scrubbed(into.scrubber)} ({archive.FILE_BYTES // 1_000_000} MB a file at most).",
    ]
    return "\n".join(lines) + "\n"


def _scrubbed(scrubber: Scrubber) -> str:
    return "1 secret was taken out" if scrubber.count == 1 else f"{scrubber.count} secrets were taken out"


def _called(suspect: Suspect) -> str:
    return f"{suspect.component} in {suspect.slot}" if suspect.slot else suspect.component
