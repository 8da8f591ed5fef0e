"""What a run was launched with: from its config, its trainer's report, and the pods that were seen (CONF-8)."""

import pytest

from runs import launch_record
from runs.models import Attempt, Sight
from safehold.config import canonical_document
from tests.factories import make_attempt, make_config, make_run
from tests.safehold.documents import make_config as make_document

pytestmark = pytest.mark.django_db
REPORTED = {
    "host": "node-7", "code": {"commit": "c" * 40, "dirty": "blake3:1"},
    "versions": {"python": "3.11.7", "torch": "2.13.0", "cuda": "13.0", "nccl": "2.28", "numpy": None},
}  # fmt: skip


@pytest.fixture
def attempt() -> Attempt:
    document = canonical_document(
        make_document(
            data__version="blake3:2", data__mix={"web": 0.5, "code": 0.5}, train__seed=7,
            tokenizer__digest="blake3:" + "3" * 64,
        )
    )  # fmt: skip
    return make_attempt(run=make_run(config=make_config(document=document)), environment=REPORTED)


def test_config_and_report_come_together(attempt: Attempt) -> None:
    record = launch_record.record_of(attempt.run, attempt)
    assert (record.code_commit, record.code_dirty) == ("c" * 40, "blake3:1")
    assert (record.data_version, record.tokenizer_digest) == ("blake3:2", "blake3:" + "3" * 64)
    assert (record.seed, record.nodes, record.image_digests) == (7, ("node-7",), ())
    assert record.libraries == {
        "python": "3.11.7",
        "torch": "2.13.0",
        "cuda": "13.0",
        "nccl": "2.28",
    }
    assert record.config_hash == attempt.run.config.hash


def test_pods_tell_nodes_and_image(attempt: Attempt) -> None:
    rows = [{"name": "p0", "node": "b"}, {"name": "p1", "node": "a"}]
    Sight.objects.create(attempt=attempt, pods={"rows": rows}, image_ids=["sha256:9"])
    record = launch_record.record_of(attempt.run, Attempt.objects.select_related("sight").get())
    assert (record.nodes, record.image_digests) == (("a", "b"), ("sha256:9",))


def test_a_mix_is_named_by_its_shares() -> None:
    one = launch_record.mix_version({"data": {"mix": {"web": 0.5, "code": 0.5}}})
    assert one == launch_record.mix_version({"data": {"mix": {"code": 0.5, "web": 0.5}}})
    assert one != launch_record.mix_version({"data": {"mix": {"web": 0.6, "code": 0.4}}})
    assert launch_record.mix_version({"data": {"mix": {}}}) == launch_record.mix_version({}) == ""


def test_a_run_that_was_never_launched_tells_what_its_config_says(attempt: Attempt) -> None:
    record = launch_record.record_of(attempt.run, None)
    assert (record.code_commit, record.nodes, record.seed) == ("", (), 7)
