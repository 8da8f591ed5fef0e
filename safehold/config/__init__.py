"""The run config: schema, reading, canonical form, diff.

config = safehold.config.read_file("run.toml")
document = canonical_document(config)      # what is stored; `config_hash(document)` names it
"""

from safehold.config.canonical import canonical_document, canonical_json, config_hash, family_hash
from safehold.config.diff import Change, diff, flatten
from safehold.config.editing import ABSENT, edited
from safehold.config.errors import ConfigError, ConfigInvalid
from safehold.config.factors import Comparison, Factor, compare
from safehold.config.fields import FieldSpec, all_fields, field_at, fields_of
from safehold.config.reading import Format, format_of, read_document, read_file, read_text
from safehold.config.schema import SCHEMA_VERSION, RunConfig
from safehold.config.validation import parse, parse_as, validate
from safehold.config.writing import to_toml

__all__ = [
    "ABSENT",
    "SCHEMA_VERSION",
    "Change",
    "Comparison",
    "ConfigError",
    "ConfigInvalid",
    "Factor",
    "FieldSpec",
    "Format",
    "RunConfig",
    "all_fields",
    "canonical_document",
    "canonical_json",
    "compare",
    "config_hash",
    "diff",
    "edited",
    "family_hash",
    "field_at",
    "fields_of",
    "flatten",
    "format_of",
    "parse",
    "parse_as",
    "read_document",
    "read_file",
    "read_text",
    "to_toml",
    "validate",
]
