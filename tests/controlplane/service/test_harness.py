"""The servers that all tests stand on."""

import pytest
import redis
from django.conf import settings
from django.db import connection

from controlplane.service.valkey import Valkey


@pytest.mark.django_db
def test_database_is_a_real_postgresql_of_version_18():
    with connection.cursor() as cursor:
        cursor.execute("SHOW server_version")
        assert cursor.fetchone()[0].startswith("18.")


def test_settings_name_the_valkey_of_this_process(valkey_server: Valkey):
    client = redis.Redis.from_url(settings.REDIS_URL)
    assert client.info("server")["process_id"] == valkey_server.child.pid
    client.close()
