"""The routes: pages at the root, the API under /api/v1."""

from django.urls import include, path

from controlplane import api, health, views
from controlplane.common.oidc import views as oidc
from controlplane.search import views as search

urlpatterns = [
    path("", views.home, name="home"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("sign-in", views.SignIn.as_view(), name="sign_in"),
    path("sign-out", views.SignOut.as_view(), name="sign_out"),
    path("sign-in/oidc/", oidc.begin, name="oidc_begin"),
    path("sign-in/oidc/callback/", oidc.callback, name="oidc_callback"),
    path("session", views.session, name="session"),
    path("signed-in/", views.signed_in_again, name="signed_in_again"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("settings/", include("controlplane.common.urls")),
    path("api/v1/", include("runs.ingest_urls")),
    path("api/v1/", include((api.urlpatterns(), "api"))),
    path("search/", search.search, name="search"),
    path("", include("runs.urls")),
    path("checkpoints/", include("checkpoints.urls")),
]
handler400 = "controlplane.views.bad_request"
handler403 = "controlplane.views.forbidden"
handler404 = "controlplane.views.not_found"
handler500 = "controlplane.views.server_error"
