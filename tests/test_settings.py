"""Settings come from arguments, FLEET_ variables and a file, in that order, and an unusable one is named."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from fleet_runner import settings
from fleet_runner.adapters.plays import engine
from fleet_runner.core.base.errors import SettingsError

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Put a fleet.toml into a folder of the test's own and make it the one in use."""
    for name in settings.Settings.model_fields:
        monkeypatch.delenv(f"FLEET_{name.upper()}", raising=False)
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "etc" / "fleet.toml"
    file.parent.mkdir()

    def put(text: str) -> Path:
        file.write_text(text, encoding="utf-8")
        monkeypatch.setenv("FLEET_CONFIG", str(file))
        return file

    monkeypatch.delenv("FLEET_CONFIG", raising=False)
    return put


def test_without_a_file_every_setting_has_a_default(write: Write) -> None:
    found = settings.load()
    assert found.project_dir == settings.PROJECT_DIR
    assert found.state_dir.is_absolute()
    assert "~" not in str(found.state_dir)
    assert found.state_dir == Path.cwd() / "state"
    assert found.store_url == f"sqlite:///{found.state_dir}/fleet.db"
    assert found.inventory_file == settings.PROJECT_DIR / "inventory" / "fleet.yml"
    assert found.batches_dir == found.state_dir / "batches"


