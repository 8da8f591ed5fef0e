"""Settings of the control plane, read once from the environment; docs/reference/configuration.md lists them."""

import os
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote, urlsplit

from celery.schedules import schedule
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from controlplane import environment as env
from controlplane.service import places

BASE_DIR = Path(__file__).resolve().parent.parent
SAFEHOLD_HOME = env.path("SAFEHOLD_HOME", BASE_DIR / ".safehold")
SAFEHOLD_PUBLIC_URL = env.address("SAFEHOLD_PUBLIC_URL", "http://127.0.0.1:8000")
# The address under which a training process reaches the control plane; pods may see another one.
SAFEHOLD_INGEST_URL = env.address("SAFEHOLD_INGEST_URL", SAFEHOLD_PUBLIC_URL)
SAFEHOLD_ATTEMPTS_DIR = env.path("SAFEHOLD_ATTEMPTS_DIR", SAFEHOLD_HOME / "attempts")
SAFEHOLD_CHECKPOINT_ROOT = env.path("SAFEHOLD_CHECKPOINT_ROOT", SAFEHOLD_HOME / "checkpoints")
# How many ranks run at once on this machine; 0: its GPUs, or what its processors bear. Runs beyond it wait in order.
SAFEHOLD_LOCAL_DEVICES = env.integer("SAFEHOLD_LOCAL_DEVICES", 0)
SAFEHOLD_SWEEP_SECONDS = env.integer("SAFEHOLD_SWEEP_SECONDS", 5, least=1)
SAFEHOLD_CONTACT_LOST_SECONDS = env.integer("SAFEHOLD_CONTACT_LOST_SECONDS", 15, least=3)
SAFEHOLD_PAUSE_HOLD_SECONDS = env.integer("SAFEHOLD_PAUSE_HOLD_SECONDS", 1800)
SAFEHOLD_STOP_GRACE_SECONDS = env.integer("SAFEHOLD_STOP_GRACE_SECONDS", 60)
SAFEHOLD_START_TIMEOUT_SECONDS = env.integer("SAFEHOLD_START_TIMEOUT_SECONDS", 600, least=10)
# Until an attempt whose node answers neither its cluster nor us is given up; its pod is then deleted unconfirmed.
SAFEHOLD_NODE_LOST_SECONDS = env.integer("SAFEHOLD_NODE_LOST_SECONDS", 300, least=60)
# For how long a green verdict of preflight lets a run start.
SAFEHOLD_PREFLIGHT_VALID_SECONDS = env.integer(
    "SAFEHOLD_PREFLIGHT_VALID_SECONDS", 24 * 3600, least=60
)
SAFEHOLD_LATE_METRICS_SECONDS = env.integer("SAFEHOLD_LATE_METRICS_SECONDS", 24 * 3600)
# How often a verification is begun before it is given up, and when a verified checkpoint is stable: so
# many healthy steps later, no loss further above its moving average than that share.
SAFEHOLD_VERIFY_TRIES = env.integer("SAFEHOLD_VERIFY_TRIES", 3, least=1)
SAFEHOLD_STABLE_STEPS = env.integer("SAFEHOLD_STABLE_STEPS", 50, least=1)
SAFEHOLD_STABLE_RISE_PERCENT = env.integer("SAFEHOLD_STABLE_RISE_PERCENT", 20, least=1)
SAFEHOLD_INGEST_MAX_BYTES = env.integer("SAFEHOLD_INGEST_MAX_BYTES", 64 * 1024 * 1024, least=1024)
# Days between the request to delete a run and the end of its metrics and logs.
SAFEHOLD_RUN_RETENTION_DAYS = env.integer("SAFEHOLD_RUN_RETENTION_DAYS", 30)
# Threads that store metrics; each keeps a database connection.
SAFEHOLD_INGEST_THREADS = env.integer("SAFEHOLD_INGEST_THREADS", 4, least=1)
# Log text kept of one attempt; beyond it the oldest goes.
SAFEHOLD_LOG_MAX_BYTES = env.integer("SAFEHOLD_LOG_MAX_BYTES", 64 * 1024 * 1024, least=64 * 1024)

_public = urlsplit(SAFEHOLD_PUBLIC_URL)
_secure = _public.scheme == "https"
DEBUG = env.flag("SAFEHOLD_DEBUG", default=False)


def _secret_key() -> str:
    key = env.text("SAFEHOLD_SECRET_KEY")
    kept = SAFEHOLD_HOME / "secret_key"
    if not key and kept.exists():
        key = kept.read_text(encoding="utf-8").strip()
    if not key:
        raise ImproperlyConfigured(
            "No secret key: set SAFEHOLD_SECRET_KEY or SAFEHOLD_SECRET_KEY_FILE, or run `safehold up` once."
        )
    return key


