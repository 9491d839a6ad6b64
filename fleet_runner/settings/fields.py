"""Every setting by its name, with its default and what it is for."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator
from pydantic_core import PydanticCustomError

from fleet_runner.core.reliability.lemons.weights import SIGNALS
from fleet_runner.core.schedules.known import KNOWN, parsed
from fleet_runner.core.schedules.schedule import Schedule
from fleet_runner.settings.addresses import TlsUrl, Url
from fleet_runner.settings.networks import Networks
from fleet_runner.settings.places import PROJECT_DIR

PREFIX = "FLEET_"
"""How the variables begin; other programs' may begin so, too."""

PATHS = (
    "project_dir", "overrides_dir", "state_dir", "inventory", "bmc_credentials", "bmc_ca", "bmc_vault_token_file",
    "bmc_vault_ca", "netbox_token_file", "netbox_webhook_secret", "boot_certificate",
    "boot_certificate_key", "boot_images", "boot_loaders", "boot_templates", "boot_authorized_keys", "boot_join",
    "boot_dhcp_token", "firmware_images", "signals_certificate", "signals_certificate_key",
    "server_token_file", "server_ca", "policy_file", "kubeconfig", "trackers_file", "notifications_file",
    "web_certificate", "web_certificate_key", "oidc_client_secret", "kubernetes_remediations_kubeconfig",
)  # fmt: skip
"""Settings that are paths; relative ones in the file are relative to the file."""


