import logging

import pytest
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from controlplane.common.queue import wake


@pytest.fixture
def sent(monkeypatch):
    calls = []
    monkeypatch.setattr(
        current_app, "send_task", lambda name, kwargs, **_: calls.append((name, kwargs))
    )
    return calls


@pytest.mark.django_db(transaction=True)
def test_a_task_is_sent_after_the_commit_and_never_for_a_rollback(sent):
    with transaction.atomic():
        wake("workers.reconcile", run_id=1)
        assert sent == []
    assert sent == [("workers.reconcile", {"run_id": 1})]
    with transaction.atomic():
        wake("workers.reconcile", run_id=2)
        transaction.set_rollback(True)
    assert len(sent) == 1


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_down_costs_a_line_in_the_log_only(monkeypatch, caplog):
    def refuse(*args, **kwargs):
        raise OperationalError("connection refused")

    monkeypatch.setattr(current_app, "send_task", refuse)
    with caplog.at_level(logging.WARNING):
        wake("workers.reconcile", run_id=1)
    assert "task.not_sent" in caplog.text
