"""The API against its own description: whatever is asked, it answers as that says, and never with our error."""

import json
import os
from collections.abc import Iterator

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.schemas import APIOperation, BaseSchema
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from fleet_runner.core.access.roles import Role
from tests.web.served import Served

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

FEW, MANY = 6, 200
"""Examples of each operation, by day and by night."""

WHO = ((Role.OPERATOR, ""), (Role.TENANT, "Acme"))


@pytest.fixture(scope="module")
def tireless(site: Served) -> Served:
    """That site, where a minute passes with each request: nobody asks too often."""
    site.site.steady = (60.0 * count for count in range(10**9)).__next__
    return site


@pytest.fixture(scope="module")
def described(tireless: Served) -> BaseSchema:
    """What the API says of itself."""
    with tireless.client() as client:
        answer = client.get("/api/v1/openapi.json")
    assert answer.status_code == 200
    return schemathesis.openapi.from_dict(json.loads(answer.text))


def operations(described: BaseSchema) -> Iterator[APIOperation]:
    """Yield every operation."""
    for found in described.get_all_operations():
        yield found.ok()


def asked(operation: APIOperation, site: Served, who: tuple[Role, str], mode: GenerationMode, examples: int) -> None:
    """Ask one operation so many times what its description allows, or what it does not."""
    headers = {"Authorization": f"Bearer {site.token(*who)}"}

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def holds(case: schemathesis.Case) -> None:
        answer = case.call(base_url=site.url, headers=headers)
        case.validate_response(answer, checks=CHECKS)

    holds()


@pytest.mark.parametrize("who", WHO, ids=("operator", "tenant"))
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_answers_as_it_is_described(
    who: tuple[Role, str], mode: GenerationMode, described: BaseSchema, tireless: Served
) -> None:
    examples = FEW if who[0] is Role.OPERATOR else 1
    for operation in operations(described):
        asked(operation, tireless, who, mode, int(os.environ.get("FLEET_API_EXAMPLES", examples)))


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_answers_a_thousand_questions(
    mode: GenerationMode, described: BaseSchema, tireless: Served
) -> None:
    for operation in operations(described):
        asked(operation, tireless, WHO[0], mode, MANY)