SECRET_KEY = _secret_key()
# Encrypts cluster credentials at rest; empty: derived from the secret key. Several: the first encrypts.
SAFEHOLD_ENCRYPTION_KEY = env.text("SAFEHOLD_ENCRYPTION_KEY")
ALLOWED_HOSTS = [
    *{_public.hostname or "127.0.0.1", "127.0.0.1", "localhost", "[::1]"},
    *filter(None, map(str.strip, env.text("SAFEHOLD_ALLOWED_HOSTS").split(","))),
]
CSRF_FAILURE_VIEW = "controlplane.views.csrf_refused"
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"]
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = _secure
SECURE_HSTS_SECONDS = 31_536_000 if _secure else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = _secure
# What training sends over an inner http address carries a token and no cookie, and a redirected POST is lost.
SECURE_REDIRECT_EXEMPT = [
    r"^healthz$", r"^readyz$", r"^api/v1/ingest(/|$)", r"^api/v1/checkpoints/register$",
]  # fmt: skip
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _secure else None
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
# A sign-in ends so long after its last use, and at the latest so long after its beginning.
SESSION_COOKIE_AGE = env.integer("SAFEHOLD_SESSION_SECONDS", 24 * 3600, least=60)
SAFEHOLD_SESSION_LONGEST_SECONDS = env.integer(
    "SAFEHOLD_SESSION_LONGEST_SECONDS", 14 * 24 * 3600, least=60
)
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = SAFEHOLD_INGEST_MAX_BYTES

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "channels",
    "ninja",
    "django_htmx",
    "axes",
    "allauth",
    "allauth.account",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "controlplane.common",
    "runs",
    "checkpoints",
    "workers",
]
MIDDLEWARE = [
    "controlplane.common.middleware.RequestId",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "controlplane.common.middleware.ContentSecurityPolicy",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "controlplane.common.sign_ins.SignIns",
    "controlplane.common.sign_ins.SignInRequired",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "controlplane.common.middleware.ErrorAnswers",
    "allauth.account.middleware.AccountMiddleware",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "controlplane.urls"
ASGI_APPLICATION = "controlplane.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "controlplane.common.context.shell",
            ],
        },
    }
]
AUTH_USER_MODEL = "common.User"
LOGIN_URL = "sign_in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign_in"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Guessing: so many wrong passwords for one account from one address, then a wait.
AXES_FAILURE_LIMIT = env.integer("SAFEHOLD_SIGN_IN_TRIES", 10, least=1)
AXES_COOLOFF_TIME = timedelta(seconds=env.integer("SAFEHOLD_SIGN_IN_WAIT_SECONDS", 900, least=1))
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "controlplane.views.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# The identity provider of the organisation; none without an issuer.
SAFEHOLD_OIDC_ISSUER = env.address("SAFEHOLD_OIDC_ISSUER")
SAFEHOLD_OIDC_NAME = env.text("SAFEHOLD_OIDC_NAME", "single sign-on")
SAFEHOLD_OIDC_GROUPS_CLAIM = env.text("SAFEHOLD_OIDC_GROUPS_CLAIM", "groups")
# GROUP=PROJECT:ROLE or GROUP=administrator, separated by commas.
SAFEHOLD_OIDC_ROLES = env.text("SAFEHOLD_OIDC_ROLES")
SAFEHOLD_PASSWORD_SIGN_IN = env.flag("SAFEHOLD_PASSWORD_SIGN_IN", default=True)
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "APPS": [
            {
                "provider_id": "oidc",
                "name": SAFEHOLD_OIDC_NAME,
                "client_id": env.text("SAFEHOLD_OIDC_CLIENT_ID"),
                "secret": env.text("SAFEHOLD_OIDC_CLIENT_SECRET"),
                "settings": {
                    "server_url": SAFEHOLD_OIDC_ISSUER,
                    "oauth_pkce_enabled": True,
                    "scope": env.text("SAFEHOLD_OIDC_SCOPES", "openid profile email").split(),
                },
            }
        ]
    }
}
ACCOUNT_ADAPTER = "controlplane.common.oidc.adapters.AccountAdapter"
SOCIALACCOUNT_ADAPTER = "controlplane.common.oidc.adapters.SocialAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_UNIQUE_EMAIL = False
ACCOUNT_SIGNUP_FIELDS = ["username*", "email"]
SOCIALACCOUNT_STORE_TOKENS = False

PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in {
        "UserAttributeSimilarityValidator": {},
        "MinimumLengthValidator": {
            "min_length": env.integer("SAFEHOLD_PASSWORD_LENGTH", 12, least=8)
        },
        "CommonPasswordValidator": {},
        "NumericPasswordValidator": {},
    }.items()
]


