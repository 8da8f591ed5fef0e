"""A download is sent while it is made."""

import asyncio
from collections.abc import Iterator

import pytest
from django.test import AsyncRequestFactory, RequestFactory

from controlplane.common.streams import download


def test_under_asgi_a_part_is_made_when_the_one_before_was_sent() -> None:
    made: list[int] = []

    def parts() -> Iterator[bytes]:
        for number in range(3):
            made.append(number)
            yield b"%d" % number

    async def read() -> list[int]:
        response = download(
            AsyncRequestFactory().get("/"), parts(), file_name="a.csv", content_type="text/csv"
        )
        seen = []
        async for _ in response.streaming_content:  # type: ignore[union-attr]
            seen.append(len(made))
        return seen

    assert asyncio.run(read()) == [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("run-1.csv", "run-1.csv"),
        ('a"b\r\nc.csv', "abc.csv"),
        ("大.csv", "csv"),
        ("../../etc", "etc"),
    ],
)
def test_a_file_name_is_plain(name: str, sent: str) -> None:
    response = download(RequestFactory().get("/"), iter([b""]), file_name=name, content_type="a/b")
    assert response["Content-Disposition"] == f'attachment; filename="{sent}"'
