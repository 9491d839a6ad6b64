"""What cloud-init would be given can be seen and checked before any node boots."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.boot import sites
from tests.boot.api_server import api_server
from tests.cli.conftest import Type


@pytest.fixture
def site(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write fleet.toml beside the example site."""

    def write(**settings: Path | str) -> None:
        lines = [f'{name} = "{value}"\n' for name, value in settings.items()]
        source = project / "docs" / "examples" / "site"
        (tmp_path / "fleet.toml").write_text(f'source = "{source}"\n{"".join(lines)}', "utf-8")

    (tmp_path / "keys").write_text(sites.KEY, "utf-8")
    write(boot_url="http://10.0.0.1:8480", boot_authorized_keys="keys")
    return write


def test_every_document_of_a_node_is_shown(typed: Type, site: Callable[..., None]) -> None:
    said = typed("boot", "render", "gpu-01")
    assert said.code == 0
    assert said.err == ""
    for text in ("meta-data", "vendor-data", "network-config", "user-data", "02:00:00:00:01:00", "/phone-home/"):
        assert text in said.out


def test_one_document_is_as_it_is_sent(typed: Type, site: Callable[..., None]) -> None:
    said = typed("boot", "render", "gpu-01", "--document", "vendor-data")
    assert said.out.startswith("#cloud-config\n")
    assert yaml.safe_load(said.out)["users"][0]["ssh_authorized_keys"] == [sites.KEY]


def test_secrets_are_hidden(typed: Type, site: Callable[..., None], tmp_path: Path) -> None:
    site(boot_join=sites.slurm(tmp_path), boot_url="http://10.0.0.1:8480")
    (tmp_path / "munge.key").unlink()
    said = typed("boot", "render", "gpu-01", "--document", "user-data")
    assert yaml.safe_load(said.out)["write_files"][0]["content"] == "aGlkZGVu"


@pytest.mark.parametrize("name", ["gpu-99", "leaf-1"])
def test_what_is_no_node_has_no_documents(typed: Type, site: Callable[..., None], name: str) -> None:
    said = typed("boot", "render", name)
    assert said.code == 2
    assert f"no node '{name}'" in said.err


def test_all_is_well_with_the_built_in_templates(typed: Type, site: Callable[..., None]) -> None:
    said = typed("boot", "check")
    assert said.code == 0
    assert said.out == "2 nodes: every document is as cloud-init expects it\n"


def test_missing_settings_are_warned_of(typed: Type, site: Callable[..., None]) -> None:
    site()
    said = typed("boot", "check")
    assert said.code == 0
    assert "boot_url is not set" in said.err
    assert "boot_authorized_keys is not set" in said.err


def test_what_is_wrong_is_told_once(typed: Type, site: Callable[..., None], tmp_path: Path) -> None:
    wrong = "#cloud-config\na: {{ nobody | tojson }}\n"
    site(boot_templates=sites.templates(tmp_path / "templates", user_data=wrong, metadata=""))
    said = typed("boot", "check")
    assert said.code == 1
    unused, wrong = said.out.splitlines()
    assert "metadata.yaml.j2: no document and no device type is called so" in unused
    assert wrong.startswith("user-data of gpu-01: ")
    assert wrong.endswith(":2: 'nobody' is undefined (and 1 other)")


def test_the_cluster_is_asked_whether_it_would_mint(typed: Type, site: Callable[..., None], tmp_path: Path) -> None:
    certificate = sites.certificate(tmp_path, "cluster")
    with api_server(certificate) as api:
        site(boot_join=sites.kubernetes(tmp_path, api.url, certificate))
        assert typed("boot", "check", "--ask-cluster").code == 0
        assert api.asked == ["POST /api/v1/namespaces/kube-system/secrets?dryRun=All"]
        assert api.secrets == {}
        api.answers = [403]
        said = typed("boot", "check", "--ask-cluster")
    assert said.code == 1
    assert "let the service account create and delete secrets" in said.out


def test_without_a_cluster_none_can_be_asked(typed: Type, site: Callable[..., None]) -> None:
    assert "boot_join names no Kubernetes cluster" in typed("boot", "check", "--ask-cluster").out
