"""Kubernetes: the one place that knows its API. Builders and readers are pure; `api` alone talks."""
