import django.contrib.postgres.fields
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

SCOPES = [
    ("read", "read"),
    ("plan", "write cards and configs"),
    ("run", "launch and stop runs, keep checkpoints"),
    ("approve", "approve production configs"),
    ("admin", "manage projects, members and clusters"),
    ("account", "manage your own tokens"),
]
# What a token could do at most was a role.
OF_ROLES = {
    10: ["read"],
    20: ["read", "plan", "run"],
    30: ["read", "plan", "run", "approve"],
    40: ["read", "plan", "run", "approve", "admin", "account"],
}


def roles_to_scopes(apps, schema_editor):
    tokens = apps.get_model("common", "PersonalToken")
    for role, scopes in OF_ROLES.items():
        tokens.objects.filter(max_role=role).update(scopes=scopes)


class Migration(migrations.Migration):
    dependencies = [("common", "0002_idempotent_answer")]

    operations = [
        migrations.AddField("project", "archived_at", models.DateTimeField(blank=True, null=True)),
        migrations.AddField("membership", "is_from_group", models.BooleanField(default=False)),
        migrations.AddField(
            "personaltoken",
            "scopes",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(choices=SCOPES, max_length=10),
                default=list,
                size=None,
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            "personaltoken",
            "project",
            models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="common.project",
            ),
        ),
        migrations.RunPython(roles_to_scopes, migrations.RunPython.noop, elidable=True),
        migrations.RemoveField("personaltoken", "max_role"),
        migrations.AlterModelOptions("personaltoken", {"ordering": ["-pk"]}),
        migrations.CreateModel(
            "SignIn",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("browser", models.CharField(blank=True, max_length=300)),
                ("address", models.GenericIPAddressField(blank=True, null=True)),
                ("began_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField()),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_ins",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={"ordering": ["-seen_at"]},
        ),
        migrations.CreateModel(
            "AuditSeal",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("entry_id", models.BigIntegerField()),
                ("hash", models.CharField(max_length=64)),
                ("signature", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            "AuditCheck",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("num_entries", models.BigIntegerField()),
                ("head", models.CharField(max_length=64)),
                ("faults", models.JSONField(default=list)),
                ("num_faults", models.IntegerField(default=0)),
                ("seconds", models.FloatField()),
            ],
            options={"ordering": ["-pk"]},
        ),
        migrations.AddIndex(
            "auditentry", models.Index(fields=["actor_name", "-id"], name="audit_of_actor")
        ),
        migrations.AddIndex(
            "auditentry", models.Index(fields=["action", "-id"], name="audit_of_action")
        ),
        migrations.AddIndex("auditentry", models.Index(fields=["at"], name="audit_at")),
    ]
