"""What a NetBox of ours is told: where its database and queue are, its secrets, and what a plugin adds."""

import json
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fleet_runner.lab import ports
from fleet_runner.lab.folder import read, write, write_json
from fleet_runner.lab.netbox.installation import VERSION

SETTINGS = """\
ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
DATABASES = {{"default": {{"ENGINE": "django.db.backends.postgresql", "NAME": "netbox", "USER": "postgres",
                          "PASSWORD": "", "HOST": {database!r}, "PORT": "", "CONN_MAX_AGE": 300}}}}
_REDIS = {{"HOST": "127.0.0.1", "PORT": {queue_port!r}, "USERNAME": "", "PASSWORD": {queue!r}, "SSL": False}}
REDIS = {{"tasks": {{**_REDIS, "DATABASE": 0}}, "caching": {{**_REDIS, "DATABASE": 1}}}}
SECRET_KEY = {key!r}
API_TOKEN_PEPPERS = {{1: {pepper!r}}}
ISOLATED_DEPLOYMENT = True
CENSUS_REPORTING_ENABLED = False
"""

SERVED = """\
from django.contrib.staticfiles.handlers import StaticFilesHandler
from netbox.wsgi import application as netbox

application = StaticFilesHandler(netbox)  # a site has nginx for these
"""


@dataclass(frozen=True, slots=True)
class Options:
    """Which NetBox: its release, packages installed for it alone (without what they need), lines of its settings."""

    version: str = VERSION
    packages: tuple[str, ...] = ()
    configuration: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Home:
    """The folder of one NetBox: what it was asked to be, its settings, logs, and the database while it is down."""

    root: Path

    def lay_out(self, options: Options) -> None:
        """Make the folder, where it is missing, and forget an earlier start."""
        self.root.mkdir(parents=True, exist_ok=True)
        write_json(self.root / "options.json", asdict(options))
        self.progress.unlink(missing_ok=True)
        self.known.unlink(missing_ok=True)

    def tell(self, line: str) -> None:
        """Say what is done, to whoever waits for it."""
        with self.progress.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")

    @property
    def options(self) -> Options:
        """Return what it was asked to be."""
        said = read(self.root / "options.json")
        return Options(said["version"], tuple(said["packages"]), tuple(said["configuration"]))

    @property
    def known(self) -> Path:
        """Its address, its superuser's password and token: there as long as it answers."""
        return self.root / "netbox.json"

    @property
    def progress(self) -> Path:
        """What it does at the moment, a sentence a line."""
        return self.root / "progress"

    @property
    def dump(self) -> Path:
        """Its database, from when it was ended to be started again."""
        return self.root / "netbox.dump"

    @property
    def packages(self) -> Path:
        """What was installed for it alone."""
        return self.root / "packages"


@dataclass(frozen=True, slots=True)
class Secrets:
    """What one NetBox keeps to itself, and its port; both stay while its folder does."""

    port: int
    key: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    pepper: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    password: str = field(default_factory=lambda: secrets.token_urlsafe(12))

    @classmethod
    def of(cls, home: Home) -> "Secrets":
        """Return a NetBox's, made where it has none; another port where somebody has taken its own."""
        file = home.root / "secrets.json"
        kept = read(file) if file.is_file() else {}
        if not kept or not ports.free(kept["port"]):
            kept["port"] = ports.choose(1)[0]
        found = cls(**kept)
        write(file, json.dumps(asdict(found)), 0o600)
        return found


def lay_down(home: Home, own: Secrets, database: Path, queue: tuple[int, str]) -> None:
    """Write what NetBox and gunicorn read at their start."""
    (home.root / "conf").mkdir(exist_ok=True)
    text = SETTINGS.format(
        database=str(database), queue_port=queue[0], queue=queue[1], key=own.key, pepper=own.pepper
    )
    write(home.root / "conf" / "__init__.py", "")
    write(home.root / "conf" / "configuration.py", text + "\n".join((*home.options.configuration, "")), 0o600)
    write(home.root / "served.py", SERVED)
