from safehold.config import Change, canonical_document, diff
from tests.safehold.documents import make_config


def test_equal_configs_have_no_changes() -> None:
    assert diff(make_config(), make_config()) == []


def test_a_change_has_old_new_and_unit() -> None:
    assert diff(make_config(), make_config(train__steps=40)) == [
        Change("train.steps", 20, 40, "steps")
    ]


def test_shares_are_compared_by_domain() -> None:
    old = make_config(data__mix={"web": 0.5, "code": 0.5})
    new = make_config(data__mix={"web": 0.5, "books": 0.5})
    assert diff(old, new) == [
        Change("data.mix.books", None, 0.5, "share of tokens"),
        Change("data.mix.code", 0.5, None, "share of tokens"),
    ]


def test_lists_are_compared_whole() -> None:
    (change,) = diff(make_config(), make_config(optimizer__betas=[0.9, 0.99]))
    assert (change.path, change.new) == ("optimizer.betas", [0.9, 0.99])


def test_a_field_that_one_side_lacks_stands_for_its_default() -> None:
    older = canonical_document(make_config())
    del older["log"]
    assert diff(older, make_config()) == []
    assert diff(older, make_config(log__every=2)) == [Change("log.every", 1, 2, "steps")]


def test_a_field_without_a_default_that_one_side_lacks_is_a_change() -> None:
    older = canonical_document(make_config())
    del older["train"]["steps"]
    assert diff(older, make_config()) == [Change("train.steps", None, 20, "steps")]


def test_a_change_says_how_many_times_as_large_it_is() -> None:
    (change,) = diff(make_config(), make_config(train__global_batch=16))
    assert change.growth == 2
    assert Change("train.divide_loss", True, False, "").growth is None
