import pytest
from django.test import Client
from django.urls import reverse

from checkpoints.models import Checkpoint
from controlplane.common.models import Membership, Role
from runs.models import Run
from tests.checkpoints.makers import begin, end, make_checkpoint, save, verify
from tests.factories import make_attempt, make_project, make_run, make_user

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def page(name: str, *args: object) -> str:
    return reverse(f"checkpoints:{name}", args=args)


def client_of(project, role: Role | None) -> Client:
    client = Client()
    client.force_login(make_user(role, project))
    return client


@pytest.fixture
def checkpoint() -> Checkpoint:
    return make_checkpoint(step=1200)


@pytest.fixture
def operator(checkpoint: Checkpoint) -> Client:
    return client_of(checkpoint.run.project, Role.OPERATOR)


@pytest.fixture
def viewer(checkpoint: Checkpoint) -> Client:
    return client_of(checkpoint.run.project, Role.VIEWER)


@pytest.fixture
def outsider() -> Client:
    return client_of(make_project(), Role.OPERATOR)


def text(answer) -> str:
    return answer.content.decode()


def test_every_page_needs_a_login(checkpoint: Checkpoint):
    for url in (page("index"), page("detail", checkpoint.pk), page("of_run", checkpoint.run_id)):
        assert Client().get(url).status_code == 302


def test_the_table_says_state_step_run_and_proof(viewer: Client, checkpoint: Checkpoint):
    shown = text(viewer.get(page("index")))
    assert 'data-state="verified"' in shown
    assert "1,200" in shown
    assert checkpoint.run.name in shown
    assert "1 saved checkpoint, " in shown


def test_an_empty_table_says_what_to_do_next(outsider: Client):
    assert "No checkpoint yet" in text(outsider.get(page("index")))


def test_filters_live_in_the_address_and_nonsense_is_left_out(viewer: Client, checkpoint):
    make_checkpoint(attempt=checkpoint.attempt, step=77, state="damaged")
    assert "1,200" not in text(viewer.get(page("index"), {"state": "damaged"}))
    assert "No checkpoint matches" in text(viewer.get(page("index"), {"kind": "snapshot"}))
    shown = text(viewer.get(page("index"), {"state": "no such", "run": "x", "cursor": "!"}))
    assert "1,200" in shown
    own = text(viewer.get(page("index"), {"run": checkpoint.run_id}))
    assert f'Run: <a href="{reverse("runs:run_detail", args=[checkpoint.run_id])}"' in own


def test_the_table_is_paged_by_key(viewer: Client, checkpoint: Checkpoint):
    Checkpoint.objects.bulk_create(
        Checkpoint(
            run=checkpoint.run, attempt=checkpoint.attempt, step=step, kind="anchor",
            state="complete", state_at=checkpoint.state_at, created_at=checkpoint.created_at,
            path=f"/p/{step}",
        )
        for step in range(60)
    )  # fmt: skip
    first = viewer.get(page("index"))
    assert "50 checkpoints" in text(first)
    rest = viewer.get(page("index"), {"cursor": first.context["next_cursor"]})
    assert "11 checkpoints" in text(rest)
    assert "First page" in text(rest)


def test_the_table_costs_the_same_for_any_number(viewer, checkpoint, django_assert_num_queries):
    for step in range(10):
        make_checkpoint(attempt=checkpoint.attempt, step=step)
    # session, user, projects (shell, twice), checkpoints, open verifications, space
    with django_assert_num_queries(7):
        viewer.get(page("index"))


def test_an_outsider_learns_nothing(outsider: Client, checkpoint: Checkpoint):
    assert checkpoint.run.name not in text(outsider.get(page("index")))
    pages = [page(name, checkpoint.pk) for name in ("detail", "proof", "manifest", "fork")]
    pages += [page("of_run", checkpoint.run_id), page("tensors", checkpoint.pk, "model")]
    for url in pages:
        assert outsider.get(url).status_code == 404, url
    for act in ("verify", "pin", "fork", "resume"):
        assert outsider.post(page(act, checkpoint.pk)).status_code == 404


def test_a_viewer_sees_the_page_without_acts_and_may_not_act(viewer: Client, checkpoint):
    shown = text(viewer.get(page("detail", checkpoint.pk)))
    assert "Verify again" not in shown
    assert page("fork", checkpoint.pk) not in shown
    for act in ("verify", "pin", "fork", "resume"):
        assert viewer.post(page(act, checkpoint.pk)).status_code == 403
    assert checkpoint.verifications.count() == 1