def test_kubeconfigs_of_clusters_are_relative_to_the_file_and_their_names_are_words(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(
        'kubeconfig = "k"\nkubernetes_remediations_kubeconfig = "m"\n'
        'kubernetes_clusters = { east = "kube/east", west = "/w" }\n'
    )
    here = file.resolve().parent
    found = settings.load()
    assert found.kubernetes_remediations_kubeconfig == here / "m"
    assert found.kubeconfigs == {"": here / "k", "east": here / "kube" / "east", "west": Path("/w")}
    monkeypatch.setenv("FLEET_KUBERNETES_CLUSTERS", '{"west": "/other"}')
    assert settings.load().kubeconfigs["west"] == Path("/other")
    for name in ("", "East", "a b", "-", "a/b", "a:b"):
        with pytest.raises(SettingsError, match="kubernetes_clusters"):
            settings.load(kubernetes_clusters={name: Path("x")})


def test_relative_paths_in_a_file_are_relative_to_the_file(write: Write) -> None:
    file = write('source = "site"\nstate_dir = "state"\ninventory = "hosts.yml"\n')
    found = settings.load()
    assert found.source == str(file.parent / "site")
    assert found.state_dir == file.parent / "state"
    assert found.inventory_file == file.parent / "hosts.yml"


def test_playbooks_beside_the_file_go_before_the_projects(write: Write) -> None:
    file = write('source = "site"\n')
    (file.parent / "playbooks").mkdir()
    (file.parent / "playbooks" / "verify.yml").touch()
    found = settings.load()
    assert found.places == (file.parent, settings.PROJECT_DIR)
    assert found.playbook("verify") == file.parent / "playbooks" / "verify.yml"
    assert found.playbook("drain") == settings.PROJECT_DIR / "playbooks" / "drain.yml"
    assert found.playbook("nonsense") == settings.PROJECT_DIR / "playbooks" / "nonsense.yml"


def test_without_a_file_a_folder_that_happens_to_have_playbooks_counts_for_nothing(write: Write) -> None:
    Path("playbooks").mkdir()
    Path("playbooks/verify.yml").touch()
    assert settings.load().places == (settings.PROJECT_DIR,)


def test_each_settings_file_has_a_store_of_its_own(write: Write) -> None:
    file = write('source = "site"\n')
    assert settings.load().state_dir == file.parent / "state"


def test_a_store_where_earlier_releases_kept_it_is_neither_taken_nor_passed_by(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, earlier = write('source = "site"\n'), tmp_path / ".local" / "state" / "fleet-runner"
    monkeypatch.setenv("HOME", str(tmp_path))
    earlier.mkdir(parents=True)
    (earlier / "fleet.db").touch()
    with pytest.raises(
        SettingsError, match=re.escape(f'write state_dir = "{earlier}" into {file}; to begin another')
    ):
        settings.load()
    assert settings.load(database_url="postgresql://").database_url
    (file.parent / "state").mkdir()
    assert settings.load().state_dir == file.parent / "state"
    write(f'state_dir = "{earlier}"\n')
    assert settings.load().state_dir == earlier


def test_a_fleet_toml_in_the_working_directory_is_found(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write("forks = 3\n")
    monkeypatch.delenv("FLEET_CONFIG")
    monkeypatch.chdir(file.parent)
    assert settings.load().forks == 3


def test_a_source_with_an_address_stays_one(write: Write) -> None:
    write('source = "https://netbox.example"\ndatabase_url = "postgresql+psycopg:///fleet"\n')
    found = settings.load()
    assert found.source == "https://netbox.example"
    assert found.store_url == "postgresql+psycopg:///fleet"


def test_a_variable_wins_over_the_file_and_an_argument_over_both(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("forks = 3\n")
    monkeypatch.setenv("FLEET_FORKS", "4")
    assert settings.load().forks == 4
    assert settings.load(forks=5).forks == 5


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("forks = 0\n", "'forks'"),
        ('forks = "many"\n', "'forks'"),
        ("max_out_share = 1.5\n", "'max_out_share'"),
        ("forkz = 3\n", "'forkz'"),
        ("forks = \n", "fleet.toml"),
    ],
)
def test_an_unusable_setting_is_named_with_its_file(write: Write, text: str, named: str) -> None:
    file = write(text)
    with pytest.raises(SettingsError) as caught:
        settings.load()
    assert named in str(caught.value)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("cabling_schedule", "every 0s", "'0s' is no span of time"),
        ("passive_schedule", "never", "it must not be never"),
        ("source_schedule", "17 3 * * *; Mars/Olympus", "'Mars/Olympus' is no time zone"),
        ("retry_seconds", "inf", "above 0"),
        ("retry_seconds", "0", "above 0"),
        ("tick_seconds", "nan", "above 0"),
        ("cabling_confirm_seconds", "inf", "at least 0"),
        ("max_out_share", "1.5", "a number above 0 and at most 1"),
        ("forks", "many", "a whole number at least 1"),
        ("bmc_insecure", "perhaps", "boolean"),
    ],
)
def test_an_unusable_variable_is_named_with_what_is_expected(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, value: str, words: str
) -> None:
    """Not the file, which says nothing of it; found in the file, its key is named."""
    file = write("forks = 3\n")
    monkeypatch.setenv(f"FLEET_{name.upper()}", value)
    with pytest.raises(SettingsError) as caught:
        settings.load()
    said = str(caught.value)
    assert said.startswith(f"variable FLEET_{name.upper()}: ")
    assert words in said
    assert said.endswith(f"found '{value}'")
    assert str(file) not in said


def test_a_pause_without_an_end_is_refused_in_a_file_and_as_an_argument(write: Write) -> None:
    """Where it comes from is said."""
    file = write("retry_seconds = inf\n")
    with pytest.raises(SettingsError, match=rf"^setting 'retry_seconds' \(from {file}\): .*found inf$"):
        settings.load()
    file.write_text("")
    with pytest.raises(SettingsError, match=r"^setting 'retry_seconds': .*\(expected a number above 0\), found 0$"):
        settings.load(retry_seconds=0)


def test_a_key_that_is_no_setting_is_answered_with_the_nearest_one(write: Write) -> None:
    """Or with none, where nothing is near."""
    file = write("cabling_sched = 3\n")
    with pytest.raises(SettingsError, match=r"'cabling_sched' is no setting; did you mean 'cabling_schedule'\?$"):
        settings.load()
    file.write_text("zzz = 3\n")
    with pytest.raises(SettingsError, match=r"fleet\.toml: 'zzz' is no setting$"):
        settings.load()


