"""The API root under /api/v1."""

from ninja import NinjaAPI

api = NinjaAPI(title="Safehold", version="1", urls_namespace="api")
