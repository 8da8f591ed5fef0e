"""People, projects, rights and the audit trail."""

from controlplane.common.models.audit import AuditCheck, AuditEntry, AuditSeal
from controlplane.common.models.idempotency import IdempotentAnswer
from controlplane.common.models.people import Membership, Project, Role, User
from controlplane.common.models.sign_in import SignIn
from controlplane.common.models.token import PersonalToken, Scope

__all__ = [
    "AuditCheck",
    "AuditEntry",
    "AuditSeal",
    "IdempotentAnswer",
    "Membership",
    "PersonalToken",
    "Project",
    "Role",
    "Scope",
    "SignIn",
    "User",
]
