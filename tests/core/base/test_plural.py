"""Numbers with their nouns."""

from fleet_runner.core.base.plural import counted


def test_one_is_one_and_all_others_are_many() -> None:
    assert [counted(number, "node") for number in (0, 1, 2, 1_234)] == ["0 nodes", "1 node", "2 nodes", "1,234 nodes"]
    assert [counted(text, "was", "were") for text in ("1", "1.0", "1.2")] == ["1 was", "1.0 were", "1.2 were"]
