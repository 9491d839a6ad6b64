"""A site's own templates come first, cannot do harm, and are told by file and line when they are wrong."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_runner.core.base.errors import DocumentError, SettingsError
from fleet_runner.services.boot.documents import Documents
from fleet_runner.services.boot.templating import unused
from tests.services.boot import sites
from tests.services.boot.sites import known

Wrong = Callable[..., str]


@pytest.fixture
def wrong(tmp_path: Path) -> Wrong:
    """Render a site's template of user-data, and return what is said of it."""

    def render(text: str, **context: Any) -> str:
        folder = sites.templates(tmp_path / "templates", user_data=text)
        documents = Documents(sites.settings(boot_templates=folder, boot_join=sites.slurm(tmp_path)))
        with pytest.raises(DocumentError) as refused:
            asyncio.run(documents.user_data(known(**context)))
        return str(refused.value)

    return render


def test_a_sites_template_wins_and_that_of_a_device_type_before_it(tmp_path: Path) -> None:
    folder = sites.templates(tmp_path, meta_data="all: 1\n", **{"meta_data.hgx": "hgx: 1\n"})
    documents = Documents(sites.settings(boot_templates=folder))
    assert documents.meta_data(known()) == b"all: 1\n"
    assert documents.meta_data(known(device_type="hgx")) == b"hgx: 1\n"
    assert documents.vendor_data(known()) == Documents(sites.settings()).vendor_data(known())


def test_a_sites_template_may_build_on_the_built_in_one(tmp_path: Path) -> None:
    text = '{% include "built-in/vendor-data.yaml.j2" %}\ntimezone: {{ context.zone | tojson }}\n'
    documents = Documents(sites.settings(boot_templates=sites.templates(tmp_path, vendor_data=text)))
    found = yaml.safe_load(documents.vendor_data(known(zone="UTC")))
    assert found["timezone"] == "UTC"
    assert found["phone_home"]


def test_a_new_or_changed_template_counts_at_once(tmp_path: Path) -> None:
    documents = Documents(sites.settings(boot_templates=tmp_path))
    assert b"instance-id" in documents.meta_data(known())
    sites.templates(tmp_path, meta_data="new: 1\n")
    assert documents.meta_data(known()) == b"new: 1\n"
    sites.templates(tmp_path, meta_data="newer: 12\n")
    assert documents.meta_data(known()) == b"newer: 12\n"


