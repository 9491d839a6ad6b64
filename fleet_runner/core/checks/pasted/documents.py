"""Reports that are read whole, judged by the checks that know them, with makers' limits for a profile."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks import check as checking
from fleet_runner.core.checks.catalogue import CHECKS
from fleet_runner.core.checks.evidence import Expected, ReadEnd, Reading
from fleet_runner.core.checks.excerpt import excerpt
from fleet_runner.core.checks.parsers import (
    dcgm_text,
    ipmi_sel,
    nvidia_smi,
    nvme_text,
    redfish_log,
    sel_exports,
    smart_text,
    smi_text,
)
from fleet_runner.core.checks.parsers.json_text import json_object
from fleet_runner.core.checks.parsers.redfish import gathered
from fleet_runner.core.checks.parsers.redfish_log import Entry
from fleet_runner.core.checks.pasted.told import Part, Told, by_rules
from fleet_runner.core.checks.verdicts import Finding, Result, Verdict

NO_LOG = "no kernel log was given\n"
"""Stands for a kernel's log where a check wants one beside the report."""

WORN = {"retired_pages_max": 63, "remapped_uncorrectable_max": 512}
"""DCGM's limit of retired pages, and that of azurehpc-health-checks for rows; `gpu_retired` says more of both."""

SEL_DAYS = 30
"""How long before its newest entry an event log counts: what is older was dealt with, or comes again."""

_OF_FAULTS = re.compile(r"/(?:Systems/[^/]{1,80}/LogServices/(?:SEL|Sel|EventLog|Log1|IML|PlatformLog)"
                        r"|Managers/[^/]{1,80}/LogServices/(?:SEL|Sel))(?:/Entries)?$")  # fmt: skip
"""The logs among many resources in which a server's faults are (`reads.bmc`); journals and audits are left out."""

_EVIDENCE = {
    "gpu.remap_failed": r"remapped_row_failure>Yes|Remapping Failure Occurred +: Yes",
    "gpu.remap_pending": r"remapped_row_pending>Yes|^ +Pending +: Yes",
    "gpu.retirement_pending": r"pending_(?:retirement|blacklist)>Yes|Pending Page Blacklist +: Yes",
    "gpu.sram_threshold": r"sram_threshold_exceeded>Yes|SRAM Threshold Exceeded +: Yes",
    "gpu.recovery": r"<gpu_recovery_action>|reset_required>Yes|GPU Recovery Action +:|Reset Required +: Yes",
    "gpu.remapped_rows": r"<remapped_row_unc>|Uncorrectable Error +: [1-9]",
    "gpu.lost": r"GPU is lost|Unable to determine the device handle|Unknown Error",
    "gpu.uncorrectable": r"<dram_uncorrectable>[1-9]|[SD]RAM Uncorrectable[^:\n]* : [1-9]",
    "gpu.worn": r"<remapped_row_unc>|<retired_count>[1-9]|^ +(?:Uncorrectable Error|Double Bit ECC) +: [1-9]",
    "disk.medium": r"Current_Pending_Sector|Offline_Uncorrectable",
    "disk.spare": r"[Aa]vail\w*[ _][Ss]pare",
    "disk.worn_out": r"[Pp]ercent\w*[ _][Uu]sed",
    "disk.failing": r"self-assessment test result|Health Status|\"passed\"",
    **dict.fromkeys(("disk.degraded", "disk.read_only", "disk.backup", "disk.hot"), r"[Cc]ritical[ _][Ww]arning"),
}
"""Where a report says what was found; of others, the line is shown that shares the most words with the finding."""

_NUMBER = re.compile(r"\S{1,100} ([0-9a-f]{1,8}),", re.ASCII)
"""How a finding of an event log begins: with the log's name and the number of its entry."""

_TIMES = re.compile(r"[^,]{1,200}, (\d{1,6}) times, ", re.ASCII)

LONG = 200_000
"""Characters of a report from which on no line is looked for in it."""


def smi(text: str, node: str) -> Part:
    """Judge `nvidia-smi -q -x`."""
    return _smi(text, text, node, "nvidia-smi -q -x")


def smi_plain(text: str, node: str) -> Part:
    """Judge `nvidia-smi -q`."""
    name = "nvidia-smi -q"
    try:
        return _smi(smi_text.xml(text), text, node, name)
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))


