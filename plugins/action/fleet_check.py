"""Reads what checks need, hands it to the judges of `fleet_runner.core.checks.catalogue`, and returns their results.

A verdict never fails the task. Whatever cannot be read makes the checks that need it UNKNOWN; only a node that
Ansible cannot reach is left to Ansible, as unreachable.
"""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleActionFail, AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from fleet_runner import settings
from fleet_runner.core.base.errors import BmcRefused, FleetError
from fleet_runner.core.cabling.rails import eyes
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.check import Check, Readings, also, reads, run, wanted
from fleet_runner.core.checks.evidence import Expected, Read, ReadEnd, Reading, ReadKind
from fleet_runner.core.checks.reads import READS, Eyes, again, gathered, modules, roce_interfaces, spread
from fleet_runner.core.checks.verdicts import Result, Verdict
from fleet_runner.core.inventory import profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from fleet_runner.adapters.ipmi import PowerBmc

DOCUMENTATION = r"""
module: fleet_check
short_description: Answers questions about a node
description:
  - Makes the reads of all its checks in one round trip to the node, and asks the node's BMC from the controller.
  - Returns the results; a FAIL or UNKNOWN does not fail the task, because the runner decides what follows.
options:
  checks: {description: Names of checks; see fleet_runner/core/checks., type: list, elements: str, required: true}
  readings: {description: Readings that a role brings itself; name to value., type: dict, default: {}}
  since: {description: The moment (epoch seconds) from which a boot counts if the runner gives none., type: float}
  observer:
    description:
      - For a fabric, the node and its interface through which it is read; the task is delegated to that node.
      - A check whose reads fail there is left for the next observer. An empty list means that no observer is left.
    type: list
    elements: str
  left: {description: What an earlier observer left; its answer's C(fleet_left)., type: dict, default: {}}
author: [fleet-runner]
"""

EXAMPLES = r"""
- name: Parts are as designed
  fleet_check:
    checks: [parts_gpu, parts_hca]
"""

MOST_WHY = 300  # characters of why one observer could not read
TEMPLATES = ("{{", "{%", "{#", "#jinja2:")  # where one begins; in JSON, other characters follow a brace
BMC_GRACE = 5.0  # seconds on top of a BMC read's own time limit before it is given up


