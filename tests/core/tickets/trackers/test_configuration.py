"""The list of trackers: read, or refused with everything that is wrong."""

from typing import Any

import pytest

from fleet_runner.core.base.named_list import ListError
from fleet_runner.core.tickets.trackers.configuration import MOST, Configured, TrackerKind, read

GITHUB: dict[str, Any] = {"name": "halls", "kind": "github", "repository": "acme/halls", "token_file": "t"}
JIRA: dict[str, Any] = {
    "name": "ops", "kind": "jira", "url": "https://acme.atlassian.net/", "project": "OPS", "token_variable": "T",
    "user": "bot@acme.example", "priorities": {"2": "High", 3: "Low"}, "fields": {"components": [{"name": "DC"}]},
}  # fmt: skip


def wrong(*rows: Any) -> list[str]:
    """Where a list of trackers is wrong, with what was expected."""
    with pytest.raises(ListError) as raised:
        read({"trackers": list(rows)})
    assert str(raised.value)
    return [f"{'.'.join(map(str, each.path))}: {each.expected}" for each in raised.value.problems]


def test_nothing_configured_is_no_tracker() -> None:
    """Tickets stay here."""
    assert read(None) == read({}) == read({"trackers": []}) == ()


def test_each_kind_is_read_with_its_defaults() -> None:
    """Public hosts need no address."""
    gitlab = {"name": "lab", "kind": "gitlab", "project": "group/sub/halls", "token_file": "t"}
    desk = {"name": "desk", "kind": "servicenow", "url": "https://acme.service-now.com", "token_file": "t"}
    hook = {"name": "hook", "kind": "webhook", "url": "http://127.0.0.1:8000/x", "token_file": "t", "ca_file": "ca"}
    found = read({"trackers": [GITHUB, JIRA, gitlab, desk, hook]})
    assert [each.url for each in found] == [
        "https://api.github.com",
        "https://acme.atlassian.net",
        "https://gitlab.com",
        "https://acme.service-now.com",
        "http://127.0.0.1:8000/x",
    ]
    assert found[0] == Configured(
        "halls", TrackerKind.GITHUB, "https://api.github.com", token_file="t", project="acme/halls"
    )
    assert (found[1].user, found[1].priorities, found[1].type) == (
        "bot@acme.example",
        {"2": "High", "3": "Low"},
        "Task",
    )
    assert (found[3].project, found[3].done, found[3].again) == ("incident", "6", "2")
    assert found[4].ca_file == "ca"


def test_everything_that_is_wrong_is_told_at_once() -> None:
    """With where it stands and what was expected."""
    slips = wrong({"name": "No", "kind": "github", "repositry": "acme/halls"}, "x")
    assert "trackers.0.name: a name in small letters, digits and dashes" in slips
    assert "trackers.0.repository: it to be given" in slips
    assert "trackers.0: one of the two" in slips
    assert "trackers.0.repositry: 'repository'" in slips
    assert "trackers.1: a mapping" in slips


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"token_variable": "T"}, "trackers.0: one of the two"),
        ({"token_file": 7}, "trackers.0.token_file"),
        ({"url": "http://api.example"}, "trackers.0.url"),
        ({"url": "https://a:b@api.example"}, "trackers.0.url"),
        ({"url": "https://api.example/?x=1"}, "trackers.0.url"),
        ({"url": 7}, "trackers.0.url"),
        ({"repository": "acme"}, "trackers.0.repository"),
    ],
)
def test_a_wrong_value_is_named(changed: dict[str, Any], where: str) -> None:
    """A secret in an address, or one sent in plain, is refused."""
    assert any(slip.startswith(where) for slip in wrong(GITHUB | changed))


@pytest.mark.parametrize(
    "changed", [{"fields": ["a"]}, {"fields": {1: 2}}, {"priorities": {5: "Low"}}, {"priorities": 1}]
)
def test_a_jiras_fields_and_priorities_are_mappings(changed: dict[str, Any]) -> None:
    """Of names, and of 1 to 4."""
    assert wrong(JIRA | changed)


def test_an_unknown_kind_is_all_that_is_said_of_a_tracker() -> None:
    """What else it should have depends on it."""
    (slip,) = wrong(GITHUB | {"kind": "trello"})
    assert slip.startswith("trackers.0.kind: one of jira, servicenow, github, gitlab, webhook")


def test_names_are_unique_and_trackers_few() -> None:
    """A name is what its tickets remember."""
    assert "trackers.1.name: each name only once" in wrong(GITHUB, GITHUB)
    many = [GITHUB | {"name": f"t{number}"} for number in range(MOST + 1)]
    assert f"trackers: at most {MOST}" in wrong(*many)