def _smi(report: str, text: str, node: str, name: str) -> Part:
    try:
        found = nvidia_smi.parse(report)
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    gpus = len(found.gpus) + len(found.lost)
    profile = {"parts": {"gpu": {"count": gpus}}, "gpu_retired": WORN}
    readings = {"nvidia_smi": report, "dmesg": NO_LOG}
    results = [run(each, readings, node, profile) for each in ("parts_gpu", "gpu_errors", "gpu_retired")]
    told = tuple(_told(node, finding, _line(text, finding)) for each in results for finding in each.findings)
    unsure = [each.message for each in results[:2] if each.verdict is Verdict.UNKNOWN]
    return Part(f"{name} of {counted(gpus, 'GPU')}", told, tuple(unsure))


def dcgm(text: str, node: str) -> Part:
    """Judge `dcgmi diag -j`: what its tests found, at whatever level it ran."""
    return judged("dcgmi diag", [_diagnosed(text, node)], text, node)


def dcgm_plain(text: str, node: str) -> Part:
    """Judge the table of `dcgmi diag`."""
    try:
        output = json.dumps(dcgm_text.diagnostic(text))
    except EvidenceError as error:
        return Part("dcgmi diag", unsure=(str(error),))
    return judged("dcgmi diag", [_diagnosed(output, node)], text, node)


def _diagnosed(output: str, node: str) -> Result:
    job = json.dumps({"state": "ended", "rc": 0, "elapsed": 0, "seconds": 0, "output": output})
    return run("dcgm", {"dcgm_job": job}, node, {"active": {"dcgm": {"level": 1}}})


def redfish(text: str, node: str) -> Part:
    """Judge event logs as Redfish tells them: a collection, one entry, or {URI: body} of many resources."""
    name = "Redfish event log"
    try:
        raw = json_object(text, "the Redfish log")
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    if "@odata.type" not in raw:
        raw = {uri: body for uri, body in raw.items() if _OF_FAULTS.search(uri)}
    else:
        members = raw.get("Members", [raw]) if "LogEntryCollection" in str(raw["@odata.type"]) else [raw]
        whole = {key: value for key, value in raw.items() if key.startswith("Members@")}
        uri = str(raw.get("@odata.id") or "/redfish/v1/LogServices/Log/Entries").partition("/Entries")[0] + "/Entries"
        raw = {uri: {"@odata.type": "#LogEntryCollection.LogEntryCollection", "Members": members, **whole}}
    return _sel(raw, text, node, name)


def sel(text: str, node: str) -> Part:
    """Judge `ipmitool sel list`."""
    part = _sel(ipmi_sel.entries(text), text, node, "ipmitool sel")
    unread = [each for each in ipmi_sel.LIKE.findall(text) if not ipmi_sel.LINE.match(each)]
    if not unread:
        return part
    first = printable(unread[0]).strip()[:120]
    words = f"{counted(len(unread), 'line')} of ipmitool sel cannot be read, the first: {first!r}; a person reads it"
    return replace(part, unsure=(*part.unsure, words))


def sel_export(text: str, node: str) -> Part:
    """Judge an event log that another tool printed, or a BMC's page exported."""
    try:
        return _sel(sel_exports.entries(text), text, node, "BMC's event log")
    except EvidenceError as error:
        return Part("BMC's event log", unsure=(str(error),))


def _sel(raw: Mapping[str, Any], text: str, node: str, name: str) -> Part:
    bodies = json.dumps(raw)
    try:
        logs = redfish_log.logs(gathered(bodies, "the event log"))
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    times = [entry.at for log in logs for entry in log.entries if entry.at is not None]
    newest = max([*times, *(log.now for log in logs if log.now is not None)], default=0.0)
    result = run("sel", {"redfish_logs": bodies}, node, {"sel": {"days": SEL_DAYS}}, at=newest)
    part = judged(name, [result], text, node)
    unknown = [each for each in part.told if each.finding.code == "sel.critical"]
    known = {f"{log.name} {entry.number}": entry for log in logs for entry in log.entries}
    told = tuple(_dated(each, known) for each in part.told if each not in unknown)
    unsure = (*part.unsure, *(f"{each.finding.message}: a person reads it" for each in unknown))
    old = result.observed.get("bad", 0) - result.observed.get("fresh", 0) - result.observed.get("undated", 0)
    entries = sum(len(log.entries) for log in logs)
    past = f"over, harmless, or more than {SEL_DAYS} days older than the newest, and are not judged"
    notes = (f"{counted(old, 'entry', 'entries')} that tell of a fault are {past}",) if old > 0 else ()
    return Part(f"{name} of {counted(entries, 'entry', 'entries')}", told, unsure, notes)


