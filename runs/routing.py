"""The WebSocket routes."""

from django.urls import path

from runs.consumers import ProjectConsumer, RunConsumer

websocket_urlpatterns = [
    path("ws/runs/<int:run_id>/", RunConsumer.as_asgi()),
    path("ws/projects/<int:project_id>/", ProjectConsumer.as_asgi()),
]
