"""`/api/v1/tokens`: your own tokens. A secret leaves the service once, in the answer that made it."""

from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Query, Router, Status
from pydantic import Field

from controlplane.common import access
from controlplane.common.api.auth import caller
from controlplane.common.api.idempotency import once
from controlplane.common.api.pages import Page, PageQuery, page_by_id, visible_projects
from controlplane.common.api.schemas import Input, Output
from controlplane.common.models import PersonalToken, Scope
from controlplane.common.services import tokens

router = Router(tags=["tokens"])


class TokenIn(Input):
    """A new token."""

    name: str = Field(max_length=80, description="What it is for.")
    scopes: list[Scope] = Field(
        default_factory=lambda: [Scope.READ], description="`read` is always among them."
    )
    project: str | None = Field(None, description="Slug of the only project that it sees.")
    expires_in_days: int | None = Field(90, ge=1, le=3650, description="Never when null.")


class TokenOut(Output):
    """A token without its secret."""

    id: int
    name: str
    scopes: list[str]
    project: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    last_used_at: datetime | None


class NewTokenOut(TokenOut):
    """A new token; the secret is null where the same request is sent again."""

    secret: str | None


class TokenQuery(PageQuery):
    """Which tokens."""

    live: bool = Field(True, description="Only those that can be used; false: all.")


@router.get("", response=Page[TokenOut], summary="List your tokens")
def list_tokens(request: HttpRequest, filters: Query[TokenQuery]) -> Any:
    """List your tokens, newest first."""
    user = caller(request)
    access.require_service(user, "token.read")
    found = PersonalToken.objects.filter(user=user).select_related("project")
    if filters.live:
        found = found.filter(revoked_at=None).exclude(expires_at__lte=timezone.now())
    if filters.project is not None:
        found = found.filter(project__in=visible_projects(user, filters.project))
    rows, following = page_by_id(found, filters, is_falling=True)
    return {"items": [_shape(row) for row in rows], "next": following}


@router.post("", response={201: NewTokenOut}, summary="Make a token")
def create(request: HttpRequest, body: TokenIn) -> Any:
    """Make a token; one made with a token goes no further than that one."""
    user, secrets = caller(request), []
    project = visible_projects(user, body.project).get() if body.project is not None else None
    days = body.expires_in_days
    expires_at = None if days is None else timezone.now() + timedelta(days=days)

    def make() -> dict[str, Any]:
        token, secret = tokens.create_token(
            user=user,
            name=body.name,
            scopes=[str(one) for one in body.scopes],
            project=project,
            expires_at=expires_at,
        )
        secrets.append(secret)
        return _shape(token)

    # The answer is kept for a repeated request; the secret is not.
    return Status(201, once(request, make) | {"secret": secrets[0] if secrets else None})


@router.post("/{token_id}/revoke", response=TokenOut, summary="Revoke a token")
def revoke(request: HttpRequest, token_id: int) -> Any:
    """End a token of yours at once."""
    return _shape(tokens.revoke_token(user=caller(request), token_id=token_id))


def _shape(token: PersonalToken) -> dict[str, Any]:
    plain = ("name", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")
    slug = token.project.slug if token.project is not None else None
    return {name: getattr(token, name) for name in plain} | {"id": token.pk, "project": slug}
