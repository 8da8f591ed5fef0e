"""What people call what is stored as a key: kinds of events, acts and objects of the audit trail."""

from django import template

from controlplane.common.audit_words import act_in_words, fact_in_words, noun_in_words
from runs.event_kinds import kind_in_words

register = template.Library()
register.filter("event_kind", kind_in_words)
register.filter("act", act_in_words)
register.filter("noun", noun_in_words)
register.filter("fact", fact_in_words)
