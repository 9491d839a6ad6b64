"""Steps of boots: each is taken once, by an open boot; the document with secrets is claimed before it expires."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam

from fleet_runner.adapters.store import boot_events, boots, history, untrusted
from fleet_runner.adapters.store.boots import Standing
from fleet_runner.adapters.store.schema import boots as boot_rows
from fleet_runner.core.boot.boots import Claim, Milestone, PhonedHome, Proved, Reached
from fleet_runner.core.boot.steps import Step, kind
from fleet_runner.core.runs import Entry

SENTENCES = {
    Milestone.DHCP.value: "It was leased an address",
    Milestone.SCRIPT.value: "It was given its iPXE script",
    Milestone.KERNEL.value: "It asked for its kernel",
    Milestone.CLOUD_INIT.value: "Its cloud-init asked for its seed",
    Milestone.PHONE_HOME.value: "Its cloud-init is done",
    Milestone.SSH.value: "It answers ssh",
    "proved": "It told what only its BMC was given",
    "claimed": "It was given its document with secrets",
}

IN_HISTORY = frozenset({"claimed", Milestone.PHONE_HOME.value})
"""Steps that a node's history tells of, too."""


def take(connection: Connection, standing: Mapping[int, Standing], told: Sequence[Step]) -> list[bool]:
    """Take the steps that are news; return of each whether it was."""
    if not told:
        return []
    known = {
        step
        for chunk in boots.chunked({each.boot for each in told} & standing.keys())
        for step in boot_events.taken(connection, chunk)
    }
    answers: list[bool] = []
    for each in told:
        boot, step = standing.get(each.boot), (each.boot, kind(each))
        news = boot is not None and step not in known and (not isinstance(each, Claim) or _claimable(boot, each.at))
        answers.append(news)
        if news:
            known.add(step)
    _write(connection, standing, [each for each, news in zip(told, answers, strict=True) if news])
    return answers


def _claimable(boot: Standing, at: float) -> bool:
    return not boot.claimed and at < boot.expires_at


def _write(connection: Connection, standing: Mapping[int, Standing], news: Sequence[Step]) -> None:
    claims = [each for each in news if isinstance(each, Claim)]
    proofs = [each for each in news if isinstance(each, Proved)]
    homes = [each for each in news if isinstance(each, PhonedHome)]
    boots.change(connection, _CLAIM, [{"_id": each.boot, "_at": each.at, "_by": _source(each)} for each in claims])
    boots.change(connection, _PROOF, [{"_id": each.boot, "_by": _source(each)} for each in proofs])
    boots.change(connection, _HOME, [{"_id": each.boot, "_keys": _keys(each)} for each in homes])
    rows = [_row(standing[each.boot], each) for each in news]
    boot_events.add(connection, rows)
    told = [row for row in rows if row["kind"] in IN_HISTORY]
    history.add(connection, [_entry(standing[row["boot"]], row) for row in told])


_CLAIM: dict[str, Any] = {
    boot_rows.c.claimed_at.name: bindparam("_at"),
    boot_rows.c.claimed_by.name: bindparam("_by"),
}
_PROOF: dict[str, Any] = {boot_rows.c.proved_by.name: bindparam("_by")}
_HOME: dict[str, Any] = {boot_rows.c.host_keys.name: bindparam("_keys")}


def _row(boot: Standing, step: Step) -> dict[str, Any]:
    name = kind(step)
    detail = step.detail if isinstance(step, Reached) else ""
    sentence = f"{SENTENCES[name]}: {untrusted.words(detail)}" if detail else SENTENCES[name]
    return boot_events.row(boot.node, step.boot, step.at, name, sentence, source=_source(step))


def _entry(boot: Standing, row: Mapping[str, Any]) -> Entry:
    sentence = f"Boot {row['boot']}: {row['sentence']} ({row['source']})"
    return Entry(0, boot.node, row["at"], boots.KIND, sentence, boots.BY, run=boot.run)


def _source(step: Step) -> str:
    return untrusted.key(step.source)


def _keys(home: PhonedHome) -> list[str]:
    return [untrusted.words(key) for key in home.host_keys[: untrusted.MANY]]
