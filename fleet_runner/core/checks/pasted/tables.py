"""Tables that tools print for people: what they hint at, and which command shows more."""

import json
import re

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.base.plural import counted
from fleet_runner.core.base.printable import printable
from fleet_runner.core.checks.parsers import dcgm_text
from fleet_runner.core.checks.parsers.kernel_lines import bare
from fleet_runner.core.checks.pasted import lines
from fleet_runner.core.checks.pasted.kernel import KernelLogs
from fleet_runner.core.checks.pasted.told import Part
from fleet_runner.core.checks.shared import amdgpu_messages

SHOWN = 5
"""GPUs or lines that a sentence names."""

SMI = re.compile(r"^(?:\| )?NVIDIA-SMI \d", re.MULTILINE)
SMI_LIST = re.compile(r"^GPU \d{1,2}: [^\n]{1,120}\(UUID: GPU-[0-9a-f-]{8,40}\)[ \t]*$", re.MULTILINE)
SMI_FAILED = re.compile(
    r"^(?:NVIDIA-SMI has failed because|Failed to initialize NVML: |No devices were found)[^\n]{0,200}", re.MULTILINE
)
PRETTY = re.compile(r"^\t\"__REALTIME_TIMESTAMP\" : ", re.MULTILINE)
AMD_SMI = re.compile(
    r"ROCm System Management Interface|^(?:\| )?AMD-SMI \d|^GPU: \d{1,2}\n {2,8}(?:BDF|ASIC|USAGE|UUID)\b"
    r"|\"card\d{1,3}\"[ \t]*:[ \t]*\{|\{\s*\"gpu\"[ \t]*:[ \t]*\d{1,3}[ \t]*,"
    r"|^device,[^\n]{0,200}(?:\(C\)|GPU use|VRAM|Power)|^gpu,(?:[a-z_]{2,40},){1,200}[a-z_]{2,40}[ \t]*$",
    re.MULTILINE,
)
AMD_KERNEL = re.compile(
    r"^[^\n]{0,200}\bamdgpu\b[^\n]{0,200}?(?:[Rr]eset|[Ee]rror|[Ff]ail|[Hh]ang|[Tt]imeout|[Ff]ault)[^\n]{0,200}$",
    re.MULTILINE,
)

AMD_WELL = re.compile(
    r"reset succeeded|trying to resume|MODE\d reset|BACO reset|[Ss]tarting [\w.]+ ring reset", re.ASCII
)
"""What only says how the driver reset a GPU."""

_GPU = re.compile(
    r"^\|?[ \t]{1,4}(?P<number>\d{1,2}) {1,3}(?P<name>\S[^|\n]{1,60}?) {1,20}(?:On|Off|N/A|ERR!) {0,8}\|"
    r" {1,6}(?P<pci>[0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d) {1,4}\S{1,8} {0,4}\|"
    r" {1,24}(?P<ecc>\S{1,10}) {0,4}\|(?P<below>(?:\n(?!\|? {1,4}\d{1,2} {2})[^\n+]{20,200}){0,2})",
    re.MULTILINE | re.ASCII,
)

_FULL = "nvidia-smi -q shows"


def smi(text: str, node: str) -> Part:
    """Say what the table of `nvidia-smi` hints at: it has no more than counts since the driver was loaded."""
    found = list(_GPU.finditer(text))
    name = f"nvidia-smi of {counted(len(found), 'GPU')}"
    if not found:
        return Part(name, unsure=(f"nvidia-smi's table on {node} holds no GPU; was it cut short? {_FULL} all",))
    silent = [_named(each) for each in found if "ERR!" in each[0]]
    counting = [f"{_named(each)}: {each['ecc']}" for each in found if each["ecc"].isdecimal() and int(each["ecc"])]
    unsure: list[str] = []
    if silent:
        unsure.append(
            f"{', '.join(silent[:SHOWN])} on {node} does not answer all that it is asked (ERR!): {_FULL} whether it"
            " is lost, and dmesg why"
        )
    if counting:
        unsure.append(
            f"uncorrectable memory errors on {node} since the driver was loaded, {', '.join(counting[:SHOWN])}:"
            f" {_FULL} whether rows were remapped and what is pending"
        )
    note = f"nvidia-smi's table shows few kinds of faults: {_FULL} of memory, rows and recovery"
    return Part(name, unsure=tuple(unsure), notes=(note,))


def _named(gpu: re.Match[str]) -> str:
    return f"GPU {gpu['number']} ({gpu['pci']})"


def smi_list(text: str, node: str) -> Part:
    """Say how many GPUs `nvidia-smi -L` lists: how many there should be it does not know."""
    del node
    count = len(SMI_LIST.findall(text))
    note = (
        f"nvidia-smi -L lists {counted(count, 'GPU')} and no faults: a GPU that is lost is not listed; {_FULL} more"
    )
    return Part(f"nvidia-smi -L of {counted(count, 'GPU')}", notes=(note,))


def smi_failed(text: str, node: str) -> Part:
    """Say what follows where `nvidia-smi` could ask no GPU: nothing about the GPUs."""
    said = SMI_FAILED.search(text)
    words = printable(said[0]).strip() if said else ""
    if "mismatch" in words:
        why = "the loaded driver is another version than its library: a reboot loads the installed one"
    elif words.startswith("No devices"):
        why = "lspci -d 10de: shows whether GPUs are on the bus, and dmesg why the driver took none"
    else:
        why = "lsmod shows whether the driver is loaded, and dmesg why not"
    return Part("nvidia-smi", unsure=(f"nvidia-smi on {node} could ask no GPU ({words[:120]!r}): {why}",))


def health_watch(text: str, node: str) -> Part:
    """Say what the table of DCGM's health watch found; a watch is a hint, not a diagnosis."""
    name = "dcgmi health"
    try:
        found = dcgm_text.watched(text)
    except EvidenceError as error:
        return Part(name, unsure=(str(error),))
    unsure = tuple(
        f"DCGM's health watch on {node}, {each.where}: {each.words}; run dcgmi diag -r 3" for each in found
    )
    return Part(name, unsure=unsure[:SHOWN])


def journal(text: str, node: str) -> Part:
    """Judge what the kernel wrote into a journal that is printed as `journalctl -o json-pretty` does."""
    logs = KernelLogs("" if node == "this node" else node)
    at, decoder = text.find("{"), json.JSONDecoder()
    while at >= 0:
        try:
            entry, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            return Part("journal", unsure=("the journal's JSON is cut or damaged; print it again, or as -o json",))
        logs.feed(f"{json.dumps(entry)}\n")
        at = text.find("{", at)
    return logs.end() or Part("journal", matter=0)


def amd_kernel(text: str, node: str) -> Part:
    """Say that messages of the driver of AMD's GPUs are not known, and show the first that sounds like a fault."""
    said = (found[0] for found in AMD_KERNEL.finditer(text) if not AMD_WELL.search(found[0]))
    found = [printable(each).strip() for each in said if not _known(each)]
    if not found:
        return Part("amdgpu's messages")
    first = f"the first: {found[0][:160]!r}"
    return Part(
        "amdgpu's messages",
        unsure=(
            f"{counted(len(found), 'message')} of amdgpu on {node} may report faults and cannot be read yet, {first}",
        ),
    )


def _known(line: str) -> bool:
    """Return whether a row of the driver's messages tells a line, which is then read with the kernel's log."""
    message = bare(lines.read(line).text)[1]
    return any(known.rule.pattern.match(message) for known in amdgpu_messages.LOGGED)
