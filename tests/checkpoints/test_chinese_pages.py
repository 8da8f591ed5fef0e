"""What the registry and the library say of a checkpoint meets a Chinese reader in Chinese."""

from pathlib import Path

import pytest
from django.test import Client

from checkpoints.models import Checkpoint
from checkpoints.services import claims, verification
from controlplane.common.models import Role
from safehold.checkpointing.verification import verify
from tests.checkpoints.makers import CASES, make_checkpoint, save
from tests.english import chinese, english_on
from tests.factories import make_attempt, make_user

pytestmark = pytest.mark.django_db
FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir() and path.name not in {"events"})


def operator_of(checkpoint: Checkpoint) -> Client:
    client = Client()
    client.force_login(make_user(Role.OPERATOR, checkpoint.run.project))
    return client


def english(checkpoint: Checkpoint) -> list[str]:
    client = operator_of(checkpoint)
    urls = (
        f"/checkpoints/{checkpoint.pk}/",
        f"/runs/{checkpoint.run_id}/timeline/",
        "/checkpoints/",
    )
    return [found for url in urls for found in english_on(chinese(client, "get", url))]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_every_finding_of_a_verification(folder: Path):
    checkpoint = save(make_attempt(), 100)
    asked = verification.request(checkpoint=checkpoint)
    claimed = claims.claim(verification_id=asked.pk, worker="w")
    found = verify(folder)
    assert claimed is not None
    verification.record(
        verification=claimed, verdict=found.verdict, findings=list(found.findings), facts={}
    )
    assert english(checkpoint) == []


def test_a_save_that_failed():
    text = "Step 100 could not be saved to /ckpt: No space left on device. Free or repair the volume; training can go on."
    checkpoint = save(make_attempt(), 100, "failed", error=text)
    assert english(checkpoint) == []
    client = operator_of(checkpoint)
    assert english_on(chinese(client, "get", f"/runs/{checkpoint.run_id}/checkpoints/")) == []


def test_a_judgement_and_a_verification_that_was_given_up():
    checkpoint = make_checkpoint(state="complete", step=100)
    judgement = "The loss rose 12.5 % above its average at step 120 (2.1 to 2.4)."
    Checkpoint.objects.filter(pk=checkpoint.pk).update(judgement=judgement)
    asked = verification.request(checkpoint=checkpoint)
    asked.state, asked.error = "failed", "Given up after 3 tries: w vanished while verifying."
    asked.save(update_fields=["state", "error"])
    assert english(checkpoint) == []
