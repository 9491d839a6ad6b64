"""A foresight is one row from night to night, and comes back from JSON as it went."""

import json

from fleet_runner.core.reliability.forecasts import Foresight, Kind

SEEN = Foresight(
    Kind.SHIFT, "gpu-01", "GPU 0000:1b:00.0", "GPU 3 is 6 C warmer.", "gpu_margin", "1650", {"shift": 6.0, "since": 3}
)


def test_it_comes_back_from_json() -> None:
    assert Foresight.from_json(json.loads(json.dumps(SEEN.to_json()))) == SEEN


def test_it_is_known_again_by_what_it_is_about_and_not_by_its_numbers() -> None:
    later = Foresight(SEEN.kind, SEEN.node, SEEN.component, "GPU 3 is 7 C warmer.", SEEN.metric, SEEN.serial)
    assert later.key == SEEN.key
    assert SEEN.code == "foresight.shift"
    assert Foresight(Kind.TREND, SEEN.node, SEEN.component, "", SEEN.metric, SEEN.serial).key != SEEN.key
