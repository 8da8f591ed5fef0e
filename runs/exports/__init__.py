"""The metrics of a run as a file: one format a module."""

from runs.exports.formats import FORMATS, Export, export_of

__all__ = ["FORMATS", "Export", "export_of"]
