"""The chart of the rights in a Kubernetes cluster, rendered as far as it uses Helm's language, which is little."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "packaging" / "helm" / "fleet-runner-rbac"
REMEDIATIONS = ROOT / "docs" / "examples" / "kubernetes-remediations.yml"
EXAMPLE = ROOT / "docs" / "examples" / "kubernetes-rbac.yml"

_BLOCK = re.compile(r"\{\{ if \.Values\.(\w+) \}\}(.*?)\{\{ end \}\}", re.DOTALL)
_VALUE = re.compile(r"\{\{ \.Values\.(\w+) \}\}")


def rendered(namespace: str = "kube-system", template: str = "rbac", **changes: Any) -> list[Any]:
    """Return the objects of the chart; whatever of Helm's language this does not know is an error."""
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8")) | changes
    text = (CHART / "templates" / f"{template}.yaml").read_text(encoding="utf-8")
    text = _BLOCK.sub(lambda found: found[2] if values[found[1]] else "", text)
    text = _VALUE.sub(lambda found: str(values[found[1]]), text).replace("{{ .Release.Namespace }}", namespace)
    assert "{{" not in text
    return [each for each in yaml.safe_load_all(text) if each is not None]


def rules(objects: list[Any], kind: str = "ClusterRole") -> set[str]:
    """Return what a role allows, as RESOURCE:VERB."""
    (role,) = (each for each in objects if each["kind"] == kind)
    return {f"{what}:{verb}" for rule in role["rules"] for what in rule["resources"] for verb in rule["verbs"]}


def test_the_chart_gives_what_the_manifest_gives() -> None:
    """Object by object."""
    assert rendered() == list(yaml.safe_load_all(EXAMPLE.read_text(encoding="utf-8")))


def test_the_chart_gives_what_the_manifest_of_remediations_gives_and_only_where_it_is_wanted() -> None:
    """The namespace is the operator's to make."""
    found = list(yaml.safe_load_all(REMEDIATIONS.read_text(encoding="utf-8")))
    assert found[0]["kind"] == "Namespace"
    assert rendered(template="remediations", remediations="fleet-runner") == found[1:]
    assert rendered(template="remediations") == []


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
    for each in (*rendered(), *rendered(template="remediations", remediations="x")):
        for rule in each.get("rules", ()):
            assert "*" not in {*rule["apiGroups"], *rule["resources"], *rule["verbs"]}


def test_the_chart_is_one_of_helms() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert (chart["apiVersion"], chart["name"]) == ("v2", CHART.name)
