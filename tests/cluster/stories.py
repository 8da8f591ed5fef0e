"""The stories that every cluster must tell the same: subclass with a `ground` fixture."""

import pytest

from runs.models import Attempt, Sight
from runs.services import runs
from tests.cluster import many
from tests.cluster.ground import QUOTA_NAME, Ground
from tests.cluster.trainings import document, fork, launch
from tests.waiting import wait_until
from workers.kube.errors import KubeError

STEPS = 120


class ClusterStories:
    """Told in one namespace; each ends what it began."""

    def test_two_pods_train_stop_and_resume_on_other_pods_without_a_trace(self, ground: Ground):
        config = document(ground, STEPS)
        first = launch(ground, config)
        first.wait_shown("running")
        first.wait_points(10)
        pods = ground.pods(first.attempt.name)
        assert len(pods) == 2
        assert first.attempt.where
        wait_until(
            lambda: {"rank-0", "rank-1", "wrapper", "wrapper-1"} <= set(first.logs()), 60,
            first.report,
        )  # fmt: skip

        assert "saved" in first.stop().why
        stopped = first.attempt
        assert not [pod for pod in ground.pods(stopped.name) if pod["status"]["phase"] == "Running"]
        saved_at = max(first.losses(stopped))
        assert 10 <= saved_at < STEPS, "it was not stopped in the middle"

        assert first.wait_checkpoint().step == saved_at

        runs.request_resume(run=first.run, user=first.user)
        first.wait_shown("finished", 300)
        assert first.attempt.number == 2
        told = {pod["metadata"]["uid"] for pod in ground.pods(first.attempt.name)}
        assert not told & {pod["metadata"]["uid"] for pod in pods}
        assert min(first.losses()) == saved_at + 1
        together = first.losses(stopped) | first.losses()
        assert sorted(together) == list(range(1, STEPS + 1))

        straight = launch(ground, config)
        straight.wait_shown("finished", 300)
        assert straight.losses() == together

    def test_a_fork_goes_on_from_the_checkpoint_of_another_run(self, ground: Ground):
        first = launch(ground, document(ground, 100_000, devices=1, nodes=1))
        first.wait_points(5)
        first.stop()
        saved = first.wait_checkpoint()
        start = {"id": saved.pk, "path": saved.path, "run": first.run.pk, "step": saved.step}

        second = fork(first, start)
        second.wait_points(5)
        second.stop(force=True)

        assert min(second.losses()) == saved.step + 1
        assert ground.launcher.observe(second.attempt.name, {}).is_gone

    def test_too_many_devices_wait_in_words_until_they_are_stopped(self, ground: Ground):
        waiting = launch(ground, document(ground, 10, devices=5_000, nodes=1))
        waiting.wait_why("Waiting for devices: 0/")
        assert waiting.attempt.state == "waiting"
        waiting.stop()
        assert ground.pods(waiting.attempt.name) == []

    def test_a_bad_image_could_not_start_and_leaves_no_pod(self, ground: Ground):
        bad = launch(
            ground, document(ground, 10, image="registry.invalid/none:1", pending_seconds=30)
        )
        bad.wait_why("The image registry.invalid/none:1 cannot be pulled", 90)
        shown = bad.wait_shown("could_not_start", 150)
        assert "registry.invalid/none:1 cannot be pulled" in shown.why
        wait_until(lambda: not ground.pods(bad.attempt.name), 60, bad.report)

    def test_a_used_up_quota_is_told_and_ends_by_itself(self, ground: Ground):
        try:
            with ground.quota({"requests.nvidia.com/gpu": "1"}):
                refused = launch(ground, document(ground, 10))
                refused.wait_why(f"Quota {QUOTA_NAME} is used up", 60)
                assert refused.attempt.state == "waiting"
        except KubeError as error:
            if error.status == 403:
                pytest.skip("The kubeconfig may not make quotas in this namespace.")
            raise
        refused.stop()

    def test_a_restart_of_the_api_server_harms_no_training(self, ground: Ground):
        if ground.restart_api is None:
            pytest.skip("SAFEHOLD_TEST_RESTART names no command that restarts the API server.")
        training = launch(ground, document(ground, 100_000))
        training.wait_points(5)
        before = len(training.losses())
        ground.restart_api()
        training.wait_points(before + 10)
        assert training.shown.word == "running"
        assert training.attempt.number == 1
        assert len(ground.pods(training.attempt.name)) == 2
        training.stop()
        assert sorted(training.losses()) == list(range(1, len(training.losses()) + 1))

    def test_many_pods_of_one_job_report_and_are_judged_as_one(self, ground: Ground):
        attempt = many.start(ground, ground.num_many)
        try:
            wait_until(
                lambda: _again(attempt).is_over, 500, lambda: _told(ground, attempt), every=1.0
            )
            ended = _again(attempt)
            assert (ended.outcome, ended.reason) == ("finished", "All ranks finished.")
            rows = Sight.objects.get(attempt=attempt).pods["rows"]
            assert sorted(row["index"] for row in rows) == list(range(ground.num_many))
            assert {row["exit_code"] for row in rows} == {0}
            journals = dict(attempt.journals.values_list("rank", "acked_seq"))
            assert sorted(journals) == list(range(ground.num_many)), f"{journals}"
            assert min(journals.values()) >= many.STEPS
        finally:
            ground.launcher.clean(attempt.name)


def _again(attempt: Attempt) -> Attempt:
    return Attempt.objects.get(pk=attempt.pk)


def _told(ground: Ground, attempt: Attempt) -> str:
    again = _again(attempt)
    seen = ground.launcher.observe(attempt.name, {})
    return f"{again.state} {again.reason} {again.journals.count()} journals; {seen}"
