"""cloud-init's documents hold what they should, and nothing in the source of truth can change their shape."""

import asyncio
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet_runner.core.base.errors import DocumentError, JoinError, SettingsError
from fleet_runner.core.boot.facts import Facts
from fleet_runner.services.boot.documents import Documents
from fleet_runner.services.boot.values import tojson
from tests.examples import examples
from tests.services.boot import sites
from tests.services.boot.sites import known

DOCUMENTS = Documents(sites.settings())
HOSTILE = ['"', "a: b", "x\n- y", "{{ 7 * 7 }}", "#no", "\u2028", "\x85", "😀", "\ud800", "\x7f", "</a>", "!!bool y"]
TEXTS = st.sampled_from(HOSTILE) | st.text()
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS, lambda deep: st.lists(deep) | st.dictionaries(TEXTS, deep)
)


def read(body: bytes) -> Any:
    return yaml.safe_load(body)


def user_data(documents: Documents, facts: Facts) -> Any:
    return read(asyncio.run(documents.user_data(facts)).body)


def entries(document: Any) -> dict[str, Any]:
    return {entry["path"]: entry for entry in document["write_files"]}


def test_meta_data_names_the_boot_and_the_node() -> None:
    assert read(DOCUMENTS.meta_data(known())) == {"instance-id": "gpu-01-17", "local-hostname": "gpu-01"}


def test_vendor_data_lets_root_in_by_key_alone_and_tells_where_to_phone_home(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"# ours\n\n{sites.KEY}\n", "utf-8")
    found = read(Documents(sites.settings(boot_authorized_keys=tmp_path / "keys")).vendor_data(known()))
    assert found["users"] == [{"name": "root", "lock_passwd": True, "ssh_authorized_keys": [sites.KEY]}]
    assert found["disable_root"] is False
    assert found["ssh_pwauth"] is False
    assert found["phone_home"]["url"] == "http://10.0.0.1:8480/phone-home/17-0123456789abcdef0123456789abcdef"


def test_another_user_than_root_may_become_root() -> None:
    found = read(DOCUMENTS.vendor_data(known(ansible_user="fleet")))
    assert found["users"][0]["name"] == "fleet"
    assert found["users"][0]["sudo"] == "ALL=(ALL) NOPASSWD:ALL"
    assert found["disable_root"] is True


def test_network_config_is_that_of_the_booting_interface() -> None:
    assert read(DOCUMENTS.network_config(known())) == known().network


def test_user_data_of_a_node_that_joins_nothing_is_an_empty_cloud_config() -> None:
    filled = asyncio.run(DOCUMENTS.user_data(known()))
    assert filled.body == b"#cloud-config\n{}\n"
    assert filled.revoke is None


def test_user_data_has_the_munge_key_and_where_slurm_keeps_its_configuration(tmp_path: Path) -> None:
    found = entries(user_data(Documents(sites.settings(boot_join=sites.slurm(tmp_path))), known()))
    key = found["/etc/munge/munge.key"]
    assert b64decode(key["content"]) == sites.MUNGE_KEY
    assert (key["owner"], key["permissions"], key["encoding"]) == ("munge:munge", "0400", "b64")
    assert found["/etc/default/slurmd"]["content"] == 'SLURMD_OPTIONS="--conf-server ctl-1:6817,10.0.0.2:7000"\n'


def test_nodes_that_join_the_same_way_share_user_data_until_the_key_changes(tmp_path: Path) -> None:
    documents = Documents(sites.settings(boot_join=sites.slurm(tmp_path)))
    first, second, none = (
        asyncio.run(documents.user_data(each)).body for each in (known(), known("gpu-02"), known(boot_join="none"))
    )
    assert first is second
    assert none != first
    (tmp_path / "munge.key").chmod(0o600)
    (tmp_path / "munge.key").write_bytes(b"k" * 32)
    changed = entries(user_data(documents, known()))["/etc/munge/munge.key"]
    assert b64decode(changed["content"]) == b"k" * 32


def test_a_sites_user_data_is_each_nodes_own(tmp_path: Path) -> None:
    text = "#cloud-config\nhostname: {{ node.name | tojson }}\n"
    for name in ("user_data", "user_data.sku"):
        folder = sites.templates(tmp_path / name, **{name: text})
        documents = Documents(sites.settings(boot_templates=folder, boot_join=sites.slurm(tmp_path)))
        assert [user_data(documents, known(each))["hostname"] for each in ("gpu-01", "gpu-02")] == [
            "gpu-01",
            "gpu-02",
        ]


def test_a_preview_has_the_same_shape_and_no_secret(tmp_path: Path) -> None:
    documents = Documents(sites.settings(boot_join=sites.slurm(tmp_path)))
    shown, real = read(documents.preview(known())), user_data(documents, known())
    assert shown.keys() == real.keys()
    assert entries(shown).keys() == entries(real).keys()
    assert b64decode(entries(shown)["/etc/munge/munge.key"]["content"]) == b"hidden"


