"""Is the node's Ethernet to another node as fast as it should be?"""

from collections.abc import Iterator

from fleet_runner.core.checks.answers import about, conclude, unless_unread
from fleet_runner.core.checks.check import Check, Code, Measure, Order, Readings
from fleet_runner.core.checks.evidence import Expected
from fleet_runner.core.checks.parsers import iperf3
from fleet_runner.core.checks.parsers.iperf3 import Measured
from fleet_runner.core.checks.shared import jobs
from fleet_runner.core.checks.shared.pass_marks import missed
from fleet_runner.core.checks.verdicts import Finding, Remedy, Result
from fleet_runner.core.inventory import profile
from fleet_runner.core.inventory.profile import Section

NAME = "network_speed"
SECTION = f"active.{NAME}"
PORT, STREAMS = 5201, 4
"""iperf3's own port; connections at once, since one is bounded by one processor."""

RAMP_SECONDS = 1
"""Left out of the figures: TCP begins slowly."""


def judge(readings: Readings, expected: Expected) -> Result:
    """What is slow may be the other end's fault or the way's: nothing here sends a node to triage."""
    wanted = profile.section(expected.profile, SECTION)
    job = jobs.read(readings[f"{NAME}_job"])
    still = jobs.unended(NAME, job)
    if still is not None:
        return still
    if job.state == "lost" or not job.output.lstrip().startswith("{"):
        jobs.output_of(job, expected)
    # iperf3 says in its report why it exited with 1.
    measured = iperf3.parse(job.output)
    jobs.output_of(job, expected)
    findings = list(_findings(measured, wanted, expected))
    observed = {
        "gbitps": round(measured.gbitps, 3),
        "retransmit_share": measured.retransmit_share,
        "streams": measured.streams,
        "server": wanted.text("server"),
    }
    passed = f"{measured.gbitps:.4g} Gb/s to {wanted.text('server')} over {measured.streams} streams"
    unread = []
    if wanted.has("retransmit_share_max") and measured.retransmit_share is None:
        unread = ["iperf3 does not report retransmitted segments"]
    return unless_unread(conclude(NAME, findings, passed, observed), unread)


def _findings(measured: Measured, wanted: Section, expected: Expected) -> Iterator[Finding]:
    server = wanted.text("server")
    low = missed(wanted, "gbitps_min", measured.gbitps, " Gb/s")
    if low:
        yield about(expected.node, "network_speed.slow", f"way to {server}")(
            message=f"{expected.node} sends to {server} {low}; measure another pair to find which end is slow",
            remedy=Remedy.WATCH,
        )
    share = measured.retransmit_share
    lost = missed(wanted, "retransmit_share_max", share) if share is not None else ""
    if lost:
        yield about(expected.node, "network_speed.retransmits", f"way to {server}")(
            message=f"from {expected.node} to {server}, the share of retransmitted segments is {lost}; look at the "
            "counters of both ends' interfaces (nic_ports)",
            remedy=Remedy.WATCH,
        )


def order(expected: Expected) -> Order:
    """Return the client's command; on the server's node `iperf3 --server` must listen."""
    wanted = profile.section(expected.profile, SECTION)
    seconds = wanted.number("seconds")
    port = wanted.whole("port") if wanted.has("port") else PORT
    streams = wanted.whole("streams") if wanted.has("streams") else STREAMS
    argv = ("iperf3", "--client", wanted.text("server"), "--port", f"{port}", "--json", "--interval", "0")
    rest = ("--time", f"{seconds:.0f}", "--omit", f"{RAMP_SECONDS}", "--parallel", f"{streams}")
    return Order((*argv, *rest, "--connect-timeout", "5000"), seconds + RAMP_SECONDS)


CHECK = Check(
    name=NAME,
    question="Is the node's Ethernet to another node as fast as it should be?",
    reads=(f"{NAME}_job",),
    judge=judge,
    active=True,
    job=order,
    section=SECTION,
    codes=(
        Code("network_speed.slow", (Remedy.WATCH,), f"less than `{SECTION}.gbitps_min`"),
        Code(
            "network_speed.retransmits",
            (Remedy.WATCH,),
            f"more segments were retransmitted than `{SECTION}.retransmit_share_max`",
        ),
    ),
    source="iperf3's JSON output; what the receiver counted. The mark is the link's rate less what the site loses.",
    measures=(
        Measure("gbitps", f"{SECTION}.gbitps_min"),
        Measure("retransmit_share", f"{SECTION}.retransmit_share_max", higher=False),
    ),
)
