"""Where metric points lie and how a chart is read from them: docs/explanation/metric-store.md.

Pure numpy in `points`, `codec`, `levels`, `curve`; the database in `tail`, `compaction`, `reading`.
"""
