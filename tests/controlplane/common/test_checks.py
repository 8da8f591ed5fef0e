from typing import Any

import pytest

from controlplane.common.checks import check_sign_in


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        ({}, []),
        (
            {"SAFEHOLD_OIDC_ROLES": "a=b", "SAFEHOLD_OIDC_ISSUER": "https://id.example"},
            ["safehold.E001"],
        ),
        ({"SAFEHOLD_OIDC_ROLES": "a=b:viewer"}, ["safehold.W001"]),
        ({"SAFEHOLD_PASSWORD_SIGN_IN": False}, ["safehold.E002"]),
        ({"SAFEHOLD_PASSWORD_SIGN_IN": False, "SAFEHOLD_OIDC_ISSUER": "https://id.example"}, []),
    ],
)
def test_a_service_that_could_not_be_entered_does_not_start(
    settings: Any, changes: dict[str, Any], ids: list[str]
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    assert [one.id for one in check_sign_in(None)] == ids
