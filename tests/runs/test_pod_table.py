from runs.pod_table import MAX_ROWS, merged


def row(index, word="running", **changes):
    values = {"name": f"p-{index}", "index": index, "node": "n", "word": word, "reason": ""}
    return values | {"exit_code": None} | changes


def test_pods_are_counted_by_word_and_stand_in_the_order_of_their_index():
    table = merged({}, [row(1), row(0, "pending", reason="no devices")])
    assert (table["num"], table["words"]) == (2, {"pending": 1, "running": 1})
    assert [one["index"] for one in table["rows"]] == [0, 1]


def test_a_pod_that_ended_keeps_its_end_when_its_object_is_gone():
    ended = merged({}, [row(0, "failed", exit_code=137, reason="OOMKilled")])
    assert merged(ended, []) == ended


def test_a_pod_that_vanished_before_it_ended_is_gone():
    table = merged(merged({}, [row(0), row(1)]), [row(1)])
    assert [one["word"] for one in table["rows"]] == ["gone", "running"]


def test_of_too_many_pods_those_in_trouble_are_shown_and_all_are_counted():
    pods = [row(index) for index in range(MAX_ROWS + 100)]
    pods[-1] = row(MAX_ROWS + 99, "failed")
    table = merged({}, pods)
    assert len(table["rows"]) == MAX_ROWS
    assert table["rows"][-1]["word"] == "failed"
    assert (table["num"], table["words"]["running"]) == (MAX_ROWS + 100, MAX_ROWS + 99)


def test_a_look_that_shows_the_same_changes_nothing():
    table = merged({}, [row(0), row(1, "starting")])
    assert merged(table, [row(1, "starting"), row(0)]) == table
