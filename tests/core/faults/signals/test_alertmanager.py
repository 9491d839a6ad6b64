"""Alertmanager's webhook."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.base.errors import EvidenceError
from fleet_runner.core.checks.verdicts import Remedy
from fleet_runner.core.faults.rules.effect import Following
from fleet_runner.core.faults.signals.alarm_engine import AlarmEngine
from fleet_runner.core.faults.signals.alertmanager import MOST_ALERTS, NODE, read
from fleet_runner.core.faults.signals.signal import Source
from tests.core.faults.signals.telling import NOW, Rules

ALERT: dict[str, Any] = {
    "status": "firing",
    "labels": {"alertname": "GpuEccErrors", "Hostname": "gpu-01", "gpu": "3", "severity": "critical"},
    "annotations": {"summary": "GPU 3 counts ECC errors", "description": "more words"},
    "startsAt": "2023-11-14T22:00:00.000Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "fingerprint": "1a30ba71cca2921f",
}


def post(*alerts: dict[str, Any], version: str = "4") -> str:
    """Return a post as Alertmanager sends it."""
    return json.dumps({"version": version, "status": "firing", "receiver": "fleet", "alerts": list(alerts)})


def test_an_alert_is_a_signal_of_now() -> None:
    """Its name is the code, its labels name node and part, its fingerprint with its beginning is the key."""
    (one,) = read(post(ALERT), NOW)
    assert (one.node, one.code, one.component) == ("gpu-01", "alert.GpuEccErrors", "GPU 3")
    assert (one.at, one.source, one.remedy, one.ended) == (NOW, Source.ALERT, Remedy.WATCH, False)
    assert one.key == "1a30ba71cca2921f@2023-11-14T22:00:00.000Z"
    assert one.message == "GpuEccErrors: GPU 3 counts ECC errors"
    assert one.began == NOW - 800


@pytest.mark.parametrize("told", [None, "0001-01-01T00:00:00Z", "soon", {}])
def test_an_alert_whose_beginning_nobody_knows_begins_when_it_is_told(told: object) -> None:
    """It is news like any."""
    (one,) = read(post(ALERT | {"startsAt": told}), NOW)
    assert one.began is None


def test_an_alert_stands_as_long_as_it_fires() -> None:
    """It is said again every few hours, and taken back; a post that was held up does not raise it again."""
    desk = AlarmEngine(Rules(Following(quiet=5 * 3600)))
    for hours in (0, 4, 8):
        desk.hear(read(post(ALERT), NOW + hours * 3600), NOW + hours * 3600)
        assert [each.cleared_at for each in desk.due(NOW + hours * 3600 + 60)] == [None] * (hours > 0)
    resolved = ALERT | {"status": "resolved", "endsAt": "2023-11-15T07:00:00Z"}
    (over,) = desk.hear(read(post(resolved), NOW + 9 * 3600), NOW + 9 * 3600).changed
    assert over.cleared_at == NOW + 9 * 3600
    assert desk.hear(read(post(ALERT), NOW + 9 * 3600 + 5), NOW + 9 * 3600 + 5).changed == ()


@pytest.mark.parametrize(
    ("labels", "node"),
    [
        ({"instance": "gpu-01:9400"}, "gpu-01"),
        ({"instance": "gpu-01.hall.example:9100"}, "gpu-01.hall.example"),
        ({"instance": "http://gpu-01:9400/metrics"}, "gpu-01"),
        ({"instance": "192.0.2.7:9400"}, "192.0.2.7"),
        ({"instance": "[2001:db8::7]:9400"}, "2001:db8::7"),
        ({"instance": "monitor:9090", "node": "gpu-02"}, "gpu-02"),
        ({"node": " ", "hostname": "gpu-03"}, "gpu-03"),
        ({"instance": "gpu-01"}, "gpu-01"),
        ({}, ""),
    ],
)
def test_a_node_is_named_by_the_first_label_that_may(labels: dict[str, str], node: str) -> None:
    """Without its port; an alert without any is nobody's, and counted as such."""
    (one,) = read(post({"labels": {"alertname": "A"} | labels}), NOW)
    assert one.node == node


@pytest.mark.parametrize(
    ("severity", "remedy"), [("critical", Remedy.WATCH), ("Warning", Remedy.RECORD), ("", Remedy.RECORD)]
)
def test_what_follows_is_mild_unless_the_rules_say_otherwise(severity: str, remedy: Remedy) -> None:
    """Anybody may call an alert critical."""
    (one,) = read(post({"labels": {"alertname": "A", "severity": severity}}), NOW)
    assert (one.remedy, one.component, one.message) == (remedy, "", "A")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is not JSON"),
        ("[]", "expected an object"),
        (post(ALERT, version="3"), "has the version '3', expected '4': Alertmanager's webhook"),
        ('{"version": "4"}', "the post's alerts: found None, expected a list of objects"),
        (post(*([{}] * (MOST_ALERTS + 1))), "5001 alerts, expected at most 5000; set max_alerts"),
    ],
)
def test_what_is_no_post_is_refused(text: str, told: str) -> None:
    """With what was expected."""
    with pytest.raises(EvidenceError, match=told):
        read(text, NOW)


def test_an_alert_without_a_name_is_none() -> None:
    """Nor one whose labels are no labels."""
    assert read(post({}, {"labels": []}, {"labels": {"alertname": 5}}), NOW) == ()


TEXTS = st.dictionaries(
    st.sampled_from((*NODE, "alertname", "gpu", "severity", "summary")), st.one_of(st.text(), st.integers())
)


@given(st.one_of(st.text(), st.lists(st.fixed_dictionaries({"labels": TEXTS}, optional={
    "annotations": TEXTS, "status": st.text(), "fingerprint": st.integers(),
})).map(lambda alerts: post(*alerts))))  # fmt: skip
def test_nothing_in_a_post_surprises_the_reader(text: str) -> None:
    """It is read or refused."""
    try:
        found = read(text, NOW)
    except EvidenceError:
        return
    assert all(each.code.startswith("alert.") and len(each.node) <= 255 for each in found)
