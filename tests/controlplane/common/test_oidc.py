"""Sign-in through an identity provider: a real one, small, over real HTTP."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.test import Client
from django.utils.html import escape

from controlplane.common.models import AuditEntry, Membership, Project, Role, User
from controlplane.common.oidc import roles
from tests.factories import make_project, make_user
from tests.fakes import oidc_provider
from tests.fakes.oidc_provider import Provider

RULES = "trainers=lm:operator, leads = lm:admin, leads=vision:viewer,ops=administrator,ghosts=nowhere:viewer"


@pytest.fixture
def provider(db: None, settings: Any) -> Iterator[Provider]:
    with oidc_provider.running() as made:
        settings.SAFEHOLD_OIDC_ISSUER = made.url
        settings.SAFEHOLD_OIDC_NAME = "Example Org"
        settings.SAFEHOLD_OIDC_ROLES = RULES
        settings.SAFEHOLD_PUBLIC_URL = "http://testserver"
        app = {
            "provider_id": "oidc", "name": "Example Org", "client_id": oidc_provider.CLIENT_ID,
            "secret": oidc_provider.CLIENT_SECRET, "settings": {"server_url": made.url, "oauth_pkce_enabled": True},
        }  # fmt: skip
        settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
        yield made


def sign_in(client: Client, **form: str) -> Any:
    """Go the whole way: to the provider over HTTP, and back."""
    out = client.post("/sign-in/oidc/", form)
    if "Location" in out:
        return out
    back = httpx.get(out["Refresh"].removeprefix("0; url="))
    return client.get(back.headers["Location"].removeprefix("http://testserver"))


def told(client: Client) -> str:
    return str(client.get("/sign-in").content.decode())


def test_somebody_new_comes_in_with_the_roles_of_their_groups(
    provider: Provider, project: Project
) -> None:
    make_project(slug="vision")
    provider.person |= {
        "email": "ann@example.org",
        "given_name": "Ann",
        "family_name": "Lee",
        "groups": ["trainers", "leads", "x"],
    }
    client = Client()
    assert sign_in(client, next="/cards/")["Location"] == "/cards/"
    ann = User.objects.get(username="ann")
    assert (ann.get_full_name(), ann.email, ann.has_usable_password()) == (
        "Ann Lee",
        "ann@example.org",
        False,
    )
    assert {(one.project.slug, one.role) for one in ann.memberships.all()} == {
        ("lm", Role.ADMIN),
        ("vision", Role.VIEWER),
    }
    assert client.get("/settings/account/").status_code == 200
    acts = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"person.create", "member.follow_groups", "person.sign_in"} <= acts
    assert provider.seen[0]["code_challenge_method"] == "S256"


def test_roles_follow_the_groups_at_every_sign_in(provider: Provider, project: Project) -> None:
    provider.person["groups"] = ["trainers"]
    sign_in(Client())
    ann = User.objects.get(username="ann")
    by_hand = make_project(slug="by-hand")
    Membership.objects.create(user=ann, project=by_hand, role=Role.VIEWER)
    provider.person["groups"] = ["leads"]
    sign_in(Client())
    assert ann.memberships.get(project=project).role == Role.ADMIN
    provider.person["groups"] = []
    sign_in(Client())
    assert [one.project.slug for one in ann.memberships.all()] == ["by-hand"]
    assert User.objects.count() == 1


def test_a_group_makes_administrators_and_unmakes_them(provider: Provider) -> None:
    provider.person["groups"] = "ops"
    sign_in(Client())
    assert User.objects.get().is_superuser
    provider.person["groups"] = []
    sign_in(Client())
    assert not User.objects.get().is_superuser


def test_the_name_of_an_account_that_is_there_is_not_taken_over(provider: Provider) -> None:
    local = make_user(username="ann", is_superuser=True)
    sign_in(Client())
    assert User.objects.count() == 2
    other = User.objects.exclude(pk=local.pk).get()
    assert (other.username == "ann", other.is_superuser) == (False, False)


@pytest.mark.parametrize(
    "fault",
    [
        "cancelled",
        "other key",
        "other audience",
        "other issuer",
        "expired",
        "no id token",
        "no subject",
    ],
)
def test_what_does_not_hold_lets_nobody_in(provider: Provider, fault: str) -> None:
    provider.faults.add(fault)
    client = Client()
    answer = sign_in(client)
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in")
    assert "Signing in with Example Org did not work" in told(client)
    assert not User.objects.exists()
    assert client.get("/cards/").status_code == 302


def test_a_provider_that_is_down_is_told(provider: Provider) -> None:
    provider.faults.add("down")
    client = Client()
    assert sign_in(client)["Location"] == "/sign-in"
    assert "did not work" in told(client)


def test_an_answer_that_nobody_asked_for_is_refused(provider: Provider) -> None:
    client = Client()
    for query in ("", "?code=a&state=b", "?code=a"):
        assert client.get(f"/sign-in/oidc/callback/{query}")["Location"] == "/sign-in"


def test_a_closed_account_stays_out(provider: Provider) -> None:
    sign_in(Client())
    User.objects.update(is_active=False)
    client = Client()
    assert sign_in(client)["Location"] == "/sign-in"
    assert "Your account here is closed" in told(client)
    assert client.get("/cards/").status_code == 302


def test_the_form_itself_is_led_nowhere_else(provider: Provider) -> None:
    out = Client().post("/sign-in/oidc/")
    # A browser stops a form that a redirect takes to another origin.
    assert (out.status_code, "form-action 'self'" in out["Content-Security-Policy"]) == (200, True)
    address = out["Refresh"].removeprefix("0; url=")
    assert address.startswith(f"{provider.url}/authorize?")
    assert f'href="{escape(address)}"' in out.content.decode()


def test_sign_in_leads_to_no_other_site(provider: Provider) -> None:
    assert sign_in(Client(), next="https://evil.example/")["Location"] == "/"


def test_without_a_provider_there_is_no_such_way(db: None) -> None:
    client = Client()
    assert client.post("/sign-in/oidc/").status_code == 404
    assert client.get("/sign-in/oidc/callback/").status_code == 404
    assert "/sign-in/oidc/" not in told(client)


def test_with_a_provider_the_page_has_its_button(provider: Provider, settings: Any) -> None:
    assert "Sign in with Example Org" in told(Client())
    settings.SAFEHOLD_PASSWORD_SIGN_IN = False
    assert 'name="password"' not in told(Client())


@pytest.mark.parametrize(
    ("text", "groups", "found"),
    [
        ("", ["a"], roles.Grants()),
        ("a=p:viewer", ["b"], roles.Grants()),
        ("a=p:viewer,a=q:admin", ["a"], roles.Grants({"p": Role.VIEWER, "q": Role.ADMIN})),
        ("a=p:admin,b=p:viewer", ["a", "b"], roles.Grants({"p": Role.ADMIN})),
        ("cn=x=p:viewer", ["cn=x"], roles.Grants({"p": Role.VIEWER})),
        ("a=administrator", ["a"], roles.Grants({}, True)),
    ],
)
def test_the_highest_role_counts(text: str, groups: list[str], found: roles.Grants) -> None:
    assert roles.granted(groups, roles.parse(text)) == found


@pytest.mark.parametrize("text", ["a", "a=p", "a=p:boss", "=p:viewer", "a=:viewer"])
def test_a_bad_rule_is_named(text: str) -> None:
    with pytest.raises(ValueError, match="is neither GROUP=PROJECT:ROLE"):
        roles.parse(text)


@pytest.mark.parametrize(
    ("claims", "claim", "found"),
    [
        ({"groups": ["a", 3, "b"]}, "groups", ["a", "b"]),
        ({"groups": "a"}, "groups", ["a"]),
        ({"groups": {"a": 1}}, "groups", []),
        ({}, "groups", []),
        ({"realm_access": {"roles": ["a"]}}, "realm_access.roles", ["a"]),
        ({"realm_access": []}, "realm_access.roles", []),
    ],
)
def test_groups_are_read_from_any_claim(
    claims: dict[str, Any], claim: str, found: list[str]
) -> None:
    assert roles.groups_in(claims, claim) == found
