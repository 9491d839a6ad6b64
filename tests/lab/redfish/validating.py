"""Run DMTF's redfish-service-validator on a service: `validating.py SCHEMAS`, with url, user and password on stdin.

SCHEMAS is a folder of DSP8010's CSDL files (*.xml); with none in it they are fetched from dmtf.org first, where that
can be reached. Says on its last line {"passed": count, "uris": […], "failed": [[URI, property, message, value], …]}.
"""

import json
import sys
import tempfile
from pathlib import Path

import redfish
from redfish_service_validator import logger, metadata, schema_pack
from redfish_service_validator.system_under_test import SystemUnderTest

NO_SCHEMAS = 3
"""How it ends where there are no schemas to be had."""


def main() -> int:
    """Validate one service."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    said = json.loads(sys.stdin.read())
    with tempfile.NamedTemporaryFile(suffix=".log") as log:
        logger.logger = redfish.redfish_logger(log.name, "%(message)s")
        if not any(folder.glob("*.xml")):
            schema_pack.update_dsp8010_files(str(folder), None)
        if not any(folder.glob("*.xml")):
            return NO_SCHEMAS
        known = (said["url"], said["user"], said["password"], 60, "Session")
        under_test = SystemUnderTest(*known, None, None, None, [], no_oem=False)
        metadata.parse_schema_files(str(folder))
        under_test.validate(None, "/redfish/v1/", "/redfish/v1/")
        under_test.logout()
    found = {uri: resource["Results"] for uri, resource in under_test._resources.items()}
    failed = [
        [uri, name, result["Message"], result["Value"]]
        for uri, results in found.items()
        for name, result in results.items()
        if result["Result"] == "FAIL"
    ]
    sys.stdout.write(f"\n{json.dumps({'passed': under_test.pass_count, 'uris': list(found), 'failed': failed})}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