def test_a_document_may_have_anchors_and_tags(tmp_path: Path) -> None:
    text = "a: &a {b: !!str 1}\nc: *a\n"
    documents = Documents(sites.settings(boot_templates=sites.templates(tmp_path, network_config=text)))
    assert documents.network_config(known()) == text.encode()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#cloud-config\nhostname: {{ node.name }}\n", ":2: a value is put in as it is"),
        ("#cloud-config\nhostname: {{ node.name | safe | tojson }}\n", ":2: No filter named 'safe'"),
        ("#cloud-config\nhostname: {{ node.nom | tojson }}\n", ":2: 'dict object' has no attribute 'nom'"),
        ("#cloud-config\nhostname: {{ [node.nom] | tojson }}\n", ":2: 'dict object' has no attribute 'nom'"),
        ("#cloud-config\nhostname: {{ nom }}\n", ":2: 'nom' is undefined"),
        ("#cloud-config\n{% if %}\n", ":2: Expected an expression, got 'end of statement block'"),
        ("#cloud-config\n{% for a in b %}\n", ": Unexpected end of template"),
        ("#cloud-config\n\nx: {{ 1 // 0 }}\n", ":3: a ZeroDivisionError in an expression"),
        ("#cloud-config\nx: {{ tojson | tojson }}\n", ":2: 'tojson' is undefined"),
        ("#cloud-config\nx: {{ node.keys | tojson }}\n", ":2: a TypeError in an expression"),
        ("#cloud-config\nx: {{ ''.__class__.__mro__ | tojson }}\n", ":2: access to attribute '__class__'"),
        ("#cloud-config\n{% set _ = node.update({}) %}\n", ":2: access to attribute 'update'"),
        ("#cloud-config\n{% for a in range(10**6) %}{% endfor %}\n", ":2: a OverflowError in an expression"),
        ('#cloud-config\n{% include "none.yaml.j2" %}\n', "there is no template 'none.yaml.j2'"),
        ('#cloud-config\n{% include "../secret.yaml.j2" %}\n', "there is no template '../secret.yaml.j2'"),
        ("hostname: a\n", "its first line is not #cloud-config"),
        ("#cloud-config\n- a\n", "is no mapping"),
        ("#cloud-config\n", "is no mapping"),
        ("#cloud-config\na: *b\n", "line 2 of the document is no YAML"),
        ("#cloud-config\na: !!python/object/apply:os.getcwd []\n", "line 2 of the document is no YAML"),
        ("#cloud-config\na: 1\nb: [\n", "line 4 of the document is no YAML"),
        ('#cloud-config\na: "{{ node.name | tojson }}"\n', "line 2 of the document is no YAML"),
        ("#cloud-config\na: \x07\n", "a character that YAML does not know"),
        ("#cloud-config\na: 1\n---\nb: 1\n", "line 3 of the document begins a second one"),
        ("#cloud-config\na: {x: [1]}\nb: [1]\nc: 1\na: 2\n", "line 5 of the document has the key 'a' of line 2"),
        ("#cloud-config\n{a: 1, a: 2}\n", "has the key 'a' of line 2 again"),
        ("#cloud-config\na: {{ ('x' * 1000001) | tojson }}\n", "it has 1000021 bytes"),
    ],
)  # fmt: skip
def test_a_wrong_template_is_told_by_its_line(wrong: Wrong, text: str, said: str) -> None:
    found = wrong(text)
    assert said in found
    assert found.startswith("user-data of gpu-01: ")


def test_the_file_is_named_where_the_error_is_even_if_another_one_includes_it(wrong: Wrong, tmp_path: Path) -> None:
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "_part.yaml.j2").write_text("\n\na: {{ nobody | tojson }}\n", "utf-8")
    said = wrong('#cloud-config\n{% include "_part.yaml.j2" %}\n')
    assert "/templates/_part.yaml.j2:3: 'nobody' is undefined" in said


def test_no_secret_is_in_what_is_said_of_a_wrong_template(wrong: Wrong) -> None:
    for expression in ("1 + join.slurm.munge_key", "join.slurm.munge_key | round", "join.slurm.munge_key()"):
        said = wrong(f"#cloud-config\na: {{{{ ({expression}) | tojson }}}}\n")
        assert "AQIDBAUG" not in said
    assert "AQIDBAUG" not in wrong("#cloud-config\na: [{{ join.slurm.munge_key | tojson }}\n")


def test_only_user_data_knows_of_secrets(tmp_path: Path) -> None:
    folder = sites.templates(tmp_path / "templates", vendor_data="#cloud-config\na: {{ join | tojson }}\n")
    documents = Documents(sites.settings(boot_templates=folder, boot_join=sites.slurm(tmp_path)))
    with pytest.raises(DocumentError, match="'join' is undefined"):
        documents.vendor_data(known())


def test_a_folder_that_is_not_there_is_an_error_and_not_an_empty_one(tmp_path: Path) -> None:
    documents = Documents(sites.settings(boot_templates=tmp_path / "templates"))
    with pytest.raises(SettingsError, match="which is not a folder"):
        documents.meta_data(known())
    sites.templates(tmp_path / "templates", meta_data="new: 1\n")
    assert documents.meta_data(known()) == b"new: 1\n"


def test_templates_that_nothing_uses_are_told(tmp_path: Path) -> None:
    names = {"user_data": "", "user_data.hgx": "", "user_data.hgy": "", "userdata": ""}
    folder = sites.templates(tmp_path, **names)
    (folder / "_part.yaml.j2").touch()
    found = unused(folder, ["user-data"], ["hgx"])
    assert [each.name for each in found] == ["user-data.hgy.yaml.j2", "userdata.yaml.j2"]
    assert unused(None, ["user-data"], []) == ()
