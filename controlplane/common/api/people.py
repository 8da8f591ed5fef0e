"""`/api/v1/me` and `/api/v1/people`: yourself; and accounts, for administrators of the service."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common import access
from controlplane.common.api.auth import caller
from controlplane.common.api.idempotency import once
from controlplane.common.api.pages import Page, PageQuery, page_by_id
from controlplane.common.api.schemas import Id, Input, Output
from controlplane.common.errors import NotFound
from controlplane.common.models import SignIn, User
from controlplane.common.services import people
from controlplane.common.sign_ins import keep_session

me = Router(tags=["people"])
router = Router(tags=["people"])


class PasswordIn(Input):
    """Your password, and the new one."""

    old: str = Field(max_length=1000)
    new: str = Field(max_length=1000)


class SignInOut(Output):
    """A browser in which you are signed in."""

    id: int
    browser: str
    address: str | None
    began_at: datetime
    seen_at: datetime


class EndSignIn(Input):
    """Which sign-in to end."""

    sign_in: Id | None = Field(None, description="All but the one of this request when left out.")


class PersonIn(Input):
    """A new account."""

    username: str = Field(max_length=150)
    name: str = Field("", max_length=300)


class PersonOut(Output):
    """An account."""

    username: str
    name: str
    is_active: bool
    is_administrator: bool
    last_login: datetime | None


class NewPersonOut(PersonOut):
    """A new account with its first password; null where the same request is sent again."""

    password: str | None


@me.get("", response=dict[str, Any], summary="Who am I")
def show_me(request: HttpRequest) -> Any:
    """Return the person behind the token or session, with the projects and the role in each."""
    user = caller(request)
    projects = [
        {"slug": one.slug, "name": one.name, "role": _role(user, one.pk)}
        for one in access.projects_of(user)
    ]
    return {
        "id": user.pk, "username": user.username, "is_administrator": user.is_superuser, "projects": projects,
        "token": _token(user),
    }  # fmt: skip


@me.post("/password", response={204: None}, summary="Change your password")
def change_password(request: HttpRequest, body: PasswordIn) -> Any:
    """Change your password; every other sign-in ends."""
    user = caller(request)
    people.change_password(user=user, old=body.old, new=body.new, session_key=_key(request))
    if caller(request).token is None:
        keep_session(request, caller(request))
    return Status(204, None)


@me.get("/sign-ins", response=list[SignInOut], summary="List where you are signed in")
def list_sign_ins(request: HttpRequest) -> Any:
    """List the browsers in which you are signed in."""
    access.require_service(caller(request), "token.read")
    return list(SignIn.objects.filter(user=caller(request)))


@me.post("/sign-ins/end", response=dict[str, int], summary="Sign out elsewhere")
def end_sign_ins(request: HttpRequest, body: EndSignIn | None = None) -> Any:
    """End one sign-in of yours, or all others."""
    only = body.sign_in if body else None
    return {
        "num_ended": people.sign_out_elsewhere(
            user=caller(request), session_key=_key(request), only=only
        )
    }


@router.get("", response=Page[PersonOut], summary="List accounts")
def list_people(request: HttpRequest, filters: Query[PageQuery]) -> Any:
    """List the accounts by age; for administrators of the service."""
    access.require_service(caller(request), "person.read")
    rows, following = page_by_id(User.objects.all(), filters)
    return {"items": [_shape(row) for row in rows], "next": following}


@router.post("", response={201: NewPersonOut}, summary="Make an account")
def create(request: HttpRequest, body: PersonIn) -> Any:
    """Make an account; its first password is in this answer alone."""
    user, passwords = caller(request), []

    def make() -> dict[str, Any]:
        made, password = people.create_person(
            user=user, username=body.username, full_name=body.name
        )
        passwords.append(password)
        return _shape(made)

    return Status(201, once(request, make) | {"password": passwords[0] if passwords else None})


@router.post("/{username}/deactivate", response=PersonOut, summary="Close an account")
def deactivate(request: HttpRequest, username: str) -> Any:
    """Close an account: its sign-ins and tokens end at once."""
    return _set_active(request, username, is_active=False)


@router.post("/{username}/activate", response=PersonOut, summary="Open an account again")
def activate(request: HttpRequest, username: str) -> Any:
    """Open a closed account again."""
    return _set_active(request, username, is_active=True)


@router.post(
    "/{username}/password", response=NewPersonOut, summary="Give an account a new password"
)
def reset_password(request: HttpRequest, username: str) -> Any:
    """Give it a new password, which is in this answer alone."""
    person = _found(request, username, "person.reset_password")
    return _shape(person) | {"password": people.reset_password(user=caller(request), person=person)}


def _set_active(request: HttpRequest, username: str, *, is_active: bool) -> dict[str, Any]:
    person = _found(request, username, "person.activate" if is_active else "person.deactivate")
    people.set_active(user=caller(request), person=person, is_active=is_active)
    return _shape(person)


def _found(request: HttpRequest, username: str, act: str) -> User:
    access.require_service(caller(request), act)
    found = User.objects.filter(username=username).first()
    if found is None:
        raise NotFound(_("There is no account %(name)r.") % {"name": username})
    return found


def _shape(person: User) -> dict[str, Any]:
    return {
        "username": person.username, "name": person.get_full_name(), "is_active": person.is_active,
        "is_administrator": person.is_superuser, "last_login": person.last_login,
    }  # fmt: skip


def _role(user: User, project_id: int) -> str | None:
    role = access.role_of(user, project_id)
    return role.name.lower() if role else None


def _token(user: User) -> dict[str, Any] | None:
    if user.token is None:
        return None
    return {
        "name": user.token.name,
        "scopes": user.token.scopes,
        "expires_at": user.token.expires_at,
    }


def _key(request: HttpRequest) -> str:
    """Return the key of the browser's session; none with a token."""
    return "" if caller(request).token is not None else request.session.session_key or ""