def _dated(told: Told, entries: Mapping[str, Entry]) -> Told:
    """Return a finding with the time of its last entry, which its message names first."""
    entry = entries.get(told.finding.message.partition(",")[0])
    if entry is None or entry.at is None:
        return told
    at = f"{datetime.fromtimestamp(entry.at, UTC):%Y-%m-%d %H:%M:%S}"
    times = _TIMES.match(told.finding.message)
    return replace(told, count=int(times[1]), last=at) if times is not None else replace(told, first=at, last=at)


def smart_json(text: str, node: str) -> Part:
    """Judge `smartctl -j`, and nvme-cli's `smart-log -o json`."""
    try:
        return _smart(json_object(text, "the SMART report"), text, node)
    except EvidenceError as error:
        return Part("SMART report", unsure=(str(error),))


def smart_plain(text: str, node: str) -> Part:
    """Judge `smartctl -a`."""
    try:
        return _smart(smart_text.report(text), text, node)
    except EvidenceError as error:
        return Part("SMART report", unsure=(str(error),))


def nvme_plain(text: str, node: str) -> Part:
    """Judge `nvme smart-log`."""
    try:
        return _smart(nvme_text.report(text), text, node)
    except EvidenceError as error:
        return Part("SMART report", unsure=(str(error),))


def _smart(raw: Mapping[str, Any], text: str, node: str) -> Part:
    device = raw.get("device")
    told = device.get("name") if isinstance(device, Mapping) else None
    name = told if isinstance(told, str) and re.fullmatch(r"/dev/[a-z0-9]{1,30}", told, re.ASCII) else "/dev/disk"
    readings = {"nvme_smart": f"{name}\n{json.dumps(raw)}\n", "nvme_controllers": "{}", "dmesg": NO_LOG}
    return judged("SMART report", [run("disk_health", readings, node, {"disk_health": {"ata": False}})], text, node)


def run(name: str, texts: Mapping[str, str], node: str, profile: Mapping[str, Any], at: float = 0.0) -> Result:
    """Run a check on texts, by the names of the reads that they stand for."""
    readings = {read: Reading(read, ReadEnd.OK, text, at=at) for read, text in texts.items()}
    return checking.run(CHECKS[name], readings, Expected(node, profile))


def judged(name: str, results: Sequence[Result], text: str, node: str) -> Part:
    """Return what checks said, each finding with the line of the text that shows it."""
    told = tuple(_told(node, finding, _line(text, finding)) for each in results for finding in each.findings)
    unsure = tuple(each.message for each in results if each.verdict is Verdict.UNKNOWN)
    return Part(name, told, unsure)


def _line(text: str, finding: Finding) -> str:
    """Return the line that says what was found, behind the name of its part where that stands in the text."""
    pattern = _EVIDENCE.get(finding.code)
    if finding.code.startswith("sel."):
        numbered = _NUMBER.match(finding.message)
        pattern = rf"^[ \t]*{numbered[1]} \|" if numbered is not None else "$^"
    if pattern is None:
        return next(iter(excerpt(text, finding.message, most=1)), "")[:200] if len(text) < LONG else ""
    part = finding.component.removeprefix("GPU ").rpartition(".")[0]
    at = max(text.lower().find(part), 0) if part else 0
    found = re.compile(pattern, re.MULTILINE).search(text, at)
    if found is None:
        return ""
    begin, end = text.rfind("\n", 0, found.end()) + 1, text.find("\n", found.end())
    return printable(text[begin : end if end >= 0 else len(text)]).strip()[:200]


def _told(node: str, finding: Finding, line: str) -> Told:
    return Told(node, by_rules(finding), line=line)
