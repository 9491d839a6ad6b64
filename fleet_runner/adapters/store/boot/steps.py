"""Steps of boots: each is taken once, by an open boot; the document with secrets is claimed before it expires."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam

from fleet_runner.adapters.store.boot import boots, events
from fleet_runner.adapters.store.boot.boots import OpenBootState
from fleet_runner.adapters.store.boot.events import News
from fleet_runner.adapters.store.engine import bounds
from fleet_runner.adapters.store.schema.core import boots as boot_rows
from fleet_runner.core.boot.boots import Claim, Leased, Milestone, PhonedHome, Proved, Reached
from fleet_runner.core.boot.steps import Step, kind
from fleet_runner.core.lifecycle.runs import Entry

SENTENCES = {
    Milestone.DHCP.value: "It was leased an address",
    Milestone.SCRIPT.value: "It was given its iPXE script",
    Milestone.KERNEL.value: "It asked for its kernel",
    Milestone.CLOUD_INIT.value: "Its cloud-init asked for its seed",
    Milestone.PHONE_HOME.value: "Its cloud-init is done",
    Milestone.SSH.value: "It answers ssh",
    "proved": "It sent the nonce that only its BMC was given",
    "claimed": "It was given its document with secrets",
}

ANOTHER = "It was leased another address"

HOST_KEYS = 20
"""Of a node; sshd makes a handful."""

IN_HISTORY = frozenset({"claimed", Milestone.PHONE_HOME.value})
"""Steps that a node's history tells of, too."""


def take(connection: Connection, standing: Mapping[int, OpenBootState], told: Sequence[Step]) -> list[News | None]:
    """Take the steps that are news; return what is to be written of each, None for the others."""
    known = {
        step
        for chunk in boots.chunked({each.boot for each in told} & standing.keys())
        for step in events.taken(connection, chunk)
    }
    answers: list[News | None] = []
    for each in told:
        boot, step = standing.get(each.boot), (each.boot, kind(each))
        news = boot is not None and step not in known and (not isinstance(each, Claim) or _claimable(boot, each.at))
        answers.append(_news(boot, each) if boot is not None and news else None)
        if news:
            known.add(step)
    _change(connection, [each for each, news in zip(told, answers, strict=True) if news is not None])
    return answers


def _claimable(boot: OpenBootState, at: float) -> bool:
    return not boot.claimed and at < boot.expires_at


def _change(connection: Connection, news: Sequence[Step]) -> None:
    claims = [each for each in news if isinstance(each, Claim)]
    proofs = [each for each in news if isinstance(each, Proved)]
    homes = [each for each in news if isinstance(each, PhonedHome)]
    boots.change(connection, _CLAIM, [{"_id": each.boot, "_at": each.at, "_by": _source(each)} for each in claims])
    boots.change(connection, _PROOF, [{"_id": each.boot, "_by": _source(each)} for each in proofs])
    boots.change(connection, _HOME, [{"_id": each.boot, "_keys": _keys(each)} for each in homes])


_CLAIM: dict[str, Any] = {
    boot_rows.c.claimed_at.name: bindparam("_at"),
    boot_rows.c.claimed_by.name: bindparam("_by"),
}
_PROOF: dict[str, Any] = {boot_rows.c.proved_by.name: bindparam("_by")}
_HOME: dict[str, Any] = {boot_rows.c.host_keys.name: bindparam("_keys")}


def _news(boot: OpenBootState, step: Step) -> News:
    name = kind(step)
    detail = step.detail if isinstance(step, Reached) else ""
    said = ANOTHER if isinstance(step, Leased) else SENTENCES[name]
    sentence = f"{said}: {bounds.words(detail)}" if detail else said
    line = events.row(boot.node, step.boot, step.at, name, sentence, source=_source(step))
    if name not in IN_HISTORY:
        return News(line)
    told = f"Boot {step.boot}: {sentence} ({line['source']})"
    return News(line, Entry(0, boot.node, step.at, boots.KIND, told, boots.BY, run=boot.run))


def _source(step: Step) -> str:
    return bounds.key(step.source)


def _keys(home: PhonedHome) -> list[str]:
    return [bounds.words(key) for key in home.host_keys[:HOST_KEYS]]