def test_a_variable_that_is_nearly_a_setting_is_named_and_breaks_nothing(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs' variables, and fleet-runner's own between its parts, are nobody's slip of the pen."""
    write("")
    known = ("FLEET_FORKS", "FLEET_SPOOL", "FLEET_BATCH", "FLEET_LAB_DIR", "FLEET_MYSQL_ADDRESS")
    for name in known:
        monkeypatch.setenv(name, "4")
    assert settings.strays() == []
    monkeypatch.setenv("FLEET_CABLING_INTERVAL", "60")
    assert settings.load().forks == 4
    assert settings.strays() == [
        "FLEET_CABLING_INTERVAL is no setting and is not read; did you mean FLEET_CABLING_SCHEDULE?"
    ]


@pytest.mark.parametrize(
    "url",
    ["10.0.0.1:8480", "ftp://10.0.0.1", "http://", "http://10.0.0.1:99999", "http://10.0.0.1:0", "http://[::1",
     "http://a b", "http://:8480", "http://10.0.0.1:port", "http://u@10.0.0.1", "http://10.0.0.1/?a"],
)  # fmt: skip
def test_where_nodes_reach_the_boot_service_is_an_address(write: Write, url: str) -> None:
    """In a file as in a variable, and before anything starts with it."""
    file = write(f'boot_url = "{url}"\n')
    with pytest.raises(SettingsError) as caught:
        settings.load()
    expected = "expected an address like http://10.0.0.1:8480"
    assert str(caught.value) == f"setting 'boot_url' (from {file}): {expected}, found '{url}'"


@pytest.mark.parametrize("url", ["", "http://10.0.0.1:8480", "http://[2001:db8::1]:8480/", "https://boot.example/a"])
def test_an_address_of_the_boot_service_is_taken_as_it_stands(write: Write, url: str) -> None:
    write(f'boot_url = "{url}"\n')
    assert settings.load().boot_url == url


def test_secrets_go_over_tls_or_not_at_all(write: Write) -> None:
    write('boot_secure_url = "http://boot.example:8443"\n')
    with pytest.raises(SettingsError, match=r"'boot_secure_url' .*: expected an address over TLS, like https://"):
        settings.load()
    write('boot_secure_url = "https://boot.example:8443"\n')
    assert settings.load().boot_secure_url == "https://boot.example:8443"


def test_a_config_file_that_is_named_must_exist(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CONFIG", "nowhere.toml")
    with pytest.raises(SettingsError, match=r"nowhere\.toml, which is not a file; correct it or unset it"):
        settings.load()


def test_every_setting_says_what_it_is_for() -> None:
    assert all(field.description for field in settings.Settings.model_fields.values())


def test_networks_of_bmcs_are_read_when_the_settings_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_BMC_NETWORKS", "10.8.0.0/16, fd00:8::/32")
    assert settings.load().bmc_networks == "10.8.0.0/16, fd00:8::/32"
    monkeypatch.setenv("FLEET_BMC_NETWORKS", "10.8.0.0/16, bmc")
    with pytest.raises(SettingsError, match="FLEET_BMC_NETWORKS: 'bmc' is no network, expected some like"):
        settings.load()


def test_a_variable_of_a_table_is_json_and_adds_to_the_files(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("lemon_weights = { tickets = 2.0, people = 1.0 }\n")
    monkeypatch.setenv("fleet_lemon_weights", '{"tickets": 7}')
    assert settings.load().lemon_weights == {"tickets": 7.0, "people": 1.0}
    monkeypatch.setenv("fleet_lemon_weights", "tickets=7")
    with pytest.raises(SettingsError, match=r"variable FLEET_LEMON_WEIGHTS: expected JSON .* found 'tickets=7'"):
        settings.load()
    monkeypatch.setenv("fleet_lemon_weights", "[7]")
    with pytest.raises(SettingsError, match="FLEET_LEMON_WEIGHTS: Input should be a valid dictionary"):
        settings.load()


def test_a_play_reads_the_settings_of_its_runner(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("lemon_weights = { tickets = 2.0 }\nbmc_insecure = true\nretry_seconds = 7\n")
    found = settings.load()
    for name, value in engine.environment(found, "none").items():
        monkeypatch.setenv(name, value)
    assert settings.load() == found
