"""NodeRemediation, the custom resource by which a cluster asks for a remedy of a node: what is asked, what is told.

It is a request like a person's, and leads to no more than that. Its namespace is the operator's: who may make one
there may ask, and who may read one there reads its answer.

Contracts of others: medik8s' NodeHealthCheck names the node by an annotation, and reads Processing and Succeeded;
Cluster API's MachineHealthCheck gives it the name and the namespace of the Machine, which owns it. Both delete it
when the node is well.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fleet_runner.core.access.api import NodeRequest
from fleet_runner.core.base.printable import printable
from fleet_runner.core.lifecycle.node_conditions import camel, pending_sentence, utc
from fleet_runner.core.lifecycle.runs import BY_CLUSTER, Entry, IntentKind, Node, Stored, Ticket
from fleet_runner.core.lifecycle.states import ENDED, STATES, Condition, State

GROUP, VERSION, PLURAL = "fleet-runner.dev", "v1alpha1", "noderemediations"
KIND = "NodeRemediation"

REMEDIES: Mapping[str, tuple[IntentKind, State]] = {
    "Reset": (IntentKind.RESET, State.RESET),
    "Reboot": (IntentKind.REBOOT, State.REBOOT),
    "Replace": (IntentKind.TRIAGE, State.TRIAGE),
}
"""What may be asked for, mild to hard: the request that it is, and the state in which it has begun."""

NODE_NAME = "remediation.medik8s.io/node-name"
TIMED_OUT = "remediation.medik8s.io/nhc-timed-out"
"""NodeHealthCheck's annotations: the node that it is about, and that it has given up to wait."""

MACHINE, MACHINES = "cluster.x-k8s.io/machine", "cluster.x-k8s.io"
MACHINE_NAMESPACE = "cluster.x-k8s.io/cluster-namespace"
"""Cluster API's annotations of a Node, which name the Machine that it is, and where; and its API group."""

ACCEPTED, PROCESSING, SUCCEEDED = "Accepted", "Processing", "Succeeded"

AT_PERSONS = frozenset({State.TRIAGE, State.DEBUG, State.RMA, *ENDED})
"""States in which a reset or a reboot has come to its end without success."""

