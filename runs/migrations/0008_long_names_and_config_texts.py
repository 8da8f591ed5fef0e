import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("runs", "0007_preflight_waivers")]

    operations = [
        migrations.AlterField(
            model_name="card", name="name", field=models.CharField(max_length=200)
        ),
        migrations.AlterField(
            model_name="config", name="name", field=models.CharField(max_length=200)
        ),
        migrations.AlterField(
            model_name="run", name="name", field=models.CharField(max_length=200)
        ),
        migrations.CreateModel(
            name="ConfigText",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField()),
                (
                    "config",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="written",
                        to="runs.config",
                    ),
                ),
            ],
        ),
    ]