class ActionModule(ActionBase):
    TRANSFERS_FILES = False
    _supports_check_mode = True  # it only reads
    _VALID_ARGS = frozenset({"checks", "readings", "since", "observer", "left"})

    def run(self, tmp: object = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Gather, judge, return plain JSON."""
        answer = super().run(tmp, task_vars)
        variables = task_vars or {}
        observer, left = self._task.args.get("observer"), dict(self._task.args.get("left") or {})
        checks = _checks(list(left) or self._task.args.get("checks"))
        supplied = _supplied(self._task.args.get("readings") or {})
        expected, trouble = self._expected(variables, fabric=any(check.needs_fabric for check in checks))
        asked = [check for check in checks if wanted(check, expected.profile)]
        known = [READS[name] for name in _names(asked, expected.profile) if name in READS and name not in supplied]
        if observer is None:
            read = self._from_node(known, variables, expected, _eyes(expected))
            readings = {**read, **self._from_bmc(known, variables), **supplied}
        else:
            readings = {**self._through(observer, known, variables, expected), **supplied}
        # Taken before, the time that a slow node took would count as time since its boot.
        expected = replace(expected, run={**expected.run, "now": time.time()})
        results = [_judge(check, readings, expected, trouble) for check in checks]
        if observer is not None:
            results, left = _settled(results, readings, observer, left)
            answer.update(fleet_left=left)
        answer.update(
            changed=False,
            fleet_results=[_plain(result.to_json()) for result in results],
            fleet_evidence=_evidence(results, readings.values()),
            msg=_summary(results),
        )
        return answer

    def _from_node(self, wanted: list[Read], variables: dict[str, Any], of: Expected, through: Eyes) -> Readings:
        """Read on the node, in one round trip, and once more where a port was down that a fabric was read through."""
        reads = [read for read in wanted if read.kind is not ReadKind.REDFISH]
        adapters, ports = modules(of.profile), roce_interfaces(of.profile)
        found = self._collect([each for read in reads for each in spread(read, adapters, through, ports)], variables)
        found |= self._collect([each for read in reads for each in again(read, through, found)], variables)
        return {read.name: gathered(read, found) for read in reads}

    def _collect(self, asked: list[Read], variables: dict[str, Any]) -> dict[str, Reading]:
        """Ask the node for some reads at once; an unreachable node raises and is Ansible's to report."""
        if not asked:
            return {}
        arguments = {"reads": [read.to_json() for read in asked]}
        try:
            answer = self._execute_module(module_name="fleet_collect", module_args=arguments, task_vars=variables)
        except AnsibleConnectionFailure:
            raise
        except AnsibleError as error:
            answer = {"failed": True, "msg": str(error)}
        return _readings(asked, answer)

    def _through(self, observer: list[str], wanted: list[Read], variables: dict[str, Any], of: Expected) -> Readings:
        """Read a fabric on the observer, through the adapter that lies in it; unreachable is no news about it."""
        if not observer:
            return {}
        node, interface = observer
        try:
            through = profile.adapter(_profile(variables, node), interface)
            return self._from_node([read.through(through) if through else read for read in wanted], variables, of, ())
        except AnsibleConnectionFailure as error:
            return {read.name: _unread(read, ReadEnd.UNREACHABLE, str(error)) for read in wanted}
        except FleetError as error:
            return {read.name: _unread(read, ReadEnd.ERROR, str(error)) for read in wanted}

    def _from_bmc(self, wanted: list[Read], variables: dict[str, Any]) -> dict[str, Reading]:
        """Ask the node's BMC, in a thread of its own: one that trickles must not keep the play."""
        reads = [read for read in wanted if read.kind is ReadKind.REDFISH]
        if not reads:
            return {}
        url = str(self._templar.template(variables.get("fleet_bmc_url")) or "")
        if not url:
            why = str(variables.get("fleet_bmc_refused") or "no fleet_bmc_url is known")
            return {read.name: _unread(read, ReadEnd.UNREACHABLE, why) for read in reads}
        found: dict[str, Reading] = {}
        name = str(variables.get("inventory_hostname") or "")
        asking = threading.Thread(target=_ask_bmc, args=((url, name), reads, found), daemon=True)
        asking.start()
        asking.join(sum(read.seconds for read in reads) + BMC_GRACE)
        late = {
            read.name: _unread(read, ReadEnd.UNREACHABLE, f"the BMC {url} did not finish in time") for read in reads
        }
        return {**late, **dict(found)}

    def _expected(self, variables: dict[str, Any], *, fabric: bool) -> tuple[Expected, str]:
        """Return what the node is held against, and why its fabric is unknown if it should be known and is not."""
        node = str(variables["inventory_hostname"])
        runs = self._data(variables.get("fleet_runs")) or {}
        mine = runs.get(node) or {"since": _since(self._task.args.get("since"))}
        file = str(self._templar.template(variables.get("fleet_fabric_file")) or "")
        links, trouble = _fabric(file) if fabric else ({}, "")
        expected = Expected(
            node=node,
            profile=self._data(variables.get("fleet_profile")) or {},
            device=_plain(variables.get("fleet_device")) or {},
            fabric=links,
            run={**mine, "id": mine.get("run"), **_sweep(self._task.args.get("observer"))},
            profiles=_profiles(variables, links),
        )
        return expected, trouble

    def _data(self, value: Any) -> Any:
        """Return a variable as plain JSON; Ansible takes its time to walk through one that holds no template."""
        text = json.dumps(value, default=str)
        return _plain(self._templar.template(value)) if any(map(text.count, TEMPLATES)) else json.loads(text)


def _since(value: object) -> float | None:
    """Return a moment; one from the command line (-e reboot_since=…) is text."""
    try:
        return None if value is None else float(str(value))
    except ValueError:
        raise AnsibleActionFail(f"fleet_check: since is {value!r}, expected epoch seconds") from None


def _checks(names: object) -> list[Check]:
    if not isinstance(names, list) or not names:
        raise AnsibleActionFail(f"fleet_check: checks is {names!r}, expected a list of names: {', '.join(CHECKS)}")
    unknown = [str(name) for name in names if name not in CHECKS]
    if unknown:
        raise AnsibleActionFail(f"fleet_check: no check {', '.join(unknown)}; there are: {', '.join(CHECKS)}")
    return [CHECKS[str(name)] for name in names]


def _names(checks: Iterable[Check], healthy: profile.Profile) -> list[str]:
    """Each read once, in the order the checks ask for them."""
    return list(dict.fromkeys(name for check in checks for name in (*reads(check, healthy), *also(check, healthy))))


def _supplied(values: Mapping[str, Any]) -> dict[str, Reading]:
    now = time.time()
    texts = {str(name): json.dumps(_plain(value), sort_keys=True) for name, value in values.items()}
    return {name: Reading(name, ReadEnd.OK, text=text, at=now) for name, text in texts.items()}


def _readings(reads: Iterable[Read], answer: Mapping[str, Any]) -> dict[str, Reading]:
    """Take what the node sent; it is not trusted to be what was asked for."""
    sent = answer.get("readings")
    known = {str(raw.get("name")): raw for raw in sent if isinstance(raw, dict)} if isinstance(sent, list) else {}
    why = (
        str(answer.get("msg") or "the node's answer lacks it") if answer.get("failed") else "it is not in the answer"
    )
    return {read.name: _reading(read, known.get(read.name), why) for read in reads}


def _reading(read: Read, raw: Mapping[str, Any] | None, why: str) -> Reading:
    if raw is None:
        return _unread(read, ReadEnd.ERROR, why)
    try:
        found = Reading.from_json(raw)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        return _unread(read, ReadEnd.ERROR, f"the node sent something else than a reading: {error}")
    # Half a surrogate pair is valid JSON and no valid text; nothing behind here could store or hash it.
    text = found.text[: read.max_bytes].encode("utf-8", "replace").decode()
    return Reading(read.name, found.end, text, found.rc, found.error, found.at, found.seconds)


def _unread(read: Read, end: ReadEnd, why: str) -> Reading:
    return Reading(read.name, end, error=why, at=time.time())


def _ask_bmc(whose: tuple[str, str], reads: list[Read], into: dict[str, Reading]) -> None:
    """Fill `into`, read by read; a BMC (its address and its device's name) that cannot be asked says so in each."""
    from fleet_runner.adapters import ipmi, redfish  # noqa: PLC0415  only checks that ask a BMC pay for HTTP

    url, name = whose
    limits = redfish.Limits(total_seconds=max(read.seconds for read in reads))
    why = ""
    try:
        with ipmi.opened(settings.load(), url, limits, name=name) as bmc:
            for read in reads:
                into[read.name], why = _asked(bmc, read)
                if why:
                    break
    except FleetError as error:
        why = str(error)
    left = [read for read in reads if read.name not in into]
    into.update({read.name: _unread(read, ReadEnd.UNREACHABLE, why) for read in left})


def _asked(bmc: PowerBmc, read: Read) -> tuple[Reading, str]:
    """Return what a BMC answers to one read, and why no other need be tried: it was never reached; "" where it was.

    A password that it refused is not tried again by the next read either.
    """
    started = time.monotonic()
    try:
        text = json.dumps(bmc.gather(read.argv) if read.argv else bmc.read(read.path), sort_keys=True)
    except FleetError as error:
        return _unread(read, ReadEnd.UNREACHABLE, str(error)), str(error) if isinstance(error, BmcRefused) else ""
    except Exception as error:  # noqa: BLE001  a BMC's nonsense is UNKNOWN, whatever it breaks
        return _unread(read, ReadEnd.ERROR, f"reading the BMC {bmc.url} failed: {type(error).__name__}: {error}"), ""
    end = ReadEnd.OK if len(text) <= read.max_bytes else ReadEnd.TRUNCATED
    why = "" if end is ReadEnd.OK else f"more than {read.max_bytes} bytes; this is its beginning"
    took = time.monotonic() - started
    return Reading(read.name, end, text[: read.max_bytes], 0, why, time.time(), took), ""


def _fabric(file: str) -> tuple[dict[str, Any], str]:
    try:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return {}, f"the designed links cannot be read from {file or 'fleet_fabric_file (unset)'}: {error}"
    return (found, "") if isinstance(found, dict) else ({}, f"{file} does not hold the designed links")


def _eyes(expected: Expected) -> Eyes:
    """Return the adapters through which a node's fabrics are read; none where nothing says so: the check tells."""
    try:
        return eyes(expected.fabric, expected.node, expected.profile)
    except FleetError:
        return ()


def _sweep(observer: list[str] | None) -> dict[str, Any]:
    return {"observer": observer, "suspect_share": settings.load().cabling_suspect_share} if observer else {}


def _profile(variables: Mapping[str, Any], node: str) -> dict[str, Any]:
    known = variables["hostvars"]
    return _plain(known[node].get("fleet_profile") or {}) if node in known else {}


def _profiles(variables: Mapping[str, Any], links: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what healthy means for each device type, as the first node of it has it."""
    first: dict[str, str] = {}
    for name, device in links.get("devices", {}).items():
        if name in variables["hostvars"]:
            first.setdefault(device["device_type"], name)
    return {kind: _profile(variables, name) for kind, name in first.items()}


def _settled(
    results: list[Result], readings: Mapping[str, Reading], observer: list[str], left: Mapping[str, Any]
) -> tuple[list[Result], dict[str, list[str]]]:
    """Part what this observer answered from the checks it leaves to the next, with why each could not be answered."""
    if not observer:
        return [Result(each.check, Verdict.UNKNOWN, _nobody(left.get(each.check, ()))) for each in results], {}
    failed = {name for name, reading in readings.items() if reading.end is not ReadEnd.OK or reading.rc}
    unread = {
        each.check: [*left.get(each.check, ()), f"{observer[0]}: {each.message}"[:MOST_WHY]]
        for each in results
        if each.verdict is Verdict.UNKNOWN and failed.intersection(CHECKS[each.check].reads)
    }
    return [each for each in results if each.check not in unread], unread


def _nobody(reasons: Iterable[str]) -> str:
    told = "; ".join(reasons)
    return f"no observer could read the fabric: {told}" if told else "no node with a port in the fabric can be asked"


def _judge(check: Check, readings: Mapping[str, Reading], expected: Expected, no_fabric: str) -> Result:
    if check.needs_fabric and no_fabric:
        return Result(check.name, Verdict.UNKNOWN, no_fabric)
    try:
        return run(check, readings, expected)
    except Exception as error:  # noqa: BLE001  a judge's error is ours; it must not condemn the node
        return Result(check.name, Verdict.UNKNOWN, f"error in the check: {type(error).__name__}: {error}")


def _evidence(results: Iterable[Result], readings: Iterable[Reading]) -> list[dict[str, str]]:
    """Return each text that a result points to, once."""
    used = {digest for result in results for digest in result.evidence}
    texts = {reading.hash: reading for reading in readings if reading.text}
    return [{"read": texts[key].name, "hash": key, "text": texts[key].text} for key in sorted(used & texts.keys())]


def _summary(results: list[Result]) -> str:
    counts = Counter(result.verdict for result in results)
    told = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict if counts[verdict])
    order = (Verdict.FAIL, Verdict.UNKNOWN)
    why = [
        f"{result.check}: {result.message}" for verdict in order for result in results if result.verdict is verdict
    ]
    noun = "check" if len(results) == 1 else "checks"
    return f"{len(results)} {noun}: {told}" + (f" ({'; '.join(why)})" if why else "")


def _plain(value: Any) -> Any:
    """Strip Ansible's tags: only JSON's own types cross the border, in either direction."""
    return json.loads(json.dumps(value, default=str))
