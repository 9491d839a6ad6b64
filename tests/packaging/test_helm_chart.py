"""The chart of the rights in a Kubernetes cluster, rendered as far as it uses Helm's language, which is little."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "packaging" / "helm" / "fleet-runner-rbac"
EXAMPLE = ROOT / "docs" / "examples" / "kubernetes-rbac.yml"

_BLOCK = re.compile(r"\{\{ if \.Values\.(\w+) \}\}(.*?)\{\{ end \}\}", re.DOTALL)
_VALUE = re.compile(r"\{\{ \.Values\.(\w+) \}\}")


def rendered(namespace: str = "kube-system", **changes: Any) -> list[Any]:
    """Return the objects of the chart; whatever of Helm's language this does not know is an error."""
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8")) | changes
    text = (CHART / "templates" / "rbac.yaml").read_text(encoding="utf-8")
    text = _BLOCK.sub(lambda found: found[2] if values[found[1]] else "", text)
    text = _VALUE.sub(lambda found: str(values[found[1]]), text).replace("{{ .Release.Namespace }}", namespace)
    assert "{{" not in text
    return list(yaml.safe_load_all(text))


def rules(objects: list[Any], kind: str = "ClusterRole") -> set[str]:
    """Return what a role allows, as RESOURCE:VERB."""
    (role,) = (each for each in objects if each["kind"] == kind)
    return {f"{what}:{verb}" for rule in role["rules"] for what in rule["resources"] for verb in rule["verbs"]}


def test_the_chart_gives_what_the_manifest_gives() -> None:
    """Object by object."""
    assert rendered() == list(yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("value", "gone"), [("evictions", {"pods/eviction:create"}), ("conditions", {"nodes/status:patch"})]
)
def test_a_right_that_is_not_wanted_is_not_given(value: str, gone: set[str]) -> None:
    assert rules(rendered()) - rules(rendered(**{value: False})) == gone


def test_without_events_there_is_no_right_in_a_namespace() -> None:
    kinds = [each["kind"] for each in rendered(events=False)]
    assert kinds == ["ServiceAccount", "ClusterRole", "ClusterRoleBinding"]


def test_a_name_and_a_namespace_of_ones_own_are_used_everywhere() -> None:
    found = rendered("fleet", name="ours")
    assert {each["metadata"]["name"] for each in found} == {"ours", "ours-events"}
    subjects = [subject for each in found for subject in each.get("subjects", ())]
    assert {(each["name"], each["namespace"]) for each in subjects} == {("ours", "fleet")}
    assert {each["metadata"]["namespace"] for each in found if "namespace" in each["metadata"]} == {
        "fleet",
        "default",
    }


def test_nothing_is_given_by_a_wildcard() -> None:
    for each in rendered():
        for rule in each.get("rules", ()):
            assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


def test_the_chart_is_one_of_helms() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["apiVersion"], chart["name"]) == ("v2", CHART.name)
