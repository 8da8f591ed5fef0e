"""A production config, written, frozen and approved by three people; and what must not have changed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.test import Client
from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.models import Project, Role, User
from runs.models import Approval, Attempt, Config, Run
from runs.services import approvals, configs, runs
from tests.factories import make_attempt, make_project, make_user
from tests.runs.corpus import documents_on
from tests.runs.proven import prove


@dataclass(frozen=True)
class World:
    """The people, the approved config with a run of it, and a second one that waits for approval."""

    project: Project
    author: User
    requester: User
    approver: User
    outsider: User
    config: Config
    run: Run
    pending: Config
    request: Approval
    folder: Path

    def prove(self) -> None:
        """Let a run of the same family, rate and batch have finished."""
        document = self.config.document | {"kind": "experiment"}
        made = configs.create_config(user=self.author, project=self.project, document=document)
        run = runs.create_run(user=self.author, project=self.project, config=made)
        make_attempt(run=run, state="ended", outcome="finished", ended_at=timezone.now())

    def page(self, user: User) -> Client:
        """Return a signed-in browser."""
        client = Client(raise_request_exception=False)
        client.force_login(user)
        return client

    def api(self, user: User, **limits: Any) -> Client:
        """Return a client with a personal token."""
        _, secret = tokens.issue_personal(user=user, name="test", **limits)
        return Client(headers={"Authorization": f"Bearer {secret}"}, raise_request_exception=False)

    def state(self) -> tuple[Any, ...]:
        """Return everything that an override would change."""
        rows = list(
            Config.objects.order_by("pk").filter(pk__in=[self.config.pk, self.pending.pk]).values()
        )
        # What is newly written beside the two is another config, with a name of its own.
        given = list(Approval.objects.filter(state="approved").order_by("pk").values())
        run = Run.objects.filter(pk=self.run.pk).values_list("config_id", flat=True).first()
        pending_attempts = Attempt.objects.filter(run__config=self.pending).count()
        return rows, given, run, pending_attempts


def make_world(folder: Path) -> World:
    """Return it."""
    project = make_project()
    author, requester = make_user(Role.OPERATOR, project), make_user(Role.APPROVER, project)
    approver, outsider = make_user(Role.APPROVER, project), make_user(Role.ADMIN, make_project())
    document = documents_on(folder)(kind="production")
    config = _frozen(project, author, document)
    given = approvals.request_approval(user=requester, config=config)
    prove(config)
    approvals.approve(user=approver, approval=given)
    run = runs.create_run(user=author, project=project, config=config)
    pending = _frozen(project, author, document | {"name": "pending"})
    request = approvals.request_approval(user=requester, config=pending)
    return World(
        project, author, requester, approver, outsider, config, run, pending, request, folder
    )


def _frozen(project: Project, author: User, document: dict[str, Any]) -> Config:
    made = configs.create_config(user=author, project=project, document=document)
    return configs.freeze(user=author, config=made)
