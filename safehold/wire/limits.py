"""The bounds of a message. Generous guesses: a batch after a night's outage fits many times over."""

from __future__ import annotations

VERSION = 1
SUPPORTED = (1,)

MAX_BODY_BYTES = 32 * 2**20  # after decompression
MAX_RECORDS = 200_000
MAX_COLUMNS = 20_000
MAX_EVENTS = 20_000
MAX_APPLIED = 1_000
MAX_NAME_CHARACTERS = 250
MAX_EVENT_BYTES = 2 * 2**20
MAX_LOG_BYTES = 2**20  # one piece of a log
MAX_DEPTH = 32  # of the data of an event
MAX_STEP = 2**63 - 1

NO_STEP = -1  # the record belongs to no step: an event outside training, or a refused point
NO_TOKENS = -1  # the sender does not know the tokens seen
NO_TIME = 0  # the sender gave no time; the time of receipt counts

CONTENT_MSGPACK = "application/msgpack"
CONTENT_JSON = "application/json"
GAP_TYPE = "gap"  # last part of the `type` of a 409 problem document