def test_the_page_tells_proof_contents_and_origin(viewer: Client, checkpoint: Checkpoint):
    shown = text(viewer.get(page("detail", checkpoint.pk)))
    assert "Every byte is as it was written, and the whole state can be restored." in shown
    assert "1 check passed" in shown
    assert "Verified by test" in shown
    assert checkpoint.path in shown
    assert checkpoint.data_version in shown
    for file in checkpoint.manifest["files"]:
        assert file["digest"] in shown
    assert '<svg class="drawing"' in shown
    assert 'aria-current="true"' in shown


def test_a_save_under_way_is_never_called_saved(viewer: Client, checkpoint: Checkpoint):
    writing = make_checkpoint(attempt=checkpoint.attempt, step=1300, state="writing")
    shown = text(viewer.get(page("detail", writing.pk)))
    assert "It is being saved" in shown
    assert "saved at" not in shown
    fragment = text(viewer.get(page("of_run", checkpoint.run_id), headers=HTMX))
    row = fragment.split(f'data-checkpoint="{writing.pk}"')[1].split("</tr>")[0]
    assert "saving, since" in row
    assert "Saving" in row
    assert "Saved" not in row
    assert page("fork", writing.pk) not in row


def test_a_failed_save_shows_path_error_and_the_time_since_the_last_good_one(viewer, checkpoint):
    failed = save(checkpoint.attempt, 1300, "failed", error="[Errno 13] Permission denied")
    fragment = text(viewer.get(page("of_run", checkpoint.run_id), headers=HTMX))
    assert "Saving step 1,300 failed." in fragment
    assert "[Errno 13] Permission denied" in fragment
    assert failed.path in fragment
    assert "Time since the last good checkpoint:" in fragment
    shown = text(viewer.get(page("detail", failed.pk)))
    assert "It was never saved; there is nothing to restore." in shown
    save(checkpoint.attempt, 1400)
    fragment = text(viewer.get(page("of_run", checkpoint.run_id), headers=HTMX))
    assert "Saving step" not in fragment


def test_a_damaged_one_says_why_and_offers_no_way_to_begin_from_it(operator: Client, checkpoint):
    verify(checkpoint, is_whole=False)
    end(checkpoint.attempt)
    shown = text(operator.get(page("detail", checkpoint.pk)))
    assert "optimizer.pt has another digest." in shown
    assert "It is no recovery point" in shown
    assert page("fork", checkpoint.pk) not in shown
    assert page("resume", checkpoint.pk) not in shown
    assert operator.get(page("fork", checkpoint.pk)).status_code == 409
    assert operator.post(page("resume", checkpoint.pk)).status_code == 409


def test_an_open_verification_is_followed_until_it_ends(operator: Client, checkpoint: Checkpoint):
    url = page("proof", checkpoint.pk)
    assert "every 2s" not in text(operator.get(url))
    answer = operator.post(page("verify", checkpoint.pk), headers=HTMX)
    assert answer["X-Announce"] == "Verification%20asked%20for."
    assert "every 2s" in text(answer)
    assert "waits for a worker" in text(operator.get(url))
    verify(checkpoint)
    assert "every 2s" not in text(operator.get(url))


def test_acts_work_as_plain_forms(operator: Client, checkpoint: Checkpoint):
    answer = operator.post(page("pin", checkpoint.pk), {"pinned": "yes"}, follow=True)
    assert "Pinned: no clean-up removes it." in text(answer)
    checkpoint.refresh_from_db()
    assert checkpoint.is_pinned
    answer = operator.post(page("verify", checkpoint.pk), follow=True)
    assert "Verification asked for." in text(answer)


def test_a_fork_begins_from_the_checkpoint_and_leads_to_its_page(operator: Client, checkpoint):
    form = operator.get(page("fork", checkpoint.pk))
    assert f"Fork {checkpoint.run.name} at step 1,200" in text(form)
    data = {"name": "second try", "config": checkpoint.run.config_id}
    answer = operator.post(page("fork", checkpoint.pk), data)
    fork = Run.objects.get(name="second try")
    assert answer["Location"] == reverse("runs:run_detail", args=[fork.pk])
    assert (fork.parent, fork.forked_from_checkpoint) == (checkpoint.run, checkpoint.pk)
    assert not fork.attempts.exists()


def test_a_fork_with_a_config_of_another_project_is_refused(operator: Client, checkpoint):
    data = {"name": "x", "config": make_run().config_id}
    answer = operator.post(page("fork", checkpoint.pk), data)
    assert answer.status_code == 422
    assert "Select a valid choice" in text(answer)
    assert Run.objects.filter(parent=checkpoint.run).count() == 0


