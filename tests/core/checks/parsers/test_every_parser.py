"""What holds for every parser: anything unreadable is EvidenceError, and nothing else ever leaves one."""

import json
from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers import (
    cloud_init,
    hdparm,
    ibqueryerrors,
    ibstat,
    job,
    link_events,
    lsblk,
    mlxlink,
    nvidia_smi,
    nvme_tool,
    our_jobs,
    redfish,
    tpm2,
    uptime,
    xid,
)
from fleet_runner.core.firmware import inventory
from tests.core.checks.catalogue.judging import DMESG, KINDS, SMI, burn_job, text_of
from tests.examples import examples

BURN = text_of("gpu_burn/ok.txt")

PARSERS: dict[str, tuple[Callable[[str], object], str]] = {
    "nvidia_smi": (nvidia_smi.parse, SMI),
    "nvidia_smi.whole": (nvidia_smi.whole, SMI),
    "xid": (xid.parse, DMESG),
    "job": (job.parse, burn_job(BURN)),
    "our_jobs": (
        lambda text: our_jobs.parse(text, 1e3),
        json.dumps({"/run/x": json.dumps({"at": 1e3, "pids": [7]})}),
    ),
    "cloud_init": (cloud_init.parse, text_of("cloud_init/done.json")),
    "uptime": (uptime.parse, "2025-03-01 09:30:00\n"),
    "ibqueryerrors": (ibqueryerrors.parse, text_of("ibqueryerrors/two_bad_ports.txt")),
    "link_events": (
        link_events.parse,
        "2025-03-01T09:31:00,500000+00:00 mlx5_core 0000:1b:00.0 ib0: Link down\n" * 2,
    ),
    "mlxlink": (mlxlink.parse, text_of("mlxlink/optical.json")),
    "mlxlink of copper": (mlxlink.parse, text_of("mlxlink/copper.json")),
    "ibstat": (ibstat.parse, text_of("ibstat/two_rails.txt")),
    "ibstat.names": (ibstat.names, text_of("ibstat/two_rails_names.txt")),
    "the firmware inventory": (
        lambda text: inventory.entries(redfish.resources(text, "the firmware inventory")),
        text_of("redfish/firmware.json"),
    ),
    "hdparm": (hdparm.parse, text_of("hdparm/plain.txt")),
    "lsblk": (lsblk.parse, text_of("lsblk/two_nvme.json")),
    "nvme_tool.controller": (nvme_tool.controller, text_of("nvme/id_ctrl_qemu.json")),
    "nvme_tool.sanitize": (nvme_tool.sanitize, text_of("nvme/sanitize_done.json")),
    "nvme_tool.namespaces": (nvme_tool.namespaces, text_of("nvme/namespaces.json")),
    "nvme_tool.transports": (nvme_tool.transports, text_of("nvme/list.json")),
    "tpm2.locks": (tpm2.locks, text_of("tpm2/variable.txt")),
    "tpm2.identity": (tpm2.identity, text_of("tpm2/fixed.txt")),
    "redfish.power_supplies": (redfish.power_supplies, text_of("redfish/power.json")),
}
for _kind in KINDS:
    PARSERS |= _kind.PARSERS

SPLICES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["NaN", "Infinity", "-1", "9" * 400, "1e999", "N/A", "GPU is lost", "ERR!", "\x00", "\ud800"]),
    st.sampled_from(["<", "</gpu>", "]]>", "<!ENTITY a 'b'>", "{", "[[", '"', "null", "\n", "\r", "\u2028"]),
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize("name", sorted(PARSERS))
@given(text=st.text())
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    """No text makes a parser raise anything but EvidenceError."""
    with suppress(EvidenceError):
        PARSERS[name][0](text)


@pytest.mark.parametrize("name", sorted(PARSERS))
@settings(max_examples=examples(200))
@given(data=st.data())
def test_any_bent_answer_is_read_or_refused(name: str, data: st.DataObject) -> None:
    """A real answer with a stretch replaced reaches further into a parser than any random text."""
    parse, text = PARSERS[name]
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 80)))
    with suppress(EvidenceError):
        parse(text[:begin] + data.draw(SPLICES) + text[end:])


@pytest.mark.parametrize("name", [name for name in sorted(PARSERS) if PARSERS[name][1].startswith("{")])
@given(data=st.data())
def test_any_json_in_any_place_is_read_or_refused(name: str, data: st.DataObject) -> None:
    """A value of another type, anywhere in the tree."""
    parse, text = PARSERS[name]
    raw = json.loads(text)
    at = raw
    while isinstance(at, dict | list) and at:
        keys = sorted(at) if isinstance(at, dict) else list(range(len(at)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(at[key], dict | list) or not at[key] or data.draw(st.booleans()):
            at[key] = data.draw(JSON)
            break
        at = at[key]
    with suppress(EvidenceError):
        parse(json.dumps(raw))


@pytest.mark.parametrize("name", sorted(PARSERS))
def test_endless_nesting_is_refused(name: str) -> None:
    """Neither JSON nor XML nested a hundred thousand deep ends the process."""
    for text in ("[" * 100_000, '{"a":' * 100_000, "<a>" * 100_000, "<a>" * 100_000 + "</a>" * 100_000):
        with suppress(EvidenceError):
            PARSERS[name][0](text)
