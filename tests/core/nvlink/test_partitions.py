"""Clusters and cliques, compared with each other and with the design."""

from hypothesis import given
from hypothesis import strategies as st

from fleet_runner.core.nvlink.partitions import Place, compare

HOME, AWAY = "9c6f5af3-53bf", "11111111-53bf"
TRAYS = [f"tray-{number}" for number in range(1, 19)]


def told(
    places: dict[str, Place], designed: dict[str, str] | None = None, count: int = 18
) -> list[tuple[str, str, str]]:
    """Code, component and message of each trouble."""
    return [(each.code, each.component, each.message) for each in compare(places, designed or {}, count)]


def rack(clique: str = "1", **changed: Place) -> dict[str, Place]:
    """18 trays in one clique, but for those that are named."""
    return {tray: Place(HOME, clique) for tray in TRAYS} | {
        name.replace("_", "-"): at for name, at in changed.items()
    }


@given(st.dictionaries(st.sampled_from(TRAYS), st.sampled_from("ab"), max_size=18))
def test_a_rack_as_designed_has_no_trouble(designed: dict[str, str]) -> None:
    """Whatever the cliques are called, and without a design whatever they are."""
    places = {tray: Place(HOME, {"a": "7", "b": "9"}.get(designed.get(tray, ""), "1")) for tray in TRAYS}
    assert told(places, designed) == []
    assert told(places) == []


def test_a_tray_in_another_cluster_is_named_once() -> None:
    """Its clique means nothing here."""
    (found,) = compare(rack(tray_3=Place(AWAY, "5")), dict.fromkeys(TRAYS, "a"), 18)
    assert (found.code, found.component, found.devices) == ("nvlink.cluster", "tray-3", ("tray-3",))
    assert found.message == (
        "tray-3 lies in NVLink cluster 11111111-53b, expected 9c6f5af3-53b as 17 trays of its domain"
    )


def test_two_halves_are_one_trouble_of_the_domain() -> None:
    """No tray is wrong more than another."""
    half = {tray: Place(HOME if at < 9 else AWAY, "1") for at, tray in enumerate(TRAYS)}
    ((code, component, message),) = told(half)
    assert (code, component) == ("nvlink.cluster", "clusters")
    assert message == "18 compute trays lie in 2 NVLink clusters (9 in 11111111-53b; 9 in 9c6f5af3-53b), expected one"
    assert told({}) == []


def test_a_tray_in_another_clique_than_its_partition_is_named() -> None:
    """By most of the partition, or by its number where the design gives one."""
    designed = dict.fromkeys(TRAYS, "a")
    ((code, component, message),) = told(rack(tray_3=Place(HOME, "2")), designed)
    assert (code, component) == ("nvlink.partition", "tray-3")
    assert message == "tray-3 lies in clique 2, expected 1: partition a of the design"
    wrong = told(rack("32766"), dict.fromkeys(TRAYS[:2], "5"))
    assert [(component, message) for _, component, message in wrong] == [
        ("partition 5", "all 2 trays of partition 5 lie in clique 32766, expected 5")
    ]
    wrong = told(rack("5", tray_2=Place(HOME, "6")), dict.fromkeys(TRAYS[:2], "5"))
    assert [component for _, component, _ in wrong] == ["tray-2"]


def test_what_half_of_a_domain_says_blames_no_single_tray() -> None:
    """Three of 18 trays were read, and two of them may be the ones that lie elsewhere; so in a partition."""
    three = {"tray-1": Place(HOME, "1"), "tray-2": Place(AWAY, "1"), "tray-3": Place(AWAY, "1")}
    assert [component for _, component, _ in told(three)] == ["clusters"]
    assert [component for _, component, _ in told(three, count=3)] == ["tray-1"]
    parted = {"tray-1": Place(HOME, "1"), "tray-2": Place(HOME, "2"), "tray-3": Place(HOME, "2")}
    assert [component for _, component, _ in told(parted, dict.fromkeys(TRAYS, "a"))] == ["partition a"]
    assert [component for _, component, _ in told(parted, dict.fromkeys(TRAYS[:3], "a"))] == ["tray-1"]


def test_a_partition_by_number_is_a_number() -> None:
    """However many zeros stand before it."""
    assert told(rack("1"), dict.fromkeys(TRAYS, "01")) == []
    assert told(rack("0"), dict.fromkeys(TRAYS, "00")) == []


def test_partitions_that_are_not_parted_or_torn_are_one_trouble_each() -> None:
    """Two names in one clique; one name in two, half each."""
    halves = {tray: "a" if at < 9 else "b" for at, tray in enumerate(TRAYS)}
    ((_, component, message),) = told(rack(), halves)
    assert (component, message) == ("partitions a, b", "partitions a, b are one clique (1), expected one for each")
    torn = told(rack(tray_1=Place(HOME, "2")), {"tray-1": "a", "tray-2": "a"})
    assert torn == [
        (
            "nvlink.partition",
            "partition a",
            "2 trays of partition a lie in 2 cliques (1 in 1; 1 in 2), expected one",
        )
    ]
