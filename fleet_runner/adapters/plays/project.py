"""How Ansible finds what the project, and the fleet itself, have for it, from whatever folder it is started."""

import os

from fleet_runner.settings import Settings

ROLES = "ANSIBLE_ROLES_PATH"


def variables(settings: Settings) -> dict[str, str]:
    """Return the variables that name the project's ansible.cfg, and roles of the fleet's own before its roles.

    The roles' folder need not be there: one that is made later counts at once.
    """
    found = {"ANSIBLE_CONFIG": str(settings.project_dir / "ansible.cfg")}
    *own, project = (str(place / "roles") for place in settings.places)
    if own:
        usual = os.environ.get(ROLES) or project
        found[ROLES] = os.pathsep.join(dict.fromkeys((*own, *usual.split(os.pathsep))))
    return found
