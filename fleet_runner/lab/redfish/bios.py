"""BIOS settings: wished at the settings object, checked against the registry, applied when the host starts.

A Dell applies what a job carries, and nothing else; HPE tells afterwards what became of them.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from fleet_runner.lab.redfish.bios_jobs import BiosJobs
from fleet_runner.lab.redfish.chip import Chip
from fleet_runner.lab.redfish.tasks import moment
from fleet_runner.lab.redfish.trees import ROOT, Body, Tree, clean
from fleet_runner.lab.redfish.wire import Refused, Reply

APPLY = "@Redfish.SettingsApplyTime"


class Bios:
    """The settings of one BIOS resource."""

    def __init__(self, chip: Chip, uri: str) -> None:
        self._chip = chip
        self.uri = uri
        self.settings = chip.tree.bios[uri]
        self.running: dict[str, Any] = dict(chip.tree.get(uri)["Attributes"])
        self.pending: dict[str, Any] = {}
        entries = registry(chip.tree, str(chip.tree.get(uri).get("AttributeRegistry") or ""))
        rows = (row for row in entries.get("Attributes") or () if isinstance(row, dict))
        self.registry: dict[str, Mapping[str, Any]] = {str(row.get("AttributeName")): row for row in rows}
        maps = (each.get("Dependency") for each in entries.get("Dependencies") or () if isinstance(each, dict))
        self.dependencies: list[Mapping[str, Any]] = [each for each in maps if isinstance(each, dict)]
        self.jobs = BiosJobs(chip, self.settings)
        self._defaults = False
        self._applied: float | None = None
        self._ignored: list[str] = []

    def set(self, said: Mapping[str, Any]) -> Reply:
        """Take wishes, all or none; raise Refused for what the registry does not allow."""
        scheduled = self._scheduled(said.get(APPLY))
        wishes = said.get("Attributes")
        if not isinstance(wishes, dict):
            raise Refused(400, "only Attributes can be changed here", "PropertyMissing")
        for name, value in wishes.items():
            if trouble := self._trouble(name, value):
                raise Refused(400, trouble[1], trouble[0])
        self.jobs.refuse_another()
        wishes = self._unlocked(wishes)
        now = {**self.running, **self.pending}
        fresh = {name: value for name, value in wishes.items() if name not in now or now[name] != value}
        self._chip.emit("bios_set", attributes=dict(wishes))
        if not self.jobs.uri:
            self.pending |= wishes
            return Reply(204)
        self.pending |= fresh
        # dsx-ai-factory/libredfish 97: what waits already is taken once more, and no job is made for it.
        return self.jobs.schedule(time.time()) if scheduled and fresh else Reply(200, {})

    def reset(self) -> None:
        """Wish for the registry's defaults at the next start."""
        self._defaults = True

    def apply(self, now: float) -> None:
        """Apply what is wished, as the host does when it starts."""
        if self._defaults:
            given = {name: row["DefaultValue"] for name, row in self.registry.items() if "DefaultValue" in row}
            self.pending = {**given, **self.pending}
        if not self.pending:
            return
        if not self.jobs.uri:
            self._take(now)
        elif self.jobs.open:
            self._chip.spawn(self._carry_out())

    async def _carry_out(self) -> None:
        """Apply what waits as the Lifecycle Controller does: while the host is on its way up, and after a while."""
        self.jobs.say("Running", "Job in progress.", 1)
        await asyncio.sleep(self._chip.pace.bios_job)
        self._take(time.time())
        if self._ignored:
            self.jobs.say("Failed", f"Unable to apply {', '.join(self._ignored)}.", 100)
        else:
            self.jobs.say("Completed", "Job completed successfully.", 100)

    def _take(self, now: float) -> None:
        ignored = self._chip.rules.fire("bios").get("ignore_bios")
        glob = str(ignored["attribute"]) if ignored else None
        taken = {name: value for name, value in self.pending.items() if glob is None or not fnmatchcase(name, glob)}
        self._ignored = sorted(set(self.pending) - set(taken))
        self._chip.emit("bios_applied", attributes=taken)
        self.running |= taken
        self.pending, self._defaults, self._applied = {}, False, now

    def _scheduled(self, when: Any) -> bool:
        """Whether a change is to be applied at a reset by itself; raise Refused for a time that is not offered."""
        said = self._chip.tree.get(self.uri).get("@Redfish.Settings")
        offered = said.get("SupportedApplyTimes") if isinstance(said, dict) else None
        if when is None:
            return False
        if not isinstance(offered, list) or not isinstance(when, dict) or when.get("ApplyTime") not in offered:
            raise Refused(400, f"{APPLY} is not possible here", "PropertyUnknown")
        return True

    def body(self, uri: str) -> Body:
        """Return the BIOS resource, or its settings object."""
        body = dict(self._chip.tree.get(uri))
        if uri == self.uri:
            job = self.jobs.open
            # dsx-ai-factory/libredfish 25: an iDRAC shows settings as in force while the job for them still runs.
            early = self.pending if job and job["JobState"] == "Running" else {}
            body["Attributes"] = {**self.running, **early}
            settings = body.get("@Redfish.Settings")
            if self._applied is not None and isinstance(settings, dict):
                body["@Redfish.Settings"] = {**settings, "Time": moment(self._applied), "Messages": self._messages()}
        elif "Attributes" in body or self.pending:
            # Some show every setting here with the wishes among them, some, as Dell's, only the wishes.
            whole = "Attributes" in body and not self.jobs.uri
            body["Attributes"] = {**(self.running if whole else {}), **self.pending}
        return {"@odata.id": uri, **body}

    def _messages(self) -> list[Body]:
        """What became of the settings: HPE's iLO tells it, in ids without texts."""
        if self._chip.tree.get(ROOT).get("Vendor") != "HPE":
            return []
        bad = [{"MessageId": "Base.1.0.PropertyNotWritable", "MessageArgs": [name]} for name in self._ignored]
        return [*bad] if bad else [{"MessageId": "Base.1.0.Success"}]

    def _unlocked(self, wishes: Mapping[str, Any]) -> dict[str, Any]:
        """Return the wishes that no other setting locks.

        A Dell looks at all wishes together, and drops what stays locked without a word
        (dell/dellemc-openmanage-ansible-modules 1072); others look at what is in force, and take all or none.
        """
        together = {**self.running, **self.pending, **wishes} if self.jobs.uri else self.running
        bad = [name for name in wishes if locks(self.dependencies, name, together)]
        if bad and not self.jobs.uri:
            raise Refused(400, f"the property {bad[0]} is read only", "PropertyNotWritable")
        return {name: value for name, value in wishes.items() if name not in bad}

    def _trouble(self, name: str, value: Any) -> tuple[str, str] | None:
        row = self.registry.get(name)
        if name not in self.running and row is None:
            return "PropertyUnknown", f"the property {name} is not in the list of valid properties for the resource"
        if row is None:
            old = self.running[name]
            same = old is None or isinstance(value, type(old))
            return None if same else ("PropertyValueTypeError", f"the value {value!r} for {name} is of another type")
        conditional = any(each.get("MapToAttribute") == name for each in self.dependencies)
        if (row.get("ReadOnly") and not conditional) or row.get("Immutable"):
            return "PropertyNotWritable", f"the property {name} is read only"
        return (
            None if _legal(row, value) else ("PropertyValueNotInList", f"the value {value!r} for {name} is not legal")
        )