def test_a_changed_file_counts_at_once(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("", "utf-8")
    documents = Documents(sites.settings(boot_authorized_keys=keys, boot_join=sites.slurm(tmp_path)))
    assert read(documents.vendor_data(known()))["users"] == [{"name": "root", "lock_passwd": True}]
    keys.write_text(sites.KEY, "utf-8")
    assert read(documents.vendor_data(known()))["users"][0]["ssh_authorized_keys"] == [sites.KEY]
    (tmp_path / "join.yml").unlink()
    with pytest.raises(SettingsError, match="No such file"):
        asyncio.run(documents.user_data(known()))


@given(TEXTS, TEXTS)
@settings(max_examples=examples(50))
def test_no_value_of_the_source_of_truth_changes_a_documents_shape(name: str, user: str) -> None:
    facts = known(name, ansible_user=user)
    meta, vendor = read(DOCUMENTS.meta_data(facts)), read(DOCUMENTS.vendor_data(facts))
    assert meta["local-hostname"] == sound(name)
    assert vendor.keys() == read(DOCUMENTS.vendor_data(known())).keys()
    assert vendor["users"][0]["name"] == sound(user)


@given(PLAIN)
@settings(max_examples=examples(50))
def test_json_means_the_same_in_yaml(value: Any) -> None:
    assert read(tojson(value).encode()) == sound(value)


def sound(value: Any) -> Any:
    """Return a value with every half of a surrogate pair replaced: it is no text that a file could hold."""
    match value:
        case str():
            return "".join("\ufffd" if "\ud800" <= letter <= "\udfff" else letter for letter in value)
        case dict():
            return {sound(key): sound(each) for key, each in value.items()}
        case list():
            return [sound(each) for each in value]
        case _:
            return value


def test_which_cluster_a_node_joins_is_said_by_its_context(tmp_path: Path) -> None:
    documents = Documents(sites.settings(boot_join=sites.slurm(tmp_path)))
    assert user_data(documents, known(boot_join="none")) == {}
    with pytest.raises(JoinError, match="user-data of gpu-01: boot_join in its context is 'kubernetes'"):
        user_data(documents, known(boot_join="kubernetes"))
    with pytest.raises(JoinError, match="the setting boot_join, which is not set, knows none"):
        user_data(DOCUMENTS, known(boot_join=["slurm"]))


@pytest.mark.parametrize("mode", [0o440, 0o604])
def test_a_key_that_others_may_read_is_not_given(tmp_path: Path, mode: int) -> None:
    documents = Documents(sites.settings(boot_join=sites.slurm(tmp_path)))
    (tmp_path / "munge.key").chmod(mode)
    with pytest.raises(SettingsError, match="chmod 600"):
        user_data(documents, known())


@pytest.mark.parametrize("size", [0, 31, 1025, 70_000])
def test_a_key_that_munge_would_not_take_is_not_given(tmp_path: Path, size: int) -> None:
    documents = Documents(sites.settings(boot_join=sites.slurm(tmp_path)))
    (tmp_path / "munge.key").chmod(0o600)
    (tmp_path / "munge.key").write_bytes(b"k" * size)
    with pytest.raises(SettingsError, match="expected a MUNGE key"):
        user_data(documents, known())


def test_a_private_key_among_the_public_ones_is_refused_and_not_quoted(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"{sites.KEY}\nb3BlbnNzaC1rZXktdjEAAAAAsecretsecretsecret\n", "utf-8")
    with pytest.raises(SettingsError, match=r"keys:2: found 'b3BlbnNzaC1rZXkt'") as refused:
        Documents(sites.settings(boot_authorized_keys=tmp_path / "keys")).vendor_data(known())
    assert "secret" not in str(refused.value)


def test_keys_that_cannot_be_read_are_an_error_and_not_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing", "binary"):
        with pytest.raises(SettingsError, match="expected public ssh keys"):
            Documents(sites.settings(boot_authorized_keys=tmp_path / name)).vendor_data(known())


def test_one_nodes_error_is_that_nodes_alone(tmp_path: Path) -> None:
    wrong = "{% if node.name == 'gpu-02' %}\nb: {{ nobody | tojson }}\n{% endif %}\n"
    documents = Documents(sites.settings(boot_templates=sites.templates(tmp_path, meta_data=f"a: 1\n{wrong}")))
    assert read(documents.meta_data(known())) == {"a": 1}
    with pytest.raises(DocumentError, match=r"^meta-data of gpu-02: \S+/meta-data.yaml.j2:3: 'nobody' is undefined$"):
        documents.meta_data(known("gpu-02"))
