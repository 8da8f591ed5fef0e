"""Small makers of the records that tests need; every field can be changed by keyword."""

import itertools
from typing import Any

from django.utils import timezone

from controlplane.common import tokens
from controlplane.common.models import Membership, Project, Role, User
from runs.models import Attempt, Config, PreflightReport, Run
from safehold.config import config_hash

_numbers = itertools.count(1)


def make_user(role: Role | None = None, project: Project | None = None, **changes: Any) -> User:
    """Return a user, a member of the project when a role is given."""
    number = next(_numbers)
    user = User.objects.create_user(**{"username": f"user-{number}", "password": "pass"} | changes)
    if role is not None and project is not None:
        Membership.objects.create(user=user, project=project, role=role)
    return user


def make_project(**changes: Any) -> Project:
    """Return a project."""
    number = next(_numbers)
    return Project.objects.create(**{"name": f"Project {number}", "slug": f"p-{number}"} | changes)


def make_config(**changes: Any) -> Config:
    """Return a config with a small document; with `passed=False` its preflight was not run."""
    number = next(_numbers)
    project = changes.pop("project", None) or make_project()
    owner = changes.pop("created_by", None) or make_user(Role.OPERATOR, project)
    values = {
        "name": f"config-{number}",
        "document": {"schema_version": 1, "name": f"config-{number}", "train": {"steps": 100}},
    } | changes
    values.setdefault("hash", config_hash(values["document"]))
    is_passed = values.pop("passed", True)
    config = Config.objects.create(project=project, created_by=owner, **values)
    if is_passed:
        pass_preflight(config)
    return config


def pass_preflight(config: Config, verdict: str = "pass") -> PreflightReport:
    """Record a verdict of all checks, as a launch by page or API would have."""
    return PreflightReport.objects.create(
        config=config, config_hash=config.hash, state=PreflightReport.State.DONE, verdict=verdict,
        ended_at=timezone.now(),
    )  # fmt: skip


def make_run(**changes: Any) -> Run:
    """Return a run that was never launched; with `passed=False` its preflight was not run."""
    number = next(_numbers)
    config = changes.pop("config", None) or make_config(
        **{key: changes[key] for key in ("project", "created_by", "passed") if key in changes}
    )
    changes.pop("passed", None)
    values = {
        "name": f"run-{number}",
        "config": config,
        "project": config.project,
        "created_by": config.created_by,
    }
    return Run.objects.create(**values | changes)


def make_attempt(**changes: Any) -> Attempt:
    """Return an attempt; `token` is its secret."""
    run = changes.pop("run", None) or make_run()
    secret = changes.pop("token", None) or tokens.new_secret(tokens.ATTEMPT_PREFIX)
    now = timezone.now()
    values = {
        "number": run.attempts.count() + 1,
        "launcher": run.launcher,
        "requested_at": now,
        "state_at": now,
        "token_hash": tokens.hash_token(secret),
    }
    attempt = Attempt.objects.create(run=run, **values | changes)
    attempt.token = secret  # type: ignore[attr-defined]
    return attempt
