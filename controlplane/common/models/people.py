"""Who uses the control plane, in which projects, with which role."""

from typing import TYPE_CHECKING, ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from controlplane.common.models.token import PersonalToken


class User(AbstractUser):
    """A person or a service account that signs in.

    Attributes:
        token: The personal token that this request came with; None with a session.
    """

    token: "PersonalToken | None" = None
    time_zone = models.CharField(max_length=64, blank=True, default="")

    def __str__(self) -> str:
        return self.get_full_name() or self.username


class Role(models.IntegerChoices):
    """What a member may do; each role may do all that the lower ones may."""

    VIEWER = 10, _("viewer")
    OPERATOR = 20, _("operator")
    APPROVER = 30, _("approver")
    ADMIN = 40, _("admin")


class Project(models.Model):
    """A team's space: cards, configs, runs and checkpoints belong to one. An archived one is only read."""

    name = models.CharField(max_length=80, unique=True)
    slug = models.SlugField(max_length=60, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)
    members = models.ManyToManyField(User, through="Membership", related_name="projects")

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """One person's role in one project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.VIEWER)
    # Given by a group of the identity provider: follows that group at every sign-in.
    is_from_group = models.BooleanField(default=False)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "user"], name="one_role_per_member")
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.get_role_display()} in {self.project}"