LONGEST = 500
"""Characters of a reason, and of a sentence that is told."""

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)
_VERSION = re.compile(r"v[0-9]{1,2}(?:(?:alpha|beta)[0-9]{1,2})?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Asked:
    """One NodeRemediation. `node` is a name in the cluster, "" where its `machine` (name, API version) tells it.

    `wrong` says why it cannot be followed at all, `over` is whether its node is well or its asker waits no more.
    """

    place: str
    name: str
    uid: str
    version: str
    made: str
    generation: int
    remedy: str
    node: str
    machine: tuple[str, str] | None
    reason: str
    wrong: str
    over: bool
    status: Mapping[str, Any]

    @property
    def namespace(self) -> str:
        """The namespace that it is in."""
        return self.place.rpartition(":")[2]

    @property
    def by(self) -> str:
        """Under which name the history knows who asks; one that is made anew under the same name is another one."""
        return f"{prefix(self.place)}{self.name} ({self.uid[:8]})"

    @property
    def was_left(self) -> bool:
        """Whether its status says that it was left for the runner: of no other one is anything but False said."""
        return _condition(self.status, ACCEPTED).get("status") in {"True", "Unknown"}

    @property
    def is_told(self) -> bool:
        """Whether its end was told: then nothing follows any more."""
        return _condition(self.status, SUCCEEDED).get("status") in {"True", "False"}


class Progress(NamedTuple):
    """How far a request has come: the status of each condition, with one reason and one sentence."""

    accepted: str
    processing: str
    succeeded: str
    reason: str
    message: str


WAITING = Progress(
    "Unknown", "False", "Unknown", "Waiting",
    "It waits for the runner's answer: a play may have to end, and only so many nodes may be out at a time.",
)  # fmt: skip
"""What is told of a request that was left, and is not answered yet."""

FORGOTTEN = Progress(
    "Unknown", "False", "False", "Forgotten",
    "It was taken before, but the runner's store does not know it any more. Nothing is done twice: make another one.",
)  # fmt: skip
"""What is told of a request that was left, and is lost, as with a store that was restored from a backup."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a request that was left: its answer, its node, the node's moves since, and what is open."""

    request: NodeRequest
    node: Node
    moves: Sequence[Entry] = ()
    tickets: Sequence[Ticket] = ()
    scheduler: Stored | None = None


def prefix(place: str) -> str:
    """Return what the names of those who ask in a namespace begin with (CLUSTER:NAMESPACE, if it has a name)."""
    return f"{BY_CLUSTER}{place}/"


def read(raw: Mapping[str, Any], place: str) -> Asked | None:
    """Return what an object asks for in a namespace, as above; None for what no API server would keep."""
    meta, spec = _mapping(raw.get("metadata")), _mapping(raw.get("spec"))
    name, uid, notes = meta.get("name"), meta.get("uid"), _mapping(meta.get("annotations"))
    if not isinstance(name, str) or _NAME.fullmatch(name) is None or not isinstance(uid, str) or not uid:
        return None
    machine = _machine(meta.get("ownerReferences"))
    told = spec.get("nodeName") or notes.get(NODE_NAME)
    given = told or (name if machine is None else "")
    remedy, generation = str(spec.get("remedy") or ""), meta.get("generation")
    wrong = "" if remedy in REMEDIES else f"spec.remedy: '{_line(remedy)[:60]}', expected {', '.join(REMEDIES)}."
    if (
        not told
        and machine is None
        and any(each.get("kind") == "Machine" for each in _objects(meta.get("ownerReferences")))
    ):
        wrong = "The Machine that owns it is not one of Cluster API's: name the node in spec.nodeName."
    if given and (not isinstance(given, str) or _NAME.fullmatch(given) is None):
        wrong = f"'{_line(str(given))[:60]}' is no name of a node."
    return Asked(
        place,
        name,
        printable(uid),
        str(meta.get("resourceVersion") or ""),
        str(meta.get("creationTimestamp") or ""),
        generation if isinstance(generation, int) else 0,
        remedy,
        "" if wrong else str(given),
        None if given else machine,
        _line(str(spec.get("reason") or "")) or _owner(meta.get("ownerReferences")),
        wrong,
        TIMED_OUT in notes or bool(meta.get("deletionTimestamp")),
        _mapping(raw.get("status")),
    )


def node_of(machine: Mapping[str, Any]) -> str:
    """Return the node that a Machine says it is; "" where it has none."""
    name = _mapping(_mapping(machine.get("status")).get("nodeRef")).get("name")
    return name if isinstance(name, str) and _NAME.fullmatch(name) else ""


def belongs(asked: Asked, node: Mapping[str, Any]) -> bool:
    """Whether a node of our cluster is the Machine that was asked about: clusters may have nodes of one name."""
    if asked.machine is None:
        return True
    notes = _mapping(_mapping(node.get("metadata")).get("annotations"))
    return (notes.get(MACHINE), notes.get(MACHINE_NAMESPACE)) == (asked.machine[0], asked.namespace)


def refused(reason: str, message: str) -> Progress:
    """Return the end of a request that was not taken."""
    return Progress("False", "False", "False", reason, message)


def waits(reason: str, message: str) -> Progress:
    """Return what is told of a request that cannot be taken yet."""
    return Progress("False", "False", "Unknown", reason, message)


def progress(asked: Asked, known: Known) -> Progress:
    """Return how far a request has come that was left for the runner."""
    request = known.request
    if request.accepted is None:
        return WAITING
    if not request.accepted:
        return refused("Refused", request.answer)
    kinds = [kind for kind, _ in REMEDIES.values()]
    begins = {state for kind, state in REMEDIES.values() if kinds.index(kind) >= kinds.index(request.kind)}
    begins |= {State.FIRMWARE} if request.kind is not IntentKind.TRIAGE else frozenset()
    begun = next((at for at, move in enumerate(known.moves) if move.to in begins), None)
    return _pending(asked, known) if begun is None else _begun(known, known.moves[begun:])


def _pending(asked: Asked, known: Known) -> Progress:
    node = known.node
    pending = node.conditions.get(Condition.PENDING)
    if pending is None:
        return Progress("True", "False", "False", "Cancelled", "It was cancelled, or its place was taken.")
    reason = "Pending" if pending.by == asked.by else "Superseded"
    return Progress("True", "True", "Unknown", reason, pending_sentence(node, pending, known.scheduler))


def _begun(known: Known, moves: Sequence[Entry]) -> Progress:
    """Return how far a remedy has come from its first transition on."""
    node = known.node
    ends = ENDED if known.request.kind is IntentKind.TRIAGE else AT_PERSONS
    for move in moves:
        if move.to is State.PRODUCTION:
            return Progress("True", "False", "True", "InProduction", f"In production again since {utc(move.at)}.")
        if move.to is not None and move.to in ends:
            return Progress("True", "False", "False", camel(move.to.value), _since(move.to, move.at))
    return Progress("True", "True", "Unknown", camel(node.state.value), _since(node.state, node.since))


def status(asked: Asked, said: Progress, known: Known | None, now: str) -> dict[str, Any]:
    """Return the status that a NodeRemediation is to have; a condition that stays keeps the time of its change.

    Accepted has the runner's own answer as its sentence, the other two how far it has come.
    """
    answer = known.request.answer if known is not None and known.request.accepted else said.message
    if known is not None and REMEDIES.get(asked.remedy, (None,))[0] is not known.request.kind:
        answer += " Its spec was changed since, which is not followed: delete it, and make another one."
    rows = (
        (ACCEPTED, said.accepted, "Accepted" if said.accepted == "True" else said.reason, answer),
        (PROCESSING, said.processing, said.reason, said.message),
        (SUCCEEDED, said.succeeded, said.reason, said.message),
    )
    conditions = [_told(asked, *row, now) for row in rows]
    found: dict[str, Any] = {"observedGeneration": asked.generation, "conditions": conditions}
    if known is not None:
        found |= {"node": known.node.name, "request": known.request.id}
        found["tickets"] = sorted(ticket.id for ticket in known.tickets)[:20]
    return found


def says(asked: Asked, wanted: Mapping[str, Any]) -> bool:
    """Whether a NodeRemediation has the status already that it is to have."""
    return all(asked.status.get(key, [] if key == "tickets" else None) == value for key, value in wanted.items())


def _told(asked: Asked, kind: str, status: str, reason: str, message: str, now: str) -> dict[str, Any]:  # noqa: PLR0913, PLR0917  the fields of a condition
    old = _condition(asked.status, kind)
    since = old.get("lastTransitionTime") if old.get("status") == status else None
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message[: 2 * LONGEST],
        "observedGeneration": asked.generation,
        "lastTransitionTime": since if isinstance(since, str) else now,
    }


def _condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    return next((each for each in _objects(status.get("conditions")) if each.get("type") == kind), {})


def _since(state: State, at: float) -> str:
    return f"{STATES[state].meaning} Since {utc(at)}."


def _machine(owners: Any) -> tuple[str, str] | None:
    """Return the name and the API version of the Machine of Cluster API's that owns an object, None without one."""
    for each in _objects(owners):
        group, _, version = str(each.get("apiVersion") or "").partition("/")
        name = str(each.get("name") or "")
        if (
            (each.get("kind"), group) == ("Machine", MACHINES)
            and _NAME.fullmatch(name)
            and _VERSION.fullmatch(version)
        ):
            return name, version
    return None


def _owner(owners: Any) -> str:
    """Say who made an object, as far as it says so."""
    for each in _objects(owners):
        return _line(f"{each.get('kind')} {each.get('name')}")
    return ""


def _line(text: str) -> str:
    return " ".join(printable(text[: 2 * LONGEST]).split())[:LONGEST]


def _objects(value: Any) -> Iterable[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