def registry(tree: Tree, name: str) -> Mapping[str, Any]:
    """Return the entries of the attribute registry that a BIOS names; empty where the tree has none."""
    found = [body for body in tree.bodies.values() if "AttributeRegistry." in str(body.get("@odata.type"))]
    words = name.partition(".")[0]
    named = [body for body in found if str(body.get("Id")).startswith(words)] or found
    entries = named[0].get("RegistryEntries") if named else None
    return entries if isinstance(entries, dict) else {}


def locks(dependencies: Iterable[Mapping[str, Any]], name: str, values: Mapping[str, Any]) -> bool:
    """Whether others lock a setting: by one condition (EQU, NEQ) of a dependency, or by all that AND joins."""
    for each in dependencies:
        if each.get("MapToAttribute") != name or each.get("MapToProperty") not in ("ReadOnly", "GrayOut", "Hidden"):
            continue
        terms = each.get("MapFrom") or []
        met = [
            (str(values.get(term.get("MapFromAttribute"))) == str(term.get("MapFromValue")))
            is (term.get("MapFromCondition") == "EQU")
            for term in terms
        ]
        joined = all if any(term.get("MapTerms") == "AND" for term in terms) else any
        if str(each.get("MapToValue")).lower() == "true" and joined(met):
            return True
    return False


def bioses(chip: Chip) -> Iterator[Bios]:
    """Return every BIOS of a machine."""
    return (Bios(chip, clean(uri)) for uri in chip.tree.bios)


def _legal(row: Mapping[str, Any], value: Any) -> bool:
    match row.get("Type"):
        case "Enumeration":
            values = [each.get("ValueName") for each in row.get("Value") or ()]
            return value in values or not any(values)
        case "Integer":
            low, high = row.get("LowerBound"), row.get("UpperBound")
            whole = isinstance(value, int) and not isinstance(value, bool)
            return whole and (low is None or value >= low) and (high is None or value <= high)
        case "Boolean":
            return isinstance(value, bool)
        case "String" | "Password":
            return isinstance(value, str) and len(value) <= (row.get("MaxLength") or len(value))
        case _:
            return True
