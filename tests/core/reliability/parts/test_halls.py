"""Places and parts that were made bad are found, and chance is blamed for the rest."""

from fleet_runner.core.reliability.parts.repeat_failures import analyse
from tests.core.reliability.parts.made import hall


def test_bad_places_and_parts_are_found() -> None:
    slots, right_slots, parts, right_parts = 0, 0, 0, 0
    for seed in range(4):
        given, bad, sick = hall(seed, slots=3, parts=3)
        found = analyse(given)
        places = {f"{each.stay.node} {each.stay.component}" for each in found.slots}
        serials = {each.stay.serial for each in found.parts}
        slots, right_slots = slots + len(places), right_slots + len(places & bad)
        parts, right_parts = parts + len(serials), right_parts + len(serials & sick)
    assert right_slots >= 10
    assert right_parts >= 4
    assert slots - right_slots <= 3
    assert parts - right_parts <= 1


def test_chance_alone_is_hardly_ever_blamed() -> None:
    halls = (analyse(hall(seed, 0, 0)[0]) for seed in range(6))
    assert sum(len(found.slots) + len(found.parts) for found in halls) <= 1
