"""Every form of text that is read whole: how it is told by its content, where it ends, and who judges it.

Kernel logs, of any size, are read line by line (`kernel`).
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from fleet_runner.core.checks.parsers import (
    dcgm_text,
    ipmi_sel,
    nvme_text,
    perfquery,
    sel_exports,
    smart_text,
    torch_watchdog,
)
from fleet_runner.core.checks.parsers.dcgm_health import HEADER
from fleet_runner.core.checks.parsers.smi_text import HEAD
from fleet_runner.core.checks.pasted import amd, collectives, counters, documents, fabric_journal, tables
from fleet_runner.core.checks.pasted.pieces import between, those, until_prompt
from fleet_runner.core.checks.pasted.told import Part


class Form(NamedTuple):
    """A form: its tool for people, the pieces of a text that are of it, and what is said of one piece."""

    name: str
    pieces: Callable[[str], list[str]]
    judge: Callable[[str, str], Part]


def _pattern(words: str) -> re.Pattern[str]:
    return re.compile(words, re.MULTILINE | re.ASCII)


_SMI_XML = re.compile("<nvidia_smi_log>")
_SMI_SAID = _pattern(r"^(?:WARNING: infoROM|Unable to determine the device handle for [Gg][Pp][Uu])[^\n]{0,200}\n")
_NVLINK = _pattern(
    r"^GPU 0?\d{1,2}: [^\n]{1,120}\(UUID: GPU-[0-9a-f-]{8,40}\)[ \t]*\n[ \t]*(?:Link \d|[^\n]{0,80}[Ll]inks are)"
)
_FABRIC_MANAGER = _pattern(
    r"^(?:Fabric Manager Log initializing at|\[[A-Z][a-z]{2} +\d{1,2} \d{4} \d\d:\d\d:\d\d\] "
    r"\[(?:INFO|ERROR|CRITICAL|WARNING|NOTICE)\])"
)
_IBQUERYERRORS = _pattern(
    r"^[ \t]*(?:Errors for (?:0x[0-9a-f]{1,16} )?\"|GUID 0x[0-9a-f]{1,16} port (?:\d|ALL)[^\n]{0,8}: ?\["
    r"|## Summary: \d)"
)
_NCCL_TESTS = _pattern(r"^[^\n#]{0,24}# {1,4}(?:nThread \d|Using devices|Out of bounds values|Avg bus bandwidth)")
_DCGM = re.compile(r"\"DCGM (?:GPU )?Diagnostic\"|\"test_categories\"")
_HEALTH = re.compile(rf"\"{HEADER}\"")
_REDFISH = re.compile(r"\"#LogEntry(?:Collection)?\.|/LogServices/[\w.-]{1,40}/Entries")
_ENTRY = re.compile(r"^\{[^{\[]{0,400}\"@odata.type\": ?\"#LogEntry\.")

ENTRY_HEAD = 500
"""Characters of an object in which its type stands."""

_SMART = re.compile(r"\"smartctl\" ?: ?\{|\"nvme_smart_health_information_log\"|\"critical_warning\" ?:")


def _whole(found: re.Pattern[str]) -> Callable[[str], list[str]]:
    """Return the whole text as one piece where it holds something."""
    return lambda text: [text] if found.search(text) else []


def _runs(found: re.Pattern[str]) -> Callable[[str], list[str]]:
    """Return, as one piece, what reaches from the first of several beginnings to the next prompt."""

    def pieces(text: str) -> list[str]:
        first = found.search(text)
        return [] if first is None else until_prompt(text[first.start() :], re.compile(r"\A"))

    return pieces


def _smi(text: str) -> list[str]:
    """Return reports, the first with what the tool said of GPUs that it could not open; that alone is one too."""
    said = "".join(_SMI_SAID.findall(text))
    found = between(text, _SMI_XML, "</nvidia_smi_log>")
    return [f"{said}{found[0]}", *found[1:]] if found else [said] if said else []


def _smi_list(text: str) -> list[str]:
    """Return a list of GPUs, of which nothing else is told below."""
    return [text] if tables.SMI_LIST.search(text) and not _NVLINK.search(text) else []


def _of_dcgm(raw: dict[str, Any]) -> bool:
    runs = raw.get("iterations")
    inner = runs[0] if isinstance(runs, list) and runs and isinstance(runs[0], dict) else raw
    return "DCGM Diagnostic" in inner or "DCGM GPU Diagnostic" in inner


def _of_redfish(raw: dict[str, Any]) -> bool:
    kind = str(raw.get("@odata.type", ""))
    return kind.startswith("#LogEntry") or any("/LogServices/" in key and key.endswith("/Entries") for key in raw)


def _redfish(text: str) -> list[str]:
    """Return event logs; entries that come one by one are one log, for what ends an event is an entry too."""
    found = those(text, _of_redfish, _REDFISH)
    single = [each for each in found if _ENTRY.search(each[:ENTRY_HEAD])]
    if len(single) < 2:  # noqa: PLR2004  one is whole as it is
        return found
    members = ",".join(single)
    log = f'{{"@odata.type": "#LogEntryCollection.LogEntryCollection", "Members": [{members}]}}'
    return [log, *(each for each in found if each not in single)]


def _of_bmc(text: str) -> list[str]:
    return [text] if sel_exports.begins(text) else []


def _of_smart(raw: dict[str, Any]) -> bool:
    return "smartctl" in raw or "nvme_smart_health_information_log" in raw or "critical_warning" in raw


FORMS: tuple[Form, ...] = (
    Form("nvidia-smi -q -x", _smi, documents.smi),
    Form("nvidia-smi -q", lambda text: until_prompt(text, re.compile(HEAD)), documents.smi_plain),
    Form("nvidia-smi", lambda text: until_prompt(text, tables.SMI), tables.smi),
    Form("nvidia-smi -L", _smi_list, tables.smi_list),
    Form("nvidia-smi nvlink -s, -e", _runs(_NVLINK), counters.nvlink_report),
    Form("amd-smi static, metric, bad-pages, also with --json", _whole(tables.AMD_SMI), amd.reports),
    Form("dcgmi diag -j", lambda text: those(text, _of_dcgm, _DCGM), documents.dcgm),
    Form(
        "dcgmi health -c -j",
        lambda text: those(text, lambda raw: {"header", "body"} <= raw.keys(), _HEALTH),
        counters.health_watch,
    ),
    Form("dcgmi diag", lambda text: until_prompt(text, dcgm_text.DIAG), documents.dcgm_plain),
    Form("dcgmi health -c", lambda text: until_prompt(text, dcgm_text.HEALTH), tables.health_watch),
    Form("Redfish LogEntries", _redfish, documents.redfish),
    Form("ipmitool sel list, elist", _whole(ipmi_sel.LINE), documents.sel),
    Form("BMC event logs (ipmitool sel -v, ipmi-sel, racadm, CSV)", _of_bmc, documents.sel_export),
    Form("smartctl -j, nvme smart-log -o json", lambda text: those(text, _of_smart, _SMART), documents.smart_json),
    Form("nvme smart-log", lambda text: until_prompt(text, nvme_text.HEAD), documents.nvme_plain),
    Form("smartctl -a", lambda text: until_prompt(text, smart_text.HEAD), documents.smart_plain),
    Form("Fabric Manager's log", _whole(_FABRIC_MANAGER), counters.fabric_manager_log),
    Form("Fabric Manager's journal", _whole(fabric_journal.FOUND), fabric_journal.journal),
    Form("ibqueryerrors", _runs(_IBQUERYERRORS), counters.fabric_errors),
    Form("perfquery", _runs(perfquery.HEAD), counters.port_counters),
    Form("nccl-tests", _runs(_NCCL_TESTS), counters.nccl_test),
    Form("NCCL's output (NCCL WARN)", _whole(re.compile(r"NCCL WARN ")), counters.nccl_warnings),
    Form("PyTorch's watchdog (ProcessGroupNCCL)", _whole(re.compile(torch_watchdog.CAUGHT)), collectives.timeouts),
)  # fmt: skip
"""In the order in which they are looked for; a text may hold several."""

UNREAD: tuple[Form, ...] = (
    Form("journalctl -o json-pretty", _whole(tables.PRETTY), tables.journal),
    Form("nvidia-smi that failed", _whole(tables.SMI_FAILED), tables.smi_failed),
    Form("amdgpu", _whole(tables.AMD_KERNEL), tables.amd_kernel),
)
"""What is known, too, and not offered: it says little, or that it is not read."""

KERNEL = "kernel logs (dmesg, journalctl -k, journalctl -o json, /var/log/kern.log, syslog)"

READABLE = (KERNEL, *(form.name for form in FORMS))
"""What can be read, for people."""


def parts(text: str, node: str) -> tuple[Part, ...]:
    """Return what each piece of a text says."""
    return tuple(form.judge(piece, node) for form in (*FORMS, *UNREAD) for piece in form.pieces(text))
