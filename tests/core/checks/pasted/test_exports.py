"""Logs that a store of logs gave out: what their lines say, by which node, in the order in which it happened."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.checks.pasted import exports
from fleet_runner.core.checks.pasted.text import Pasted

MESSAGE = "NVRM: Xid (PCI:0000:9b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
LINE = f"Nov 28 02:11:04 gpu-03 kernel: [1209606.501200] {MESSAGE}"
AT = "2024-11-28T02:11:04+00:00"


def table(*rows: list[str]) -> str:
    """Write rows as a spreadsheet does."""
    told = io.StringIO()
    csv.writer(told).writerows(rows)
    return told.getvalue()


def hits(source: dict[str, Any]) -> str:
    """Write what Elastic answers to a search."""
    return json.dumps({"took": 3, "hits": {"hits": [{"_index": "logs", "_source": source}]}}, indent=2)


WHOLE = {
    "Loki as CSV": table(["Time", "Line", "Labels"], ["1732759864000", LINE, '{"host":"gpu-09"}']),
    "Loki's API": json.dumps(
        {"data": {"result": [{"stream": {"job": "x"}, "values": [["1732759864000000000", LINE]]}]}}
    ),
    "logcli as JSON lines": json.dumps({"labels": {"job": "x"}, "line": LINE, "timestamp": AT}) + "\nnot JSON\n{x\n",
    "Splunk as CSV": table(["_raw", "_time", "host"], [LINE, AT, "gpu-09"]),
    "Splunk as JSON": json.dumps({"results": [{"_raw": LINE, "_time": AT}]}),
    "Elastic": hits({"@timestamp": AT, "message": LINE, "host": {"name": "gpu-09"}}),
    "a cloud's console": json.dumps([{"textPayload": LINE, "timestamp": AT}]),
}
BARE = {
    "Loki's API": json.dumps({"stream": {"host": "gpu-03"}, "values": [["1732759864000000000", MESSAGE], [1], 2]}),
    "Kibana": table(
        ["@timestamp", "host.name", "message"], ["Nov 28, 2024 @ 02:11:04.000", "gpu-03", MESSAGE], ["", "", ""]
    ),
    "Elastic": hits(
        {
            "@timestamp": AT,
            "message": MESSAGE,
            "host": {"hostname": "gpu-03"},
            "log": {"syslog": {"appname": "kernel"}},
        }
    ),
    "Datadog": table(["Date", "Host", "Severity", "Message"], [AT.removesuffix("+00:00"), "gpu-03", "x", MESSAGE]),
    "a cloud's console": json.dumps([{"jsonPayload": {"message": MESSAGE, "hostname": "gpu-03"}, "timestamp": AT}]),
    "vector": json.dumps(
        {"appname": "kernel", "hostname": "gpu-03", "message": MESSAGE, "timestamp": AT, "log": {"x": 1}}
    ),
    "Prometheus' label": json.dumps(
        {"labels": {"instance": "gpu-03:9100"}, "line": MESSAGE, "timestamp": "1732759864"}
    ),
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_a_line_that_says_who_wrote_it_stays_as_it_is(text: str) -> None:
    assert exports.told(text) == f"{LINE}\n"


@pytest.mark.parametrize("text", BARE.values(), ids=BARE)
def test_any_other_line_gets_its_node_and_its_time(text: str) -> None:
    assert exports.told(text) == f"{AT} gpu-03 kernel: {MESSAGE}\n"


def test_what_another_program_wrote_is_not_the_kernels() -> None:
    entry = {"message": MESSAGE, "timestamp": AT, "host": "gpu-03", "appname": "gpud"}
    assert exports.told(json.dumps(entry)) == f"{AT} gpu-03 gpud[0]: {MESSAGE}\n"


@pytest.mark.parametrize(
    ("entry", "line"),
    [
        ({"message": MESSAGE, "timestamp": "soon", "host": "gpu-03"}, MESSAGE),
        ({"message": MESSAGE, "timestamp": AT, "host": "a host"}, f"{AT} {MESSAGE}"),
        ({"message": "all is well", "timestamp": AT, "host": ["gpu-03"]}, "all is well"),
    ],
)
def test_what_an_entry_does_not_tell_is_not_made_up(entry: dict[str, Any], line: str) -> None:
    assert exports.told(json.dumps(entry)) == f"{line}\n"


@pytest.mark.parametrize(
    "at",
    [
        "1234567890.1.2",
        "1234567890.abc",
        "9999-12-31T23:59:59-23:59",
        "0001-01-01T00:00:00+14:00",
        "1960-01-01T00:00:00Z",
    ],
)
def test_a_time_that_no_clock_has_is_none(at: str) -> None:
    assert exports.told(json.dumps({"message": MESSAGE, "timestamp": at})) == f"{MESSAGE}\n"


def test_entries_stand_in_the_order_in_which_they_were_written() -> None:
    """Most stores give the newest first; a reset or a boot ends what came before it."""
    rows = [["2024-11-28T02:11:05Z", "b"], ["2024-11-28T02:11:04Z", "a"]]
    assert exports.told(table(["timestamp", "message"], *rows)) == "a\nb\n"
    assert exports.told(table(["timestamp", "message"], *rows[::-1])) == "a\nb\n"
    assert exports.told(table(["timestamp", "message"], rows[0], ["", "a"])) == "b\na\n"


@pytest.mark.parametrize(
    "text",
    [
        "",
        LINE,
        "Date,Severity,Message\n11/28/2024 02:11:04,Critical,x\n",
        "Line,Labels\nx,y\n",
        "Device A,Port A\n",
        'time,message\n"' + "x" * 140_000 + '"\n',
        '{"log": "x", "time": "2024-11-28T02:11:04Z", "message": "x"}',
        '{"__REALTIME_TIMESTAMP": "1", "MESSAGE": "x"}',
        '{"timestamp": "x", "values": [["1", "x"]]}',
        "[" * 100_000,
    ],
)
def test_other_texts_are_none_of_a_store(text: str) -> None:
    assert exports.told(text) is None


@given(st.text() | st.text(alphabet='{}[]":, \n_rawmessagetimestamp0', max_size=80))
def test_any_text_is_read_or_left_alone(text: str) -> None:
    exports.told(text)


@pytest.mark.parametrize("text", [*WHOLE.values(), *BARE.values()])
def test_what_the_lines_say_is_judged_as_a_log_of_their_node(text: str) -> None:
    pasted = Pasted("log")
    pasted.feed(text)
    (told,) = pasted.end().told
    assert (told.node, told.finding.code) == ("gpu-03", "xid.79")


@pytest.mark.parametrize(
    "before",
    [
        f'{AT[:19]}Z {{host="gpu-03", job="kern"}} ',
        "gpud-1  | ",
        "kern-host-12 | ",
        f"{AT[:19]}.123456789Z stdout F ",
    ],
)
def test_what_logcli_and_compose_put_before_a_line_is_taken_away(before: str) -> None:
    pasted = Pasted("log")
    pasted.feed(f"{before}{LINE}\n")
    (told,) = pasted.end().told
    assert (told.node, told.finding.code) == ("gpu-03", "xid.79")
