"""One cause is told once, and stands under the same metric from night to night."""

from dataclasses import replace

from fleet_runner.core.reliability.forecasts import Foresight, Kind
from fleet_runner.core.reliability.trends.analyse import Drift
from fleet_runner.core.reliability.trends.causes import once
from fleet_runner.core.reliability.trends.metrics import BY_NAME
from tests.core.reliability.trends.fleets import given, looked_at, noise


def seen(metric: str, since: str = "2026-11-03", kind: Kind = Kind.SHIFT, component: str = "GPU 0") -> Foresight:
    """Return a change of a part that rose from 60 to 70."""
    numbers = {"since_day": since, "step_days": 1, "before": 60.0, "now": 70.0, "score": 9.0, "parts": 1}
    return Foresight(kind, "gpu-01", component, f"{metric} changed", metric, "S1", numbers)


def test_a_gpu_that_cools_badly_is_told_once() -> None:
    """Warmer by so much, and nearer to its limit by as much: the first in the list of metrics stands for both."""
    values = noise(12)
    values[5, -20:] += 8
    margin, core = BY_NAME["gpu_margin"], BY_NAME["gpu_core"]
    metrics = (looked_at(replace(given(85 - values), metric=margin)), looked_at(replace(given(values), metric=core)))
    drift = Drift(metrics)
    (one,) = drift.foresights()
    assert (one.metric, one.numbers["also"]) == ("gpu_margin", ["gpu_core"])
    assert "; at the same time gpu_core (how warm a GPU is) went from 61.3 to 69.5 celsius" in one.sentence
    assert drift.to_json()["sentences"][1] == "1 change is predicted to matter (1 of kind shift)."
    before = next(each for each in metrics[1].found)
    (same,) = Drift(metrics, (before,)).foresights()
    assert (same.key, same.numbers["also"]) == (before.key, ["gpu_margin"])


def test_a_jump_and_a_drift_are_one_cause_and_scatter_is_another() -> None:
    """Their beginnings look alike."""
    found = [
        seen("gpu_core", kind=Kind.TREND), seen("gpu_margin"), seen("gpu_core", kind=Kind.SPREAD),
        seen("gpu_margin", kind=Kind.SPREAD),
    ]  # fmt: skip
    level, spread = once(found, BY_NAME)
    assert (level.kind, level.metric, level.numbers["also"]) == (Kind.SHIFT, "gpu_margin", ["gpu_core"])
    assert spread.sentence.endswith("gpu_core (how warm a GPU is) scatters by 70 celsius instead of 60")


def test_other_times_other_parts_and_other_kinds_of_part_are_other_causes() -> None:
    """Each is told."""
    found = [seen("gpu_margin"), seen("gpu_core", since="2026-11-09"), seen("gpu_core", component="GPU 1")]
    assert sorted(each.key for each in once(found, BY_NAME)) == sorted(each.key for each in found)
    node = [seen("event_log", component=""), seen("gpu_core", component="")]
    assert len(once(node, BY_NAME)) == 2