def test_a_run_that_ended_is_resumed_from_the_chosen_checkpoint(operator: Client, checkpoint):
    make_checkpoint(attempt=checkpoint.attempt, step=1300)
    assert page("resume", checkpoint.pk) not in text(operator.get(page("detail", checkpoint.pk)))
    end(checkpoint.attempt, "stopped")
    assert page("resume", checkpoint.pk) in text(operator.get(page("detail", checkpoint.pk)))
    answer = operator.post(page("resume", checkpoint.pk))
    assert answer["Location"] == reverse("runs:run_detail", args=[checkpoint.run_id])
    newest = checkpoint.run.attempts.first()
    assert newest.number == 2
    assert newest.started_from.checkpoint_id == checkpoint.pk


def test_a_run_that_goes_on_refuses_a_resume_in_words(operator: Client, checkpoint: Checkpoint):
    Run.objects.update(desired="running")
    answer = operator.post(page("resume", checkpoint.pk))
    assert answer.status_code == 409
    assert "is still open" in text(answer)


def test_tensors_are_listed_from_the_manifest_found_and_paged(viewer: Client):
    checkpoint = make_checkpoint(
        components={
            "model": {
                "files": ["model.safetensors"],
                "tensors": [
                    {"name": f"block.{i}.attn.weight", "shape": [64, 64], "dtype": "BF16"}
                    for i in range(250)
                ],
            }
        }
    )
    client = client_of(checkpoint.run.project, Role.VIEWER)
    url = page("tensors", checkpoint.pk, "model")
    shown = text(client.get(url, headers=HTMX))
    assert "250 tensors" in shown
    assert "64 × 64" in shown
    assert "block.99.attn.weight" in shown
    assert "block.100.attn.weight" not in shown
    assert "block.100.attn.weight" in text(client.get(url, {"start": "100"}, headers=HTMX))
    assert "1 tensors" in text(client.get(url, {"q": "BLOCK.249."}, headers=HTMX))
    assert "No tensor has such a name" in text(client.get(url, {"q": "nothing"}))
    assert client.get(url, {"start": "-5x"}).status_code == 200
    assert client.get(page("tensors", checkpoint.pk, "nothing")).status_code == 200


def test_the_manifest_is_shown_as_registered(viewer: Client, checkpoint: Checkpoint):
    answer = viewer.get(page("manifest", checkpoint.pk))
    assert answer.json() == checkpoint.manifest
    assert answer["Content-Disposition"].startswith("inline; filename=")


def test_the_fragment_offers_fork_and_resume_to_an_operator_only(operator, viewer, checkpoint):
    end(checkpoint.attempt, "stopped")
    url = page("of_run", checkpoint.run_id)
    shown = text(operator.get(url, headers=HTMX))
    assert page("fork", checkpoint.pk) in shown
    assert page("resume", checkpoint.pk) in shown
    shown = text(viewer.get(url, headers=HTMX))
    assert page("fork", checkpoint.pk) not in shown
    assert viewer.get(url)["Location"] == f"{page('index')}?run={checkpoint.run_id}"


def test_a_page_that_does_not_exist_is_not_found(viewer: Client):
    for number in (0, 987654321, 2**63):
        assert viewer.get(f"/checkpoints/{number}/").status_code == 404


def test_the_page_costs_the_same_for_any_length_of_history(
    viewer, checkpoint, django_assert_num_queries
):
    for step in range(1300, 1310):
        make_checkpoint(attempt=checkpoint.attempt, step=step)
    end(checkpoint.attempt)
    attempt = make_attempt(run=checkpoint.run)
    begin(attempt, checkpoint)
    save(attempt, 1250)
    with django_assert_num_queries(15):
        viewer.get(page("detail", checkpoint.pk))


def test_the_registry_of_a_run_opens_whatever_project_is_chosen(checkpoint: Checkpoint):
    user = make_user(Role.VIEWER, checkpoint.run.project)
    client, other = Client(), make_project(name="Other")
    Membership.objects.create(user=user, project=other, role=Role.VIEWER)
    client.force_login(user)
    client.post("/projects/switch/", {"project": other.pk})
    shown = client.get(f"{page('index')}?run={checkpoint.run_id}")
    assert shown.context["current_project"] == checkpoint.run.project
    assert f'data-checkpoint="{checkpoint.pk}"' in text(shown)
