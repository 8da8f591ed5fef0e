"""Log lines are JSON and carry the ids of what they belong to."""

import json
import logging
import sys

from controlplane.common import logs


def line_of(**changes: object) -> dict[str, object]:
    record = logging.LogRecord("runs", logging.INFO, "f.py", 1, "attempt.launched", (), None)
    vars(record).update(changes)
    return json.loads(logs.JsonFormatter().format(record))


def test_a_line_has_time_level_logger_and_event():
    line = line_of()
    assert line["event"] == "attempt.launched"
    assert (line["level"], line["logger"]) == ("info", "runs")
    assert str(line["at"]).endswith("+00:00")


def test_extra_fields_stand_beside_the_event():
    assert line_of(attempt_id=7, launcher="local")["launcher"] == "local"


def test_a_field_unknown_to_json_becomes_text():
    assert line_of(path=object())["path"].startswith("<object")


def test_ids_of_the_request_and_attempt_are_added():
    marks = logs.request_id.set("abc"), logs.attempt_id.set(3)
    try:
        line = line_of()
    finally:
        logs.request_id.reset(marks[0])
        logs.attempt_id.reset(marks[1])
    assert (line["request_id"], line["attempt_id"]) == ("abc", 3)


def test_an_exception_keeps_its_traceback_on_one_line():
    try:
        raise ValueError("no room")
    except ValueError:
        line = line_of(exc_info=sys.exc_info())
    assert "ValueError: no room" in str(line["exception"])
