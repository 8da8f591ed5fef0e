"""Counts, by triggers of the database itself, what a request changed: no service can forget to tell."""

from django.db import connection

# Not what people made: sessions, sign-ins and their throttling, kept answers, and the trail that is compared with.
_LEFT_OUT = (
    "django_session", "django_migrations", "common_signin", "axes_", "common_idempotentanswer", "common_audit", "account_",
    "socialaccount_", "census",
)  # fmt: skip

_SETUP = """
CREATE TABLE census (place text, act text);
CREATE FUNCTION count_row() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN INSERT INTO census VALUES (TG_TABLE_NAME, TG_OP); RETURN NULL; END $$;
"""


def begin() -> None:
    """Install the triggers, in the transaction of the test."""
    with connection.cursor() as cursor:
        cursor.execute(_SETUP)
        for table in connection.introspection.table_names(cursor):
            if not table.startswith(_LEFT_OUT):
                cursor.execute(
                    f"CREATE TRIGGER counted AFTER INSERT OR UPDATE OR DELETE ON {table} "
                    "FOR EACH ROW EXECUTE FUNCTION count_row()"
                )


def changed() -> set[tuple[str, str]]:
    """Return (table, INSERT, UPDATE or DELETE) since the last call."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM census RETURNING place, act")
        return {(place, act) for place, act in cursor.fetchall()}
