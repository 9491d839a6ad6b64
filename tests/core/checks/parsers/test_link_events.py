"""Carrier losses in the kernel's log."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.parsers.link_events import MAX_LINES, CarrierLoss, parse

AT = 1_740_822_000.0
STAMP = "2025-03-01T09:40:00,500000+00:00"


@given(st.text(max_size=300))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(EvidenceError):
        parse(text)


WORDS = st.sampled_from(
    [
        "eth0: Link is Down\n",
        "eth1: link down, link Down\n",
        "systemd-networkd[1]: ib0: Lost carrier\n",
        "ib1: link down",
        "\n",
        "\r",
        "\u2028",
        " ",
    ]
)


@given(st.lists(WORDS, max_size=40).map("".join))
def test_a_log_is_read_as_its_lines_are_one_by_one(text: str) -> None:
    """In their order, each once, however many of the words it holds; only a newline ends one."""
    lines = [f"{line}\n" for line in text.split("\n")[:-1] if line.strip()]
    alone = [parse(line) for line in lines]
    assert all(len(losses) <= 1 for losses in alone)
    assert parse(f"booted\n{text}") == tuple(loss for losses in alone for loss in losses)


@given(st.text(alphabet="0123456789T:-+,.Z ", max_size=40))
def test_any_time_is_read_or_left_out(stamp: str) -> None:
    with suppress(EvidenceError):
        parse(f"{stamp} mlx5_core 0000:1b:00.0 ib0: Link down\n")


@pytest.mark.parametrize(
    ("line", "interface"),
    [
        ("mlx5_core 0000:1b:00.0 ib0: Link down", "ib0"),
        ("mlx5_core 0000:01:00.0 enp1s0f0np0: Link down", "enp1s0f0np0"),
        ("mlx4_en: eth0: Link Down", "eth0"),
        ("igb 0000:01:00.0 eno1: igb: eno1 NIC Link is Down", "eno1"),
        ("e1000e 0000:00:19.0 eth0: NIC Link is Down", "eth0"),
        ("e1000e: eth0 NIC Link is Down", "eth0"),
        ("i40e 0000:18:00.0 eno1: NIC Link is Down", "eno1"),
        ("bnxt_en 0000:19:00.0 eno1np0: NIC Link is Down", "eno1np0"),
        ("tg3 0000:02:00.0 eth0: Link is down", "eth0"),
        ("r8169 0000:06:00.0 eth0: link down", "eth0"),
        ("eth0: link down", "eth0"),
        ("systemd-networkd[5398]: ib6: lost carrier", "ib6"),
        ("systemd-networkd[5398]: ib6: Lost carrier", "ib6"),
    ],
)
def test_a_loss_is_read_whoever_tells_it(line: str, interface: str) -> None:
    assert parse(f"{STAMP} {line}\n") == (CarrierLoss(interface, AT + 0.5),)


@pytest.mark.parametrize(
    ("prefix", "at"),
    [
        ("2025-03-01T09:40:00,500000+00:00 ", AT + 0.5),
        ("2025-03-01T10:40:00.5+01:00 ", AT + 0.5),
        ("2025-03-01T10:40:00+0100 ", AT),
        ("2025-03-01T09:40:00Z gpu-01 kernel: [  123.456789] ", AT),
        ("2025-13-01T09:40:00+00:00 ", None),
        ("Mar  1 09:40:00 gpu-01 kernel: [  123.456789] ", None),
        ("[  123.456789] ", None),
        ("<4>[  123.456789] ", None),
        ("4,812,123456789,-;", None),
        ("kern  :info  : 2025-03-01T09:40:00,000000+00:00 ", AT),
        ("\x1b[32m[  123.456789] \x1b[0m", None),
        ("[  123.456789] [ T1042] ", None),
        ("", None),
    ],
)
def test_only_an_iso_time_with_its_zone_is_a_time(prefix: str, at: float | None) -> None:
    """The others lack the year, the zone, or both."""
    assert parse(f"{prefix}mlx5_core 0000:1b:00.0 ib0: Link down\n") == (CarrierLoss("ib0", at),)


@pytest.mark.parametrize(
    "line",
    [
        "audit: a process says eth0: link down",
        "foo[123]: mlx5_core 0000:1b:00.0 ib0: Link down",
        "mlx5_core 0000:1b:00.0: Port module event: module 0, Cable unplugged",
        "bond0: (slave eth0): link status definitely down, disabling slave",
        "bond0: link down",
        "veth12ab: link down",
        "ib0.8001: link down",
        "mlx5_core 0000:1b:00.0 ib0: Link downtime was short",
        "mlx5_core 0000:1b:00.0 ib0: Link up",
    ],
)
def test_what_only_looks_like_a_loss_is_none(line: str) -> None:
    """Quoted by others, or a bond's echo of its member."""
    assert parse(f"{STAMP} {line}\n") == ()


def test_a_last_line_without_its_end_is_none() -> None:
    """It may be cut within the interface's name."""
    line = f"{STAMP} mlx5_core 0000:1b:00.0 ib0: Link down"
    assert parse(f"{line}\n{line}") == parse(f"{line}\n")


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_log_is_no_log(text: str) -> None:
    with pytest.raises(EvidenceError, match="empty"):
        parse(text)


def test_an_endless_log_is_refused() -> None:
    with pytest.raises(EvidenceError, match="lines"):
        parse("\n" * MAX_LINES + "x\n")


def test_a_captured_log_has_its_six_losses(samples: Path) -> None:
    """A syslog has no year: they are counted, and nobody knows when they were."""
    text = (samples / "fabric" / "aznhc_1dev_6flap_syslog").read_text(encoding="utf-8")
    assert parse(text) == (CarrierLoss("ib6", None),) * 6