def _database(url: str) -> dict[str, object]:
    """Read postgresql://user:password@host:port/name?host=/socket/dir into Django's form."""
    parts = urlsplit(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise env.BadSetting(f"DATABASE_URL must begin with postgresql://, not {parts.scheme}://.")
    try:
        port = str(parts.port or "")
    except ValueError as error:
        raise env.BadSetting(f"DATABASE_URL: {error}.") from error
    query = dict(pair.split("=", 1) for pair in parts.query.split("&") if "=" in pair)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "safehold",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(query.pop("host", parts.hostname or "")),
        "PORT": port or query.pop("port", ""),
        "CONN_MAX_AGE": 0,
        "OPTIONS": {unquote(key): unquote(value) for key, value in query.items()},
    }


DATABASES = {"default": _database(env.text("DATABASE_URL", places.database_url(SAFEHOLD_HOME)))}
# Only the web process holds a pool: a worker's prefork children would share its sockets.
if env.flag("SAFEHOLD_DB_POOL", default=False):
    DATABASES["default"]["OPTIONS"] |= {  # type: ignore[operator]
        "pool": {"min_size": 1, "max_size": env.integer("SAFEHOLD_DB_POOL_SIZE", 16, least=1)}
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.address(
    "REDIS_URL", places.redis_url(SAFEHOLD_HOME), schemes=("redis", "rediss", "unix")
)
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [REDIS_URL], "prefix": env.text("SAFEHOLD_CHANNEL_PREFIX", "safehold")},
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": env.text("SAFEHOLD_CHANNEL_PREFIX", "safehold"),
        "OPTIONS": {"socket_timeout": 2, "socket_connect_timeout": 2},
    }
}

CELERY_BROKER_URL = places.broker_url(REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# What reads for long has queues and a worker of its own, so that it never holds up a launch or a sweep.
CELERY_TASK_ROUTES = {
    "workers.verify": {"queue": "verify"},
    "workers.preflight": {"queue": "preflight"},
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 3600,
    "socket_timeout": 5,
    "socket_connect_timeout": 3,
    "global_keyprefix": env.text("SAFEHOLD_CHANNEL_PREFIX", "safehold") + ":",
}
CELERY_BEAT_SCHEDULE_FILENAME = str(SAFEHOLD_HOME / "beat-schedule")
CELERY_BEAT_SCHEDULE = {
    # `expires` keeps a backlog of sweeps from piling up while no worker runs.
    "sweep": {
        "task": "workers.sweep",
        "schedule": schedule(SAFEHOLD_SWEEP_SECONDS),
        "options": {"expires": SAFEHOLD_SWEEP_SECONDS},
    },
    "compact": {
        "task": "workers.compact_idle",
        "schedule": schedule(60),
        "options": {"expires": 60},
    },
    "delete-due-runs": {
        "task": "workers.delete_due_runs",
        "schedule": schedule(3600),
        "options": {"expires": 3600},
    },
    "preflight-left-behind": {
        "task": "workers.preflight_left_behind",
        "schedule": schedule(15),
        "options": {"expires": 15},
    },
    "survey-clusters": {
        "task": "workers.survey_clusters",
        "schedule": schedule(30),
        "options": {"expires": 30},
    },
    "verify-audit": {
        "task": "workers.verify_audit",
        "schedule": schedule(24 * 3600),
        "options": {"expires": 3600},
    },
    "verify-left-behind": {
        "task": "workers.verify_left_behind",
        "schedule": schedule(15),
        "options": {"expires": 15},
    },
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "static/"
STATIC_ROOT = env.path("SAFEHOLD_STATIC_ROOT", SAFEHOLD_HOME / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
# In development and tests files are served from static/ itself; `up` collects and fingerprints them.
_collected = not DEBUG and env.flag(
    "SAFEHOLD_STATIC_MANIFEST", default=(STATIC_ROOT / "staticfiles.json").exists()
)
WHITENOISE_USE_FINDERS = not _collected
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if _collected
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}
WHITENOISE_ROOT = None

LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": "controlplane.common.logs.JsonFormatter"}},
    "handlers": {
        "stdout": {
            "class": "logging.StreamHandler",
            "formatter": "json",
            "stream": "ext://sys.stdout",
        }
    },
    "root": {"handlers": ["stdout"], "level": env.choice("SAFEHOLD_LOG_LEVEL", "INFO", LOG_LEVELS)},
    # A line for every periodic task and every request of ours would bury the events.
    "loggers": {
        name: {"level": "WARNING"}
        for name in ("celery.beat", "celery.worker.strategy", "celery.app.trace", "httpx", "axes")
    },
}

SILENCED_SYSTEM_CHECKS = (
    [] if _secure else ["security.W004", "security.W008", "security.W012", "security.W016"]
)
os.environ.setdefault("OMP_NUM_THREADS", "1")
