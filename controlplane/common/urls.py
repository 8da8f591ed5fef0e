"""The pages of the settings."""

from django.urls import path

from controlplane.common.views import account, audit, members, people, projects, tokens

app_name = "settings"
urlpatterns = [
    path("", projects.index, name="index"),
    path("project/", projects.project, name="project"),
    path("project/archive/", projects.archive, name="project_archive"),
    path("project/restore/", projects.restore, name="project_restore"),
    path("projects/new/", projects.new_project, name="project_new"),
    path("members/", members.member_list, name="members"),
    path("members/<str:username>/role/", members.change_role, name="member_role"),
    path("members/<str:username>/remove/", members.remove, name="member_remove"),
    path("tokens/", tokens.token_list, name="tokens"),
    path("tokens/<int:token_id>/revoke/", tokens.revoke, name="token_revoke"),
    path("audit/", audit.trail, name="audit"),
    path("audit/export/", audit.export, name="audit_export"),
    path("audit/verify/", audit.verify, name="audit_verify"),
    path("people/", people.person_list, name="people"),
    path("people/<int:person_id>/active/", people.set_active, name="person_active"),
    path("people/<int:person_id>/password/", people.reset_password, name="person_password"),
    path("account/", account.account, name="account"),
    path("account/password/", account.change_password, name="password"),
    path("account/sign-ins/end/", account.end_sign_ins, name="sign_ins_end"),
]
