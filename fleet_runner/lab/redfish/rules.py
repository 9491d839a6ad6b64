"""Faults by rule: when something happens for the n-th time, or by a share of chance, then what goes wrong."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from fleet_runner.core.base.errors import FleetError
from fleet_runner.lab.redfish.upload_quirks import QUIRKS

Options = Mapping[str, Any]

EVENTS: Mapping[str, str] = {
    "request": "any request, before it is looked at",
    "login": "a login or a Basic password, before it is checked",
    "upload": "an image is about to be sent; its component is not yet known",
    "accept": "an image was read in whole and is good",
    "update": "an image begins to be written; Dell's, to be fetched",
    "apply": "a start of the host begins to write what Dell has staged",
    "activate": "a reset is about to make a written version run",
    "bios": "BIOS settings are about to be applied",
    "bmc_reset": "the BMC has come back from a restart",
    "host_reset": "the host starts",
    "insert": "a virtual medium is about to be inserted",
    "eject": "one is about to be ejected",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that can go wrong: at which events, with which options (and their defaults), and what it does."""

    events: tuple[str, ...]
    options: Options
    sentence: str


FAULTS: Mapping[str, Fault] = {
    **{name: Fault(("upload",), quirk.options, quirk.sentence) for name, quirk in QUIRKS.items()},
    "answer": Fault(("request",), {"status": 503, "message": "the service is busy"}, "answers with a status instead"),
    "drop": Fault(("request",), {}, "closes the connection without an answer"),
    "delay": Fault(("request",), {"seconds": 1.0}, "takes its time to answer"),
    "lose_session": Fault(("request", "update"), {"at": 50.0}, "forgets every session"),
    "refuse_login": Fault(("login",), {"status": 401}, "refuses a right password"),
    "drop_before_body": Fault(("upload",), {}, "closes the connection before it reads the image"),
    "drop_unaccepted": Fault(("accept",), {}, "reads the image, then closes the connection and does nothing"),
    "drop_after_body": Fault(("accept",), {}, "takes the update, but closes the connection instead of saying so"),
    "refuse": Fault(("upload", "accept"), {"status": 400, "message": "the update is refused"}, "refuses the update"),
    "needs_force": Fault(("accept",), {"to": "*"}, "calls it a downgrade, and refuses it without ForceUpdate"),
    "fail": Fault(
        ("update", "apply"), {"at": 40.0, "message": "the transfer to the device failed"}, "fails on the way"
    ),
    "stuck": Fault(
        ("update", "apply"), {"at": 40.0, "seconds": None}, "goes no further, for ever or for some seconds"
    ),
    "slow": Fault(("update", "apply"), {"times": 5.0}, "takes several times as long"),
    "lose_task": Fault(("update",), {"at": 0.0}, "loses the task, while the update goes on"),
    "wrong_version": Fault(("update", "apply"), {"version": "0.0.0"}, "completes, and something else is written"),
    "lie": Fault(("update", "apply"), {}, "says Completed, but nothing was written"),
    "restart": Fault(("update", "apply"), {"at": 50.0, "survives": False}, "the BMC restarts on the way"),
    "keep_pending": Fault(("activate",), {}, "the reset does not make it run; the next one may"),
    "discard_pending": Fault(("activate",), {}, "the reset throws the written version away"),
    "controller_waits": Fault(("update",), {"seconds": 0.3}, "Dell's job waits until its controller is free"),
    "delete_task": Fault(("update", "apply"), {}, "an ended task is gone at once; Dell's job of it stays"),
    "no_percent": Fault(("update",), {}, "the task tells no percentage"),
    "sideband": Fault(("update",), {}, "Dell writes it at once, and it runs after the next start"),
    "restarts_host": Fault(("update",), {}, "Dell restarts the host by itself as soon as the image is staged"),
    "stays_scheduled": Fault(("host_reset",), {}, "a start of the host begins nothing that Dell has staged"),
    "controller_unready": Fault(
        ("host_reset", "bmc_reset"),
        {"seconds": 0.5, "state": "NotReady"},
        "Dell's Lifecycle Controller takes no jobs for some seconds",
    ),
    "background_copy": Fault(
        ("host_reset", "bmc_reset"),
        {"seconds": 0.5},
        "NVIDIA's roots of trust copy what runs for some seconds, and take no image (sonic-net/sonic-mgmt #26697)",
    ),
    "lose_subscriptions": Fault(("bmc_reset",), {}, "forgets who subscribed to its events"),
    "no_media_license": Fault(
        ("insert",), {"message": "Not licensed to perform this request"}, "has no licence for virtual media"
    ),
    "media_task": Fault(("insert",), {"seconds": 0.05, "fails": False}, "a task inserts the medium, or fails to"),
    "media_unconnected": Fault(("insert",), {}, "takes a medium that it cannot reach, and says NotConnected"),
    "eject_fails": Fault(("eject",), {}, "answers 500, and the medium stays in"),
    "ignore_bios": Fault(("bios",), {"attribute": "*"}, "settings are accepted, but not applied"),
    "empty_inventory": Fault(
        ("update", "activate", "bmc_reset", "host_reset"),
        {"seconds": None, "reads": None},
        "the inventory has no members for some seconds or reads",
    ),
    "stale_inventory": Fault(
        ("update", "activate", "bmc_reset", "host_reset"),
        {"seconds": None, "reads": None},
        "the inventory shows versions from before, for some seconds or reads",
    ),
}

WHEN: Mapping[str, tuple[type, ...]] = {
    "event": (str,),
    "component": (str,),
    "uri": (str,),
    "method": (str,),
    "nth": (int, list),
    "share": (int, float),
    "times": (int,),
}


