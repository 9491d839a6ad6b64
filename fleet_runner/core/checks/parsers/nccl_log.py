"""What NCCL complains of in a job's output: a symptom of one rank, seldom the part that is faulty."""

import re
from typing import NamedTuple

LINE = re.compile(
    r"(?:^|\s|>:)(?:(?P<host>[A-Za-z][\w.-]{0,254}):\d{1,8}:\d{1,8} \[\d{1,3}\] [^\n]{0,160}?"
    r"|\[\d{1,3}\] [\w/.]{1,80}:\d{1,6} )NCCL WARN (?P<words>[^\n]{1,400})",
    re.MULTILINE,
)
"""A complaint; who pastes one often leaves the host away."""

MOST = 10_000


class Meaning(NamedTuple):
    """Words of a complaint, what they mean, and what shows more."""

    words: re.Pattern[str]
    meaning: str
    tells: str


NVSWITCHES = Meaning(
    re.compile(r"NVLink SHARP|in the present state|system not yet initialized"),
    "NVLink SHARP or the NVSwitches were not set up: Fabric Manager, mostly",
    "systemctl status nvidia-fabricmanager, and the part Fabric of nvidia-smi -q; after its restart reset the GPUs",
)

MEANINGS = (
    NVSWITCHES,
    Meaning(
        re.compile(r"uncorrectable ECC|ECC error", re.IGNORECASE),
        "a GPU met a memory error that ECC could not correct",
        "the kernel log says which: look for Xid 48, 94 or 95, then nvidia-smi -q",
    ),
    Meaning(
        re.compile(r"fallen off the bus|GPU is lost|device unavailable|no CUDA-capable device", re.IGNORECASE),
        "a GPU does not answer",
        "the kernel log says why: look for Xid 79 and its time",
    ),
    Meaning(
        re.compile(
            r"Got completion .*(?:status=(?:5|12|13)|vendor err 129)|RETRY_EXC|local QP|IBV_WC", re.IGNORECASE
        ),
        "the other end did not answer over InfiniBand or RoCE: its node, a link or a switch on the way",
        "the kernel log of both nodes, and ibqueryerrors twice, an hour apart",
    ),
    Meaning(
        re.compile(r"vendor err 81\b"),
        "an adapter was refused a GPU's memory: PCIe ACS or the IOMMU of this node, mostly",
        "NCCL_NET_GDR_LEVEL=0 goes around it; fleet-runner's checks pcie_settings and kernel look at both",
    ),
    Meaning(
        re.compile(r"ibv_modify_qp failed .*(?:timed out|unreachable|No route)"),
        "an adapter found no route to the other one's address: the GID index, a VLAN or a route of RoCE, mostly",
        "show_gids on both nodes, and ib_write_bw with the same index (-x)",
    ),
    Meaning(
        re.compile(r"ibv_reg_mr\w{0,20} failed .*Cannot allocate memory"),
        "the job may not lock the memory that RDMA needs",
        "ulimit -l inside the job, on every node",
    ),
    Meaning(
        re.compile(r"Duplicate GPU detected"),
        "two ranks use the same GPU",
        "CUDA_VISIBLE_DEVICES and the device that each rank sets",
    ),
    Meaning(
        re.compile(r"async (?:fatal )?event|port error|link down", re.IGNORECASE),
        "an adapter reported that its port went down",
        "the kernel log of this node has the time, and how often",
    ),
    Meaning(
        re.compile(
            r"illegal memory access|unspecified launch|device-side assert|invalid (?:argument|device function)"
        ),
        "the application, or a library in it, failed on a GPU",
        "the kernel log: with Xid 13, 31 or 43 it is the application's own",
    ),
    Meaning(
        re.compile(r"timed? ?out", re.IGNORECASE),
        "a rank waited in vain: the one that stopped first is elsewhere",
        "the last collective of each rank (NCCL_DEBUG=INFO), and the kernel log of the node that stopped",
    ),
    Meaning(
        re.compile(
            r"[Cc]onnection (?:refused|reset|closed|timed out)|closed by remote|No route|socket", re.IGNORECASE
        ),
        "a rank on another node ended, or cannot be reached",
        "the output of the rank that ended first; then the network between the two",
    ),
    Meaning(
        re.compile(r"out of memory|shared memory|/dev/shm|No space left", re.IGNORECASE),
        "memory was short: the GPU's, or /dev/shm in the container",
        "docker run --shm-size, or the memory that the job asks for",
    ),
    Meaning(
        re.compile(r""),
        "NCCL could not go on",
        "NCCL_DEBUG=INFO names the call; the kernel log says whether hardware is behind it",
    ),
)
"""Complaints by their words, first come first served; the last is any other."""


class Complaint(NamedTuple):
    """What was complained of on a host, how often, and the first line."""

    host: str
    meaning: Meaning
    times: int
    line: str


def parse(text: str) -> tuple[Complaint, ...]:
    """Return the complaints, host by host and kind by kind; none for a text without any."""
    found: dict[tuple[str, str], Complaint] = {}
    for number, match in enumerate(LINE.finditer(text)):
        if number >= MOST:
            break
        meaning = _meaning(match)
        key = (match["host"] or "", meaning.meaning)
        known = found.get(key)
        found[key] = Complaint(
            key[0], meaning, known.times + 1 if known else 1, known.line if known else match[0].strip()[:400]
        )
    return tuple(found.values())


def _meaning(complaint: re.Match[str]) -> Meaning:
    words = complaint["words"]
    if "nvls.cc" in complaint[0] and "invalid argument" in words:
        return NVSWITCHES
    return next(each for each in MEANINGS if each.words.search(words))
