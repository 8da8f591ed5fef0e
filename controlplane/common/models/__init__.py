"""People, projects, rights and the audit trail."""

from controlplane.common.models.audit import AuditEntry
from controlplane.common.models.idempotency import IdempotentAnswer
from controlplane.common.models.people import Membership, Project, Role, User
from controlplane.common.models.token import PersonalToken

__all__ = [
    "AuditEntry",
    "IdempotentAnswer",
    "Membership",
    "PersonalToken",
    "Project",
    "Role",
    "User",
]