class RulesError(FleetError):
    """Rules that cannot be followed; the sentence says which, and what is expected."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as it was written, checked and with its defaults filled in.

    `nth` are the matching events at which it fires, counted from 1 (none: at every one), `share` the chance that it
    does, `times` how often at most.
    """

    fault: str
    event: str
    options: Options = field(default_factory=dict)
    component: str = "*"
    uri: str = "*"
    method: str = "*"
    nth: frozenset[int] = frozenset()
    share: float = 1.0
    times: int | None = None

    def matches(self, event: str, components: Sequence[str], uri: str, method: str) -> bool:
        """Whether it speaks of such an event."""
        return (
            self.event == event
            and (self.component == "*" or any(fnmatchcase(each, self.component) for each in components))
            and fnmatchcase(uri, self.uri)
            and fnmatchcase(method, self.method)
        )


class Rules:
    """The rules of one emulator: how often each has matched and fired, and its own chance."""

    def __init__(self, rules: Iterable[Any] = (), seed: int = 0) -> None:
        self._rules = checked(rules)
        self._seen = [0] * len(self._rules)
        self._fired = [0] * len(self._rules)
        self._chance = [random.Random(f"{seed}/{at}") for at in range(len(self._rules))]

    def fire(
        self, event: str, *, components: Sequence[str] = (), uri: str = "", method: str = ""
    ) -> dict[str, Options]:
        """Return the faults that this event has, with their options; of two rules for one fault the first counts."""
        found: dict[str, Options] = {}
        for at, rule in enumerate(self._rules):
            if not rule.matches(event, components, uri, method):
                continue
            self._seen[at] += 1
            due = not rule.nth or self._seen[at] in rule.nth
            lucky = rule.share >= 1.0 or self._chance[at].random() < rule.share
            if due and lucky and (rule.times is None or self._fired[at] < rule.times):
                self._fired[at] += 1
                found.setdefault(rule.fault, rule.options)
        return found


def load(path: Path) -> tuple[Rule, ...]:
    """Read rules from a YAML file: a list, or an object whose `rules` is one."""
    try:
        found = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise RulesError(f"{path} cannot be read as rules: {error}") from None
    return checked(found.get("rules") if isinstance(found, dict) else found or ())


def checked(rules: Any) -> tuple[Rule, ...]:
    """Return rules from what was written, or raise RulesError for the first that is wrong."""
    if isinstance(rules, str | Mapping) or not isinstance(rules, Iterable):
        raise RulesError(f"rules are a list of {{when: …, what: …}}, not {type(rules).__name__}")
    return tuple(rule if isinstance(rule, Rule) else _rule(rule, f"rule {at}") for at, rule in enumerate(rules, 1))


def _rule(found: Any, where: str) -> Rule:
    if not isinstance(found, Mapping) or "what" not in found or not set(found) <= {"when", "what"}:
        raise RulesError(f"{where}: expected {{when: {{…}}, what: FAULT or {{FAULT: {{…}}}}}}, found {found!r}")
    what = found["what"]
    named = {what: {}} if isinstance(what, str) else what
    if not isinstance(named, Mapping) or len(named) != 1:
        raise RulesError(f"{where}: `what` is one fault by its name, or one name with options, not {what!r}")
    ((name, options),) = named.items()
    fault = FAULTS.get(name)
    if fault is None:
        raise RulesError(f"{where}: there is no fault {name!r}; there are {', '.join(sorted(FAULTS))}")
    when = _when(found.get("when") or {}, where, fault)
    return Rule(fault=name, options=_options(options or {}, fault, f"{where}, {name}"), **when)


def _when(found: Any, where: str, fault: Fault) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise RulesError(f"{where}: `when` is an object with any of {', '.join(WHEN)}, not {found!r}")
    for name, value in found.items():
        if name not in WHEN:
            raise RulesError(f"{where}: `when` knows {', '.join(WHEN)}, not {name!r}")
        if not isinstance(value, WHEN[name]) or isinstance(value, bool):
            raise RulesError(f"{where}: when.{name} is {value!r}, expected {_words(WHEN[name])}")
    event = found.get("event", fault.events[0])
    if event not in fault.events:
        raise RulesError(f"{where}: when.event is {event!r}, but this fault goes with {', '.join(fault.events)}")
    nth = found.get("nth", [])
    nth = nth if isinstance(nth, list) else [nth]
    if not all(isinstance(each, int) and each > 0 for each in nth):
        raise RulesError(f"{where}: when.nth counts from 1, found {found['nth']!r}")
    if not 0 <= found.get("share", 1) <= 1:
        raise RulesError(f"{where}: when.share is {found['share']!r}, expected 0 to 1")
    return {**found, "event": event, "nth": frozenset(nth)}


def _options(found: Any, fault: Fault, where: str) -> Options:
    if not isinstance(found, Mapping):
        raise RulesError(f"{where}: its options are an object, not {found!r}")
    for name, value in found.items():
        if name not in fault.options:
            raise RulesError(f"{where}: it knows {', '.join(fault.options) or 'no options'}, not {name!r}")
        default = fault.options[name]
        wanted = (type(default),) if isinstance(default, bool | str) else (int, float)
        if not isinstance(value, wanted) or (isinstance(value, bool) and not isinstance(default, bool)):
            raise RulesError(f"{where}: {name} is {value!r}, expected {_words(wanted)}")
    return {**fault.options, **found}


def _words(types: tuple[type, ...]) -> str:
    names = {
        "str": "a text",
        "int": "a number",
        "float": "a number",
        "list": "a list of numbers",
        "bool": "true or false",
    }
    return " or ".join(dict.fromkeys(names[each.__name__] for each in types))
