"""Kernel lines in JSON, as log shippers write them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.faults.signals import json_lines
from fleet_runner.core.faults.signals.json_lines import HOST, SPEAKER, TEXT, TIME, read
from tests.core.faults.signals.telling import NOW

XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1, GPU has fallen off the bus."

JOURNALD: dict[str, Any] = {
    "__CURSOR": "s=1;i=2", "__REALTIME_TIMESTAMP": "1700000000000000", "_HOSTNAME": "gpu-01", "_TRANSPORT": "kernel",
    "PRIORITY": "3", "SYSLOG_IDENTIFIER": "kernel", "MESSAGE": XID,
}  # fmt: skip
VECTOR: dict[str, Any] = {
    "host": "gpu-01", "message": XID, "source_type": "journald", "timestamp": "2023-11-14T22:13:20Z",
    "_TRANSPORT": "kernel",
}  # fmt: skip
FLUENT_BIT: dict[str, Any] = {
    "date": 1700000000.0, "priority": 3, "sequence": 1, "sec": 12, "usec": 5, "msg": XID, "hostname": "gpu-01",
}  # fmt: skip
ELASTIC: dict[str, Any] = {
    "@timestamp": "2023-11-14T22:13:20.000Z", "host": {"name": "gpu-01"}, "message": XID, "appname": "kernel",
}  # fmt: skip

FORMS = [JOURNALD, VECTOR, FLUENT_BIT, ELASTIC]


@pytest.mark.parametrize("row", FORMS)
def test_a_line_is_read_as_each_shipper_writes_it(row: dict[str, Any]) -> None:
    """The text, the host and the time."""
    ((line,), bad) = read(json.dumps(row), "", NOW)
    assert (line.host, line.text, line.at, bad) == ("gpu-01", XID, NOW, 0)


def test_lines_come_as_lines_as_a_list_or_alone() -> None:
    """Also one object over several lines, and with what some editors put before a text."""
    for text in (
        "\n".join(map(json.dumps, FORMS)) + "\n\n",
        json.dumps(FORMS, indent=1),
        "\ufeff" + json.dumps(FORMS),
    ):
        lines, bad = read(text, "", NOW)
        assert (len(lines), bad) == (4, 0)
    assert len(read(json.dumps(JOURNALD, indent=2), "", NOW)[0]) == 1


def test_only_the_kernels_lines_count() -> None:
    """Journald's own word comes before a name that a program gives itself; who names no speaker may be anybody."""
    others = [
        JOURNALD | {"_TRANSPORT": "syslog"},
        {"host": "gpu-01", "message": XID},
        {"host": "gpu-01", "log": XID, "ident": "python3"},
    ]
    assert read(json.dumps(others), "", NOW) == ([], 0)


def test_whose_lines_they_are_may_be_known_otherwise() -> None:
    """What a line says of itself comes first."""
    lines, _ = read(json.dumps([JOURNALD, {"MESSAGE": XID, "_TRANSPORT": "kernel"}]), "gpu-02", NOW)
    assert [line.host for line in lines] == ["gpu-01", "gpu-02"]


def test_a_time_may_stand_before_the_words() -> None:
    """Where no field has one; a line that has none at all has none."""
    row = {"host": "gpu-01", "message": f"2023-11-14T22:13:20,000000+00:00 {XID}", "appname": "kernel"}
    ((line,), _) = read(json.dumps(row), "", NOW)
    assert (line.at, line.text, line.told) == (NOW, XID, "2023-11-14T22:13:20,000000+00:00")
    ((line,), _) = read(json.dumps(row | {"message": XID, "time": "soon"}), "", NOW)
    assert (line.at, line.told) == (None, "soon")


def test_what_is_not_understood_is_counted() -> None:
    """Among lines that are; alone it is refused, with what was looked for."""
    lines, bad = read(
        "\n".join([json.dumps(JOURNALD), "oops", "[]", '{"host": 5, "message": "x"}', "{NaN}"]), "", NOW
    )
    assert (len(lines), bad) == (1, 4)
    for text in ("", "oops", "[", "{}", "[1, 2]", '"x"', '{"message": NaN}', "[" * 100_000, "null"):
        with pytest.raises(EvidenceError, match="look at what the log shipper sends"):
            read(text, "", NOW)


def test_a_push_has_its_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """More lines are refused."""
    monkeypatch.setattr(json_lines, "MOST_LINES", 2)
    with pytest.raises(EvidenceError, match="more than 2 lines in one push; send fewer at a time"):
        read(json.dumps([JOURNALD] * 3), "", NOW)


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3)),
    max_leaves=6,
)
FIELDS = st.sampled_from((*TEXT, *HOST, *TIME, *SPEAKER, "name"))


@given(st.one_of(st.text(), st.lists(st.dictionaries(FIELDS, VALUES)).map(json.dumps), VALUES.map(json.dumps)))
def test_nothing_in_a_push_surprises_the_reader(text: str) -> None:
    """It is read or refused."""
    try:
        lines, _ = read(text, "gpu-01", NOW)
    except EvidenceError:
        return
    assert all(line.host and len(line.text) <= 2000 for line in lines)
