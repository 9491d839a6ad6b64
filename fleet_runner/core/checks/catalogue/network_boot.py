"""Did the node boot over the network, and if not, at which milestone did it stop, and whose fault is that?

FAIL is what this node itself must answer for, on evidence that no stranger can make: a person must look at it. What
stops nodes on the fleet's side (no boot service, no DHCP server, an image that is refused, a document that cannot be
rendered, a cluster that gives no token) is UNKNOWN, and so is whatever somebody else may have said in its place.
"""

from typing import NamedTuple

from fleet_runner.core.boot.boots import BootEvent, Identity, Milestone
from fleet_runner.core.boot.heartbeats import silence
from fleet_runner.core.boot.progress import (
    MANY,
    STARTED,
    Progress,
    allowed,
    last,
    leases_told,
    missing,
    overdue,
    since,
    timeline,
)
from fleet_runner.core.boot.progress_text import parse
from fleet_runner.core.checks.answers import about, conclude, text_of
from fleet_runner.core.checks.check import Check, Code, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.verdicts import OWN, Finding, Remedy, Result, Verdict
from fleet_runner.core.lifecycle import ssh_failures

NAME = "network_boot"
READ = "boot_progress"

MISMATCH = "mismatch"

CONTRADICTED = frozenset({MISMATCH, "duplicate", "no_node"})
"""Refusals of a machine that says something else than the source of truth and the BMC say."""

UNSEEN = frozenset({None, Milestone.DHCP})
"""How far a boot comes of which nobody knows yet what its machine says of itself."""

NO_NEWS = frozenset({"unarmed", "limited", "unknown"})
"""Refusals that say nothing about an armed boot: a node that asked an instant too early, or too often."""

SPENT = frozenset({"claimed", "expired"})
"""Refusals of a boot that had its one chance; it is booted again."""


class Stop(NamedTuple):
    """One row of the table of stops: the finding's code, what did not happen, and what to do about it.

    Steps may name {macs} and {address}, those of the source of truth.
    """

    code: str
    missed: str
    steps: tuple[str, ...]


CAME = {
    None: "it was powered on",
    Milestone.DHCP: "it leased an address",
    Milestone.SCRIPT: "it was given its iPXE script",
    Milestone.KERNEL: "it asked for its kernel",
    Milestone.CLOUD_INIT: "its cloud-init asked for its seed",
    Milestone.PHONE_HOME: "its cloud-init reported that it is done",
}

STOPS: dict[Milestone, Stop] = {
    Milestone.DHCP: Stop("boot.no_dhcp", "never asked for an address", (
        "Look at its console while it starts: does it come through its self-test, and try to boot from a network?",
        "Check that the interface that it boots from has a link to the boot network and is first in the boot order.",
        "Compare the MAC address on its console with those of the source of truth: {macs}.",
    )),
    Milestone.SCRIPT: Stop("boot.no_script", "never asked for its iPXE script", (
        "Look at its console: did it fetch iPXE, by TFTP or HTTP, and what did iPXE say?",
        "Check that Secure Boot lets it start iPXE, and that its firmware boots in the mode of the loader it gets.",
    )),
    Milestone.KERNEL: Stop("boot.no_kernel", "never asked for its kernel", (
        "Look at its console: iPXE names the error and its page.",
        "Check the link that it boots from for errors, and its clock where it asks the boot service over TLS.",
    )),
    Milestone.CLOUD_INIT: Stop("boot.no_cloud_init", "its cloud-init never asked for its seed", (
        "Look at its console: did the kernel come up, find its memory and unpack its image?",
        "Check that the image has a driver for the interface that it boots from.",
    )),
    Milestone.PHONE_HOME: Stop("boot.no_phone_home", "never reported that it is done", (
        "Look at its console, log in there if the image allows it, and read /var/log/cloud-init-output.log.",
    )),
    Milestone.SSH: Stop("boot.no_ssh", "does not answer ssh", (
        "Try it from the runner's machine: ssh root@{address}.",
        "Look at its console: does sshd run, and has the node the address {address} of the source of truth?",
    )),
}  # fmt: skip
"""Where a boot can stop by the node's own fault."""

