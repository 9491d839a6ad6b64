"""Who else has a node: by its marks, each of them, and by nothing that looks like one."""

from typing import Any

import pytest

from fleet_runner.core.lifecycle.remediators import (
    ANNOTATION,
    LABEL,
    MARKS,
    NVSENTINEL_STATE,
    OWNED_BY,
    TAINT,
    Mark,
    owner,
)


def marked(mark: Mark, value: str = "x") -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return a node's metadata and taints with one mark."""
    meta = {LABEL: "labels", ANNOTATION: "annotations"}
    if mark.kind == TAINT:
        return {}, [{"key": "team", "effect": "NoSchedule"}, {"key": mark.key, "effect": "NoSchedule"}]
    return {meta[mark.kind]: {"a": "b", mark.key: value}}, []


@pytest.mark.parametrize("mark", MARKS, ids=lambda mark: mark.key)
def test_each_mark_names_its_owner_and_is_told(mark: Mark) -> None:
    assert owner(*marked(mark)) == f"{mark.owner or 'x'} ({mark.kind} {mark.key})"


def test_anything_else_takes_a_node_by_its_name() -> None:
    mark = next(each for each in MARKS if each.key == OWNED_BY)
    assert owner(*marked(mark, "a hook of Cluster API")).startswith("a hook of Cluster API (")
    assert owner(*marked(mark, "")).startswith("somebody else (")
    long = owner(*marked(mark, "\x1b[31m\n" * 500))
    assert len(long) < 120
    assert long.isprintable()


def test_a_node_that_is_deleted_is_whoevers_deletes_it() -> None:
    assert owner({"deletionTimestamp": "2026-01-01T00:00:00Z"}, []) == "whoever deletes it from the cluster"


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"labels": None, "annotations": []},
        {"labels": {"quarantineHealthEvent": "x"}, "annotations": {"dgxc.nvidia.com/nvsentinel-state": "x"}},
        {"annotations": {"cluster.x-k8s.io/machine": "a machine of Cluster API that nothing is wrong with"}},
    ],
)
def test_a_node_without_a_mark_is_nobodys(meta: dict[str, Any]) -> None:
    assert owner(meta, [{"key": "nvidia.com/gpu"}]) == ""


@pytest.mark.parametrize(
    ("state", "notes", "said"),
    [
        ("quarantined", {}, f"NVSentinel (label {NVSENTINEL_STATE})"),
        ("drain-succeeded", {}, f"NVSentinel (label {NVSENTINEL_STATE})"),
        ("drain-failed", {}, f"NVSentinel, which has given up: drain-failed (label {NVSENTINEL_STATE})"),
        ("remediation-failed", {}, f"NVSentinel, which has given up: remediation-failed (label {NVSENTINEL_STATE})"),
        ("remediation-succeeded", {"quarantineHealthEvent": "{}"}, ""),
        ("remediation-succeeded", {OWNED_BY: "kim"}, f"kim (annotation {OWNED_BY})"),
        (None, {}, f"NVSentinel (label {NVSENTINEL_STATE})"),
    ],
)
def test_nvsentinel_has_a_node_until_it_has_done_its_part(state: Any, notes: dict[str, str], said: str) -> None:
    """What it has given up is still its own, and said to be given up: a person is to look."""
    assert owner({"labels": {NVSENTINEL_STATE: state}, "annotations": notes}, []) == said
