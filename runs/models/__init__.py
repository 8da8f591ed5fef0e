"""Records of the planning and the running: cards, configs, runs, attempts, metrics, findings."""

from runs.models.approval import Approval
from runs.models.card import Card, CardChange
from runs.models.change import RunChange
from runs.models.cluster import Cluster
from runs.models.config import Config, ConfigText
from runs.models.event import Command, Event, LogChunk, StateChange
from runs.models.metric import Journal, MetricBatch, MetricChunk, SampleIds, Series
from runs.models.preflight import PreflightReport
from runs.models.rulebook import RulebookValue
from runs.models.run import Attempt, Run
from runs.models.saved_view import SavedView
from runs.models.sight import Sight
from runs.models.waiver import Waiver

__all__ = [
    "Approval",
    "Attempt",
    "Card",
    "CardChange",
    "Cluster",
    "Command",
    "Config",
    "ConfigText",
    "Event",
    "Journal",
    "LogChunk",
    "MetricBatch",
    "MetricChunk",
    "PreflightReport",
    "RulebookValue",
    "Run",
    "RunChange",
    "SampleIds",
    "SavedView",
    "Series",
    "Sight",
    "StateChange",
    "Waiver",
]