SILENT = ("Connection refused", "timed out", "Connection reset", "Connection closed", "a shell exits with")
"""What ssh says where the node does not answer as it should; anything else is said about our side of it."""


def judge(readings: Readings, expected: Expected) -> Result:
    """PASS once it answers ssh, else FAIL with the milestone that it missed; UNKNOWN where the fleet failed it."""
    seen = parse(text_of(readings[READ]), READ)
    observed = {
        "boot": seen.boot.id,
        "reached": {step.value: round(at - seen.boot.armed_at, 3) for step, at in seen.boot.reached.items()},
        "stopped_before": missing(seen.boot),
    }
    if missing(seen.boot) is None:
        return conclude(NAME, [], f"it booted over the network: {timeline(seen.boot)}", observed)
    if not overdue(seen):
        return Result(NAME, Verdict.UNKNOWN, _early(seen), (), observed | {OWN: True})
    wrong = _another(seen)
    if wrong is not None:
        return conclude(NAME, [_contradicted(wrong, expected.node)], "", observed)
    ours = _ours(seen)
    if ours:
        return Result(NAME, Verdict.UNKNOWN, ours, (), observed | {OWN: True})
    return conclude(NAME, [_stopped(seen, expected.node)], "", observed)


def _early(progress: Progress) -> str:
    boot = progress.boot
    closed = f"was closed: {boot.closed_because}" if boot.closed_at is not None else "is under way"
    return f"boot {boot.id} {closed}; {_came(progress)}; it is tried again"


def _another(progress: Progress) -> BootEvent | None:
    """Return the newest refusal of a machine that is another than this boot expects, and stands in its place.

    It does where it asks from this boot's own address: the expected one, or one that a DHCP server told of.
    """
    boot = progress.boot
    home = boot.expected.addresses | boot.leased
    wrong = [
        event
        for event in progress.refused
        if event.code == MISMATCH and event.boot == boot.id and event.source in home
    ]
    return wrong[-1] if wrong and last(boot) in UNSEEN else None


def _ours(progress: Progress) -> str:
    """Say why the stop says nothing about the node; empty where it does."""
    if missing(progress.boot) is Milestone.SSH:
        return _unreachable(progress) or _together(progress)
    service = _deaf(progress) or _restarted(progress) or _refused(progress)
    return service or _unheard(progress) or _together(progress) or _alone(progress)


def _unreachable(progress: Progress) -> str:
    advice = ssh_failures.advice(progress.ssh)
    if not advice and any(words in progress.ssh for words in SILENT):
        return ""
    return f"{_stop(progress)}; {advice or ssh_failures.OUR_WAY}"


def _deaf(progress: Progress) -> str:
    silent = silence(progress.beats, progress.now)
    return f"{silent}; {_came(progress)}" if silent else ""


def _restarted(progress: Progress) -> str:
    """Say that a boot service began to serve while the node may have asked in vain."""
    into = progress.beats.get(STARTED, 0.0) - since(progress.boot)
    if into < 0:
        return ""
    return (
        f"{_stop(progress)}, but a boot service started only {into:.0f} s after that step began; look at its "
        "log; the node is booted again"
    )


def _refused(progress: Progress) -> str:
    """Say what the boot service refused since the last milestone, unless it said nothing about this boot."""
    after = max(progress.boot.reached.values(), default=0.0)
    told = [event for event in progress.refused if event.last_at >= after and event.code not in NO_NEWS]
    ours = [event for event in told if event.code not in CONTRADICTED]
    if ours:
        again = "; it is booted again" if ours[-1].code in SPENT else ""
        return f"{_came(progress)}; the boot service refused it: {ours[-1].sentence}{again}"
    if told and last(progress.boot) in UNSEEN:
        return (
            f"{_stop(progress)}; the machine at {told[-1].source} asked in its place, and was refused: "
            f"{told[-1].sentence}; find that machine, and compare what it says with the source of truth"
        )
    return ""