class Settings(BaseModel):
    """Every setting, with its default. Seconds are seconds, shares are between 0 and 1."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    project_dir: Path = Field(PROJECT_DIR, description="holds playbooks/, roles/, plugins/ and ansible.cfg")
    overrides_dir: Path | None = Field(
        None, description="holds playbooks/ and roles/ of your own, used before those; default: beside fleet.toml"
    )
    source: str = Field("site", description="the source of truth: a folder of site files, or a NetBox's URL")
    netbox_token_file: Path | None = Field(None, description="file with the NetBox token, readable by its owner only")
    netbox_write_cable_status: bool = Field(
        default=False, description="call planned cables connected in the NetBox once a fabric's sweep has seen them"
    )
    netbox_write_nodes: bool = Field(
        default=False, description="write nodes' states, their history and new serial numbers into the NetBox"
    )
    netbox_wishes: bool = Field(
        default=False, description="take what people ask for in the field fleet_wish of a node's page in the NetBox"
    )
    netbox_webhook_url: str = Field(
        "", description="where the NetBox reaches the listener (https://fleet.example:8490), to report requests"
    )
    netbox_webhook_secret: Path | None = Field(
        None, description="file with the secret that the NetBox signs its webhooks with, 0600"
    )
    web_url: str = Field("", description="where people reach fleet-runner's pages, for links to them; empty: none")
    state_dir: Path = Field(
        Path("state"),
        description="the store (SQLite), batches and their artifacts; default: beside fleet.toml",
    )
    database_url: str = Field("", description="another store; default: SQLite in state_dir")
    inventory: Path | None = Field(None, description="Ansible inventory; default: inventory/fleet.yml of the project")
    bmc_credentials: Path | None = Field(None, description="YAML file with username and password for the BMCs, 0600")
    bmc_networks: Networks = Field("", description="networks of all BMCs; empty: each is at its device's oob_ip")
    bmc_insecure: bool = Field(default=False, description="accept unsigned BMC certificates")
    bmc_ca: Path | None = Field(None, description="PEM file with the only CA for the BMCs' certificates")
    bmc_vault: str = Field(
        "", description="secret of HashiCorp Vault (KV 1 or 2) with the BMCs' username and password, by its URL"
    )
    bmc_vault_token_file: Path | None = Field(None, description="file with Vault's token, kept by Vault Agent, 0600")
    bmc_vault_namespace: str = Field("", description="namespace of that secret, for Vault Enterprise")
    bmc_vault_ca: Path | None = Field(None, description="PEM file with the CA of the Vault's certificate")
    boot_url: Url = Field(
        "", description="where nodes reach the boot service (http://10.0.0.1:8480); empty: nodes boot without it"
    )
    boot_secure_url: TlsUrl = Field(
        "", description="where they reach it over TLS; if set, secrets and phone-home use TLS only"
    )
    boot_listen: str = Field("127.0.0.1:8480", description="address and port of the boot service")
    boot_secure_listen: str = Field("127.0.0.1:8443", description="address and port of the boot service over TLS")
    boot_certificate: Path | None = Field(None, description="the boot service's TLS certificate, PEM, with its chain")
    boot_certificate_key: Path | None = Field(None, description="its private key, PEM, 0600")
    boot_images: Path | None = Field(None, description="folder of boot images; default: images in state_dir")
    boot_image: str = Field("debian-12", description="image that nodes boot unless their context names another")
    boot_loaders: Path = Field(Path("/usr/lib/ipxe"), description="folder of iPXE's own files, for UEFI HTTP boot")
    boot_templates: Path | None = Field(None, description="folder of cloud-init templates before the built-in ones")
    boot_authorized_keys: Path | None = Field(None, description="public ssh keys of people who may log in to nodes")
    boot_join: Path | None = Field(None, description="YAML file that says how nodes join Kubernetes or Slurm")
    boot_dhcp_token: Path | None = Field(
        None, description="file with the token of DHCP servers that report leases, 0600"
    )
    boot_proof: Literal["none", "bmc"] = Field(
        "none", description="stronger proof of who boots: a nonce that only its BMC is given (UEFI HTTP boot)"
    )
    boot_armed_seconds: float = Field(
        1800.0, gt=0, description="how long a node may take to ask for its boot data; at least while it is waited for"
    )
    firmware_images: Path | None = Field(None, description="firmware images' folder; default: firmware in state_dir")
    firmware_url: str = Field(
        "", description="where BMCs fetch that folder's files, for catalogues that ask for SimpleUpdate"
    )
    firmware_visit_seconds: float = Field(
        60.0, gt=0, description="how long one play stays with a flash before it leaves it to the BMC and comes back"
    )
    firmware_pause_seconds: float = Field(15.0, ge=0, description="pause before a running flash is checked again")
    firmware_at_once: int = Field(50, ge=1, description="nodes of the fleet whose firmware is updated at a time")
    firmware_at_once_rack: int = Field(4, ge=1, description="nodes of one rack whose firmware is updated at a time")
    firmware_rack_watts: float = Field(
        0.0, ge=0, description="power that the nodes of one rack may draw for updates at a time; 0: no limit"
    )
    signals_listen: str = Field("", description="address and port for signals over HTTP (127.0.0.1:8490); empty: off")
    signals_certificate: Path | None = Field(
        None, description="TLS certificate of signals_listen, PEM, with its chain; needed beyond this machine"
    )
    signals_certificate_key: Path | None = Field(None, description="its private key, PEM, 0600")
    signals_plain: bool = Field(
        default=False, description="accept signals from other machines without TLS: tokens can be read on the way"
    )
    signals_url: str = Field(
        "", description="where BMCs reach the listener (https://fleet.example:8490), to subscribe to their events"
    )
    signals_verify: bool = Field(
        default=True, description="false: BMCs are asked not to check the listener's certificate, which is its own CA"
    )
    signals_syslog: str = Field(
        "", description="address and port for syslog, UDP and TCP (127.0.0.1:8514); empty: off"
    )
    signals_syslog_from: str = Field(
        "127.0.0.0/8, ::1",
        description="networks that may send syslog, with commas; a node's own address reports on that node only",
    )
    signals_relays: str = Field(
        "", description="networks of relays and collectors that may report on every node (10.0.9.2/32), with commas"
    )
    runner_name: str = Field(
        "", max_length=64, pattern=r"^[A-Za-z0-9._-]*$", description="what others call this runner; default: its host"
    )
    runner_places: str = Field(
        "", description="sites and racks (hall-a, hall-b/r0*) that this runner reaches, with commas; empty: all"
    )
    lease_seconds: float = Field(
        30.0, ge=5, description="how long a runner may be silent before others take over its work (PostgreSQL)"
    )
    batches_at_once: int = Field(8, ge=1, description="plays that one runner runs at a time")
    health_listen: str = Field(
        "", description="address and port of serve's health page (127.0.0.1:8491); empty: there is none"
    )
    notice: str = Field("", max_length=300, description="a sentence on top of each page and report; empty: none")
    web_listen: str = Field(
        "", description="address and port of pages, the API and metrics (127.0.0.1:8492); empty: there are none"
    )
    server: str = Field(
        "", description="a server that commands ask instead of a store (https://fleet.example); empty: none"
    )
    server_token_file: Path | None = Field(None, description="file with the token for it, 0600")
    server_ca: Path | None = Field(None, description="PEM file with the only CA for its certificate")
    web_certificate: Path | None = Field(
        None, description="TLS certificate of web_listen, PEM, with its chain; needed beyond this machine"
    )
    web_certificate_key: Path | None = Field(None, description="its private key, PEM, 0600")
    oidc_issuer: str = Field(
        "", description="OpenID Connect provider for logins (https://login.example); empty: tokens only"
    )
    oidc_client_id: str = Field("", description="fleet-runner's client id there")
    oidc_client_secret: Path | None = Field(None, description="file with its client secret, 0600")
    oidc_claim: str = Field("groups", description="claim with a person's groups")
    oidc_roles: str = Field(
        "", description="what its values mean: fleet-ops=operator, dc=technician, acme=tenant:Acme, with commas"
    )
    traces_url: str = Field(
        "", description="where traces of stages are sent, OTLP over HTTP (http://127.0.0.1:4318); empty: nowhere"
    )
    keep_audit_days: float = Field(
        180.0, ge=0, description="how long the audit log of pages and the API is kept; 0: always"
    )
    keep_evidence_days: float = Field(
        30.0, ge=0, description="how long evidence is kept, except where it is still needed; 0: always"
    )
    keep_evidence_bytes: int = Field(
        40_000_000_000, ge=0, description="bytes of evidence in the store, the oldest is deleted first; 0: no limit"
    )
    keep_sweeps_days: float = Field(
        30.0, ge=0, description="after this, only one good result a day of a sweep's check is kept; 0: all"
    )
    keep_artifacts_days: float = Field(
        30.0, ge=0, description="how long folders of batches without a verdict, and bundles, are kept; 0: always"
    )
    keep_signals_days: float = Field(
        180.0, ge=0, description="how long cleared alarms, steps of closed boots and sent updates are kept; 0: always"
    )
    keep_trend_days: float = Field(
        400.0,
        ge=0,
        description="how long daily numbers of parts, their faults, predictions and answers about jobs are kept",
    )
    source_schedule: str = Field(KNOWN["source"].default, description="when a runner reads the source of truth again")
    trend_schedule: str = Field(
        KNOWN["trend"].default, description="when one runner analyses stored results for trends"
    )
    retention_schedule: str = Field(
        KNOWN["retention"].default, description="when one runner deletes what is too old or too much"
    )
    forks: int = Field(20, ge=1, description="nodes that one play works on at a time")
    batch_nodes: int = Field(20, ge=1, description="nodes that share one play; more than forks wait for each other")
    tick_seconds: float = Field(2.0, gt=0, description="pause between two ticks of serve")
    retry_seconds: float = Field(60.0, gt=0, description="first pause before a stage without verdict is tried again")
    working_seconds: float = Field(300.0, ge=0, description="pause before long work on a node is checked again")
    drain_seconds: float = Field(60.0, ge=0, description="pause before a draining node is asked again if it is idle")
    drain_deadline_seconds: float = Field(86_400.0, ge=0, description="the longest a pending remedy waits for idle")
    passive_schedule: str = Field(
        KNOWN["passive"].default, description="when each production node is swept: every 5min, or as cron says it"
    )
    active_schedule: str = Field(
        KNOWN["active"].default, description="when each idle production node runs active tests; never: off"
    )
    active_visit_seconds: float = Field(60.0, gt=0, description="pause before running active tests are checked")
    cabling_schedule: str = Field(
        KNOWN["cabling"].default, description="when the cabling of each fabric and each production node is checked"
    )
    cabling_confirm_seconds: float = Field(
        600.0, ge=0, description="pause before a cabling fault that was seen once is checked again"
    )
    cabling_suspect_share: float = Field(
        0.005, gt=0, le=1, description="share of a fabric's links that may be wrong before its capture is suspect"
    )
    policy_file: Path | None = Field(
        None,
        description="which remedy follows which fault (YAML); default: policy.yml beside the inventory, if any",
    )
    trackers_file: Path | None = Field(
        None, description="trackers for tickets (YAML); default: trackers.yml beside the inventory, if any"
    )
    notifications_file: Path | None = Field(
        None, description="notification channels (YAML); default: notifications.yml beside the inventory, if any"
    )
    scheduler: Literal["none", "slurm", "kubernetes"] = Field(
        "none", description="the scheduler: drains nodes, and is asked what runs there"
    )
    kubeconfig: Path | None = Field(
        None, description="kubeconfig file with the right to drain nodes, 0600; for the scheduler kubernetes"
    )
    kubernetes_clusters: dict[Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$")], Path] = Field(
        default_factory=dict, description="kubeconfig files of several clusters, by the names that nodes give them"
    )
    kubernetes_conditions: bool = Field(
        default=False,
        description="keep labels and conditions of each Kubernetes node true: its state, its health, its remedy",
    )
    kubernetes_signals: dict[str, Literal["True", "False", ""]] = Field(
        default_factory=dict,
        description="conditions of others that are heard, by type, with the status that is a fault; empty: not heard",
    )
    kubernetes_remediations: str = Field(
        "", pattern=r"^[a-z0-9-]{0,63}$", description="namespace whose NodeRemediations are requests about nodes"
    )
    kubernetes_remediations_kubeconfig: Path | None = Field(None, description="that of their cluster, if another one")
    max_out_share: float = Field(0.1, gt=0, le=1, description="share of serving nodes that may be out at a time")
    max_out_rack: int = Field(1, ge=1, description="nodes of one rack that may be taken out at a time")
    max_out_nvlink: int | None = Field(None, ge=1, description="trays of one NVLink domain that may be out at a time")
    max_out_domain: float = Field(0.2, gt=0, le=1, description="share of a failure domain's nodes that may be out")
    max_out_tenant: float = Field(
        0.2, gt=0, le=1, description="share of a tenant's serving nodes that may be out at a time"
    )
    provision_per_hour: int = Field(50, ge=1, description="nodes that may begin Day 0 by themselves within an hour")
    small_fleet: int = Field(20, ge=0, description="fleets up to this size may always take one node out")
    lemon_mark: float = Field(12.0, gt=0, description="points of a node from which triage is suggested")
    lemon_weights: dict[str, Annotated[float, Field(ge=0, le=100)]] = Field(
        default_factory=dict, description="points for one of a signal of lemons, in place of those built in"
    )

    @field_validator("lemon_weights")
    @classmethod
    def _of_signals(cls, value: dict[str, float]) -> dict[str, float]:
        strange = sorted({*value} - {*SIGNALS})
        if strange:
            why = f"there is no signal {strange[0]!r}; there are {', '.join(SIGNALS)}"
            raise PydanticCustomError("signal", "{why}", {"why": why})
        return value

    @field_validator(*(f"{name}_schedule" for name in KNOWN))
    @classmethod
    def _kept(cls, value: str, info: ValidationInfo) -> str:
        try:
            parsed(str(info.field_name).removesuffix("_schedule"), value)
        except ValueError as error:
            raise PydanticCustomError("schedule", "{why}", {"why": str(error)}) from error
        return value

    def schedule(self, name: str) -> Schedule:
        """Return one of the schedules (`core.schedules.known`) as it is set."""
        return parsed(name, getattr(self, f"{name}_schedule"))

    @property
    def kubeconfigs(self) -> dict[str, Path]:
        """Return the kubeconfig of each cluster by its name; "" is the cluster of nodes that name none."""
        return ({"": self.kubeconfig} if self.kubeconfig is not None else {}) | self.kubernetes_clusters

    @property
    def store_url(self) -> str:
        """Return the database URL in use."""
        return self.database_url or f"sqlite:///{self.state_dir / 'fleet.db'}"

    @property
    def inventory_file(self) -> Path:
        """Return the Ansible inventory in use."""
        return self.inventory or self.project_dir / "inventory" / "fleet.yml"

    @property
    def policy(self) -> Path | None:
        """Return the policy file in use: the one that is named, else policy.yml beside the inventory, if any."""
        if self.policy_file is not None:
            return self.policy_file
        beside = self.inventory_file.parent / "policy.yml"
        return beside if beside.is_file() else None

    @property
    def places(self) -> tuple[Path, ...]:
        """Return the folders that hold playbooks/ and roles/; of two of one name, the one of the first is used."""
        return tuple(dict.fromkeys(place for place in (self.overrides_dir, self.project_dir) if place is not None))

    def playbook(self, name: str) -> Path:
        """Return the playbook of a name."""
        own, *others = (place / "playbooks" / f"{name}.yml" for place in self.places)
        return next((path for path in (own, *others) if path.is_file()), others[0] if others else own)

    @property
    def images_dir(self) -> Path:
        """Return where the boot images lie."""
        return self.boot_images or self.state_dir / "images"

    @property
    def firmware_dir(self) -> Path:
        """Return where the firmware images lie."""
        return self.firmware_images or self.state_dir / "firmware"

    @property
    def batches_dir(self) -> Path:
        """Return where running batches keep their files."""
        return self.state_dir / "batches"