def _unheard(progress: Progress) -> str:
    if missing(progress.boot) is not Milestone.DHCP or leases_told(progress):
        return ""
    return (
        f"{_stop(progress)}, and no DHCP server reported a lease lately; check that one runs for the boot network "
        "and reports its leases to the boot service"
    )


def _together(progress: Progress) -> str:
    if len(progress.stuck) < MANY or progress.passed:
        return ""
    names = ", ".join(progress.stuck[:MANY])
    return (
        f"{_stop(progress)}; {len(progress.stuck)} other nodes wait at the same place ({names}), and none got past"
        " it: look at the boot path, not at the node"
    )


def _alone(progress: Progress) -> str:
    """Say that nobody knows whether any node is given iPXE: what gives it, TFTP or HTTP, tells nothing of itself."""
    shown = progress.passed or progress.again or _off(progress)
    if missing(progress.boot) is not Milestone.SCRIPT or shown:
        return ""
    return (
        f"{_stop(progress)}, and no other node got past that lately; look at its console, and whether the boot "
        "server gives iPXE to anybody, by TFTP or HTTP; the next try will show"
    )


def _off(progress: Progress) -> bool:
    return progress.power == "Off" and last(progress.boot) in UNSEEN


def _stopped(progress: Progress, node: str) -> Finding:
    following = missing(progress.boot) or Milestone.SSH
    if _off(progress):
        return about(node, "boot.off", "power")(
            message=f"{CAME[last(progress.boot)]}, and its BMC says that it is off again",
            remedy=Remedy.TRIAGE,
            steps=(
                "Read its BMC's event log: why did it go off?",
                "Check its power supplies and their feeds, and switch it on while looking at its console.",
            ),
        )
    row = STOPS[following]
    steps = _steps(row, progress.boot.expected, node)
    return about(node, row.code, "network boot")(message=_stop(progress), remedy=Remedy.TRIAGE, steps=steps)


def _steps(row: Stop, known: Identity, node: str) -> tuple[str, ...]:
    """Return what to do, with what the machine is known by, and where its newest boot is shown."""
    macs = ", ".join(sorted(known.macs)) or "it has none there"
    address = ", ".join(sorted(known.addresses)) or node
    look = f"How far its boots came: fleet-runner boot show {node}."
    return (*(step.format(macs=macs, address=address) for step in row.steps), look)


def _contradicted(event: BootEvent, node: str) -> Finding:
    return about(node, "boot.identity", "identity")(
        message=f"a machine asked for its boot and was refused: {event.sentence}",
        remedy=Remedy.TRIAGE,
        steps=(
            f"Find the machine that asked from {event.source}: is it {node}, or does another stand in its place?",
            f"Correct the source of truth, or move the machine; then boot it again: fleet-runner retry {node}.",
        ),
    )


def _stop(progress: Progress) -> str:
    """Return "it leased an address, but never asked for its iPXE script within 120 s"."""
    following = missing(progress.boot) or Milestone.SSH
    why = f" ({progress.ssh})" if following is Milestone.SSH and progress.ssh else ""
    return f"{_came(progress)}, but {STOPS[following].missed} within {allowed(progress):.0f} s{why}"


def _came(progress: Progress) -> str:
    return CAME[last(progress.boot)]


CHECK = Check(
    name=NAME,
    question="Did the node boot over the network, and where did it stop if it did not?",
    reads=(READ,),
    judge=judge,
    codes=(
        *(Code(stop.code, (Remedy.TRIAGE,), f"it stopped there: {stop.missed}") for stop in STOPS.values()),
        Code("boot.off", (Remedy.TRIAGE,), "it switched off again before it reported"),
        Code("boot.identity", (Remedy.TRIAGE,), "another machine asks from the node's own address"),
    ),
    source="The milestones' limits, each with its reason, in `docs/lifecycle.md`.",
)
